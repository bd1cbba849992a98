/* Does a cut cost what its rounds and bytes come to, by hand? */
#include "hw/gemm_search.h"

#include "hw/plain_device.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *gemm_cut_suite(void);

/* On the plain device: four units, tiles of 100 x 100 */

static struct gemm_work
product(double m, double n, double k)
{
    return (struct gemm_work){.groups = 1,
                              .m = m,
                              .n = n,
                              .k = k,
                              .dtype = DTYPE_BF16,
                              .rate_fraction = 1,
                              .hbm_fraction = 1};
}

/* 12 tiles in three rounds of 2 us. A unit that holds one tile at a time fills three times; one
 * that holds two, twice; one that holds three, once. A fill takes 3 us. */
START_TEST(tiles_held_together_fill_together)
{
    const double fills[] = {3, 2, 1};
    const struct gemm_work work = product(300, 400, 100);
    for (int i = 0; i < 3; i++) {
        struct device device = plain_device();
        device.gemm.tile_s = 3e-6;
        device.gemm.resident_workgroups = i + 1;
        CHECK_NEAR(gemm_search_quickest(&device, &work).units_s, 6e-6 + fills[i] * 3e-6, 1e-12);
    }
}
END_TEST

/* Eight tiles in two rounds, one step each: 2 us of multiplying and 1 us of book-keeping, one
 * after the other where a unit holds one tile, at once where it holds two: 2 * 3 us, 2 * 2 us. */
START_TEST(a_second_tile_hides_book_keeping)
{
    const struct gemm_work work = product(200, 400, 100);
    struct device device = plain_device();
    device.gemm.tiles.items[0].depth_bytes = 200;
    device.gemm.step_s[DTYPE_BF16] = 1e-6;
    CHECK_NEAR(gemm_search_quickest(&device, &work).steps_s, 6e-6, 1e-12);
    device.gemm.resident_workgroups = 2;
    CHECK_NEAR(gemm_search_quickest(&device, &work).steps_s, 4e-6, 1e-12);
}
END_TEST

/* A tile multiplies 2 us and loads (100 + 100) * 100 * 2 B = 40,000 B at 4e10 B/s of four units: 4
 * us. Half of the shorter is not overlapped: 5 us. With rows of A that begin within a line, half as
 * much again for its 2 us: 6 us. */
START_TEST(loading_overlaps_all_but_a_part)
{
    struct gemm_work work = product(200, 200, 100);
    struct device device = plain_device();
    device.memory.l2_bytes_per_s = 4e10;
    device.gemm.exposed_fraction = 0.5;
    device.gemm.unaligned_fraction = 0.5;
    CHECK_NEAR(gemm_search_quickest(&device, &work).steps_s, 5e-6, 1e-12);
    work.a_pitch_bytes = 200;
    CHECK_NEAR(gemm_search_quickest(&device, &work).steps_s, 6e-6, 1e-12);
    device.gemm.dtype_exposed_fraction[DTYPE_BF16] = 0.25; /* this type's library hides more */
    CHECK_NEAR(gemm_search_quickest(&device, &work).steps_s, 5.5e-6, 1e-12);
}
END_TEST

/* The same tile: rows of A 1,024 B apart meet on few channels and take half as much again; and
 * each row of 100 elements, 200 B, takes a fifth more by its length: 2 us * 1.5 + 2 us = 5 us of
 * loading, 6 us with 0.2 more. Half of the 2 us of multiplying is not overlapped. */
START_TEST(crowded_and_long_rows_load_longer)
{
    struct gemm_work work = product(200, 200, 100);
    struct device device = plain_device();
    device.memory.l2_bytes_per_s = 4e10;
    device.gemm.exposed_fraction = 0.5;
    device.gemm.crowded_pitch_bytes = 512;
    device.gemm.crowded_fraction[DTYPE_BF16] = 0.5;
    work.a_pitch_bytes = 1024;
    CHECK_NEAR(gemm_search_quickest(&device, &work).steps_s, 6e-6, 1e-12);
    device.gemm.stray_per_root_byte[DTYPE_BF16] = 0.2 / sqrt(200);
    CHECK_NEAR(gemm_search_quickest(&device, &work).steps_s, 7e-6, 1e-12);
}
END_TEST

/* The same tile of a product of 50 rows: 150 of its 200 rows are loaded, 3 us, and filling the
 * other 50 with zeros takes half of what loading them would: 3.5 us. A type that draws half as much
 * loads for 7 us. */
START_TEST(slabs_past_the_edge_are_filled)
{
    struct gemm_work work = product(50, 200, 100);
    struct device device = plain_device();
    device.memory.l2_bytes_per_s = 4e10;
    CHECK_NEAR(gemm_search_quickest(&device, &work).steps_s, 3e-6, 1e-12);
    device.gemm.edge_fill_fraction = 0.5;
    CHECK_NEAR(gemm_search_quickest(&device, &work).steps_s, 3.5e-6, 1e-12);
    device.gemm.dtype_load_bytes_per_s[DTYPE_BF16] = 2e10;
    CHECK_NEAR(gemm_search_quickest(&device, &work).steps_s, 7e-6, 1e-12);
}
END_TEST

