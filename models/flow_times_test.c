/* Do flows end when exact lists, hand-worked cases and a plain simulator say? */
#include "models/flow_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hw/check_cluster.h"
#include "hw/route.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

enum { RANDOM_LISTS = 300, FLOWS_MAX = 60, LINKS_MAX = 256 };

static const double EXACT = 1e-9;

static struct arena *arena;
static struct error_list errors;
static struct cluster cluster;

/* Four nodes of four GPUs, every number a round one. */
static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    cluster = check_cluster_small(4, 4);
    cluster.fabric.spine_count = 3;
    cluster.fabric.oversubscription_ratio = 2;
}

static void
teardown(void)
{
    arena_free(arena);
}

static const struct flow_list *
read_list(const char *name, const struct text *csv)
{
    const struct flow_list *list =
        flow_list_read(name, csv, cluster_gpus(&cluster), arena, &errors);
    ck_assert_msg(list != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return list;
}

static const struct flow_times *
times_of(const struct flow_list *list)
{
    const struct flow_times *times = flow_times_find(
        list, &(struct flow_wires){.cluster = &cluster, .seed = 1}, arena, &errors);
    ck_assert_msg(times != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return times;
}

static const struct flow_times *
times_of_rows(const char *rows)
{
    struct text *text = arena_alloc(arena, 1, sizeof *text);
    *text = text_new(arena);
    text_format(text, "id,start_s,src,dst,bytes,deps\n%s", rows);
    return times_of(read_list("a.csv", text));
}

/* The next row of an answer, "id,finish_s". */
static double
next_finish_s(const char **at, const char *id, size_t length)
{
    ck_assert_mem_eq(*at, id, length);
    ck_assert_int_eq((*at)[length], ',');
    char *end;
    double finish_s = strtod(*at + length + 1, &end);
    *at = end + 1;
    return finish_s;
}

static void
check_pair(const char *name)
{
    struct text flows = text_new(arena), finish = text_new(arena);
    const char *folder = "validate/reference/network";
    const char *flows_path = arena_format(arena, "%s/%s.flows.csv", folder, name);
    const char *finish_path = arena_format(arena, "%s/%s.finish.csv", folder, name);
    ck_assert(text_read_file(&flows, flows_path, SIZE_MAX, &errors));
    ck_assert(text_read_file(&finish, finish_path, SIZE_MAX, &errors));
    const struct flow_list *list = read_list(name, &flows);
    const struct flow_times *times = times_of(list);
    const char *at = strchr(finish.bytes, '\n') + 1;
    for (size_t i = 0; i < list->count; i++) {
        size_t length;
        const char *id = flow_list_id(list, i, &length);
        CHECK_NEAR(times->finish_s[i], next_finish_s(&at, id, length), EXACT);
    }
    ck_assert_int_eq(*at, '\0');
}

START_TEST(exact_lists_are_met)
{
    cluster = *check_cluster_read(arena, "reference-rails-4");
    check_pair("hand");
    check_pair("a2a_4n");
    check_pair("rand_4n_200");
    check_pair("ring_ag_4n_8ring");
}
END_TEST

/* Flow a alone on its link until b comes at 1 ms; then half each: a's other 10 MB take 2 ms.
 * c waits for b's end at 5 ms: b moves 10 MB beside a, the other 20 MB alone. */
START_TEST(flows_share_from_when_they_start_until_they_end)
{
    const struct flow_times *times = times_of_rows("a,0,0,1,20000000,\n"
                                                   "b,0.001,0,1,30000000,\n"
                                                   "c,0.002,1,2,10000000,b\n"
                                                   "d,0.5,1,2,10000000,b\n");
    CHECK_NEAR(times->finish_s[0], 0.003, EXACT);
    CHECK_NEAR(times->finish_s[1], 0.005, EXACT);
    CHECK_NEAR(times->finish_s[2], 0.006, EXACT);
    CHECK_NEAR(times->finish_s[3], 0.501, EXACT);
}
END_TEST

START_TEST(a_flow_without_bytes_ends_when_it_starts)
{
    const struct flow_times *times =
        times_of_rows("a,0,0,1,10000000,\nb,0,1,2,0,a\nc,0.25,1,2,0,\nd,0,1,2,0,\n");
    CHECK_NEAR(times->finish_s[1], 0.001, EXACT);
    CHECK_NEAR(times->finish_s[2], 0.25, EXACT);
    CHECK_NEAR(times->finish_s[3], 0, EXACT);
}
END_TEST

/* A byte and a long time beside it: 1e-10 s and 1e6 s in one list. */
START_TEST(short_flows_are_exact_beside_long_ones)
{
    const struct flow_times *times = times_of_rows("a,0,0,1,1e16,\nb,0,1,2,1e5,\n");
    CHECK_NEAR(times->finish_s[0], 1e6, EXACT);
    CHECK_NEAR(times->finish_s[1], 1e-5, EXACT);
}
END_TEST

/* The largest and the smallest that a list may hold; the last is too small to be told from 0. */
START_TEST(lists_of_any_length_in_time_run)
{
    CHECK_NEAR(times_of_rows("a,32000000,0,1,1e24,\n")->finish_s[0], 1e14 + 3.2e7, EXACT);
    CHECK_NEAR(times_of_rows("a,0,0,1,1e-30,\n")->finish_s[0], 1e-40, EXACT);
    ck_assert_double_le(times_of_rows("a,0,0,1,5e-324,\n")->finish_s[0], 1e-60);
}
END_TEST

START_TEST(pairs_without_a_route_are_named)
{
    cluster.fabric.forwards_cross_rail = false;
    struct text text = text_new(arena);
    text_format(&text, "id,start_s,src,dst,bytes,deps\na,0,1,5,1,\nb,0,1,6,1,\n");
    ck_assert_ptr_null(flow_times_find(
        read_list("a.csv", &text), &(struct flow_wires){.cluster = &cluster}, arena, &errors));
    ck_assert_int_eq(errors.count, 1);
    ck_assert_int_eq(errors.items[0].kind, ERROR_INFEASIBLE);
    ck_assert_str_eq(errors.items[0].where, "a.csv:3");
    ck_assert_str_eq(errors.items[0].what,
                     "no route: rank 1 is on rail 1, rank 6 on rail 2, and small does not "
                     "forward from rail to rail");
}
END_TEST

/* An equal exchange of 16 ranks: every rank sends to 3 peers in its node, 3 of its rail, 9
 * others: 3 classes, each of which ends at once. */
START_TEST(equal_positions_are_simulated_once)
{
    struct text text = text_new(arena);
    for (int from = 0; from < 16; from++)
        for (int to = 0; to < 16; to++)
            if (from != to)
                text_format(&text, "%d-%d,0,%d,%d,1000000,\n", from, to, from, to);
    const struct flow_times *times = times_of_rows(text.bytes);
    ck_assert_uint_eq(times->class_count, 3);
    /* A NIC carries 4 flows to each of 3 nodes: 12 MB at 10e9. */
    double last_s = 0;
    for (int i = 0; i < 16 * 15; i++)
        last_s = fmax(last_s, times->finish_s[i]);
    CHECK_NEAR(last_s, 0.0012, EXACT);
}
END_TEST

/* The plainest simulator: doubles, every rate found anew at every event. */
struct plain {
    const struct flow_list *list;
    struct route routes[FLOWS_MAX];
    double left_bytes[FLOWS_MAX], rates[FLOWS_MAX], finish_s[FLOWS_MAX];
    bool is_running[FLOWS_MAX], has_ended[FLOWS_MAX];
    double now_s;
};

static double left_per_s[LINKS_MAX];
static int risers[LINKS_MAX];

static void
count_risers(const struct plain *plain)
{
    for (size_t l = 0; l < LINKS_MAX; l++)
        risers[l] = 0;
    for (size_t i = 0; i < plain->list->count; i++)
        for (int l = 0; l < plain->routes[i].count; l++)
            risers[plain->routes[i].links[l]] += plain->is_running[i] && plain->rates[i] == 0;
}

/* Progressive filling, one full link at a time. */
static void
find_rates(struct plain *plain)
{
    for (size_t i = 0; i < plain->list->count; i++) {
        plain->rates[i] = 0;
        for (int l = 0; l < plain->routes[i].count; l++)
            left_per_s[plain->routes[i].links[l]] =
                route_link_bytes_per_s(&cluster, plain->routes[i].links[l]);
    }
    for (;;) {
        count_risers(plain);
        int fullest = -1;
        for (int l = 0; l < LINKS_MAX; l++)
            if (risers[l] > 0 && (fullest < 0 || left_per_s[l] / risers[l] <
                                                     left_per_s[fullest] / risers[fullest]))
                fullest = l;
        if (fullest < 0)
            return;
        double level = left_per_s[fullest] / risers[fullest];
        for (size_t i = 0; i < plain->list->count; i++) {
            const struct route *route = &plain->routes[i];
            bool stops = false;
            for (int l = 0; l < route->count; l++)
                stops = stops || route->links[l] == fullest;
            if (!stops || !plain->is_running[i] || plain->rates[i] > 0)
                continue;
            plain->rates[i] = level;
            for (int l = 0; l < route->count; l++)
                left_per_s[route->links[l]] -= level;
        }
    }
}

/* Everything that can start or end now. */
static void
change_states(struct plain *plain)
{
    const struct flow_list *list = plain->list;
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (size_t i = 0; i < list->count; i++) {
            if (plain->has_ended[i])
                continue;
            const struct flow *flow = &list->flows[i];
            bool may_run = flow->start_s <= plain->now_s * (1 + 1e-13);
            for (uint32_t d = flow->dependency_begin; d < flow[1].dependency_begin; d++)
                may_run = may_run && plain->has_ended[list->dependencies[d]];
            plain->is_running[i] = may_run && plain->left_bytes[i] > 0;
            if (may_run && plain->left_bytes[i] == 0) {
                plain->has_ended[i] = has_changed = true;
                plain->finish_s[i] = plain->now_s;
            }
        }
    }
}

/* To the next end or start; false when there is none. */
static bool
move_clock(struct plain *plain)
{
    double step_s = HUGE_VAL;
    for (size_t i = 0; i < plain->list->count; i++) {
        double wait_s = plain->list->flows[i].start_s - plain->now_s;
        if (plain->is_running[i])
            step_s = fmin(step_s, plain->left_bytes[i] / plain->rates[i]);
        else if (wait_s > plain->now_s * 1e-13)
            step_s = fmin(step_s, wait_s);
    }
    for (size_t i = 0; i < plain->list->count && step_s < HUGE_VAL; i++) {
        if (!plain->is_running[i])
            continue;
        double left = plain->left_bytes[i] - plain->rates[i] * step_s;
        plain->left_bytes[i] = left > plain->list->flows[i].bytes * 1e-13 ? left : 0;
    }
    plain->now_s += step_s;
    return step_s < HUGE_VAL;
}

static void
run_plain(struct plain *plain, const struct flow_list *list)
{
    *plain = (struct plain){.list = list};
    for (size_t i = 0; i < list->count; i++) {
        plain->left_bytes[i] = list->flows[i].bytes;
        ck_assert(
            route_find(&cluster, list->flows[i].from, list->flows[i].to, 0, &plain->routes[i]));
    }
    do {
        change_states(plain);
        find_rates(plain);
    } while (move_clock(plain));
}

static uint32_t
random_below(uint64_t *state, uint32_t bound)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % bound;
}

