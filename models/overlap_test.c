/* Streams of kernels and collectives beside each other, worked by hand. */
#include "models/overlap.h"

#include <string.h>

#include "hw/kernel_cost.h"

#include "hw/check_cluster.h"
#include "hw/check_device.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

static struct arena *arena;
static struct error_list errors;
static struct cluster *cluster;

/* Kernels that take all of the HBM, collectives that take half of it and nothing else. */
static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    cluster = check_cluster_read(arena, "h200-1");
    cluster->device = check_device_read(arena, "h200");
    cluster->fabric.node_compute_fraction = cluster->fabric.channel_fraction = 0;
    cluster->fabric.collective_weight = 1;
    cluster->fabric.streaming_weight = 1;
    cluster->fabric.matrix_hold_ratio = 0;
    cluster->fabric.streaming_hold_ratio = 0;
    cluster->fabric.protocols[0].link_hop_s = cluster->fabric.protocols[0].fill_s = 0;
    cluster->fabric.tunings[COLLECTIVE_ALL_GATHER] = (struct fabric_tuning){.efficiency = 1};
    cluster->fabric.hbm_fraction = 0.5;
}

static void
teardown(void)
{
    arena_free(arena);
}

static struct overlap_pair
pair_of(int64_t kernels, int64_t collectives)
{
    return (struct overlap_pair){
        .kernel = {.kind = KERNEL_ELEMENTWISE,
                   .dtype = DTYPE_BF16,
                   .elementwise = {"stream", 1 << 28, 0x1p29, 0x1p29, 1}},
        .collective = {.kind = COLLECTIVE_ALL_GATHER, .ranks = 8, .nodes = 1, .bytes = 0x1p28},
        .kernel_count = kernels,
        .collective_count = collectives,
        .kernels_alone_s = 1e-3 * (double)kernels,
        .collectives_alone_s = 1e-3 * (double)collectives,
    };
}

static struct overlap_times
times_of(const struct overlap_pair *pair)
{
    struct overlap_times times;
    ck_assert_msg(overlap_find(cluster, pair, &times, arena, &errors), "%s",
                  errors.items[0].what);
    return times;
}

static double
hbm_of_the_kernel(const struct overlap_pair *pair)
{
    struct kernel_cost cost;
    ck_assert(kernel_cost(cluster->device, &pair->kernel, &cost, &errors));
    return cost.hbm_fraction;
}

/* h and 0.5 of the HBM at once: both run at 1 / (h + 0.5), so that the collective takes h +
 * 0.5 ms and the two kernels lose in it what it takes longer than 1 ms. */
START_TEST(both_slow_down_by_what_they_share)
{
    struct overlap_pair pair = pair_of(2, 1);
    double h = hbm_of_the_kernel(&pair);
    ck_assert(h > 0.9);
    struct overlap_times times = times_of(&pair);
    CHECK_NEAR(times.collectives_s, 1e-3 * (h + 0.5), 1e-9);
    CHECK_NEAR(times.kernels_s, 1e-3 * (2 + h + 0.5 - 1), 1e-9);
}
END_TEST

/* A kernel of twice the weight has twice the collective's rate: 2 h + 0.5 ms for the collective, in
 * which two kernels are through, and a third alone. */
START_TEST(a_streaming_kernel_has_its_weight)
{
    struct overlap_pair pair = pair_of(3, 1);
    double h = hbm_of_the_kernel(&pair);
    cluster->fabric.streaming_weight = 2;
    struct overlap_times times = times_of(&pair);
    CHECK_NEAR(times.collectives_s, 1e-3 * (2 * h + 0.5), 1e-9);
    CHECK_NEAR(times.kernels_s, 1e-3 * (2 * h + 0.5 + 1), 1e-9);
}
END_TEST

/* Nothing shared, and each collective waits for half a kernel: 0.5 to 1.5 ms, 2 to 3 ms; by
 * then both kernels are through, so the third runs at once, to 4 ms. */
