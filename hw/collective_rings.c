/* Rings from zigzags: 0, 1, -1, 2, -2, .. of m places in a circle, turned by 1, 2, ..
 *
 * Of even m the m turned zigzags pass each directed link once, that from m / 2 further on being
 * the same one backwards; of odd m they and their reverses pass each twice (Walecki; Alspach, The
 * wonderful Walecki construction, Bulletin of the ICA 52 (2008)). In a node one GPU closes each
 * to a ring. Through nodes each goes on where the last one ended. */
#include "hw/collective_rings.h"

#include <string.h>

enum { GPUS_OF_8 = 8, RINGS_OF_8 = 7 };

/* Found by search; half as many as zigzags would make. */
static const int64_t NODE_OF_8[RINGS_OF_8][GPUS_OF_8] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {0, 2, 1, 3, 5, 4, 7, 6}, {0, 3, 1, 4, 6, 2, 7, 5},
    {0, 4, 1, 5, 7, 2, 6, 3}, {0, 5, 3, 6, 1, 7, 4, 2}, {0, 6, 5, 2, 4, 3, 7, 1},
    {0, 7, 3, 2, 5, 1, 6, 4}};

static int64_t
zigzag(int64_t start, int64_t i, int64_t m)
{
    int64_t offset = (i + 1) / 2;
    return (start + (i % 2 ? offset : m - offset)) % m;
}

static struct collective_rings
rings_new(int64_t count, int64_t length, struct arena *arena)
{
    return (struct collective_rings){
        .members = arena_alloc(arena, (size_t)(count * length), sizeof(int64_t)),
        .count = count,
        .length = length};
}

struct collective_rings
collective_rings_in_node(int64_t gpus, struct arena *arena)
{
    int64_t m = gpus - 1;
    bool is_searched = gpus == GPUS_OF_8, is_twice = m % 2 != 0 && m > 1;
    struct collective_rings rings = rings_new(is_searched ? RINGS_OF_8
                                              : is_twice  ? 2 * m
                                                          : m,
                                              gpus, arena);
    if (is_searched) {
        memcpy(rings.members, NODE_OF_8, sizeof NODE_OF_8);
        return rings;
    }
    for (int64_t ring = 0; ring < rings.count; ring++) {
        int64_t *order = rings.members + ring * gpus;
        order[0] = m; /* the one that is not on the circle */
        for (int64_t i = 0; i < m; i++)
            order[1 + i] = zigzag(ring % m, ring < m ? i : m - 1 - i, m);
    }
    return rings;
}

/* How the GPUs of a node stand in the circle. With an odd number of nodes the last two stand
 * otherwise, so that three nodes together lead back to the rail of the beginning. */
enum standing { STANDING_AS_NUMBERED, STANDING_BEFORE_LAST, STANDING_LAST };

static enum standing
standing_of(int64_t node, int64_t nodes)
{
    if (nodes % 2 == 0 || node < nodes - 2)
        return STANDING_AS_NUMBERED;
    return node == nodes - 1 ? STANDING_LAST : STANDING_BEFORE_LAST;
}

/* The GPU at a place. A zigzag leads from place x to x + g / 2, which is x with its highest bit
 * changed; the two others lead to x with the next bit changed, and with both. */
static int64_t
gpu_of_even(int64_t place, int64_t g, enum standing standing)
{
    int64_t high = g / 2, next = g / 4;
    if (standing == STANDING_AS_NUMBERED)
        return place;
    if (standing == STANDING_LAST)
        return (place & high) ? place ^ next : place;
    bool differ = !(place & high) != !(place & next);
    return differ ? place ^ high ^ next : place;
}

/* Of odd g it leads from x to x - (g - 1) / 2, places counted in ones; counted in (g - 2)s in the
 * last node, 1 + 1 + (g - 2) such are 0. */
static int64_t
gpu_of_odd(int64_t place, int64_t g, enum standing standing)
{
    return standing == STANDING_LAST ? place * (g - 2) % g : place;
}

static int64_t
gpu_at(int64_t place, int64_t g, enum standing standing)
{
    return g % 2 == 0 ? gpu_of_even(place, g, standing) : gpu_of_odd(place, g, standing);
}

static int64_t
place_of(int64_t gpu, int64_t g, enum standing standing)
{
    int64_t place = 0;
    while (gpu_at(place, g, standing) != gpu)
        place++;
    return place;
}

/* Through the node from where a ring enters it; returns where it leaves it. */
static int64_t
pass_node(int64_t *order, int64_t entry, int64_t g, enum standing standing, bool is_back)
{
    int64_t first = place_of(entry, g, standing);
    int64_t start = is_back ? (first + (g - 1) / 2) % g : first;
    for (int64_t i = 0; i < g; i++)
        order[i] = gpu_at(zigzag(start, is_back ? g - 1 - i : i, g), g, standing);
    return order[g - 1];
}

bool
collective_rings_through_nodes(int64_t nodes, int64_t gpus, struct collective_rings *out,
                               struct arena *arena)
{
    int64_t g = gpus, turns = g % 2 == 0 ? 1 : 2;
    bool is_power = (g & (g - 1)) == 0 && g > 2;
    if (nodes % 2 != 0 && g % 2 == 0 && !is_power)
        return false;
    *out = rings_new(turns * g, nodes * g, arena);
    for (int64_t ring = 0; ring < out->count; ring++) {
        int64_t rail = ring % g;
        int64_t *order = out->members + ring * out->length;
        for (int64_t node = 0; node < nodes; node++) {
            /* Of even g each end leads back by itself; of odd, nodes take turns in pairs. */
            bool is_paired = nodes % 2 == 0 || node < nodes - 3;
            bool is_back = g % 2 != 0 && (is_paired ? (node + ring / g) % 2 != 0 : ring >= g);
            rail = pass_node(order + node * g, rail, g, standing_of(node, nodes), is_back);
            for (int64_t i = 0; i < g; i++)
                order[node * g + i] += node * g;
        }
    }
    return true;
}

void
collective_rings_path(int64_t gpus, int64_t first, int64_t *out)
{
    for (int64_t i = 0; i < gpus; i++)
        out[i] = zigzag(first, i, gpus);
}
