/* Tokens on their way to experts: copies counted by hand on ideal wires. */
#include "hw/expert_exchange.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

static struct arena *arena;
static struct error_list errors;
static struct cluster *ideal; /* 16 nodes of 8: 48e9 bytes/s a link, 50e9 a NIC, no latency */

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    const struct json *object =
        json_read_file(arena, "configs/clusters/reference-rails-16.json", &errors);
    ideal = object ? cluster_read(object, arena, &errors) : NULL;
    ck_assert(ideal != NULL);
}

static void
teardown(void)
{
    arena_free(arena);
}

static struct collective_cost
cost_of(struct expert_exchange exchange)
{
    struct collective_cost cost;
    ck_assert_msg(expert_exchange_cost(ideal, &exchange, &cost, &errors), "%s",
                  errors.items[0].what);
    return cost;
}

/* 4 experts, 2 of them, 2 groups of 2: both in one group with 2 of 6 pairs, so 1 + 2/3 groups; one
 * expert meets one group; all experts meet all. DeepSeek-V3: 8 of 256 on 8 nodes meet 8 (1 -
 * C(224, 8) / C(256, 8)) = 8 (1 - 138535357316356 / 409663695276000) of them. */
START_TEST(a_token_meets_some_of_the_groups)
{
    CHECK_NEAR(expert_groups_met(2, 4, 2), 5.0 / 3, 1e-15);
    CHECK_NEAR(expert_groups_met(4, 16, 1), 1, 1e-15);
    CHECK_NEAR(expert_groups_met(4, 16, 16), 4, 1e-15);
    CHECK_NEAR(expert_groups_met(8, 256, 8), 5.294652000382479, 1e-14);
}
END_TEST

/* In a node, 8 experts on 8 GPUs, 1 for each token: an eighth of 8 * 48e9 bytes over each link. */
START_TEST(in_a_node_each_link_takes_its_part)
{
    struct collective_cost cost = cost_of((struct expert_exchange){
        .ranks = 8, .nodes = 1, .tokens = 48e9, .token_bytes = 8, .experts = 8, .top_k = 1});
    CHECK_NEAR(cost.transfer_s, 1, 1e-12);
    ck_assert_str_eq(cost.bound, "xgmi");
}
END_TEST

/* 16 ranks on 2 nodes, 16 experts, 2 of them. Per expert: a NIC sends half of 2 copies. Per node:
 * both copies fall on one node with 2 C(8,2) / C(16,2) = 56 / 120, so a token meets 1 + 64 / 120
 * nodes, half of which is not its own. */
START_TEST(once_per_node_saves_the_network)
{
    struct expert_exchange exchange = {
        .ranks = 16, .nodes = 2, .tokens = 50e9, .token_bytes = 1, .experts = 16, .top_k = 2};
    CHECK_NEAR(cost_of(exchange).transfer_s, 1, 1e-12);
    ck_assert_str_eq(cost_of(exchange).algorithm, "forwarded to the rail");
    exchange.copies = COPIES_PER_NODE;
    CHECK_NEAR(cost_of(exchange).transfer_s, (1 + 64.0 / 120) / 2, 1e-12);
    ck_assert_str_eq(cost_of(exchange).bound, "nic");
    exchange.copies = COPIES_PER_RANK; /* 2 experts never share one of 16 ranks */
    CHECK_NEAR(cost_of(exchange).transfer_s, 1, 1e-12);
}
END_TEST

/* A copy for each expert is what an all-to-all of as many bytes is. */
START_TEST(once_per_expert_is_an_all_to_all)
{
    static const int64_t groups[][2] = {{8, 1}, {16, 2}, {16, 16}, {128, 16}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        struct expert_exchange exchange = {.ranks = groups[i][0],
                                           .nodes = groups[i][1],
                                           .tokens = 4096,
                                           .token_bytes = 4096,
                                           .experts = 256,
                                           .top_k = 8};
        struct collective all = {.kind = COLLECTIVE_ALL_TO_ALL,
                                 .ranks = groups[i][0],
                                 .nodes = groups[i][1],
                                 .bytes = 4096.0 * 4096 * 8};
        struct collective_cost cost;
        ck_assert(collective_cost(ideal, &all, &cost, &errors));
        CHECK_NEAR(cost_of(exchange).transfer_s, cost.transfer_s, 1e-12);
    }
}
END_TEST

static void
check_refused(struct expert_exchange exchange, const char *words)
{
    struct collective_cost cost;
    errors = (struct error_list){0};
    ck_assert(!expert_exchange_cost(ideal, &exchange, &cost, &errors));
    ck_assert_msg(strstr(errors.items[0].what, words) != NULL, "%s", errors.items[0].what);
}

START_TEST(experts_that_do_not_fit_the_ranks_are_refused)
{
    struct expert_exchange exchange = {
        .ranks = 8, .nodes = 1, .tokens = 1, .token_bytes = 1, .experts = 12, .top_k = 1};
    check_refused(exchange, "12 experts on 8 ranks");
    exchange.experts = 16, exchange.top_k = 17;
    check_refused(exchange, "17 of 16 experts");
    exchange.top_k = 1, exchange.ranks = 0;
    check_refused(exchange, "0 ranks");
    exchange.group = (struct rank_group){.size = 4, .stride = 9};
    check_refused(exchange, "different GPUs");
}
END_TEST

Suite *expert_exchange_suite(void);

Suite *
expert_exchange_suite(void)
{
    Suite *suite = suite_create("expert_exchange");
    TCase *tests = tcase_create("expert_exchange");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_token_meets_some_of_the_groups);
    tcase_add_test(tests, in_a_node_each_link_takes_its_part);
    tcase_add_test(tests, once_per_node_saves_the_network);
    tcase_add_test(tests, once_per_expert_is_an_all_to_all);
    tcase_add_test(tests, experts_that_do_not_fit_the_ranks_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
