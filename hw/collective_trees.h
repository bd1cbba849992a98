/* Two trees over the same members, each for half of the bytes, and when each edge is used.
 *
 *      tree 0   0 ─── 4          tree 1   7 ─── 3        of 8 members: who has children in one
 *                   2   6               5   1            is a leaf of the other
 *                  1 3 5 7            6 4  2 0
 *
 * The trees are those of NCCL and RCCL (ncclGetDtree of src/graph/trees.cc). Nobody sends or
 * receives more than two halves on the way down, so rounds can take turns in which each member
 * sends at most once and receives at most once (Sanders, Speck, Traff, Two-tree algorithms for
 * full bandwidth broadcast, reduction and scan, Parallel Computing 35 (2009)). */
#ifndef HW_COLLECTIVE_TREES_H
#define HW_COLLECTIVE_TREES_H

#include <stdint.h>

#include "sim/base/arena.h"

struct tree_edge {
    int64_t parent, child;
    int64_t round; /* in which the first piece goes down, from 0; a reduction is the mirror */
};

struct collective_trees {
    struct tree_edge *edges; /* of both trees */
    int64_t count;
    int64_t period; /* rounds from one piece to the next: 2, or 1 where each only sends once */
    int64_t first_rounds; /* until everyone has the first piece of both halves */
};

/* Over all members, each tree with a root of its own: for an all-reduce, up and down again. */
struct collective_trees collective_trees_over(int64_t members, struct arena *arena);

/* From member 0 to the roots of two trees over the others: for a broadcast. */
struct collective_trees collective_trees_below_first(int64_t members, struct arena *arena);

/* Rounds in which so many pieces of each half go all the way down. */
int64_t collective_trees_rounds(const struct collective_trees *trees, int64_t pieces);

#endif
