/* How fast flow lists are: read, and run on 16 nodes of 8 GPUs, from a ring to no pattern at all.
 */
#include "models/flow_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_clock.h"

enum {
    NODES = 16,
    GPUS = 8,
    RANKS = NODES * GPUS,
    RINGS = 8,
    RUNS = 3, /* the quickest counts */
    RANDOM_FLOWS = 1000000
};

/* Below bound: Marsaglia, Xorshift RNGs (2003), triple 13, 7, 17. */
static uint32_t
random_below(uint64_t *state, uint32_t bound)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 33) % bound;
}

/* The rank at a place of one of the rings (ROCm/rccl rome_models.cc, rome_model_81): nodes are
 * passed forward and backward by turns, so that a ring enters a node on the rail it left. */
static int
ring_rank(int ring, int place)
{
    static const int gpus[RINGS][GPUS] = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 2, 4, 3, 5, 7, 6},
                                          {2, 5, 0, 3, 6, 1, 7, 4}, {3, 7, 0, 4, 2, 1, 6, 5},
                                          {4, 6, 2, 7, 3, 0, 5, 1}, {5, 4, 7, 1, 3, 2, 6, 0},
                                          {6, 3, 1, 4, 0, 7, 5, 2}, {7, 2, 0, 6, 4, 1, 5, 3}};
    int node = place / GPUS, step = place % GPUS;
    return node * GPUS + gpus[ring][node % 2 == 0 ? step : GPUS - 1 - step];
}

/* An all-gather: 127 steps of 1 MiB, each after what it passes on and what it sent before. */
static void
write_ring(struct text *rows)
{
    int id = 0;
    for (int ring = 0; ring < RINGS; ring++)
        for (int step = 0; step < RANKS - 1; step++)
            for (int place = 0; place < RANKS; place++, id++) {
                int before = id - RANKS;
                text_format(rows, "%d,0,%d,%d,1048576,", id, ring_rank(ring, place),
                            ring_rank(ring, (place + 1) % RANKS));
                if (step > 0)
                    text_format(rows, "%d;%d", place > 0 ? before - 1 : before + RANKS - 1,
                                before);
                text_format(rows, "\n");
            }
}

static void
write_all_to_all(struct text *rows)
{
    for (int from = 0; from < RANKS; from++)
        for (int to = 0; to < RANKS; to++)
            if (from != to)
                text_format(rows, "%d-%d,0,%d,%d,1048576,\n", from, to, from, to);
}

/* As routing that favours some experts: what a rank receives falls as one over its place in a
 * random order, and each pair's part is random. */
static void
write_skewed(struct text *rows)
{
    uint64_t state = 88172645463325252;
    for (int to = 0; to < RANKS; to++) {
        uint32_t popularity = 1 + random_below(&state, RANKS);
        for (int from = 0; from < RANKS; from++)
            if (from != to)
                text_format(rows, "%d-%d,0,%d,%d,%u,\n", from, to, from, to,
                            1 + random_below(&state, 100000000 / popularity));
    }
}

/* Any rank to any other, any size up to 1 MiB, any time in a second: about 200 at once. */
static void
write_random(struct text *rows)
{
    uint64_t state = 88172645463325252;
    for (int i = 0; i < RANDOM_FLOWS; i++) {
        uint32_t from = random_below(&state, RANKS);
        uint32_t to = (from + 1 + random_below(&state, RANKS - 1)) % RANKS;
        text_format(rows, "%d,0.%06u,%u,%u,%u,\n", i, random_below(&state, 1000000), from, to,
                    1 + random_below(&state, 1048576));
    }
}

static const struct cluster *
read_cluster(struct arena *arena, struct error_list *errors)
{
    const struct json *object =
        json_read_file(arena, "configs/clusters/reference-rails-16.json", errors);
    const struct cluster *cluster = object ? cluster_read(object, arena, errors) : NULL;
    if (!cluster)
        exit(EXIT_FAILURE);
    return cluster;
}

struct result {
    double read_s, run_s;
    double flow_count;
};

static struct result
run_once(const struct text *rows)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct cluster *cluster = read_cluster(arena, &errors);
    double begin_s = check_cpu_s();
    const struct flow_list *list = flow_list_read("bench", rows, RANKS, arena, &errors);
    double read_s = check_cpu_s();
    if (!list || !flow_times_find(list, &(struct flow_wires){.cluster = cluster, .seed = 1},
                                  arena, &errors))
        exit(EXIT_FAILURE);
    double end_s = check_cpu_s();
    struct result result = {read_s - begin_s, end_s - read_s, (double)list->count};
    arena_free(arena);
    return result;
}

struct bench_list {
    const char *name;
    void (*write_rows)(struct text *rows);
};

static void
measure(const struct bench_list *bench, const struct text *rows)
{
    struct result best = run_once(rows);
    for (int i = 1; i < RUNS; i++) {
        struct result result = run_once(rows);
        best.read_s = result.read_s < best.read_s ? result.read_s : best.read_s;
        best.run_s = result.run_s < best.run_s ? result.run_s : best.run_s;
    }
    (void)printf("flows_%s_count %.0f\n", bench->name, best.flow_count);
    (void)printf("flows_%s_read_s %.4g\n", bench->name, best.read_s);
    (void)printf("flows_%s_run_s %.4g\n", bench->name, best.run_s);
}

/* All lists; or, with its name, one to standard output for the whole program to read. */
int
main(int count, char **words)
{
    static const struct bench_list lists[] = {{"ring", write_ring},
                                              {"all_to_all", write_all_to_all},
                                              {"skewed_all_to_all", write_skewed},
                                              {"random", write_random}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (count > 1 && strcmp(words[1], lists[i].name) != 0)
            continue;
        struct arena *arena = check_arena_new();
        struct text rows = text_new(arena);
        text_format(&rows, "id,start_s,src,dst,bytes,deps\n");
        lists[i].write_rows(&rows);
        if (count > 1)
            (void)fputs(rows.bytes, stdout);
        else
            measure(&lists[i], &rows);
        arena_free(arena);
    }
    return EXIT_SUCCESS;
}
