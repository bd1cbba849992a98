/* How many collectives a second one core prices: every kind, on the groups that plans make. */
#include <stdio.h>
#include <stdlib.h>

#include "hw/collective.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_clock.h"

enum { ROUNDS = 2000, SIZES = 8 };

/* A node, half of one, a rail, two GPUs of each node, everything. */
static const struct rank_group GROUPS[] = {{.size = 8, .stride = 1},
                                           {.first = 4, .size = 4, .stride = 1},
                                           {.first = 3, .size = 128, .stride = 8},
                                           {.first = 1, .size = 256, .stride = 4},
                                           {.size = 1024, .stride = 1}};

static double
price_all(const struct cluster *cluster, long *count)
{
    struct error_list errors = {0};
    double sum_s = 0;
    for (size_t g = 0; g < sizeof GROUPS / sizeof *GROUPS; g++)
        for (int i = 0; i < COLLECTIVE_SEND_RECV * SIZES; i++) {
            struct collective collective = {
                .kind = (enum collective_kind)(i / SIZES),
                .group = GROUPS[g],
                .bytes = (double)(1LL << (10 + 3 * (i % SIZES))),
            };
            struct collective_cost cost;
            if (collective_cost(cluster, &collective, &cost, &errors))
                sum_s += cost.latency_s + cost.transfer_s;
            ++*count;
        }
    return sum_s;
}

int
main(void)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct json *object =
        json_read_file(arena, "configs/clusters/mi300x-pollara-128.json", &errors);
    const struct cluster *cluster = object ? cluster_read(object, arena, &errors) : NULL;
    if (!cluster) {
        fprintf(stderr, "%s: %s\n", errors.items[0].where, errors.items[0].what);
        return EXIT_FAILURE;
    }
    long count = 0;
    double start_s = check_cpu_s(), sum_s = 0;
    for (int i = 0; i < ROUNDS; i++)
        sum_s += price_all(cluster, &count);
    if (sum_s > 0)
        printf("collective_prices_per_s %.0f\n", (double)count / (check_cpu_s() - start_s));
    arena_free(arena);
    return EXIT_SUCCESS;
}
