/* Does a fit find the fabric behind measured collectives? */
#include "validate/fabric_coefficient.h"

#include <string.h>

#include "hw/check_cluster.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "validate/calibration.h"

static struct arena *arena;
static struct error_list errors;
static struct cluster truth;
static struct calibration_question question;
static struct measured_list list;

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    list = (struct measured_list){0};
    question = (struct calibration_question){.list = &list, .seed = SPLIT_SEED_DEFAULT};
    question.file = json_read_file(arena, "configs/fabrics/h200-nvlink.json", &errors);
    question.cluster = check_cluster_read(arena, "h200-1");
    truth = *question.cluster;
}

static void
teardown(void)
{
    arena_free(arena);
}

/* Every collective on 2, 4 and 8 GPUs, 1 KiB to 1 GiB, as long as it takes on the true cluster. */
static void
measure_all(void)
{
    for (int kind = 0; kind <= COLLECTIVE_ALL_TO_ALL; kind++)
        for (int ranks = 2; ranks <= 8; ranks *= 2)
            for (int power = 10; power <= 30; power += 2) {
                struct text line = text_new(arena);
                text_format(&line,
                            "{\"collective\": \"%s\", \"ranks\": %d, \"nodes\": 1, "
                            "\"bytes\": %d, \"measured_s\": 1}\n",
                            collective_kind_name((enum collective_kind)kind), ranks,
                            1 << power);
                ck_assert(measured_list_parse(&list, "list", &line, arena, &errors));
                struct measured *row = &list.items[list.count - 1];
                struct collective_cost cost;
                ck_assert(collective_cost(&truth, &row->collective, &cost, &errors));
                row->measured_s = cost.latency_s + cost.transfer_s;
            }
}

static const struct error_row *
sum_of(const struct error_table *table, const char *size)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].group.kind, "collective") == 0 &&
            strcmp(table->rows[i].group.size, size) == 0 &&
            table->rows[i].part == SPLIT_HELD_OUT)
            return &table->rows[i];
    ck_abort_msg("no rows %s", size);
    return NULL;
}

/* Hops twice as long, and two collectives of other speeds and starts: none of it can be seen in
 * the file, all in the times. */
START_TEST(hops_and_efficiencies_are_found)
{
    truth.fabric.protocols[0].link_hop_s *= 2;
    truth.fabric.tunings[COLLECTIVE_ALL_REDUCE].efficiency = 0.7;
    truth.fabric.tunings[COLLECTIVE_ALL_GATHER].efficiency = 0.6;
    truth.fabric.tunings[COLLECTIVE_BROADCAST].launch_s = 20e-6;
    measure_all();
    const struct calibration *fit = calibrate(&question, arena, &errors);
    ck_assert_msg(fit != NULL, "%s", errors.items[0].what);
    ck_assert_str_eq(fit->name, "h200-nvlink");
    ck_assert_double_gt(sum_of(&fit->before, "from 1 MiB")->mape_fraction, 0.08);
    ck_assert_double_lt(sum_of(&fit->after, "from 1 MiB")->mape_fraction, 0.01);
    ck_assert_double_lt(sum_of(&fit->after, "under 1 MiB")->mape_fraction, 0.01);
    CHECK_NEAR(fit->cluster.fabric.protocols[0].link_hop_s,
               truth.fabric.protocols[0].link_hop_s, 0.05);
    CHECK_NEAR(fit->cluster.fabric.tunings[COLLECTIVE_BROADCAST].launch_s, 20e-6, 0.05);
}
END_TEST

/* No network, no loss between links and no tuning of its own for some: those of the file. */
START_TEST(only_numbers_of_the_file_are_coefficients)
{
    struct coefficient_list of = fabric_coefficient_list_of(&truth, question.file, arena);
    for (size_t i = 0; i < of.count; i++) {
        ck_assert_ptr_nonnull(json_at(question.file, of.items[i].path));
        ck_assert_str_ne(of.items[i].path, "network.efficiency");
    }
    ck_assert_ptr_eq(of.items[0].value, &truth.fabric.link_efficiency);
    ck_assert(coefficient_list_check(&of, question.file, &errors));
}
END_TEST

/* 1 KiB is all launch, 1 GiB all bytes. */
START_TEST(deviations_are_of_what_takes_the_time)
{
    struct coefficient_sigma_list of = fabric_sigma_list_of(&truth, arena);
    struct measured row = {
        .is_collective = true,
        .collective = {.kind = COLLECTIVE_ALL_REDUCE, .ranks = 8, .nodes = 1}};
    ck_assert_uint_eq(of.count, 3);
    row.collective.bytes = 1024;
    ck_assert(fabric_sigma_covers(&of.items[0], &truth, &row));
    ck_assert(!fabric_sigma_covers(&of.items[1], &truth, &row));
    row.collective.bytes = 1 << 30;
    ck_assert(!fabric_sigma_covers(&of.items[0], &truth, &row));
    ck_assert(fabric_sigma_covers(&of.items[1], &truth, &row));
    ck_assert(!fabric_sigma_covers(&of.items[2], &truth, &row));
}
END_TEST

Suite *fabric_coefficient_suite(void);

Suite *
fabric_coefficient_suite(void)
{
    Suite *suite = suite_create("fabric_coefficient");
    TCase *tests = tcase_create("fabric_coefficient");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60); /* seconds: sanitizers slow the fit down */
    tcase_add_test(tests, hops_and_efficiencies_are_found);
    tcase_add_test(tests, only_numbers_of_the_file_are_coefficients);
    tcase_add_test(tests, deviations_are_of_what_takes_the_time);
    suite_add_tcase(suite, tests);
    return suite;
}