START_TEST(a_collective_waits_for_its_place_beside_a_kernel)
{
    struct overlap_pair pair = pair_of(2, 3);
    cluster->fabric.hbm_fraction = 0;
    cluster->fabric.streaming_hold_ratio = 0.5;
    struct kernel_cost cost;
    ck_assert(kernel_cost(cluster->device, &pair.kernel, &cost, &errors));
    struct overlap_times times = times_of(&pair);
    double part = cost.seconds_s / (cost.seconds_s - cost.host_s);
    CHECK_NEAR(times.kernels_s, 2e-3, 1e-9);
    CHECK_NEAR(times.collectives_s, 3e-3 + 2 * 0.5e-3 * part, 1e-9);
}
END_TEST

static struct overlap_pair
pair_of_products(int64_t products, int64_t collectives)
{
    struct overlap_pair pair = pair_of(products, collectives);
    pair.kernel = (struct kernel){
        .kind = KERNEL_GEMM, .dtype = DTYPE_BF16, .gemm = {4096, 2048, 2048, 1, GEMM_NT}};
    cluster->fabric.hbm_fraction = 0;
    return pair;
}

/* 256 tiles on 132 units are two rounds; beside channels on an eighth of them three, so 1.5 times
 * as long, whatever a collective uses and weighs: 0.85 of the compute beside 1.3 times 0.5 in a
 * rate of 1 / 1.5, and 0.75 beside a collective that runs as if alone. */
START_TEST(two_rounds_of_tiles_become_three_beside_a_collective)
{
    struct overlap_pair pair = pair_of_products(1, 10);
    cluster->fabric.node_compute_fraction = 0.5;
    cluster->fabric.channel_fraction = 0.125;
    cluster->fabric.collective_weight = 1.3;
    struct kernel_cost cost;
    ck_assert(kernel_cost(cluster->device, &pair.kernel, &cost, &errors));
    ck_assert_int_eq(cost.tiles, 256);
    ck_assert_int_eq(cost.waves, 2);
    CHECK_NEAR(times_of(&pair).kernels_s, 1.5e-3, 1e-6);
    cluster->fabric.collective_weight = 100;
    CHECK_NEAR(times_of(&pair).kernels_s, 1.5e-3, 1e-6);
}
END_TEST

/* Channels on a fifth of the units that hold them for twice the time: 2 x 0.2 and a weight of
 * 1 / (2 x 0.8). Five products of 1 ms keep 0.8 of the units and take 6.25 ms; the collectives have
 * half their rate till then, and the rest of their 10 ms alone. */
START_TEST(channels_hold_their_units_however_slow_they_are)
{
    struct overlap_pair pair = pair_of_products(5, 10);
    cluster->fabric.node_compute_fraction = 0.4;
    cluster->fabric.channel_fraction = 0.2;
    cluster->fabric.collective_weight = 0.625;
    struct overlap_times times = times_of(&pair);
    CHECK_NEAR(times.kernels_s, 6.25e-3, 1e-6);
    CHECK_NEAR(times.collectives_s, 10e-3 + 6.25e-3 / 2, 1e-6);
}
END_TEST

START_TEST(a_pair_without_a_price_is_refused)
{
    struct overlap_times times;
    struct overlap_pair pair = pair_of(0, 1);
    ck_assert(!overlap_find(cluster, &pair, &times, arena, &errors));
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "0 kernels beside 1"));
    errors = (struct error_list){0};
    pair = pair_of(1, 1);
    pair.collective.ranks = 16;
    ck_assert(!overlap_find(cluster, &pair, &times, arena, &errors));
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "16 ranks"));
}
END_TEST

Suite *overlap_suite(void);

Suite *
overlap_suite(void)
{
    Suite *suite = suite_create("overlap");
    TCase *tests = tcase_create("overlap");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, both_slow_down_by_what_they_share);
    tcase_add_test(tests, a_streaming_kernel_has_its_weight);
    tcase_add_test(tests, a_collective_waits_for_its_place_beside_a_kernel);
    tcase_add_test(tests, two_rounds_of_tiles_become_three_beside_a_collective);
    tcase_add_test(tests, channels_hold_their_units_however_slow_they_are);
    tcase_add_test(tests, a_pair_without_a_price_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
