/* Who exchanges what with whom in a training step. */
#ifndef VALIDATE_TRAINING_GROUPS_H
#define VALIDATE_TRAINING_GROUPS_H

#include "validate/process_group.h"
#include "validate/training_model.h"

struct training_groups {
    const struct process_group *world;
    const struct process_group *tensor; /* share the heads of one sequence */
    const struct process_group *expert; /* share the experts */
    const struct process_group *copies[TRAINING_COPIES_COUNT];
    int before, behind; /* world ranks of the neighbouring stages; -1: none */
    /* A bit for each member's world rank; 0 beyond 64 processes. */
    uint64_t tensor_peers, expert_peers, copies_peers[TRAINING_COPIES_COUNT];
};

/* The bits of the process and a neighbour. */
uint64_t training_groups_pair(const struct training_groups *groups, int neighbour);

/* All processes of the world call it; there are training_shape_ranks of them. */
struct training_groups training_groups_new(const struct training_shape *shape,
                                           const struct process_group *world,
                                           struct arena *arena);

/* Those of one of several copies of the whole, whose gradients somebody else adds up. */
struct training_groups training_groups_of_copies(int rank, int size, struct arena *arena);

#endif
