/* Who exchanges what with whom in a training step. */
#ifndef VALIDATE_TRAINING_GROUPS_H
#define VALIDATE_TRAINING_GROUPS_H

#include "validate/process_group.h"
#include "validate/training_model.h"

/* The first are those that add up the gradients of copies: enum training_copies. */
enum training_group {
    TRAINING_GROUP_TENSOR = TRAINING_COPIES_COUNT, /* share the heads of one sequence */
    TRAINING_GROUP_EXPERT,                         /* share the experts */
    TRAINING_GROUP_COUNT
};

struct training_groups {
    const struct process_group *world;
    const struct process_group *of[TRAINING_GROUP_COUNT];
    uint64_t peers[TRAINING_GROUP_COUNT]; /* a bit for each member's world rank; 0 beyond 64 */
    int before, behind;                   /* world ranks of the neighbouring stages; -1: none */
};

/* Ranks with the same color are in one group of that kind, in the order of their ranks. */
int training_group_color(const struct training_shape *shape, enum training_group kind,
                         int rank);

/* The bits of the process and a neighbour. */
uint64_t training_groups_pair(const struct training_groups *groups, int neighbour);

/* Of a rank whose world and groups by that color somebody has made. */
struct training_groups training_groups_of(const struct training_shape *shape,
                                          const struct process_group *world,
                                          const struct process_group *const *made);

/* All processes of the world call it; there are training_shape_ranks of them. */
struct training_groups training_groups_new(const struct training_shape *shape,
                                           const struct process_group *world,
                                           struct arena *arena);

#endif
