/* For the files of models/program.h: putting one kind of rank's items behind each other. */
#ifndef MODELS_PROGRAM_BUILDER_H
#define MODELS_PROGRAM_BUILDER_H

#include "models/pricing.h"
#include "models/schedule.h"

/* A block of a pass. */
struct pass_block {
    enum block block;
    int32_t layer; /* STEP_NONE: none */
    int64_t unit;
    bool is_first, is_last; /* of its unit, in the order of the pass */
    bool is_kept;           /* its layer does not run again while others do */
};

/* What weights are gathered, and gradients reduced, with: a layer, or what stands outside of them.
 * Units of a stage in forward order, chunk by chunk. */
struct unit_span {
    int64_t first, count;
    bool has_embedding, has_head; /* its first, its last unit */
    int64_t first_layer;
    const struct pass_block *blocks; /* in forward order */
    int64_t block_count;
};

/* Gradients are reduced, and weights gathered, bucket by bucket. A bucket is closed by the unit
 * that fills it.
 *
 * A rank owns a contiguous piece of the whole, so a bucket ends on the ranks whose pieces it is
 * made of. It is priced as an even reduce-scatter all the same: round a ring, every byte passes
 * every link once, whoever keeps it. */
struct buckets {
    enum peers all, shard,
        replicas;        /* with the same weights; of those, see models/placement.h */
    int64_t *of_unit;    /* bucket of each unit; bucket 0 holds the last units */
    int64_t *parameters; /* of each bucket, trained */
    int64_t *frozen;     /* of each: what else ZeRO-3 gathers with them */
    int64_t *narrow;     /* of both, what is gathered in fp8 */
    int64_t *quantized;  /* of each unit's own weights, those of products in fp8 */
    double padding; /* what collectives carry for each parameter: more than 1 where the ranks'
                       shares are unequal and padded to the largest */
    int64_t *units_open; /* of each bucket: units whose gradients are not there yet */
    int32_t *gathered;   /* item that gathers it, STEP_NONE: none */
    int64_t count;
};

enum { BUCKETS_DENSE, BUCKETS_EXPERTS, BUCKETS_COUNT };

/* Where a pass's chain of dependencies stands. */
struct waiting {
    int32_t item;      /* an exchange that is not waited for yet; STEP_NONE: none */
    int64_t due_block; /* who must wait for it: a step of a block of the pass */
    int64_t due_step;
};
enum { WAITING_MAX = 3 };

struct item_list {
    int32_t *items;
    size_t count, capacity;
};

struct program_builder {
    struct pricing pricing;
    struct shard shard;
    struct schedule_shape shape;
    const struct schedule *schedules;                  /* of each stage */
    const struct shard_tensors *tensors;               /* of each stage */
    const struct priced_block *(*blocks)[BLOCK_COUNT]; /* by place of the experts */

    /* of the kind that is being built */
    struct rank_program *kind;
    const struct schedule *schedule;
    struct unit_span *spans; /* of each chunk */
    int64_t units;
    struct buckets buckets[BUCKETS_COUNT];
    const struct step_work *transfers[2]; /* what comes in forward, and backward */
    int64_t *last_weights;                /* of each chunk: the last step that adds gradients */
    int64_t *first_forward;               /* of each chunk: the first step that needs weights */
    int32_t
        *made[2]; /* item that ends each forward (backward) pass: [chunk * m + microbatch] */
    struct item_list incoming; /* transfers from other stages */
    struct step_item *items;
    size_t count, capacity;
    struct step_item next;             /* phase, layer and microbatch of what is appended */
    int32_t last_compute;              /* the item last put on the compute lane */
    double listed_s, listed_compute_s; /* of all items, one after the other; of kernels */
    int64_t step;                      /* of the schedule */
};

/* What is appended from now on is of that phase, and of no layer, microbatch or pass. */
void program_begin_phase(struct program_builder *builder, enum step_phase phase);
int32_t program_append(struct program_builder *builder, enum step_lane lane,
                       const struct step_work *work);
/* Kernels one behind the other, at least one; the last one's item. */
int32_t program_append_kernels(struct program_builder *builder, const struct priced_step *steps,
                               int64_t count);
/* The same for a collective of the ranks that are the kind's peers. */
int32_t program_append_joint(struct program_builder *builder, enum step_lane lane,
                             const struct step_work *work, enum peers peers);
/* No effect without an earlier item. */
void program_wait(struct program_builder *builder, int32_t item, int32_t earlier);

/* The blocks of a chunk, into its span. */
void program_list_blocks(struct program_builder *builder, struct unit_span *span);
/* Passes: every step of the schedule. */
void program_append_passes(struct program_builder *builder);

/* Buckets of the kind's weights, before anything is appended. */
void program_make_buckets(struct program_builder *builder);
/* Gathers that go before the step, where they overlap with it. */
void program_append_first_gathers(struct program_builder *builder);
/* Before a unit runs, and after its gradients are there; is_last: of all microbatches. */
void program_prepare_unit(struct program_builder *builder, int64_t unit, bool is_forward);
void program_finish_unit(struct program_builder *builder, int64_t unit, bool is_last);
/* The item that gathered a unit's weights, of the dense ones or the experts; or STEP_NONE. */
int32_t program_gathered(const struct program_builder *builder, int64_t unit, int bucket_set);
/* A unit's weights cast to fp8, for all passes of the step; nothing where that is not how. */
void program_append_weight_cast(struct program_builder *builder, int64_t unit);
/* Everything behind the last pass. */
void program_append_optimizer(struct program_builder *builder);
/* Gradients start from 0. */
void program_append_zeroing(struct program_builder *builder);

#endif
