/* Prices from hw, as work that a program can hold. */
#ifndef MODELS_PRICING_H
#define MODELS_PRICING_H

#include "models/program.h"

struct pricing {
    const struct step_inputs *inputs;
    struct arena *arena;
    struct error_list *errors;
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
};
const struct step_work *pricing_pass(const struct pricing *pricing,
                                     const struct pricing_pass *pass);

/* The block's kernels of one direction, priced, in the order they run. */
struct priced_block {
    const struct step_work **items;
    int64_t count;
    int64_t launches;
};
bool pricing_block(const struct pricing *pricing, enum block block, enum direction direction,
                   struct priced_block *out);

/* The optimizer's work of every data rank: fills the program's ranks, shares, slowest_rank and
 * owners_max, which are 0 before. */
bool pricing_shares(const struct pricing *pricing, struct program *program);

#endif