/* One flow of each of `copies`, turned by as many nodes: equal positions. Few sizes and starts, so
 * that many flows tie; sometimes none do. */
static void
add_random_flows(struct text *rows, int index, int copies, uint64_t *state)
{
    uint32_t from = random_below(state, 16), to = (from + 1 + random_below(state, 15)) % 16;
    bool is_any = random_below(state, 3) == 0;
    uint32_t bytes =
        is_any ? 1 + random_below(state, 5000000) : 1000000 * random_below(state, 4);
    double start_s = is_any ? 1e-7 * random_below(state, 10000) : 1e-4 * random_below(state, 3);
    uint32_t after[2];
    uint32_t after_count = index > 0 ? random_below(state, 3) : 0;
    for (uint32_t d = 0; d < after_count; d++)
        after[d] = random_below(state, (uint32_t)index);
    for (uint32_t c = 0; c < (uint32_t)copies; c++) {
        text_format(rows, "%d-%u,%.9g,%u,%u,%u,", index, c, start_s, (from + 4 * c) % 16,
                    (to + 4 * c) % 16, bytes);
        for (uint32_t d = 0; d < after_count; d++)
            text_format(rows, "%s%u-%u", d > 0 ? ";" : "", after[d], c);
        text_format(rows, "\n");
    }
}

