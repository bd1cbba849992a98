/* Does attention cost what its tiles of queries and keys come to by hand? */
#include "hw/attention_cost.h"

#include "hw/plain_device.h"
#include "sim/base/check_near.h"

Suite *attention_cost_suite(void);

static struct kernel
attention(int64_t heads, enum direction direction, bool is_causal)
{
    return (struct kernel){.kind = KERNEL_ATTENTION,
                           .dtype = DTYPE_BF16,
                           .direction = direction,
                           .attention = {.batch = 1,
                                         .q_len = 400,
                                         .kv_len = 400,
                                         .q_heads = heads,
                                         .kv_heads = 1,
                                         .head_dim = 25,
                                         .is_causal = is_causal}};
}

static double
price_s(const struct device *device, const struct kernel *kernel)
{
    struct kernel_cost cost;
    attention_cost(device, kernel, &cost);
    return cost.seconds_s;
}

/* A pair: 4 * 25 flop and one exponential at 1e12 a second a unit: 101 ps. A walk: 100 * 400 pairs,
 * 4.04 us, and 1 us of its own; four walks on four units; 2 us around them. */
START_TEST(forward_walks_over_all_keys)
{
    struct device device = plain_device();
    struct kernel kernel = attention(1, DIRECTION_FORWARD, false);
    CHECK_NEAR(price_s(&device, &kernel), 7.04e-6, 1e-9);
}
END_TEST

/* Walks of 1, 2, 3, 4 tiles, 2.5 on average: 3.525 us. 160 of them on 4 units: 141 us, and half of
 * the longest, 2.52 us; all four long it would be 40 * 5.04 us = 201.6 us. */
START_TEST(a_causal_mask_skips_tiles)
{
    struct device device = plain_device();
    struct kernel causal = attention(40, DIRECTION_FORWARD, true);
    struct kernel whole = attention(40, DIRECTION_FORWARD, false);
    CHECK_NEAR(price_s(&device, &causal), 145.52e-6, 1e-9);
    CHECK_NEAR(price_s(&device, &whole), 203.6e-6, 1e-9);
}
END_TEST

/* One round: the longest walk decides, masked or not. */
START_TEST(a_causal_mask_never_costs_time)
{
    struct device device = plain_device();
    struct kernel causal = attention(1, DIRECTION_FORWARD, true);
    CHECK_NEAR(price_s(&device, &causal), 7.04e-6, 1e-9);
}
END_TEST

/* Five products for two: 10 * 25 flop and an exponential a pair, 251 ps; 10.04 us a walk. */
START_TEST(backward_forms_five_products)
{
    struct device device = plain_device();
    struct kernel kernel = attention(1, DIRECTION_BACKWARD, false);
    CHECK_NEAR(price_s(&device, &kernel), 13.04e-6, 1e-9);
    CHECK_NEAR(kernel_flop(&kernel), 5 * 2 * 25 * 400.0 * 400, 1e-12);
}
END_TEST

/* One query, padded to 16, on 400 keys: one walk of 4 tiles is split over the four units: 16 * 100
 * pairs of 101 ps. */
START_TEST(a_single_query_splits_its_keys)
{
    struct device device = plain_device();
    struct kernel kernel = attention(1, DIRECTION_FORWARD, false);
    kernel.attention.q_len = 1;
    CHECK_NEAR(price_s(&device, &kernel), 2e-6 + 1e-6 + 1600 * 101e-12, 1e-9);
}
END_TEST

/* Q, K, V, O of 400 * 25 * 2 B = 20,000 B each, at 1e9 B/s: 80 us. */
START_TEST(slow_memory_bounds_attention)
{
    struct device device = plain_device();
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 1e9;
    struct kernel kernel = attention(1, DIRECTION_FORWARD, false);
    struct kernel_cost cost;
    attention_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 82e-6, 1e-9);
    CHECK_NEAR(cost.hbm_bytes, 80000, 1e-12);
    ck_assert_int_eq(cost.bound, BOUND_HBM);
}
END_TEST

START_TEST(implementations_are_found_by_name)
{
    struct device device = plain_device();
    ck_assert_ptr_eq(attention_implementation(&device, NULL), &device.attention[0]);
    ck_assert_ptr_eq(attention_implementation(&device, "plain"), &device.attention[0]);
    ck_assert_ptr_null(attention_implementation(&device, "fancy"));
}
END_TEST

Suite *
attention_cost_suite(void)
{
    Suite *suite = suite_create("attention_cost");
    TCase *tests = tcase_create("by hand");
    tcase_add_test(tests, forward_walks_over_all_keys);
    tcase_add_test(tests, a_causal_mask_skips_tiles);
    tcase_add_test(tests, a_causal_mask_never_costs_time);
    tcase_add_test(tests, backward_forms_five_products);
    tcase_add_test(tests, a_single_query_splits_its_keys);
    tcase_add_test(tests, slow_memory_bounds_attention);
    tcase_add_test(tests, implementations_are_found_by_name);
    suite_add_tcase(suite, tests);
    return suite;
}
