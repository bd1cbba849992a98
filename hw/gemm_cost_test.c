/* Does a product cost what its tiles, rounds, splits and bytes come to by hand? */
#include "hw/gemm_cost.h"

#include "hw/plain_device.h"
#include "sim/base/check_near.h"

Suite *gemm_cost_suite(void);

static struct kernel_cost
price(const struct device *device, int64_t m, int64_t n, int64_t k)
{
    struct kernel kernel = {
        .kind = KERNEL_GEMM, .dtype = DTYPE_BF16, .gemm = {.m = m, .n = n, .k = k, .batch = 1}};
    struct kernel_cost cost;
    gemm_cost(device, &kernel, &cost);
    return cost;
}

/* Four tiles on four units, each 2 * 100 * 100 * 100 flop at 1e12 flop/s: 2 us; and the launch. */
START_TEST(one_round_of_tiles_takes_one_tile)
{
    struct device device = plain_device();
    struct kernel_cost cost = price(&device, 200, 200, 100);
    CHECK_NEAR(cost.seconds_s, 3e-6, 1e-12);
    ck_assert_int_eq(cost.tiles, 4);
    ck_assert_int_eq(cost.waves, 1);
    ck_assert_int_eq(cost.tile_m, 100);
    ck_assert_int_eq(cost.tile_n, 100);
    ck_assert_int_eq(cost.bound, BOUND_COMPUTE);
    CHECK_NEAR(cost.flop, 8e6, 1e-12);
    CHECK_NEAR(cost.relative_sigma, 0.03, 1e-12);
}
END_TEST

/* Four tiles as above, timed on a machine of twice the clock: 1 us of multiplying. At 4e12 flop/s
 * that power allows 8e6 flop take 4 us, half of that there; loading 40,000 B a tile takes a unit of
 * 5e9 B/s 8 us, half of that there. HBM stays as it is: 160,000 B at 8e9 B/s. */
START_TEST(machines_of_another_clock_are_known_by_their_lists)
{
    struct device device = plain_device();
    struct kernel kernel = {.kind = KERNEL_GEMM,
                            .dtype = DTYPE_BF16,
                            .source = "tables of x, y_tuned.csv",
                            .gemm = {200, 200, 100, 1, GEMM_NT}};
    struct kernel_cost cost;
    device.gemm.machines[0] = (struct device_machine){"y_tuned", 2};
    device.gemm.machine_count = 1;
    gemm_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 1e-6 + 1e-6, 1e-12);
    device.gemm.sustained_flop_per_s[DTYPE_BF16] = 2e12;
    gemm_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 1e-6 + 2e-6, 1e-12);
    device.memory.l2_bytes_per_s = 4e10 / 2;
    gemm_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 1e-6 + 4e-6, 1e-12);
    kernel.source = "tables of z";
    gemm_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 1e-6 + 8e-6, 1e-12);
    kernel.source = NULL;
    device.memory.hbm_read_bytes_per_s = 8e9;
    device.memory.hbm_write_bytes_per_s = 8e9;
    gemm_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 1e-6 + 20e-6, 1e-12);
    kernel.source = "y_tuned";
    gemm_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 1e-6 + 20e-6, 1e-12);
}
END_TEST