static void
random_fabric(uint64_t *state)
{
    struct fabric *fabric = &cluster.fabric;
    static const enum network_topology networks[] = {NETWORK_RAILS_ONLY, NETWORK_SINGLE_SWITCH,
                                                     NETWORK_LEAF_SPINE};
    fabric->node_topology = random_below(state, 2) ? NODE_MESH : NODE_SWITCH;
    fabric->loss_per_further_link = random_below(state, 2) ? 0.05 : 0;
    fabric->network_topology = networks[random_below(state, 3)];
    fabric->leaf_nodes = fabric->network_topology == NETWORK_LEAF_SPINE
                             ? 2
                             : 2 * (int64_t)random_below(state, 2);
    fabric->is_sprayed = true; /* one path a flow depends on what is drawn: route_test.c */
}

/* The times are checked; returns how many flows were simulated for others, too. */
static size_t
check_random_list(int copies, uint64_t *state)
{
    static struct plain plain;
    struct text rows = text_new(arena);
    random_fabric(state);
    int count = 1 + (int)random_below(state, (uint32_t)(FLOWS_MAX / copies));
    text_format(&rows, "id,start_s,src,dst,bytes,deps\n");
    for (int i = 0; i < count; i++)
        add_random_flows(&rows, i, copies, state);
    const struct flow_list *list = read_list("a.csv", &rows);
    const struct flow_times *times = times_of(list);
    run_plain(&plain, list);
    for (size_t i = 0; i < list->count; i++)
        CHECK_NEAR(times->finish_s[i], plain.finish_s[i], EXACT);
    return list->count - times->class_count;
}

