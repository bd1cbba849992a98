/* Rings through GPUs that together pass each directed link of a node equally often: the wires that
 * a library's rings run on, where each has its part of the bytes. */
#ifndef HW_COLLECTIVE_RINGS_H
#define HW_COLLECTIVE_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"

struct collective_rings {
    int64_t *members; /* ring after ring: member = node * gpus + gpu, in the order passed */
    int64_t count;
    int64_t length; /* members of each */
};

/* Between GPUs of one node, each with a link to each other, of which each lies on one ring; of 4
 * and 6 GPUs on two, as there are no such rings (Bermond and Faber, Discrete Mathematics 13
 * (1975)). */
struct collective_rings collective_rings_in_node(int64_t gpus, struct arena *arena);

/* Through all GPUs of all nodes, each leaving a node by the rail by which it enters the next: each
 * link lies on one ring, or, of an odd number of GPUs, on two. False where none are at hand: an
 * odd number of nodes of an even number of GPUs other than 4, 8, 16, .. */
bool collective_rings_through_nodes(int64_t nodes, int64_t gpus, struct collective_rings *out,
                                    struct arena *arena);

/* A path through all GPUs of a node from one of them on; those of all GPUs pass each directed link
 * once, or, of an odd number, some of them twice. */
void collective_rings_path(int64_t gpus, int64_t first, int64_t *out);

#endif
