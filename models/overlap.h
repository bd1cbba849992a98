/* Kernels beside collectives: one stream of each on every GPU of a group, both started at
 * once, how long each takes until its last is through. */
#ifndef MODELS_OVERLAP_H
#define MODELS_OVERLAP_H

#include "hw/cluster.h"
#include "hw/overlap_pair.h"

struct overlap_times {
    double kernels_s, collectives_s; /* from the common start to the end of each stream */
};

/* False after adding why the kernel or the collective has no price. */
bool overlap_find(const struct cluster *cluster, const struct overlap_pair *pair,
                  struct overlap_times *out, struct arena *arena, struct error_list *errors);

#endif