START_TEST(random_lists_end_when_a_plain_simulator_says)
{
    uint64_t state = 4;
    for (int c = 0; c < RANDOM_LISTS; c++)
        (void)check_random_list(1, &state);
}
END_TEST

START_TEST(lists_that_turn_into_themselves_are_folded_and_end_then_too)
{
    uint64_t state = 5;
    size_t folded_count = 0;
    for (int c = 0; c < RANDOM_LISTS; c++)
        folded_count += check_random_list(4, &state);
    ck_assert_uint_ge(folded_count, 3 * RANDOM_LISTS); /* of each 4 flows 3 */
}
END_TEST

Suite *flow_times_suite(void);

Suite *
flow_times_suite(void)
{
    Suite *suite = suite_create("flow_times");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_set_timeout(facts, 60); /* seconds: sanitizers slow the plain simulator down */
    tcase_add_test(facts, exact_lists_are_met);
    tcase_add_test(facts, flows_share_from_when_they_start_until_they_end);
    tcase_add_test(facts, a_flow_without_bytes_ends_when_it_starts);
    tcase_add_test(facts, short_flows_are_exact_beside_long_ones);
    tcase_add_test(facts, lists_of_any_length_in_time_run);
    tcase_add_test(facts, pairs_without_a_route_are_named);
    tcase_add_test(facts, equal_positions_are_simulated_once);
    tcase_add_test(facts, random_lists_end_when_a_plain_simulator_says);
    tcase_add_test(facts, lists_that_turn_into_themselves_are_folded_and_end_then_too);
    suite_add_tcase(suite, facts);
    return suite;
}
