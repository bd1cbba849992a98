/* Does a fit find the fabric that made the times, and refuse what it cannot fit? */
#include "validate/fabric_fit.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_json.h"
#include "sim/base/check_near.h"
#include "validate/host_list.h"

Suite *fabric_fit_suite(void);

static struct arena *arena;
static struct error_list errors;
static const struct json *file;
static struct cluster begin;

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    file = json_read_file(arena, "configs/fabrics/host-shared.json", &errors);
    ck_assert_msg(file != NULL, "%s", errors.items[0].what);
    begin = (struct cluster){.name = "host", .nodes = 1, .gpus_per_node = 4};
    ck_assert(fabric_read(file, &begin.fabric, &errors));
}

static void
teardown(void)
{
    arena_free(arena);
}

/* The times of another fabric: calls of 3 us, a fifth of the rate, own parts at a third. */
static struct measured_list
list_of(struct cluster cluster)
{
    struct text lines = text_new(arena);
    struct measured_list list = {0};
    for (int i = 0; i < COLLECTIVE_KIND_COUNT; i++)
        cluster.fabric.tunings[i] =
            (struct fabric_tuning){.launch_s = 3e-6, .efficiency = 0.2, .own_part_ratio = 0.33};
    for (int ranks = 2; ranks <= 4; ranks += 2) {
        struct host_collectives wanted = {ranks, 1e8, "fp32"};
        host_list_write_collectives(&wanted, &lines);
    }
    for (char *line = strtok(lines.bytes, "\n"); line; line = strtok(NULL, "\n")) {
        struct text row = text_new(arena);
        struct collective collective;
        struct collective_cost cost;
        ck_assert(collective_read(check_json_read(arena, line), &collective, arena, &errors) &&
                  collective_cost(&cluster, &collective, &cost, &errors));
        text_format(&row, "%.*s, \"measured_s\": %.17g}", (int)strlen(line) - 1, line,
                    cost.latency_s + cost.transfer_s);
        ck_assert(measured_list_parse(&list, "list", &row, arena, &errors));
    }
    return list;
}

START_TEST(the_fabric_that_made_the_times_is_found)
{
    struct measured_list list = list_of(begin);
    struct text out = text_new(arena);
    struct fabric_fit fit;
    struct fabric fabric;
    struct fabric_fit_question question = {&begin, file, &list, 1, "fitted \"here\""};
    ck_assert_msg(fabric_fit(&question, &fit, &out, &errors), "%s", errors.items[0].what);
    ck_assert_uint_eq(fit.fit_count + fit.held_out_count, list.count);
    ck_assert_uint_gt(fit.held_out_count, 20);
    const struct json *written = check_json_read(arena, out.bytes);
    ck_assert(fabric_read(written, &fabric, &errors));
    ck_assert_str_eq(
        json_as_string(json_at(written, "collectives.broadcast.efficiency.source")),
        "fitted \"here\"");
    begin.fabric = fabric;
    for (size_t i = 0; i < list.count; i++) {
        struct collective_cost cost;
        ck_assert(collective_cost(&begin, &list.items[i].collective, &cost, &errors));
        CHECK_NEAR(cost.latency_s + cost.transfer_s, list.items[i].measured_s, 0.02);
    }
    CHECK_NEAR(fabric.tunings[COLLECTIVE_ALL_REDUCE].relative_sigma, 0.03, 0.01);
}
END_TEST

/* H200's fabric says of no collective but one how far it is off, and of two no own part. */
START_TEST(what_a_file_leaves_out_joins_it)
{
    struct text out = text_new(arena);
    struct fabric_fit fit;
    struct fabric fabric;
    file = json_read_file(arena, "configs/fabrics/h200-nvlink.json", &errors);
    ck_assert(fabric_read(file, &begin.fabric, &errors));
    ck_assert_ptr_null(json_at(file, "collectives.broadcast.own_part_ratio"));
    struct measured_list list = list_of(begin);
    struct fabric_fit_question question = {&begin, file, &list, 1, "here"};
    ck_assert_msg(fabric_fit(&question, &fit, &out, &errors), "%s", errors.items[0].what);
    const struct json *written = check_json_read(arena, out.bytes);
    ck_assert(fabric_read(written, &fabric, &errors));
    ck_assert_str_eq(
        json_as_string(json_at(written, "collectives.broadcast.own_part_ratio.source")),
        "here");
    ck_assert_double_gt(fabric.tunings[COLLECTIVE_ALL_REDUCE].relative_sigma, 0);
}
END_TEST

static void
check_refused(const struct json *of, const char *lines, const char *what)
{
    struct text text = text_new(arena), out = text_new(arena);
    struct measured_list list = {0};
    struct fabric_fit fit;
    struct fabric_fit_question question = {&begin, of, &list, 1, "s"};
    text_format(&text, "%s", lines);
    ck_assert(measured_list_parse(&list, "list", &text, arena, &errors));
    ck_assert(!fabric_fit(&question, &fit, &out, &errors));
    ck_assert_msg(strstr(errors.items[0].what, what) != NULL, "%s", errors.items[0].what);
    errors = (struct error_list){0};
}

START_TEST(what_cannot_be_fitted_is_said)
{
    static const char kernel[] =
        "{\"kernel\": \"copy\", \"bytes\": 64, \"from\": \"hbm\", \"to\": \"hbm\", "
        "\"measured_s\": 1}";
    static const char lone[] =
        "{\"collective\": \"broadcast\", \"ranks\": 2, \"nodes\": 1, \"bytes\": 64, "
        "\"measured_s\": 1, \"measured_part\": \"fit\"}";
    static const char wide[] =
        "{\"collective\": \"broadcast\", \"ranks\": 16, \"nodes\": 1, \"bytes\": 64, "
        "\"measured_s\": 1}";
    check_refused(file, kernel, "no measured collective to fit to");
    check_refused(file, lone, "1 measured collectives to fit");
    check_refused(file, wide, "16 ranks");
}
END_TEST

START_TEST(a_file_without_the_number_is_named)
{
    struct measured_list list = list_of(begin);
    struct text out = text_new(arena);
    struct fabric_fit fit;
    struct fabric_fit_question question = {&begin, check_json_read(arena, "{}"), &list, 1, "s"};
    ck_assert(!fabric_fit(&question, &fit, &out, &errors));
    ck_assert_ptr_nonnull(
        strstr(errors.items[0].what, "lacks collectives.all_reduce.launch_s"));
}
END_TEST

Suite *
fabric_fit_suite(void)
{
    Suite *suite = suite_create("fabric_fit");
    TCase *tests = tcase_create("fit");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, the_fabric_that_made_the_times_is_found);
    tcase_add_test(tests, what_a_file_leaves_out_joins_it);
    tcase_add_test(tests, what_cannot_be_fitted_is_said);
    tcase_add_test(tests, a_file_without_the_number_is_named);
    suite_add_tcase(suite, tests);
    return suite;
}
