/* Which ranks take part in a collective, and how they lie on the nodes of a cluster.
 *
 * Ranks are numbered node by node. Plans make groups as rows of equal steps, or rows of rows:
 *
 *     {.first = 0, .size = 8, .stride = 1}      GPUs 0..7: a node of eight
 *     {.first = 3, .size = 128, .stride = 8}    GPU 3 of 128 such nodes: rail 3
 *     {.first = 0, .size = 16, .stride = 4}     GPUs 0 and 4 of each of eight nodes
 *     {.first = 0, .size = 4, .stride = 1,      GPUs 0..3 of nodes 0 and 2
 *      .rows = 2, .row_stride = 16}
 *
 * Any others are listed. What a collective costs depends on little of that: its placement. */
#ifndef HW_RANK_GROUP_H
#define HW_RANK_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/error.h"

struct rank_group {
    int64_t first;
    int64_t size, stride;     /* of a row: first, first + stride, ..., `size` of them */
    int64_t rows, row_stride; /* the row again, each time row_stride further; 0 is 1 row */
    const int64_t *list;      /* in place of all this: `size` ranks, ascending */
};

/* Nodes of how many GPUs there are to lie on. */
struct rank_space {
    const char *name; /* of the cluster, for messages */
    int64_t nodes, gpus_per_node;
};

struct rank_placement {
    int64_t ranks;
    int64_t nodes;                 /* that hold a member */
    int64_t gpus;                  /* members on each of them; on the one that has fewest */
    int64_t first_node, last_node; /* numbers of the outermost ones */
    bool
        keeps_rails; /* each node's members are the same GPUs of it: every rail joins all nodes */
    int64_t stray_from, stray_to; /* if not: two on different nodes without a rail in common */
};

/* Puts ranks in ascending order, as a group wants its list. */
void rank_list_sort(int64_t *ranks, int64_t count);

/* How many ranks; those of the list, or of all rows. */
int64_t rank_group_count(const struct rank_group *group);

/* The index-th rank, in ascending order. */
int64_t rank_group_at(const struct rank_group *group, int64_t index);

/* False with ERROR_INPUT, naming the rank: one twice, one outside the cluster, a list that does
 * not ascend, rows that lie between each other, none at all. Takes the same time for any number
 * of ranks if rows fill nodes evenly, else as long as it takes to look at each. */
bool rank_group_place(const struct rank_group *group, const struct rank_space *space,
                      struct rank_placement *out, struct error_list *errors);

/* The first `gpus` GPUs of each of the first `nodes` nodes, which need not exist. */
struct rank_placement rank_placement_even(int64_t nodes, int64_t gpus);

#endif
