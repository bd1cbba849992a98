/* Is a Newton-Schulz step the sum of its three products? */
#include "hw/newton_schulz_cost.h"

#include "hw/plain_device.h"
#include "sim/base/check_near.h"

Suite *newton_schulz_cost_suite(void);

static struct kernel
newton_schulz(int64_t m, int64_t n, int64_t steps, bool is_symmetric)
{
    return (struct kernel){.kind = KERNEL_NEWTON_SCHULZ,
                           .dtype = DTYPE_BF16,
                           .newton_schulz = {m, n, steps, is_symmetric}};
}

/* 300 x 300 from depth 300: 9 tiles of 6 us in three rounds, 18 us, and the launch, 19 us;
 * three of them a step. Symmetric, two have 6 tiles in two rounds: 13 us. */
START_TEST(a_step_is_three_products)
{
    struct device device = plain_device();
    struct kernel_cost cost;
    struct kernel generic = newton_schulz(300, 300, 2, false);
    newton_schulz_cost(&device, &generic, &cost);
    CHECK_NEAR(cost.seconds_s, 2 * 57e-6, 1e-9);
    struct kernel symmetric = newton_schulz(300, 300, 2, true);
    newton_schulz_cost(&device, &symmetric, &cost);
    CHECK_NEAR(cost.seconds_s, 2 * 45e-6, 1e-9);
}
END_TEST

/* X of 300 x 300 bf16 is 180,000 B: at 1e11 B/s the norm reads it in 1.8 us, and the division
 * reads and writes it in 3.6 us, doubled where reads and writes mix; two launches of 1 us. A
 * step is 57 us as above and moves three times two operands and a result. */
START_TEST(the_norm_is_two_passes_before_the_first_step)
{
    struct device device = plain_device();
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 1e11;
    device.memory.mixed_fraction = 0.5;
    device.streams[KERNEL_ELEMENTWISE][0].fixed_s = 1e-6;
    struct kernel kernel = newton_schulz(300, 300, 1, false);
    struct kernel_cost cost;
    newton_schulz_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 2e-6 + 1.8e-6 + 7.2e-6 + 57e-6, 1e-12);
    CHECK_NEAR(cost.hbm_bytes, 3 * 180000 + 9 * 180000, 1e-12);
    ck_assert_int_eq(cost.tiles, 27);
}
END_TEST

/* ZAYA1's expert fc1, 2048 x 4096, five steps: 429 GFLOP generic, 301 GFLOP symmetric:
 * 5 (4 s^2 l + 2 s^3), s = 2^11, l = 2^12: 5 (2^36 + 2^34); 5 (3 s^2 l + s^3): 5 * 7 * 2^33. */
START_TEST(flop_follow_the_shorter_side)
{
    struct kernel generic = newton_schulz(2048, 4096, 5, false);
    struct kernel turned = newton_schulz(4096, 2048, 5, false);
    struct kernel symmetric = newton_schulz(2048, 4096, 5, true);
    CHECK_NEAR(kernel_flop(&generic), 5 * (0x1p36 + 0x1p34), 1e-15);
    CHECK_NEAR(kernel_flop(&turned), kernel_flop(&generic), 1e-15);
    CHECK_NEAR(kernel_flop(&symmetric), 35 * 0x1p33, 1e-15);
}
END_TEST

Suite *
newton_schulz_cost_suite(void)
{
    Suite *suite = suite_create("newton_schulz_cost");
    TCase *tests = tcase_create("by hand");
    tcase_add_test(tests, a_step_is_three_products);
    tcase_add_test(tests, the_norm_is_two_passes_before_the_first_step);
    tcase_add_test(tests, flop_follow_the_shorter_side);
    suite_add_tcase(suite, tests);
    return suite;
}