/* Four tiles as above, on units four times as quick in int8 as in fp8 with scales in its loop. */
START_TEST(scales_of_the_result_may_take_another_types_numbers)
{
    struct device device = plain_device();
    struct kernel kernel = {
        .kind = KERNEL_GEMM, .dtype = DTYPE_FP8, .gemm = {200, 200, 100, 1, GEMM_NT}};
    struct kernel_cost blocks, result;
    for (int i = DTYPE_FP8; i <= DTYPE_INT8; i++) {
        device.gemm.boost_flop_per_s[i] = i == DTYPE_INT8 ? 16e12 : 4e12;
        device.gemm.sustained_flop_per_s[i] = 4e15;
    }
    gemm_cost(&device, &kernel, &blocks);
    kernel.scales = SCALES_OF_RESULT;
    gemm_cost(&device, &kernel, &result);
    CHECK_NEAR(result.seconds_s, blocks.seconds_s, 0);
    device.gemm.result_scaled_fp8 = DTYPE_INT8;
    gemm_cost(&device, &kernel, &result);
    CHECK_NEAR(blocks.seconds_s, 3e-6, 1e-12);
    CHECK_NEAR(result.seconds_s, 1.5e-6, 1e-12);
    /* 8e6 flop at what power allows them: 4 us, and 1 us to launch. */
    device.gemm.result_scaled_sustained_flop_per_s = 2e12;
    gemm_cost(&device, &kernel, &result);
    CHECK_NEAR(result.seconds_s, 5e-6, 1e-12);
    kernel.scales = SCALES_AS_MEASURED;
    gemm_cost(&device, &kernel, &result);
    CHECK_NEAR(result.seconds_s, blocks.seconds_s, 0);
}
END_TEST

/* 304 tiles fill a round of 304 units; the 305th needs a second: 2 us more. */
START_TEST(the_tile_after_a_full_round_takes_another)
{
    struct device device = plain_device();
    device.compute_units = 304;
    device.gemm.boost_flop_per_s[DTYPE_BF16] = 304e12;
    device.gemm.sustained_flop_per_s[DTYPE_BF16] = 304e15;
    CHECK_NEAR(price(&device, 30400, 100, 100).seconds_s, 3e-6, 1e-12);
    CHECK_NEAR(price(&device, 30500, 100, 100).seconds_s, 5e-6, 1e-12);
    CHECK_NEAR(price(&device, 30500, 100, 100).compute_fraction, 305.0 / 608 * 4 / 5, 1e-12);
}
END_TEST

START_TEST(a_row_past_the_edge_takes_a_whole_tile)
{
    struct device device = plain_device();
    ck_assert_int_eq(price(&device, 401, 100, 100).tiles, 5);
    CHECK_NEAR(price(&device, 401, 100, 100).seconds_s, price(&device, 500, 100, 100).seconds_s,
               1e-12);
}
END_TEST

/* Power sustains 2e12 flop/s: four units get 0.5e12 each (4 us a tile), one alone 1e12 (2 us). */
START_TEST(power_slows_only_units_that_all_multiply)
{
    struct device device = plain_device();
    device.gemm.sustained_flop_per_s[DTYPE_BF16] = 2e12;
    CHECK_NEAR(price(&device, 200, 200, 100).seconds_s, 5e-6, 1e-12);
    CHECK_NEAR(price(&device, 100, 100, 100).seconds_s, 3e-6, 1e-12);
}
END_TEST

/* A and B: 2 * 100 * 100 * 2 B at 1e9 B/s: 40 us; C: 20,000 B at 2e9 B/s: 10 us; launch 1 us. */
START_TEST(a_shallow_product_waits_for_hbm)
{
    struct device device = plain_device();
    device.memory.hbm_read_bytes_per_s = 1e9;
    device.memory.hbm_write_bytes_per_s = 2e9;
    struct kernel_cost cost = price(&device, 100, 100, 100);
    CHECK_NEAR(cost.seconds_s, 51e-6, 1e-9);
    CHECK_NEAR(cost.hbm_bytes, 60000, 1e-12);
    ck_assert_int_eq(cost.bound, BOUND_HBM);
    CHECK_NEAR(cost.hbm_fraction, 50.0 / 51, 1e-9);
}
END_TEST

/* One tile 400 deep: 8 us. In four parts of 100: 2 us and 0.5 us to meet again. */
START_TEST(k_is_split_while_units_are_idle)
{
    struct device device = plain_device();
    device.gemm.split_maximum = 4;
    device.gemm.split_s = 0.5e-6;
    CHECK_NEAR(price(&device, 100, 100, 400).seconds_s, 3.5e-6, 1e-9);
    ck_assert_int_eq(price(&device, 100, 100, 400).tiles, 1);
    device.gemm.split_s = 50e-6;
    CHECK_NEAR(price(&device, 100, 100, 400).seconds_s, 9e-6, 1e-9);
}
END_TEST

