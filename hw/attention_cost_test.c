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

/* A pair: 4 * 25 flop and one exponential at 1e12 a second a unit: 101 ps. A walk: 100 * 400
 * pairs, 4.04 us, and 1 us of its own; four walks on four units; 2 us around them. */
START_TEST(forward_walks_over_all_keys)
{
    struct device device = plain_device();
    struct kernel kernel = attention(1, DIRECTION_FORWARD, false);
    CHECK_NEAR(price_s(&device, &kernel), 7.04e-6, 1e-9);
}
END_TEST

/* Walks of 1, 2, 3, 4 tiles, 2.5 on average: 3.525 us. 160 of them on 4 units: 141 us, and
 * half of the longest, 2.52 us; all four long it would be 40 * 5.04 us = 201.6 us. */
START_TEST(a_causal_mask_skips_tiles)
{
    struct device device = plain_device();
    struct kernel causal = attention(40, DIRECTION_FORWARD, true);
    struct kernel whole = attention(40, DIRECTION_FORWARD, false);
    CHECK_NEAR(price_s(&device, &causal), 145.52e-6, 1e-9);
    CHECK_NEAR(price_s(&device, &whole), 203.6e-6, 1e-9);
}
END_TEST

/* Two heads' queries and outputs, 2 x 400 x 25; keys and values of one, 50 channels, of which 10
 * are both: 40 x 400. Two bytes each. */
START_TEST(values_within_keys_are_read_once)
{
    struct device device = plain_device();
    struct kernel kernel = attention(2, DIRECTION_FORWARD, false);
    struct kernel_cost cost;
    kernel.attention.shared_dim = 10;
    attention_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.hbm_bytes, 2 * (2 * 2 * 400 * 25 + 40 * 400), 1e-12);
}
END_TEST

/* Two heads of 1, 2, 3, 4 tiles on four units that hold two walks each: the last unit gets the
 * longest of both, 2 x (1 us + 4.04 us). Of 40 heads more come than there is room for: they even
 * out as above, less than the first round's on no unit. */
START_TEST(walks_by_their_number_pile_up)
{
    struct device device = plain_device();
    struct kernel two = attention(2, DIRECTION_FORWARD, true);
    struct kernel many = attention(40, DIRECTION_FORWARD, true);
    device.attention[0].passes[DIRECTION_FORWARD].unit_walks = 2;
    device.attention[0].is_placed_in_order = true;
    CHECK_NEAR(price_s(&device, &two), 12.08e-6, 1e-9);
    CHECK_NEAR(price_s(&device, &many), 145.52e-6, 1e-9);
}
END_TEST

/* Keys of two heads: 4 walks, one a unit, of 2 x 100 x 400 pairs of 4 products and an exponential,
 * 201 ps; queries: 8 walks in two rounds of 100 x 400 pairs of 3, 151 ps; 1 us each. */
