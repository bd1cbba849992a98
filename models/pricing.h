/* Prices from hw, as work that a program can hold. */
#ifndef MODELS_PRICING_H
#define MODELS_PRICING_H

#include "models/mixed_load.h"
#include "models/program.h"
#include "models/schedule.h"

struct pricing {
    const struct step_inputs *inputs;
    struct arena *arena;
    struct error_list *errors;
    struct mixed_load load; /* against the list prices of hw */
};

/* Each returns NULL after adding why it has no price. */
const struct step_work *pricing_kernel(const struct pricing *pricing, const char *name,
                                       enum step_class spent_on, const struct kernel *kernel);
/* Bytes as hw/collective.h counts them. */
const struct step_work *pricing_collective(const struct pricing *pricing, const char *name,
                                           enum step_class spent_on,
                                           const struct collective *collective);
/* The host's time for that many launches. */
const struct step_work *pricing_host(const struct pricing *pricing, int64_t launches);
/* One streaming kernel, or `launches` that share the bytes; without elements no time at all. */
struct pricing_pass {
    const char *name;
    enum step_class spent_on;
    int64_t elements;
    double read, write; /* bytes an element */
    int64_t launches;
    const char *op; /* what it does, where the device may have a rate for it; else NULL */
};
const struct step_work *pricing_pass(const struct pricing *pricing,
                                     const struct pricing_pass *pass);

/* A step of a block by itself, and the host's time to launch it. */
const struct step_work *pricing_step(const struct pricing *pricing,
                                     const struct placement *placement,
                                     const struct shard_step *step);
const struct step_work *pricing_launches(const struct pricing *pricing,
                                         const struct step_work *work);

/* A kernel, or an exchange on a lane of its own. */
struct priced_step {
    const struct step_work *work;
    enum step_lane lane;
    enum peers peers;  /* of an exchange */
    int64_t needed_at; /* of an exchange: the step of the list that waits for it; the list's
                          length: who comes behind the list */
};

struct priced_list {
    const struct priced_step *steps; /* in the order they run */
    int64_t count;
    const struct step_work *launches; /* on the host */
};

enum { PASS_KINDS = PASS_WEIGHT_GRADIENT + 1 };

/* A block, priced for each kind of pass. */
struct priced_block {
    struct priced_list passes[PASS_KINDS];
    struct priced_list kept[PASS_KINDS]; /* the same in a layer that does not run again while
                                            others do */
};

/* The two halves of pricing a block: its kernels and exchanges, which know nothing of what the plan
 * runs again; and the passes made of them. */
struct priced_lists;
const struct priced_lists *pricing_lists(const struct pricing *pricing,
                                         const struct shard *shard, enum block block,
                                         int64_t expert_place);
const struct priced_block *pricing_passes(const struct pricing *pricing,
                                          const struct priced_lists *lists);
const struct priced_block *pricing_block(const struct pricing *pricing,
                                         const struct shard *shard, enum block block,
                                         int64_t expert_place);

/* The same list with kernels merged that nothing comes between: a step of very many microbatches
 * then has some five times fewer items, and a kernel beside an exchange shares with it what the
 * mean kernel of its run takes. */
struct priced_list pricing_merge(const struct pricing *pricing, const struct priced_list *list);

/* The optimizer's work of every stage and data rank on its tensors: fills the program's shares,
 * data_ranks and owners_max (0 before), and the slowest_rank of its kinds. */
bool pricing_shares(const struct pricing *pricing, const struct shard_tensors *tensors,
                    struct program *program, struct rank_program *kinds);

#endif
