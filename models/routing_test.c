/* Do the loads of experts add up, as skewed as asked, and are slips refused? */
#include "models/routing.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *routing_suite(void);

static struct arena *arena;
static struct error_list errors;

static void
set_up(void)
{
    arena = check_arena_new();
    memset(&errors, 0, sizeof errors);
}

static void
tear_down(void)
{
    arena_free(arena);
}

static int64_t
sum_of(const struct expert_loads *loads)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < loads->experts; i++)
        sum += loads->rows[i];
    return sum;
}

START_TEST(without_routing_loads_are_as_even_as_whole_tokens_allow)
{
    struct routed_tokens routed = {50, 1, 16}; /* 50 = 16 x 3 + 2 */
    struct expert_loads loads = routing_loads(NULL, &routed, arena);
    for (int64_t i = 0; i < 16; i++)
        ck_assert_int_eq(loads.rows[i], i < 2 ? 4 : 3);
    ck_assert_int_eq(loads.copies, 50);
    ck_assert_int_eq(loads.dropped, 0);
}
END_TEST

/* Weights 1, 1/2, 1/3, 1/4 of 2500 tokens: sum 25/12, so 1200, 600, 400, 300. */
START_TEST(a_power_law_of_one_is_zipfs)
{
    struct routing routing = {.kind = ROUTING_POWER_LAW, .exponent = 1};
    struct routed_tokens routed = {2500, 1, 4};
    struct expert_loads loads = routing_loads(&routing, &routed, arena);
    const int64_t wanted[] = {1200, 600, 400, 300};
    ck_assert_int_eq(sum_of(&loads), 2500);
    for (int i = 0; i < 4; i++) /* a token that rounding moved */
        ck_assert_int_le(llabs(loads.rows[i] - wanted[i]), 1);
}
END_TEST

/* Multiples of 16, at least one, the rest to the first, as a program does that hands grouped
 * products aligned rows. 8192 tokens, weights (i + 1)^-0.7, worked with another program. */
START_TEST(aligned_rows_leave_the_rest_to_the_most_popular)
{
    struct routing routing = {.kind = ROUTING_POWER_LAW, .exponent = 0.7, .row_multiple = 16};
    struct routed_tokens routed = {8192, 1, 16};
    struct expert_loads loads = routing_loads(&routing, &routed, arena);
    const int64_t wanted[] = {1760, 1008, 752, 624, 528, 464, 416, 384,
                              352,  320,  304, 288, 272, 256, 240, 224};
    for (int i = 0; i < 16; i++)
        ck_assert_int_eq(loads.rows[i], wanted[i]);
    ck_assert_int_eq(sum_of(&loads), 8192);
}
END_TEST

START_TEST(a_seed_moves_the_popular_experts_and_nothing_else)
{
    struct routing plain = {.kind = ROUTING_POWER_LAW, .exponent = 1};
    struct routing shuffled = plain, other = plain;
    shuffled.seed = 1;
    other.seed = 2;
    struct routed_tokens routed = {1 << 20, 2, 64};
    struct expert_loads one = routing_loads(&shuffled, &routed, arena);
    struct expert_loads same = routing_loads(&shuffled, &routed, arena);
    struct expert_loads two = routing_loads(&other, &routed, arena);
    struct expert_loads ordered = routing_loads(&plain, &routed, arena);
    ck_assert_mem_eq(one.rows, same.rows, 64 * sizeof *one.rows);
    ck_assert(memcmp(one.rows, two.rows, 64 * sizeof *one.rows) != 0);
    ck_assert(memcmp(one.rows, ordered.rows, 64 * sizeof *one.rows) != 0);
    int64_t most = 0;
    for (int i = 0; i < 64; i++)
        most = one.rows[i] > most ? one.rows[i] : most;
    ck_assert_int_le(llabs(most - ordered.rows[0]), 1);
    ck_assert_int_eq(sum_of(&one), 2 << 20);
}
END_TEST

/* 100 tokens that visit two of four experts each: the popular one would get 8/11 of 200, but no
 * more than 100 are there; the others share the other 100 evenly. */
START_TEST(no_expert_gets_a_token_twice)
{
    const double weights[] = {8, 1, 1, 1};
    struct routing routing = {.kind = ROUTING_HISTOGRAM, .weights = weights, .weight_count = 4};
    struct routed_tokens routed = {100, 2, 4};
    struct expert_loads loads = routing_loads(&routing, &routed, arena);
    ck_assert_int_eq(loads.rows[0], 100);
    ck_assert_int_eq(sum_of(&loads), 200);
    for (int i = 1; i < 4; i++)
        ck_assert_int_le(loads.rows[i], 34);
}
END_TEST

