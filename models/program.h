/* What the ranks do in a step, in order: the programs that lowering lays out.
 *
 *   host     [ launches of block 0 ][ block 1 ] ...
 *   compute  [k][k][k]...[k]  [k]...                  kernels of each block in turn
 *   tensor         [gather]        [scatter]...       exchanges within a layer
 *   data     [gather 0][gather 1]      [reduce n]...  collectives over the data ranks
 *   forward in    [from the stage before]             what other stages have made
 *
 * Items of a lane run in the order they stand in; `after` names what else an item waits for. Ranks
 * of one stage run one program, unless unequal loads of their experts tell them apart; beside that
 * only the optimizer's work differs, by each rank's share. */
#ifndef MODELS_PROGRAM_H
#define MODELS_PROGRAM_H

#include "hw/collective.h"
#include "hw/kernel_cost.h"
#include "models/operators.h"
#include "models/optimizer.h"
#include "models/shard.h"

enum step_lane {
    LANE_HOST,
    LANE_COMPUTE,
    LANE_DATA,
    LANE_TENSOR,
    LANE_EXPERT,
    LANE_CONTEXT,
    LANE_FORWARD_IN,  /* activations from the stage before */
    LANE_BACKWARD_IN, /* gradients from the stage behind */
    STEP_LANE_COUNT
} __attribute__((packed)); /* these and the next two: a step has very many items */
enum step_phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER } __attribute__((packed));

const char *step_lane_name(enum step_lane lane);    /* "compute" */
const char *step_phase_name(enum step_phase phase); /* "forward" */

/* A priced piece of work; many items share one. */
struct step_work {
    const char *name;
    enum step_class spent_on;
    double delay_s; /* taking nothing */
    double work_s;  /* taking the fractions below, when nothing else does */
    double hold_s;  /* delays what begins on a lane of exchanges meanwhile */
    double weight;  /* its part of what is short; 0 is 1 */
    double relative_sigma;
    double compute_fraction, hbm_fraction, link_fraction, nic_fraction;
    const struct kernel *kernel; /* what was priced, for reports; NULL of other work */
    const struct kernel_cost *kernel_cost;
    const struct collective *collective;
    const struct collective_cost *collective_cost;
    const struct step_work *const *parts; /* of kernels run as one; each counts for its class */
    int64_t part_count;
};

/* Work of the optimizer that each rank has its own amount of, in the order it runs: the exchange
 * sends what the momentum pass has made, AdamW's share runs meanwhile. */
enum share_stage {
    SHARE_WIDEN, /* gradients to fp32, where that is a copy */
    SHARE_GRADIENT_NORM,
    SHARE_LAUNCHES,
    SHARE_MOMENTUM,
    SHARE_EXCHANGE,
    SHARE_ADAMW,
    SHARE_NEWTON_SCHULZ,
    SHARE_UPDATE,
    SHARE_QUANTIZE, /* master weights to fp8, where they are gathered in it */
    SHARE_NARROW,   /* master weights to the compute dtype, where that is a copy */
    SHARE_STAGE_COUNT
} __attribute__((packed));

/* That work on one rank: what it has in common with those that have as much to do, and its
 * exchange; NULL where the program says nothing of the rank. */
struct share_work {
    const struct step_work *const *works; /* by stage, but for the exchange */
    const struct step_work *exchange;
};

enum { STEP_WAITS_MAX = 5, STEP_NONE = -1 };

struct step_item {
    const struct step_work *work;  /* NULL: the rank's own work of `stage` */
    int32_t after[STEP_WAITS_MAX]; /* earlier items that it waits for; STEP_NONE: none */
    int32_t from_stage;        /* of a transfer: the stage that sends, and its item that made */
    int32_t from_item;         /* what is sent; STEP_NONE: no transfer */
    int32_t layer, microbatch; /* STEP_NONE: none */
    int32_t pass;              /* of its stage's schedule; STEP_NONE: none */
    enum share_stage stage;
    enum step_lane lane;
    enum step_phase phase;
    bool is_joint; /* `peers` start it together */
    enum peers peers;
};

/* One kind of rank. */
struct rank_program {
    int64_t stage;
    int64_t expert_place; /* 0 where loads are equal */
    int64_t rank;         /* the lowest that runs it */
    int64_t slowest_rank; /* the lowest of those whose own work takes longest */
    const struct step_item *items;
    int64_t count;
    int64_t optimizer; /* the first item behind the passes; those before it are no rank's own */
    double passes_s, passes_compute_s; /* of those before it, one after the other; of kernels */
};

struct program {
    struct placement placement;
    const struct rank_program *kinds; /* by stage, then by place of the experts */
    int64_t kind_count;
    int64_t expert_places; /* that differ: 1, or all */
    bool is_all;           /* whether it says what every rank does, or each kind's slowest */
    struct share_work *shares; /* by stage, then by data rank */
    int64_t data_ranks;        /* shares of a stage: data x context */
    int64_t ranks;
    int64_t slowest_kind; /* that computes longest */
    int64_t owners_max;   /* ranks that the most divided matrix lies on */
};

/* Whether each kernel is an item of its own, or those of a block that nothing comes between are one
 * together: by itself as long as there are fewer than PROGRAM_KERNELS_MAX of them. */
enum step_detail { DETAIL_AUTO, DETAIL_KERNELS, DETAIL_BLOCKS };
enum { PROGRAM_KERNELS_MAX = 1 << 17 };

/* What a step is made of, checked to go together. */
struct step_inputs {
    struct workload workload;
    const struct cluster *cluster;
    const struct tensor_list *tensors;
    enum step_detail detail;
};

struct shard step_inputs_shard(const struct step_inputs *inputs);

/* Which ranks are simulated. Those that do the same once: folded, of each kind the one whose share
 * of the optimizer takes longest stands for all, since every collective waits for it; the others
 * differ in nothing that another rank could notice. */
enum program_ranks { RANKS_FOLDED, RANKS_ALL };

/* What RANKS_ALL says can be folded too. NULL after adding why a kernel or collective cannot be
 * priced. */
const struct program *program_of(const struct step_inputs *inputs, enum program_ranks ranks,
                                 struct arena *arena, struct error_list *errors);

/* The kind that a rank is of. */
const struct rank_program *program_kind(const struct program *program, int64_t rank);

/* The work of an item on one rank; of an item that is the rank's own. */
const struct step_work *program_own_work(const struct program *program,
                                         const struct step_item *item, int64_t rank);
static inline const struct step_work *
program_work(const struct program *program, const struct step_item *item, int64_t rank)
{
    return item->work ? item->work : program_own_work(program, item, rank);
}

#endif
