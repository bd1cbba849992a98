/* What leaves a leaf switch: shares worked by hand, collisions against drawn ones. */
#include "hw/uplinks.h"

#include <math.h>

#include "sim/base/check_near.h"

static const struct fabric LEAVES = {.network_topology = NETWORK_LEAF_SPINE,
                                     .leaf_nodes = 4,
                                     .spine_count = 16,
                                     .oversubscription_ratio = 2,
                                     .is_sprayed = true};

static struct uplink_load
load_of(const struct fabric *fabric, struct rank_placement placement)
{
    struct uplink_load load;
    ck_assert(uplink_load_of(fabric, 8, &placement, &load));
    return load;
}

/* 16 nodes of 8 in leaves of 4: 32 NICs a leaf, all members; every second node: 16 of the 32. */
START_TEST(members_are_counted_by_leaf)
{
    struct uplink_load all = load_of(&LEAVES, rank_placement_even(16, 8));
    CHECK_NEAR(all.leaf_nics, 32, 0);
    CHECK_NEAR(all.member_nics, 32, 0);
    struct rank_placement second = rank_placement_even(8, 8);
    second.last_node = 14;
    CHECK_NEAR(load_of(&LEAVES, second).member_nics, 16, 0);
    struct uplink_load none;
    struct rank_placement one = rank_placement_even(4, 8);
    ck_assert(!uplink_load_of(&LEAVES, 8, &one, &none));
    struct fabric rails = LEAVES;
    rails.network_topology = NETWORK_RAILS_ONLY;
    CHECK_NEAR(load_of(&rails, rank_placement_even(16, 8)).leaf_nics, 4, 0);
    rails.leaf_nodes = 0;
    struct rank_placement many = rank_placement_even(16, 8);
    ck_assert(!uplink_load_of(&rails, 8, &many, &none));
}
END_TEST

/* A second on each NIC, half as much up as down. A ring: of 4 nodes one sends out, a quarter of 32
 * NICs over the worth of 16: half a second. All pairs: 12 of 15 others are outside, 0.8 * 2. */
START_TEST(rings_hardly_leave_a_leaf_and_pairs_do)
{
    struct uplink_load load = load_of(&LEAVES, rank_placement_even(16, 8));
    CHECK_NEAR(uplink_s(&LEAVES, &load, UPLINK_NEIGHBOURS, 1), 0.5, 1e-15);
    CHECK_NEAR(uplink_s(&LEAVES, &load, UPLINK_PAIRS, 1), 1.6, 1e-15);
}
END_TEST

/* Deterministic: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t
next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15U;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

/* The fullest of `paths` links when m flows are thrown on them. */
static int
throw_flows(int flows, int paths, uint64_t *state)
{
    enum { PATHS_MAX = 64 };
    int count[PATHS_MAX] = {0}, largest = 0;
    for (int flow = 0; flow < flows; flow++) {
        int *hit = &count[next_random(state) % (uint64_t)paths];
        largest = ++*hit > largest ? *hit : largest;
    }
    return largest;
}

/* The mean over draws of the fullest link of all leaves. */
static double
drawn_largest(int flows, int paths, int leaves, uint64_t *state)
{
    enum { DRAWS = 4000 };
    double sum = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        int largest = 0;
        for (int leaf = 0; leaf < leaves; leaf++) {
            int one = throw_flows(flows, paths, state);
            largest = one > largest ? one : largest;
        }
        sum += largest;
    }
    return sum / DRAWS;
}

START_TEST(collisions_are_as_many_as_when_drawn)
{
    static const int cases[][3] = {{16, 16, 8}, {8, 16, 4},   {32, 32, 16},
                                   {64, 8, 4},  {256, 16, 8}, {4, 4, 2}};
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int *c = cases[i];
        CHECK_NEAR(uplink_largest_load(c[0], c[1], c[1] * c[2]),
                   drawn_largest(c[0], c[1], c[2], &state), 0.05);
    }
}
END_TEST

START_TEST(one_flow_and_one_path_are_exact)
{
    CHECK_NEAR(uplink_largest_load(1, 16, 1e6), 1, 1e-12);
    CHECK_NEAR(uplink_largest_load(5, 1, 8), 5, 0);
    CHECK_NEAR(uplink_largest_load(2, 2, 1), 1, 1e-12); /* of one link of two: its mean */
    CHECK_NEAR(uplink_largest_load(1e6, 16, 32), 1e6 / 16, 0.02);
}
END_TEST

/* 128 senders to 128 receivers of other leaves, 8 leaves of 16 over 16 spines: the flows take 480
 * to 960 us instead of 160, median 640 (flow level, 20 draws; packet level 657 to 860). */
START_TEST(a_permutation_over_hashed_paths_takes_four_times_as_long)
{
    struct fabric hashed = LEAVES;
    hashed.is_sprayed = false;
    hashed.oversubscription_ratio = 1;
    struct uplink_load load = {
        .leaf_nics = 16, .member_nics = 16, .member_nodes = 1, .nodes = 8, .gpus = 16};
    double ratio = uplink_s(&hashed, &load, UPLINK_NEIGHBOURS, 1);
    ck_assert(ratio > 3.5 && ratio < 5);
}
END_TEST

Suite *uplinks_suite(void);

Suite *
uplinks_suite(void)
{
    Suite *suite = suite_create("uplinks");
    TCase *tests = tcase_create("uplinks");
    tcase_add_test(tests, members_are_counted_by_leaf);
    tcase_add_test(tests, rings_hardly_leave_a_leaf_and_pairs_do);
    tcase_add_test(tests, collisions_are_as_many_as_when_drawn);
    tcase_add_test(tests, one_flow_and_one_path_are_exact);
    tcase_add_test(tests, a_permutation_over_hashed_paths_takes_four_times_as_long);
    suite_add_tcase(suite, tests);
    return suite;
}
