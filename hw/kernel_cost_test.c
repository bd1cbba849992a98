/* On the shipped devices, are prices sane: finite, growing with the work, near published
 * points? */
#include "hw/kernel_cost.h"

#include <math.h>
#include <string.h>

#include "hw/check_device.h"
#include "hw/plain_device.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *kernel_cost_suite(void);

static const char *const files[] = {"mi300x", "h200", "h100-sxm", "a100-80gb", "mi325x"};

static struct kernel_cost
price(const struct device *device, const struct kernel *kernel)
{
    struct error_list errors = {0};
    struct kernel_cost cost;
    ck_assert_msg(kernel_cost(device, kernel, &cost, &errors), "%s", errors.items[0].what);
    return cost;
}

static struct kernel
gemm(int64_t m, int64_t n, int64_t k)
{
    return (struct kernel){
        .kind = KERNEL_GEMM, .dtype = DTYPE_BF16, .gemm = {m, n, k, 1, GEMM_NT}};
}

static const int64_t expert_rows[] = {900, 300, 0, 848};

/* One of each kind, as training ZAYA1-base on 8,192 tokens asks for them. */
static const struct kernel every_kind[] = {
    {KERNEL_GEMM, DTYPE_BF16, .gemm = {8192, 262272, 2048, 1, GEMM_NT}},
    {KERNEL_GROUPED_GEMM, DTYPE_BF16, .grouped_gemm = {expert_rows, 4, 4096, 2048}},
    {KERNEL_FUSED_MOE, DTYPE_BF16, .fused_moe = {8192, 2048, 2048, 16, 1}},
    {KERNEL_ATTENTION, DTYPE_BF16,
     .attention = {2, 4096, 4096, 8, 2, 128, true, NULL, NULL, 0, 0}},
    {KERNEL_ELEMENTWISE, DTYPE_BF16, .elementwise = {NULL, 1 << 24, 6.7e7, 3.4e7, 1}},
    {KERNEL_RMS_NORM, DTYPE_BF16, .rows_by_width = {8192, 2048}},
    {KERNEL_SOFTMAX, DTYPE_FP32, .rows_by_width = {8192, 16}},
    {KERNEL_GATHER, DTYPE_BF16, .rows_by_width = {8192, 2048}},
    {KERNEL_SCATTER_ADD, DTYPE_BF16, .rows_by_width = {8192, 2048}},
    {KERNEL_TRANSPOSE, DTYPE_BF16, .rows_by_width = {8192, 2048}},
    {KERNEL_TOP_K, DTYPE_FP32, .top_k = {8192, 16, 1}},
    {KERNEL_CROSS_ENTROPY, DTYPE_FP32, .cross_entropy = {8192, 262272}},
    {KERNEL_CONVOLUTION, DTYPE_BF16, .convolution = {8192, 1280, 2, 10}},
    {KERNEL_ADAMW, DTYPE_BF16, .adamw = {8633000}},
    {KERNEL_NEWTON_SCHULZ, DTYPE_BF16, .newton_schulz = {2048, 4096, 5, true}},
    {KERNEL_COPY, .copy = {1e9, COPY_HBM, COPY_HOST}},
};

START_TEST(every_kind_has_a_finite_price_and_reason)
{
    struct arena *arena = check_arena_new();
    const struct device *device = check_device_read(arena, files[_i]);
    for (size_t i = 0; i < sizeof every_kind / sizeof every_kind[0]; i++) {
        struct kernel_cost cost = price(device, &every_kind[i]);
        ck_assert_uint_eq(every_kind[i].kind, i);
        ck_assert(isfinite(cost.seconds_s) && cost.seconds_s > 0);
        ck_assert(cost.relative_sigma > 0 && cost.relative_sigma < 1);
        ck_assert(cost.compute_fraction >= 0 && cost.compute_fraction <= 1);
        ck_assert(cost.hbm_fraction >= 0 && cost.hbm_fraction <= 1);
        ck_assert_ptr_nonnull(kernel_bound_name(cost.bound));
        CHECK_NEAR(cost.flop, kernel_flop(&every_kind[i]), 1e-12);
        if (cost.flop > 0)
            ck_assert(cost.flop / cost.seconds_s <
                      device->peak_flop_per_s[every_kind[i].dtype]);
    }
    arena_free(arena);
}
END_TEST

/* Depths from 16 to 10^5, each half as much again. */
START_TEST(a_deeper_product_is_never_quicker)
{
    struct arena *arena = check_arena_new();
    const struct device *device = check_device_read(arena, files[_i]);
    const int64_t sides[] = {1, 48, 500, 1111, 8192, 60000};
    for (int i = 0; i < 36; i++) {
        double before_s = 0;
        for (int64_t k = 16; k < 100000; k += k / 2) {
            struct kernel kernel = gemm(sides[i % 6], sides[i / 6], k);
            double now_s = price(device, &kernel).seconds_s;
            ck_assert_msg(now_s >= before_s, "%lld x %lld x %lld: %g s after %g s",
                          (long long)kernel.gemm.m, (long long)kernel.gemm.n, (long long)k,
                          now_s, before_s);
            before_s = now_s;
        }
    }
    arena_free(arena);
}
END_TEST