START_TEST(a_kernel_for_keys_and_one_for_queries)
{
    struct device device = plain_device();
    struct kernel kernel = attention(2, DIRECTION_BACKWARD, false);
    device.attention[0].has_query_kernel = true;
    double keys_s = 1e-6 + 80000 * 201e-12, queries_s = 1e-6 + 40000 * 151e-12;
    double around_s = 2.0 * 2 * 2 * 400 * 25 / device.memory.hbm_read_bytes_per_s;
    CHECK_NEAR(price_s(&device, &kernel), 2e-6 + keys_s + 2 * queries_s + around_s, 1e-9);
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

/* One query on 400 keys, computed as 64 and split into three parts of at least 128 keys: 64 *
 * 400 / 3 pairs of 101 ps, 0.862 us, where the whole walk would take 4.04 us. */
START_TEST(a_single_query_splits_its_keys)
{
    struct device device = plain_device();
    struct kernel kernel = attention(1, DIRECTION_FORWARD, false);
    kernel.attention.q_len = 1;
    CHECK_NEAR(price_s(&device, &kernel), 2e-6 + 1e-6 + 25600.0 / 3 * 101e-12, 1e-9);
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

/* 40 heads, 400 queries at the end of 800 keys, all tiles of 100: walks of 5, 6, 7, 8 tiles.
 * 160 of 1 us + 65,000 pairs of 101 ps = 7.565 us on 4 units: 302.6 us; half of the longest, 1
 * us + 80,000 pairs = 9.08 us. */
START_TEST(queries_see_all_keys_before_the_first_of_them)
{
    struct device device = plain_device();
    struct kernel kernel = attention(40, DIRECTION_FORWARD, true);
    kernel.attention.kv_len = 800;
    CHECK_NEAR(price_s(&device, &kernel), 2e-6 + 302.6e-6 + 4.54e-6, 1e-9);
}
END_TEST

/* The same from the keys' side: four tiles of keys are seen by all queries (4 tiles), four by
 * 4, 3, 2, 1: 3.25 on average. 320 walks of 1 us + 32,500 pairs of 251 ps = 9.1575 us on 4
 * units: 732.6 us; half of the longest, 1 us + 40,000 pairs = 11.04 us. */
START_TEST(early_keys_are_seen_by_all_queries)
{
    struct device device = plain_device();
    struct kernel kernel = attention(40, DIRECTION_BACKWARD, true);
    kernel.attention.kv_len = 800;
    CHECK_NEAR(price_s(&device, &kernel), 2e-6 + 732.6e-6 + 5.52e-6, 1e-9);
}
END_TEST

/* Two heads on one of keys, 400 queries, 200 keys, of 25 bf16: Q, O, dO, dQ 40,000 B each, K,
 * V 10,000 B, the sums of dQ in fp32 80,000 B. At 1e9 B/s read and 2e9 written: O and dO
 * first, 80 us; then Q, dO, K, V in and the sums and each head's dK, dV out, 100 + 60 us; sums
 * in, dQ out, 80 + 20; two heads' dK, dV in and their sum out, 40 + 10. */
START_TEST(backward_runs_small_kernels_around_the_large_one)
{
    struct device device = plain_device();
    device.memory.hbm_read_bytes_per_s = 1e9;
    device.memory.hbm_write_bytes_per_s = 2e9;
    struct kernel kernel = attention(2, DIRECTION_BACKWARD, false);
    kernel.attention.kv_len = 200;
    struct kernel_cost cost;
    attention_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.hbm_bytes, 480000, 1e-12);
    CHECK_NEAR(cost.seconds_s, 2e-6 + 80e-6 + 160e-6 + 100e-6 + 50e-6, 1e-12);
}
END_TEST

/* 400 queries of 40 heads, each seeing 101 keys: tiles of queries see 1, 2, 2, 2 tiles of
 * keys, 1.75 on average: 1 us + 17,500 pairs of 101 ps = 2.7675 us; 160 on 4 units and half of
 * the longest, 1 us + 20,000 pairs: 110.7 + 1.51 us. A window of 102 reaches a key of the tile
 * before: 1, 2, 3, 3 tiles. */
START_TEST(a_window_ends_the_walks)
{
    struct device device = plain_device();
    struct kernel kernel = attention(40, DIRECTION_FORWARD, true);
    kernel.attention.window = 101;
    CHECK_NEAR(price_s(&device, &kernel), 2e-6 + 110.7e-6 + 1.51e-6, 1e-9);
    kernel.attention.window = 102;
    CHECK_NEAR(price_s(&device, &kernel), 2e-6 + 40 * (1e-6 + 22500 * 101e-12) + 2.015e-6,
               1e-9);
}
END_TEST

/* From the keys' side: tiles of keys are seen by 2, 2, 2, 1 tiles of queries: 1 us + 17,500
 * pairs of 251 ps, and the longest 1 us + 20,000. */
START_TEST(a_window_ends_the_walks_backward)
{
    struct device device = plain_device();
    struct kernel kernel = attention(40, DIRECTION_BACKWARD, true);
    kernel.attention.window = 101;
    CHECK_NEAR(price_s(&device, &kernel), 2e-6 + 40 * (1e-6 + 17500 * 251e-12) + 3.01e-6, 1e-9);
}
END_TEST

/* A window that reaches every key changes nothing. */
START_TEST(a_wide_window_is_none)
{
    struct device device = plain_device();
    for (int direction = 0; direction < 2; direction++) {
        struct kernel kernel = attention(40, (enum direction)direction, true);
        double without_s = price_s(&device, &kernel);
        kernel.attention.window = 400;
        CHECK_NEAR(price_s(&device, &kernel), without_s, 1e-12);
    }
}
END_TEST

/* 800 queries on 400 keys: the first 400 see none. Each tile of keys is seen by at most four
 * tiles of queries: 4, 3, 2, 1, as if there were only 400 queries. */
START_TEST(queries_before_all_keys_are_not_walked)
{
    struct device device = plain_device();
    struct kernel square = attention(40, DIRECTION_BACKWARD, true), tall = square;
    tall.attention.q_len = 800;
    CHECK_NEAR(price_s(&device, &tall), price_s(&device, &square), 1e-12);
}
END_TEST

/* Eight heads of one query share one of keys: one walk, not eight. */
START_TEST(one_query_a_head_is_walked_by_the_group)
{
    struct device device = plain_device();
    struct kernel one = attention(1, DIRECTION_FORWARD, false), eight;
    one.attention.q_len = 1;
    eight = one;
    eight.attention.q_heads = 8;
    CHECK_NEAR(price_s(&device, &eight), price_s(&device, &one), 1e-12);
}
END_TEST

/* Units that hold two walks reach their rate, 7.04 us for each four walks as before; one walk
 * alone only half of it: 1 us + 4.04 us twice as long. Eight walks: both at once, 2 * 5.04 us. */
START_TEST(a_lone_walk_leaves_its_unit_waiting)
{
    struct device device = plain_device();
    device.attention[0].passes[DIRECTION_FORWARD].unit_walks = 2;
    device.attention[0].passes[DIRECTION_FORWARD].lone_fraction = 0.5;
    struct kernel four = attention(1, DIRECTION_FORWARD, false);
    struct kernel eight = attention(2, DIRECTION_FORWARD, false);
    CHECK_NEAR(price_s(&device, &four), 12.08e-6, 1e-9);
    CHECK_NEAR(price_s(&device, &eight), 12.08e-6, 1e-9);
}
END_TEST

/* Alone, a call waits for the host; enqueued behind others it does not. */
START_TEST(the_host_is_told_apart)
{
    struct device device = plain_device();
    device.attention[0].passes[DIRECTION_FORWARD].isolated_call_s = 30e-6;
    struct kernel kernel = attention(1, DIRECTION_FORWARD, false);
    struct kernel_cost cost;
    attention_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 37.04e-6, 1e-9);
    CHECK_NEAR(cost.host_s, 30e-6, 1e-12);
}
END_TEST