START_TEST(experts_without_a_weight_take_what_the_full_ones_leave)
{
    const double weights[] = {0, 1, 0, 0};
    struct routing routing = {.kind = ROUTING_HISTOGRAM, .weights = weights, .weight_count = 4};
    struct routed_tokens once = {90, 1, 4}, twice = {90, 2, 4};
    struct expert_loads loads = routing_loads(&routing, &once, arena);
    ck_assert_int_eq(loads.rows[1], 90);
    ck_assert_int_eq(sum_of(&loads), 90);
    loads = routing_loads(&routing, &twice, arena);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(loads.rows[i], i == 1 ? 90 : 30);
}
END_TEST

/* The four experts of one rank of many, when each token goes to eight: 800 copies. */
START_TEST(experts_of_a_part_take_more_copies_than_tokens)
{
    struct routed_tokens routed = {100, 8, 4};
    struct expert_loads loads = routing_loads(NULL, &routed, arena);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(loads.rows[i], 200);
}
END_TEST

/* 1200, 600, 400, 300 with a factor of 1.25: 2500 / 4 x 1.25 = 781.25, 782 find room. */
START_TEST(capacity_drops_what_is_over_and_pads_what_is_under)
{
    const double weights[] = {1200, 600, 400, 300};
    struct routing routing = {.kind = ROUTING_HISTOGRAM,
                              .weights = weights,
                              .weight_count = 4,
                              .capacity_factor = 1.25};
    struct routed_tokens routed = {2500, 1, 4};
    struct expert_loads loads = routing_loads(&routing, &routed, arena);
    ck_assert_int_eq(loads.rows[0], 782);
    ck_assert_int_eq(loads.rows[1], 600);
    ck_assert_int_eq(loads.dropped, 1200 - 782);
    ck_assert_int_eq(loads.copies, 2500 - 418);
    routing.is_capacity_padded = true;
    loads = routing_loads(&routing, &routed, arena);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(loads.rows[i], 782);
    ck_assert_int_eq(loads.copies, 2082);
}
END_TEST

/* Two ranks: 1800 rows on the first, 700 on the second, of 1250 on the mean. */
START_TEST(ranks_get_what_their_experts_get)
{
    const int64_t rows[] = {1200, 600, 400, 300};
    struct expert_loads loads = {rows, 4, 2500, 0};
    ck_assert_int_eq(routing_rank_rows(&loads, 2, 0), 1800);
    ck_assert_int_eq(routing_rank_rows(&loads, 2, 1), 700);
    ck_assert_int_eq(routing_busiest_rank(&loads, 2), 0);
    CHECK_NEAR(routing_imbalance(&loads, 2), 1.44, 1e-12);
    CHECK_NEAR(routing_imbalance(&loads, 1), 1, 1e-12);
    const double *bytes = routing_matrix(&loads, 2, 10, arena);
    const double wanted[] = {18000, 7000, 18000, 7000};
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(bytes[i], wanted[i]);
}
END_TEST

/* DeepSeek-V3 on 8 nodes, 8 of 256 experts: 8 (1 - C(224, 8) / C(256, 8)) = 5.2947 from all of
 * them, 8 (1 - (1/2 + 1/2 C(96, 8) / C(128, 8))) = 3.6290 from 4 of 8 groups, a group a node; on 4
 * nodes of two groups each 4 (1 - sum over 0, 1, 2 groups of C(2, j) C(6, 4 - j) / C(8, 4)
 * C(128 - 32 j, 8) / C(128, 8)) = 2.9282; on 16 nodes, half a group each, 16 (1 - (1/2 + 1/2
 * C(112, 8) / C(128, 8))) = 5.3394. On one place all are met. */
START_TEST(a_tokens_experts_lie_on_few_nodes)
{
    struct routed_tokens routed = {1, 8, 256};
    struct routing_groups any = {0, 0}, few = {8, 4};
    CHECK_NEAR(routing_places_met(&routed, any, 8), 5.294652000382479, 1e-9);
    CHECK_NEAR(routing_places_met(&routed, few, 8), 3.6290109244257005, 1e-9);
    CHECK_NEAR(routing_places_met(&routed, few, 4), 2.9282097874345787, 1e-9);
    CHECK_NEAR(routing_places_met(&routed, few, 16), 5.339356895383487, 1e-9);
    CHECK_NEAR(routing_places_met(&routed, any, 1), 1, 1e-12);
    CHECK_NEAR(routing_places_met(&routed, few, 1), 1, 1e-12);
}
END_TEST

