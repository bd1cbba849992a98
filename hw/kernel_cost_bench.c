/* How many products a second one core prices, over shapes of training and of decoding. */
#include <stdio.h>
#include <stdlib.h>

#include "hw/kernel_cost.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_clock.h"

enum { ROUNDS = 200, SIDES = 12 };

/* Every product of three sides from 8 up, each 1.9 times the one before and odd ones among them. */
static double
price_all(const struct device *device, long *count)
{
    struct error_list errors = {0};
    struct kernel kernel = {.kind = KERNEL_GEMM, .dtype = DTYPE_BF16, .gemm = {.batch = 1}};
    const int64_t sides[SIDES] = {8, 15, 29, 55, 104, 198, 376, 715, 1358, 2580, 4903, 9315};
    double sum_s = 0;
    for (int i = 0; i < SIDES * SIDES * SIDES; i++) {
        kernel.gemm.m = sides[i % SIDES];
        kernel.gemm.n = sides[i / SIDES % SIDES];
        kernel.gemm.k = sides[i / SIDES / SIDES];
        struct kernel_cost cost;
        if (kernel_cost(device, &kernel, &cost, &errors))
            sum_s += cost.seconds_s;
        ++*count;
    }
    return sum_s;
}

int
main(void)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct json *object = json_read_file(arena, "configs/devices/mi300x.json", &errors);
    const struct device *device = object ? device_read(object, arena, &errors) : NULL;
    if (!device) {
        fprintf(stderr, "%s: %s\n", errors.items[0].where, errors.items[0].what);
        return EXIT_FAILURE;
    }
    long count = 0;
    double start_s = check_cpu_s(), sum_s = 0;
    for (int i = 0; i < ROUNDS; i++)
        sum_s += price_all(device, &count);
    if (sum_s > 0)
        printf("gemm_prices_per_s %.0f\n", (double)count / (check_cpu_s() - start_s));
    arena_free(arena);
    return EXIT_SUCCESS;
}
