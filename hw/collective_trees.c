/* Two trees over the same members. */
#include "hw/collective_trees.h"

#include <stdbool.h>
#include <stddef.h>

enum { TREES = 2, NOBODY = -1 };

/* Which members the nodes of a tree are: numbers of the tree, mirrored or turned, and put behind
 * those before the first. */
struct numbering {
    int64_t count;
    int64_t first;
    int tree;
};

static int64_t
member_at(const struct numbering *numbering, int64_t node)
{
    int64_t n = numbering->count, place = node;
    if (numbering->tree == 1)
        place = n % 2 == 0 ? n - 1 - node : (node + 1) % n;
    return numbering->first + place;
}

/* 0 has the largest power of 2 below it; others, with b their lowest bit, node - b / 2 and the
 * first of node + b / 2, node + b / 4, .. that there is. False if it has no such child. */
static bool
child_of(int64_t node, int which, int64_t count, int64_t *child)
{
    int64_t half = 1;
    if (node == 0) {
        while (2 * half < count)
            half *= 2;
        *child = half;
        return which == 0 && count > 1;
    }
    half = (node & -node) / 2;
    *child = node - half;
    if (which == 1)
        for (*child = node + half; *child >= count && half > 0; *child = node + half)
            half /= 2;
    return half > 0;
}

static void
add_edge(struct collective_trees *trees, int64_t parent, int64_t child)
{
    trees->edges[trees->count++] = (struct tree_edge){.parent = parent, .child = child};
}

/* From the root on, each edge after the one above it. `nodes` has room for all. */
static void
add_tree(struct collective_trees *trees, const struct numbering *numbering, int64_t *nodes)
{
    int64_t known = 1;
    nodes[0] = 0;
    for (int64_t i = 0; i < known; i++)
        for (int which = 0; which < 2; which++)
            if (child_of(nodes[i], which, numbering->count, &nodes[known])) {
                add_edge(trees, member_at(numbering, nodes[i]),
                         member_at(numbering, nodes[known]));
                known++;
            }
}

/* Edges in turns: no two of one turn share a parent or a child. The twins of an edge are the other
 * one of its parent and the other one of its child; along them turns alternate. */
struct turns {
    int64_t (*twins)[2];
    int8_t *turns; /* by edge; NOBODY's while not known */
    int64_t *queue;
    int64_t count; /* 2, or 1 where no edge has a twin */
};

/* `last`: of that member's edges with it at that end, the one before, or NOBODY. */
static void
note_end(struct turns *turns, int64_t edge, int end, int64_t *last)
{
    turns->twins[edge][end] = *last;
    if (*last != NOBODY) {
        turns->twins[*last][end] = edge;
        turns->count = 2;
    }
    *last = edge;
}

static struct turns
find_twins(const struct collective_trees *trees, int64_t members, struct arena *arena)
{
    size_t count = (size_t)trees->count;
    struct turns turns = {.twins = arena_alloc(arena, count, sizeof *turns.twins),
                          .turns = arena_alloc(arena, count, sizeof *turns.turns),
                          .queue = arena_alloc(arena, count, sizeof *turns.queue),
                          .count = 1};
    int64_t *last = arena_alloc(arena, 2 * (size_t)members, sizeof *last);
    for (int64_t i = 0; i < 2 * members; i++)
        last[i] = NOBODY;
    for (int64_t i = 0; i < trees->count; i++) {
        turns.turns[i] = NOBODY;
        note_end(&turns, i, 0, &last[2 * trees->edges[i].parent]);
        note_end(&turns, i, 1, &last[2 * trees->edges[i].child + 1]);
    }
    return turns;
}

static void
alternate_from(struct turns *turns, int64_t edge, int64_t turn)
{
    int64_t count = 1;
    turns->queue[0] = edge;
    turns->turns[edge] = (int8_t)turn;
    for (int64_t i = 0; i < count; i++)
        for (int end = 0; end < 2; end++) {
            int64_t twin = turns->twins[turns->queue[i]][end];
            if (twin == NOBODY || turns->turns[twin] != NOBODY)
                continue;
            turns->turns[twin] = (int8_t)(1 - turns->turns[turns->queue[i]]);
            turns->queue[count++] = twin;
        }
}

/* Each edge in the first round of its turn after the one above it in the same tree; whose turn is
 * still open, in the very next. `begins`: of the trees' edges, and their end. */
static void
set_rounds(struct collective_trees *trees, const int64_t *begins, int64_t members,
           struct arena *arena)
{
    struct turns turns = find_twins(trees, members, arena);
    int64_t *received = arena_alloc(arena, (size_t)members, sizeof *received);
    trees->period = turns.count;
    for (int tree = 0; tree < TREES; tree++) {
        for (int64_t i = 0; i < members; i++)
            received[i] = NOBODY;
        for (int64_t i = begins[tree]; i < begins[tree + 1]; i++) {
            struct tree_edge *edge = &trees->edges[i];
            edge->round = received[edge->parent] + 1;
            if (turns.turns[i] == NOBODY)
                alternate_from(&turns, i, edge->round % turns.count);
            edge->round += edge->round % turns.count != turns.turns[i];
            received[edge->child] = edge->round;
            if (trees->first_rounds <= edge->round)
                trees->first_rounds = edge->round + 1;
        }
    }
}

static struct collective_trees
trees_over(int64_t members, bool is_below_first, struct arena *arena)
{
    struct collective_trees trees = {
        .edges = arena_alloc(arena, (size_t)(TREES * members), sizeof *trees.edges)};
    int64_t *nodes = arena_alloc(arena, (size_t)members + 1, sizeof *nodes);
    int64_t begins[TREES + 1] = {0};
    for (int tree = 0; tree < TREES; tree++) {
        struct numbering numbering = {
            .count = members - is_below_first, .first = is_below_first, .tree = tree};
        if (is_below_first)
            add_edge(&trees, 0, member_at(&numbering, 0));
        add_tree(&trees, &numbering, nodes);
        begins[tree + 1] = trees.count;
    }
    set_rounds(&trees, begins, members, arena);
    return trees;
}

struct collective_trees
collective_trees_over(int64_t members, struct arena *arena)
{
    return trees_over(members, false, arena);
}

struct collective_trees
collective_trees_below_first(int64_t members, struct arena *arena)
{
    return trees_over(members, true, arena);
}

int64_t
collective_trees_rounds(const struct collective_trees *trees, int64_t pieces)
{
    return trees->first_rounds + trees->period * (pieces - 1);
}