/* From 1 to 1e9 in each size, no price falls as a size grows, and all are finite. */
START_TEST(more_of_anything_takes_no_less)
{
    struct device device = plain_device();
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 1e12;
    for (int mask = 0; mask < 4; mask++) {
        struct kernel kernel =
            attention(1, mask & 1 ? DIRECTION_BACKWARD : DIRECTION_FORWARD, mask & 2);
        double before_s = 0;
        for (int64_t size = 1; size <= 1000000000; size *= 10) {
            kernel.attention.q_len = kernel.attention.kv_len = size;
            double seconds_s = price_s(&device, &kernel);
            ck_assert(isfinite(seconds_s) && seconds_s >= before_s);
            before_s = seconds_s;
        }
    }
}
END_TEST

/* Backward, one tile of keys is one walk of 11.04 us on one of four units, 13.04 us in all.
 * Causal walks of 160 tiles keep all units busy for 141 us of the 145.52 us. */
START_TEST(units_without_a_walk_are_free)
{
    struct device device = plain_device();
    struct kernel alone = attention(1, DIRECTION_BACKWARD, false);
    struct kernel causal = attention(40, DIRECTION_FORWARD, true);
    struct kernel_cost cost;
    alone.attention.kv_len = 100;
    attention_cost(&device, &alone, &cost);
    CHECK_NEAR(cost.compute_fraction, 0.25 * 11.04 / 13.04, 1e-9);
    attention_cost(&device, &causal, &cost);
    CHECK_NEAR(cost.compute_fraction, 141 / 145.52, 1e-9);
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

/* A row that names none, but whose library one is; a name goes before. */
START_TEST(a_library_stands_for_a_name)
{
    struct device device = plain_device();
    device.attention[1] = device.attention[0];
    device.attention[1].name = "old";
    device.attention[1].library = "Flash (CK)";
    device.attention_count = 2;
    struct attention row = attention(1, DIRECTION_FORWARD, true).attention;
    ck_assert_ptr_eq(attention_runs_on(&device, &row), &device.attention[0]);
    row.library = "PyTorch";
    ck_assert_ptr_eq(attention_runs_on(&device, &row), &device.attention[0]);
    row.library = "Flash (CK)";
    ck_assert_ptr_eq(attention_runs_on(&device, &row), &device.attention[1]);
    row.implementation = "plain";
    ck_assert_ptr_eq(attention_runs_on(&device, &row), &device.attention[0]);
}
END_TEST

/* The second has kernels for heads of 20 and more, whole sequences, no window: twice as fast. */
START_TEST(what_has_no_kernel_another_runs)
{
    struct device device = plain_device();
    device.attention[1] = device.attention[0];
    device.attention[1].name = "fast";
    device.attention[1].otherwise = "plain";
    device.attention[1].head_dim_minimum = 20;
    device.attention_count = 2;
    struct kernel kernel = attention(1, DIRECTION_FORWARD, true);
    kernel.attention.implementation = "fast";
    ck_assert_ptr_eq(attention_runs_on(&device, &kernel.attention), &device.attention[1]);
    struct attention others[] = {kernel.attention, kernel.attention, kernel.attention};
    others[0].window = 100;
    others[1].q_len = 1;
    others[2].head_dim = 19;
    for (int i = 0; i < 3; i++)
        ck_assert_ptr_eq(attention_runs_on(&device, &others[i]), &device.attention[0]);
    kernel.attention.implementation = "plain";
    kernel.attention.window = 100;
    ck_assert_ptr_eq(attention_runs_on(&device, &kernel.attention), &device.attention[0]);
}
END_TEST

Suite *
attention_cost_suite(void)
{
    Suite *suite = suite_create("attention_cost");
    TCase *tests = tcase_create("by hand");
    tcase_add_test(tests, forward_walks_over_all_keys);
    tcase_add_test(tests, a_causal_mask_skips_tiles);
    tcase_add_test(tests, walks_by_their_number_pile_up);
    tcase_add_test(tests, a_kernel_for_keys_and_one_for_queries);
    tcase_add_test(tests, values_within_keys_are_read_once);
    tcase_add_test(tests, a_causal_mask_never_costs_time);
    tcase_add_test(tests, backward_forms_five_products);
    tcase_add_test(tests, a_single_query_splits_its_keys);
    tcase_add_test(tests, slow_memory_bounds_attention);
    tcase_add_test(tests, queries_see_all_keys_before_the_first_of_them);
    tcase_add_test(tests, early_keys_are_seen_by_all_queries);
    tcase_add_test(tests, backward_runs_small_kernels_around_the_large_one);
    tcase_add_test(tests, a_window_ends_the_walks);
    tcase_add_test(tests, a_window_ends_the_walks_backward);
    tcase_add_test(tests, a_wide_window_is_none);
    tcase_add_test(tests, queries_before_all_keys_are_not_walked);
    tcase_add_test(tests, one_query_a_head_is_walked_by_the_group);
    tcase_add_test(tests, a_lone_walk_leaves_its_unit_waiting);
    tcase_add_test(tests, the_host_is_told_apart);
    tcase_add_test(tests, more_of_anything_takes_no_less);
    tcase_add_test(tests, units_without_a_walk_are_free);
    tcase_add_test(tests, implementations_are_found_by_name);
    tcase_add_test(tests, a_library_stands_for_a_name);
    tcase_add_test(tests, what_has_no_kernel_another_runs);
    suite_add_tcase(suite, tests);
    return suite;
}