/* 2 us of multiplying, a quarter more where one operand lies across k, half of that again where
 * both do. */
START_TEST(operands_across_k_are_turned)
{
    const double steps_s[] = {2e-6, 2.5e-6, 3.75e-6};
    struct gemm_work work = product(200, 200, 100);
    struct device device = plain_device();
    device.gemm.turned_fraction[DTYPE_BF16] = 0.25;
    device.gemm.rewritten_fraction[DTYPE_BF16] = 0.5;
    for (work.turned = 0; work.turned < 3; work.turned++)
        CHECK_NEAR(gemm_search_quickest(&device, &work).steps_s, steps_s[work.turned], 1e-12);
}
END_TEST

/* Six tiles on four units are two rounds of ten steps of 0.2 us; in two parts of k twelve are three
 * rounds of five. Of tiles that a unit holds two of at once 24 fill three rounds: four parts, of
 * three steps of 0.4 us. */
START_TEST(free_parts_of_k_even_out_the_rounds)
{
    const struct gemm_work work = product(200, 300, 100);
    struct device device = plain_device();
    device.gemm.free_split_maximum[DTYPE_BF16] = 3;
    struct gemm_cut cut = gemm_search_quickest(&device, &work);
    CHECK_NEAR(cut.splits, 2, 0);
    CHECK_NEAR(cut.steps_s, 3e-6, 1e-12);
    device.gemm.tiles.items[0].held = 2;
    device.gemm.free_split_maximum[DTYPE_BF16] = 4;
    cut = gemm_search_quickest(&device, &work);
    CHECK_NEAR(cut.splits, 4, 0);
    CHECK_NEAR(cut.steps_s, 3.6e-6, 1e-12);
}
END_TEST

/* Four tiles of 2e6 flop: 2 us to issue; 8e6 flop at 4e12 flop/s that the power allows: 2 us. With
 * q = 1 they add up, with q = 2 they are the legs of a right triangle. */
START_TEST(power_and_issue_share_the_time)
{
    const struct gemm_work work = product(200, 200, 100);
    struct device device = plain_device();
    device.gemm.sustained_flop_per_s[DTYPE_BF16] = 4e12;
    device.gemm.power_exponent = 1;
    CHECK_NEAR(gemm_search_quickest(&device, &work).units_s, 4e-6, 1e-12);
    device.gemm.power_exponent = 2;
    CHECK_NEAR(gemm_search_quickest(&device, &work).units_s, 2e-6 * sqrt(2), 1e-12);
}
END_TEST

/* Five tiles on four units, 2 us a tile: two rounds. Units that keep step take 4 us; where one
 * round lets half of them drift, half of the last round's three idle units' time is spared:
 * 2 us * 3 / 4 / 2. */
START_TEST(units_that_drift_apart_fill_the_last_round)
{
    struct device device = plain_device();
    const struct gemm_work work = product(100, 500, 100);
    CHECK_NEAR(gemm_search_quickest(&device, &work).units_s, 4e-6, 1e-12);
    device.gemm.drift_rounds = 1;
    CHECK_NEAR(gemm_search_quickest(&device, &work).units_s, 4e-6 - 0.75e-6, 1e-12);
    ck_assert(gemm_search_quickest(&device, &work).rounds == 2);
}
END_TEST

/* The same five tiles with 4 us of filling and storing each: two fills without drift, 12 us in all.
 * Half of the units have drifted in the second round, which hides half of 0.4 of each fill and 3/8
 * of the last one's round: (4 - 0.75) + (2 - 3/8) * 4 * (1 - 0.2). */
START_TEST(units_that_drift_apart_store_while_others_multiply)
{
    struct device device = plain_device();
    const struct gemm_work work = product(100, 500, 100);
    device.gemm.tile_s = 4e-6;
    device.gemm.hidden_fill_fraction[DTYPE_BF16] = 0.4;
    CHECK_NEAR(gemm_search_quickest(&device, &work).units_s, 12e-6, 1e-12);
    device.gemm.drift_rounds = 1;
    CHECK_NEAR(gemm_search_quickest(&device, &work).units_s, 3.25e-6 + 5.2e-6, 1e-12);
}
END_TEST

/* Three groups on a unit's three rounds: 2 us of each tile, 3 us of each change of matrices. */
START_TEST(changing_groups_takes_its_time)
{
    struct device device = plain_device();
    struct gemm_work work = product(100, 400, 100);
    work.groups = 3;
    work.switch_s = 3e-6;
    CHECK_NEAR(gemm_search_quickest(&device, &work).units_s, 3 * 2e-6 + 3 * 3e-6, 1e-9);
}
END_TEST

/* 32 x 32 tiles, each unit an L2 of its own: every tile loads its (100 + 100) * 100 * 2 B =
 * 40,000 B, 40.96 MB in all, and 20.48 MB of C leave, at 1e9 B/s a unit. HBM gives A and B once
 * (1.28 MB) while all L2 together hold them, else the four units' block of 2 x 2: 20.48 MB. */