/* In four parts as above, each stored in 20,000 B / 1e10 B/s = 2 us, then 0.5 us. A library of
 * its own, that adds each part to the others at 4e9 B/s: 5 us, then 0.25 us; what is whole is
 * stored. */
START_TEST(a_library_of_its_own_adds_parts_up)
{
    struct device device = plain_device();
    device.gemm.split_maximum = 4;
    device.gemm.split_s = 0.5e-6;
    device.gemm.store_bytes_per_s = 1e10;
    CHECK_NEAR(price(&device, 100, 100, 400).seconds_s, 1e-6 + 2e-6 + 2e-6 + 0.5e-6, 1e-6);
    device.gemm.dtype_split_s[DTYPE_BF16] = 0.25e-6;
    device.gemm.dtype_add_bytes_per_s[DTYPE_BF16] = 4e9;
    CHECK_NEAR(price(&device, 100, 100, 400).seconds_s, 1e-6 + 2e-6 + 5e-6 + 0.25e-6, 1e-6);
    device.gemm.split_maximum = 1;
    CHECK_NEAR(price(&device, 100, 100, 400).seconds_s, 1e-6 + 8e-6 + 2e-6, 1e-6);
}
END_TEST

/* Fill 3 us; store 100 * 100 * 2 B at 1e10 B/s: 2 us; ten steps of 0.1 us; multiply 2 us. */
START_TEST(a_tile_fills_steps_and_stores)
{
    struct device device = plain_device();
    device.gemm.tile_s = 3e-6;
    device.gemm.step_s[DTYPE_BF16] = 0.1e-6;
    device.gemm.store_bytes_per_s = 1e10;
    CHECK_NEAR(price(&device, 100, 100, 100).seconds_s, 1e-6 + 3e-6 + 2e-6 + 1e-6 + 2e-6, 1e-6);
}
END_TEST

/* The same of a library that serves bf16 alone: fill 1 us, store at 2e10 B/s: 1 us. Of another
 * type nothing changes. */
START_TEST(a_library_of_its_own_fills_and_stores_its_way)
{
    struct device device = plain_device();
    device.gemm.tile_s = 3e-6;
    device.gemm.store_bytes_per_s = 1e10;
    device.gemm.dtype_tile_s[DTYPE_FP16] = 1e-6;
    device.gemm.dtype_store_bytes_per_s[DTYPE_FP16] = 2e10;
    CHECK_NEAR(price(&device, 100, 100, 100).seconds_s, 1e-6 + 3e-6 + 2e-6 + 2e-6, 1e-6);
    device.gemm.dtype_tile_s[DTYPE_BF16] = 1e-6;
    device.gemm.dtype_store_bytes_per_s[DTYPE_BF16] = 2e10;
    CHECK_NEAR(price(&device, 100, 100, 100).seconds_s, 1e-6 + 1e-6 + 1e-6 + 2e-6, 1e-6);
}
END_TEST

/* k = 100 of two bytes: a tile loads (100 + 100) * 100 * 2 B = 40,000 B. At 4e9 B/s for four
 * units: 40 us, more than its 2 us of flop. */
START_TEST(narrow_caches_hold_a_tile_back)
{
    struct device device = plain_device();
    device.memory.l2_bytes_per_s = 4e9;
    CHECK_NEAR(price(&device, 200, 200, 100).seconds_s, 41e-6, 1e-12);
}
END_TEST

/* 32 x 32 tiles, A and B of 3200 * 100 * 2 B = 640,000 B each. In 1e9 B of cache: once. In a cache
 * too small, each block of 2 x 2 tiles on the four units reads (200 + 200) * 200 B = 80,000 B: 256
 * blocks, 20.48 MB. C: 3200 * 3200 * 2 B = 20.48 MB either way. */