/* 8192^3 in bf16, a hundred in a row, reaches 656 and 630 TFLOP/s (Primus-Turbo's list; Primus'
 * node-smoke test 724 and 765); stas00's MAMF finder, at its best 10240 x 15360 x 8192, 668;
 * aiter's tuner, 4096^3, 564. */
START_TEST(mi300x_products_come_near_the_published_rates)
{
    struct arena *arena = check_arena_new();
    const struct device *device = check_device_read(arena, "mi300x");
    struct kernel cube = gemm(8192, 8192, 8192), wide = gemm(10240, 15360, 8192);
    struct kernel small = gemm(4096, 4096, 4096);
    CHECK_NEAR(kernel_flop(&cube) / price(device, &cube).seconds_s, 643e12, 0.05);
    CHECK_NEAR(kernel_flop(&wide) / price(device, &wide).seconds_s, 668e12, 0.09);
    CHECK_NEAR(kernel_flop(&small) / price(device, &small).seconds_s, 564e12, 0.07);
    arena_free(arena);
}
END_TEST

/* 262,272 logits of 8,192 tokens in fp32 are 8.59 GB: at 5.3 TB/s never under 1.62 ms a pass, of
 * which there are four forward and five backward. */
START_TEST(wide_vocabularies_cost_milliseconds)
{
    struct arena *arena = check_arena_new();
    const struct device *device = check_device_read(arena, "mi300x");
    struct kernel kernel = every_kind[KERNEL_CROSS_ENTROPY];
    double forward_s = price(device, &kernel).seconds_s;
    kernel.direction = DIRECTION_BACKWARD;
    double backward_s = price(device, &kernel).seconds_s;
    ck_assert(forward_s > 4 * 1.62e-3 && forward_s < 10e-3);
    ck_assert(backward_s > 5 * 1.62e-3 && backward_s < 13e-3);
    arena_free(arena);
}
END_TEST

START_TEST(what_the_device_lacks_is_refused_by_name)
{
    struct device device = plain_device();
    struct error_list errors = {0};
    struct kernel_cost cost;
    struct kernel kernel = gemm(8, 8, 8);
    kernel.dtype = DTYPE_FP8;
    ck_assert(!kernel_cost(&device, &kernel, &cost, &errors));
    ck_assert_str_eq(errors.items[0].what, "plain has no matrix rate for fp8");
    kernel = every_kind[KERNEL_ATTENTION];
    kernel.attention.implementation = "cudnn";
    ck_assert(!kernel_cost(&device, &kernel, &cost, &errors));
    ck_assert_str_eq(errors.items[1].what,
                     "plain knows no attention implementation \"cudnn\"; wanted plain");
    ck_assert_int_eq(errors.items[1].kind, ERROR_INPUT);
}
END_TEST

/* 1 us at 0.5 and twice 2 us at 0.25: 5 us at 0.3; HBM (1 * 0.2 + 4 * 0.7) / 5 = 0.6, sigma
 * (1 * 0.1 + 4 * 0.05) / 5 = 0.06. */
START_TEST(parts_add_up_and_fractions_average_over_time)
{
    struct kernel_cost sum = {.seconds_s = 1e-6,
                              .compute_fraction = 0.5,
                              .hbm_fraction = 0.2,
                              .relative_sigma = 0.1,
                              .flop = 7,
                              .bound = BOUND_HBM,
                              .tiles = 3,
                              .hbm_bytes = 10};
    struct kernel_cost part = {.seconds_s = 2e-6,
                               .compute_fraction = 0.25,
                               .hbm_fraction = 0.7,
                               .relative_sigma = 0.05,
                               .flop = 3,
                               .bound = BOUND_COMPUTE,
                               .tiles = 4,
                               .hbm_bytes = 5};
    kernel_cost_add(&sum, &part, 2);
    CHECK_NEAR(sum.seconds_s, 5e-6, 1e-12);
    CHECK_NEAR(sum.compute_fraction, 0.3, 1e-12);
    CHECK_NEAR(sum.hbm_bytes, 20, 1e-12);
    CHECK_NEAR(sum.hbm_fraction, 0.6, 1e-12);
    CHECK_NEAR(sum.relative_sigma, 0.06, 1e-12);
    CHECK_NEAR(sum.flop, 13, 1e-12);
    ck_assert_int_eq(sum.tiles, 11);
    ck_assert_int_eq(sum.bound, BOUND_COMPUTE);
}
END_TEST

Suite *
kernel_cost_suite(void)
{
    Suite *suite = suite_create("kernel_cost");
    TCase *tests = tcase_create("shipped devices");
    tcase_add_loop_test(tests, every_kind_has_a_finite_price_and_reason, 0, 5);
    tcase_add_loop_test(tests, a_deeper_product_is_never_quicker, 0, 5);
    tcase_add_test(tests, mi300x_products_come_near_the_published_rates);
    tcase_add_test(tests, wide_vocabularies_cost_milliseconds);
    tcase_add_test(tests, what_the_device_lacks_is_refused_by_name);
    tcase_add_test(tests, parts_add_up_and_fractions_average_over_time);
    suite_add_tcase(suite, tests);
    return suite;
}