START_TEST(chiplets_do_not_share_what_they_load)
{
    struct device device = plain_device();
    const struct gemm_work work = product(3200, 3200, 100);
    device.memory.l2_domains = 4;
    device.memory.unit_bytes_per_s = 1e9;
    struct gemm_cut cut = gemm_search_quickest(&device, &work);
    CHECK_NEAR(cut.memory_s, 61.44e6 / 4e9, 1e-12);
    CHECK_NEAR(cut.hbm_bytes, 1.28e6 + 20.48e6, 1e-12);
    ck_assert(cut.is_cache_bound);
    device.memory.l2_bytes = 1e5;
    CHECK_NEAR(gemm_search_quickest(&device, &work).hbm_bytes, 20.48e6 + 20.48e6, 1e-12);
}
END_TEST

/* A of 300 x 100 is read once though it stands on both sides: 60,000 B; C of 300 x 300 is
 * written whole: 180,000 B. The general product reads B too. */
START_TEST(a_symmetric_product_reads_its_operand_once)
{
    struct device device = plain_device();
    struct gemm_work work = product(300, 300, 100);
    CHECK_NEAR(gemm_search_quickest(&device, &work).hbm_bytes, 300000, 1e-12);
    work.is_triangle = true;
    CHECK_NEAR(gemm_search_quickest(&device, &work).hbm_bytes, 240000, 1e-12);
}
END_TEST

/* One tile, four parts of k: each writes 100 * 100 sums of 4 B, read again: 320,000 B beside A
 * and B (2 * 100 * 400 * 2 B) and C (20,000 B), at 1e9 B/s for each of the four units. HBM sees
 * A, B and C only. */
START_TEST(parts_of_k_meet_in_fp32)
{
    struct device device = plain_device();
    const struct gemm_work work = product(100, 100, 400);
    device.gemm.split_maximum = 4;
    device.memory.unit_bytes_per_s = 1e9;
    struct gemm_cut cut = gemm_search_quickest(&device, &work);
    CHECK_NEAR(cut.splits, 4, 0);
    CHECK_NEAR(cut.memory_s, (160000 + 20000 + 320000) / 4e9, 1e-12);
    CHECK_NEAR(cut.hbm_bytes, 180000, 1e-12);
}
END_TEST

/* Five tiles on four units, ten steps of 0.2 us each: two rounds of 2 us, or 50 steps dealt out
 * as 13 at most: 2.6 us and 0.5 us to meet again. Each unit leaves a tile in the middle: 4 * 100 *
 * 100 sums of 4 B, written and read at 1e9 B/s for each of the four, beside A, B and C. */
START_TEST(stream_k_deals_steps_out_evenly)
{
    struct device device = plain_device();
    const struct gemm_work work = product(100, 500, 100);
    CHECK_NEAR(gemm_search_quickest(&device, &work).units_s, 4e-6, 1e-12);
    device.gemm.stream_k_s[DTYPE_BF16] = 0.5e-6;
    struct gemm_cut cut = gemm_search_quickest(&device, &work);
    ck_assert(cut.is_streamed);
    CHECK_NEAR(cut.units_s, 2.6e-6 + 0.5e-6, 1e-12);
    device.gemm.stream_k_s[DTYPE_BF16] = 1.5e-6;
    ck_assert(!gemm_search_quickest(&device, &work).is_streamed);
    device.gemm.boost_flop_per_s[DTYPE_BF16] = 4e9; /* 1000 times as slow: dealing out pays */
    device.memory.unit_bytes_per_s = 1e9;
    cut = gemm_search_quickest(&device, &work);
    ck_assert(cut.is_streamed);
    CHECK_NEAR(cut.memory_s, (20000 + 100000 + 100000 + 320000) / 4e9, 1e-12);
}
END_TEST

Suite *
gemm_cut_suite(void)
{
    Suite *suite = suite_create("gemm_cut");
    TCase *hand = tcase_create("by hand");
    tcase_add_test(hand, tiles_held_together_fill_together);
    tcase_add_test(hand, a_second_tile_hides_book_keeping);
    tcase_add_test(hand, loading_overlaps_all_but_a_part);
    tcase_add_test(hand, slabs_past_the_edge_are_filled);
    tcase_add_test(hand, operands_across_k_are_turned);
    tcase_add_test(hand, free_parts_of_k_even_out_the_rounds);
    tcase_add_test(hand, crowded_and_long_rows_load_longer);
    tcase_add_test(hand, power_and_issue_share_the_time);
    tcase_add_test(hand, stream_k_deals_steps_out_evenly);
    tcase_add_test(hand, units_that_drift_apart_fill_the_last_round);
    tcase_add_test(hand, units_that_drift_apart_store_while_others_multiply);
    tcase_add_test(hand, changing_groups_takes_its_time);
    tcase_add_test(hand, chiplets_do_not_share_what_they_load);
    tcase_add_test(hand, a_symmetric_product_reads_its_operand_once);
    tcase_add_test(hand, parts_of_k_meet_in_fp32);
    suite_add_tcase(suite, hand);
    return suite;
}