START_TEST(operands_that_stay_in_cache_are_read_once)
{
    struct device device = plain_device();
    CHECK_NEAR(price(&device, 3200, 3200, 100).hbm_bytes, 1.28e6 + 20.48e6, 1e-12);
    device.memory.l2_bytes = 1e5;
    CHECK_NEAR(price(&device, 3200, 3200, 100).hbm_bytes, 20.48e6 + 20.48e6, 1e-12);
}
END_TEST

/* Experts' rows x 100 x 100. */
static struct kernel
grouped(const int64_t *rows, int64_t experts)
{
    return (struct kernel){
        .kind = KERNEL_GROUPED_GEMM,
        .dtype = DTYPE_BF16,
        .grouped_gemm = {.rows = rows, .experts = experts, .n = 100, .k = 100}};
}

/* 100, 0 and 250 rows: 1 + 0 + 3 tiles, one round. Bytes: (350 + 2 * 100) * 100 * 2 read, and
 * 350 * 100 * 2 written; the empty expert's weights stay where they are. */
START_TEST(experts_share_one_launch_and_empty_ones_are_free)
{
    struct device device = plain_device();
    device.gemm.grouped_launch_s = 4e-6;
    const int64_t rows[] = {100, 0, 250};
    struct kernel kernel = grouped(rows, 3);
    struct kernel_cost cost;
    grouped_gemm_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 7e-6, 1e-12);
    ck_assert_int_eq(cost.tiles, 4);
    CHECK_NEAR(cost.hbm_bytes, 180000, 1e-12);
    CHECK_NEAR(cost.flop, 7e6, 1e-12);
}
END_TEST

/* Two launches of a round each, 1 us and 2 us, for the same tiles. */
START_TEST(one_by_one_experts_have_launches_of_their_own)
{
    struct device device = plain_device();
    device.gemm.is_grouped_one_by_one = true;
    device.gemm.grouped_launch_s = 4e-6;
    const int64_t rows[] = {100, 0, 250};
    struct kernel kernel = grouped(rows, 3);
    struct kernel_cost cost;
    grouped_gemm_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 6e-6, 1e-12);
    ck_assert_int_eq(cost.tiles, 4);
    CHECK_NEAR(cost.flop, 7e6, 1e-12);
    kernel = grouped(rows + 1, 1);
    grouped_gemm_cost(&device, &kernel, &cost);
    ck_assert_int_eq(cost.bound, BOUND_LAUNCH);
}
END_TEST

START_TEST(a_grouped_product_without_rows_is_a_launch)
{
    struct device device = plain_device();
    const int64_t rows[] = {0, 0};
    struct kernel kernel = grouped(rows, 2);
    struct kernel_cost cost;
    grouped_gemm_cost(&device, &kernel, &cost);
    CHECK_NEAR(cost.seconds_s, 1e-6, 1e-12);
    ck_assert_int_eq(cost.bound, BOUND_LAUNCH);
    ck_assert(cost.flop == 0 && cost.hbm_bytes == 0);
}
END_TEST

/* 3 x 3 tiles: the triangle with its diagonal has 6, two rounds of four instead of three. */
START_TEST(a_symmetric_result_needs_its_triangle_only)
{
    struct device device = plain_device();
    struct gemm_work work = {.groups = 1,
                             .m = 300,
                             .n = 300,
                             .k = 100,
                             .dtype = DTYPE_BF16,
                             .rate_fraction = 1,
                             .hbm_fraction = 1};
    struct kernel_cost cost;
    gemm_work_cost(&device, &work, &cost);
    CHECK_NEAR(cost.seconds_s, 7e-6, 1e-12);
    work.is_triangle = true;
    gemm_work_cost(&device, &work, &cost);
    CHECK_NEAR(cost.seconds_s, 5e-6, 1e-12);
    ck_assert_int_eq(cost.tiles, 6);
}
END_TEST