static const struct json *
read_text(const char *text)
{
    return json_read_text(arena, "r.json", 1, text, strlen(text), &errors);
}

START_TEST(a_routing_is_read_whole)
{
    const struct json *object =
        read_text("{\"kind\": \"histogram\", \"weights\": [3, 1.5], \"capacity_factor\": 1.5, "
                  "\"is_capacity_padded\": true, \"is_given\": true}");
    const struct routing *routing = routing_read(object, arena, &errors);
    ck_assert_ptr_nonnull(routing);
    ck_assert_int_eq(routing->weight_count, 2);
    ck_assert_double_eq(routing->weights[1], 1.5);
    ck_assert(routing->is_capacity_padded && routing->is_given);
    ck_assert(routing_check(routing, object, 2, &errors));
    ck_assert(!routing_check(routing, object, 3, &errors));
    ck_assert_str_eq(errors.items[0].where, "r.json:1:34: $.weights");
    ck_assert_str_eq(errors.items[0].what,
                     "has 2 weights, wanted one for each of the 3 experts");
}
END_TEST

struct bad_case {
    const char *text, *message;
};
static const struct bad_case BAD_CASES[] = {
    {"{}", "r.json:1:1: $: lacks the key 'kind' (one of: uniform, power_law, histogram)"},
    {"{\"kind\": \"power\"}",
     "r.json:1:10: $.kind: is the string 'power', did you mean 'power_law'?"},
    {"{\"kind\": \"power_law\"}", "r.json:1:1: $: lacks the key 'exponent' of a power law"},
    {"{\"kind\": \"uniform\", \"exponent\": 1}",
     "r.json:1:33: $.exponent: is of kind power_law only, not uniform"},
    {"{\"kind\": \"power_law\", \"exponent\": 1, \"weights\": [1]}",
     "r.json:1:49: $.weights: are of kind histogram only, not power_law"},
    {"{\"kind\": \"histogram\"}", "r.json:1:1: $: lacks the key 'weights' of a histogram"},
    {"{\"kind\": \"histogram\", \"weights\": [0, 0]}",
     "r.json:1:34: $.weights: are all 0: no token would find an expert"},
    {"{\"kind\": \"histogram\", \"weights\": [1, -1]}",
     "r.json:1:38: $.weights[1]: is not a weight, wanted a number of at least 0"},
    {"{\"kind\": \"histogram\", \"weights\": 7}",
     "r.json:1:34: $.weights: wanted a list of 1 to 4096 weights, one an expert"},
    {"{\"kind\": \"uniform\", \"is_capacity_padded\": true}",
     "r.json:1:43: $.is_capacity_padded: is true, but there is no 'capacity_factor' to pad to"},
};

START_TEST(slips_are_told_with_their_place)
{
    const struct bad_case *bad = &BAD_CASES[_i];
    ck_assert_ptr_null(routing_read(read_text(bad->text), arena, &errors));
    ck_assert_str_eq(arena_format(arena, "%s: %s", errors.items[0].where, errors.items[0].what),
                     bad->message);
    ck_assert_int_eq(errors.count, 1);
}
END_TEST

Suite *
routing_suite(void)
{
    Suite *suite = suite_create("routing");
    TCase *tests = tcase_create("loads");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, without_routing_loads_are_as_even_as_whole_tokens_allow);
    tcase_add_test(tests, a_power_law_of_one_is_zipfs);
    tcase_add_test(tests, aligned_rows_leave_the_rest_to_the_most_popular);
    tcase_add_test(tests, a_seed_moves_the_popular_experts_and_nothing_else);
    tcase_add_test(tests, no_expert_gets_a_token_twice);
    tcase_add_test(tests, experts_without_a_weight_take_what_the_full_ones_leave);
    tcase_add_test(tests, experts_of_a_part_take_more_copies_than_tokens);
    tcase_add_test(tests, capacity_drops_what_is_over_and_pads_what_is_under);
    tcase_add_test(tests, ranks_get_what_their_experts_get);
    tcase_add_test(tests, a_tokens_experts_lie_on_few_nodes);
    tcase_add_test(tests, a_routing_is_read_whole);
    tcase_add_loop_test(tests, slips_are_told_with_their_place, 0,
                        sizeof BAD_CASES / sizeof *BAD_CASES);
    suite_add_tcase(suite, tests);
    return suite;
}
