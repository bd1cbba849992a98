/* Does a fused MoE cost what its products come to by hand? */
#include "hw/fused_moe_cost.h"

#include "hw/plain_device.h"
#include "sim/base/check_near.h"

Suite *fused_moe_cost_suite(void);

static struct kernel
experts(int64_t tokens, int64_t count, enum dtype dtype)
{
    return (struct kernel){
        .kind = KERNEL_FUSED_MOE,
        .dtype = dtype,
        .fused_moe = {
            .tokens = tokens, .width = 100, .expert_ffn = 50, .experts = count, .top_k = 1}};
}

static struct kernel_cost
price(const struct device *device, struct kernel kernel)
{
    struct kernel_cost cost;
    fused_moe_cost(device, &kernel, &cost);
    return cost;
}

/* One expert, 100 rows and half a tile of 32: 116. Gate and up are 4 * 116 * 100 * 50 flop at
 * 4e12 a second, 0.58 us, down half of that; two launches of 1 us. */
START_TEST(two_kernels_multiply_padded_rows)
{
    struct device device = plain_device();
    struct kernel kernel = experts(100, 1, DTYPE_BF16);
    CHECK_NEAR(price(&device, kernel).seconds_s, 2.87e-6, 1e-9);
    CHECK_NEAR(price(&device, kernel).flop, 3e6, 1e-12);
    CHECK_NEAR(price(&device, kernel).relative_sigma, 0.04, 1e-12);
    device.gemm.moe_fraction = 0.5;
    CHECK_NEAR(price(&device, kernel).seconds_s, 3.74e-6, 1e-9);
}
END_TEST

/* The same in 8 bits: one kernel, one launch. */
START_TEST(narrow_experts_are_one_kernel)
{
    struct device device = plain_device();
    device.gemm.boost_flop_per_s[DTYPE_FP8] = device.gemm.sustained_flop_per_s[DTYPE_FP8] =
        4e12;
    CHECK_NEAR(price(&device, experts(100, 1, DTYPE_FP8)).seconds_s, 1.87e-6, 1e-9);
}
END_TEST

/* Two tokens choose one of two experts each: 1.5 of them on average, 3 * 5,000 weights of 2 B each
 * at 1e9 B/s: 45 us. */
START_TEST(weights_of_chosen_experts_are_read)
{
    struct device device = plain_device();
    device.memory.hbm_read_bytes_per_s = 1e9;
    device.gemm.boost_flop_per_s[DTYPE_BF16] = device.gemm.sustained_flop_per_s[DTYPE_BF16] =
        1e30;
    struct kernel_cost cost = price(&device, experts(2, 2, DTYPE_BF16));
    CHECK_NEAR(cost.seconds_s, 2e-6 + 45e-6, 1e-9);
    CHECK_NEAR(cost.hbm_bytes, 45000, 1e-12);
    ck_assert_int_eq(cost.bound, BOUND_HBM);
}
END_TEST

/* 100 rows of 100 bf16 gathered, as many added back: 20 us each at 1e9 B/s; in 8 bits half as many
 * in beside as many out: 20 us. */
START_TEST(rows_go_to_experts_and_back)
{
    struct device device = plain_device();
    device.gemm.moe_row_bytes_per_s = 1e9;
    device.gemm.boost_flop_per_s[DTYPE_BF16] = device.gemm.sustained_flop_per_s[DTYPE_BF16] =
        1e30;
    device.gemm.boost_flop_per_s[DTYPE_FP8] = device.gemm.sustained_flop_per_s[DTYPE_FP8] =
        1e30;
    CHECK_NEAR(price(&device, experts(100, 1, DTYPE_BF16)).seconds_s, 42e-6, 1e-9);
    CHECK_NEAR(price(&device, experts(100, 1, DTYPE_FP8)).seconds_s, 21e-6, 1e-9);
}
END_TEST

/* From one token to a billion, of 1 to 1,024 experts: never quicker, never without end. */
START_TEST(more_tokens_take_no_less)
{
    struct device device = plain_device();
    device.memory.hbm_read_bytes_per_s = device.gemm.moe_row_bytes_per_s = 1e10;
    for (int64_t count = 1; count <= 1024; count *= 32) {
        double before_s = 0;
        for (int64_t tokens = 1; tokens <= 1000000000; tokens *= 10) {
            double seconds_s = price(&device, experts(tokens, count, DTYPE_BF16)).seconds_s;
            ck_assert(isfinite(seconds_s) && seconds_s >= before_s);
            before_s = seconds_s;
        }
    }
}
END_TEST

Suite *
fused_moe_cost_suite(void)
{
    Suite *suite = suite_create("fused_moe_cost");
    TCase *tests = tcase_create("");
    tcase_add_test(tests, two_kernels_multiply_padded_rows);
    tcase_add_test(tests, narrow_experts_are_one_kernel);
    tcase_add_test(tests, weights_of_chosen_experts_are_read);
    tcase_add_test(tests, rows_go_to_experts_and_back);
    tcase_add_test(tests, more_tokens_take_no_less);
    suite_add_tcase(suite, tests);
    return suite;
}