/* A tile of 2 us and a launch: the launch is named from half of the whole on. Of a tile's time,
 * what is not its steps is named from half of it on. 60,000 B at 3.1e10 B/s are 1.94 us, at
 * 2.9e10 B/s 2.07 us: HBM waits from there on; beyond L2 the one unit's 60,000 B likewise. */
START_TEST(the_bound_is_what_takes_the_longer_half)
{
    struct device device = plain_device();
    device.gemm.launch_s = 1.9e-6;
    ck_assert_int_eq(price(&device, 100, 100, 100).bound, BOUND_COMPUTE);
    device.gemm.launch_s = 2.1e-6;
    ck_assert_int_eq(price(&device, 100, 100, 100).bound, BOUND_LAUNCH);
    device = plain_device();
    device.gemm.tile_s = 1.9e-6;
    ck_assert_int_eq(price(&device, 100, 100, 100).bound, BOUND_COMPUTE);
    device.gemm.tile_s = 2.1e-6;
    ck_assert_int_eq(price(&device, 100, 100, 100).bound, BOUND_LATENCY);
    device = plain_device();
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 3.1e10;
    ck_assert_int_eq(price(&device, 100, 100, 100).bound, BOUND_COMPUTE);
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 2.9e10;
    ck_assert_int_eq(price(&device, 100, 100, 100).bound, BOUND_HBM);
    device.memory.unit_bytes_per_s = 1e10; /* stores 20,000 B in 2 us: 4 us; moves 6 us */
    ck_assert_int_eq(price(&device, 100, 100, 100).bound, BOUND_CACHE);
}
END_TEST

/* p = 1: computing and moving add up; 2 us and 60,000 B at 1e10 B/s. */
START_TEST(an_exponent_of_one_overlaps_nothing)
{
    struct device device = plain_device();
    device.gemm.overlap_exponent = 1;
    device.memory.hbm_read_bytes_per_s = device.memory.hbm_write_bytes_per_s = 1e10;
    CHECK_NEAR(price(&device, 100, 100, 100).seconds_s, 1e-6 + 2e-6 + 6e-6, 1e-12);
}
END_TEST

Suite *
gemm_cost_suite(void)
{
    Suite *suite = suite_create("gemm_cost");
    TCase *tests = tcase_create("by hand");
    tcase_add_test(tests, one_round_of_tiles_takes_one_tile);
    tcase_add_test(tests, machines_of_another_clock_are_known_by_their_lists);
    tcase_add_test(tests, scales_of_the_result_may_take_another_types_numbers);
    tcase_add_test(tests, the_tile_after_a_full_round_takes_another);
    tcase_add_test(tests, a_row_past_the_edge_takes_a_whole_tile);
    tcase_add_test(tests, power_slows_only_units_that_all_multiply);
    tcase_add_test(tests, a_shallow_product_waits_for_hbm);
    tcase_add_test(tests, k_is_split_while_units_are_idle);
    tcase_add_test(tests, a_library_of_its_own_adds_parts_up);
    tcase_add_test(tests, a_tile_fills_steps_and_stores);
    tcase_add_test(tests, a_library_of_its_own_fills_and_stores_its_way);
    tcase_add_test(tests, narrow_caches_hold_a_tile_back);
    tcase_add_test(tests, operands_that_stay_in_cache_are_read_once);
    tcase_add_test(tests, experts_share_one_launch_and_empty_ones_are_free);
    tcase_add_test(tests, a_grouped_product_without_rows_is_a_launch);
    tcase_add_test(tests, one_by_one_experts_have_launches_of_their_own);
    tcase_add_test(tests, a_symmetric_result_needs_its_triangle_only);
    tcase_add_test(tests, the_bound_is_what_takes_the_longer_half);
    tcase_add_test(tests, an_exponent_of_one_overlaps_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}
