/* Are all legal plans listed, each once, and nothing else? */
#include "models/plan_space.h"

#include <string.h>

#include <check.h>

#include "models/check_plan_list.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_often.h"

Suite *plan_space_suite(void);

static struct arena *arena;
static struct error_list errors;
static const struct run *base;
static struct plan_space space;

static void
setup(void)
{
    static const char *const settings[] = {"cluster.nodes=2", "plan.global_batch_sequences=64"};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = settings,
                                  .setting_count = 2};
    arena = check_arena_new();
    memset(&errors, 0, sizeof errors);
    base = run_read(&request, arena, &errors);
    ck_assert_ptr_nonnull(base);
    space = plan_space_of(base, arena);
}

static void
teardown(void)
{
    arena_free(arena);
}

static void
set_values(enum plan_field field, const char *const *words, size_t count)
{
    ck_assert(plan_space_set(&space, field, words, count, arena));
}

static double
count_combinations(void)
{
    double count = 1;
    for (int field = 0; field < PLAN_FIELD_COUNT; field++)
        count *= (double)space.fields[field].count;
    return count;
}

START_TEST(every_combination_is_a_plan_or_counted_as_refused)
{
    struct plan_list list = check_plan_list(&space, arena);
    double count = (double)list.count;
    for (int i = 0; i < PLAN_REFUSAL_COUNT; i++)
        count += list.counts.refused_count[i];
    ck_assert(count >= count_combinations() && count <= count_combinations());
    ck_assert_uint_eq(list.counts.legal_count, list.count);
    double all = plan_space_combinations(&space);
    ck_assert(count >= all && count <= all);
    ck_assert_uint_gt(list.count, 100);
}
END_TEST

/* plan_check alone says what can be run: of one schedule, ZeRO stage and recomputation nothing is
 * redundant, so that both must agree on every combination. */
START_TEST(what_is_legal_is_what_can_be_run)
{
    static const char *const one[] = {"1"}, *const zero[] = {"0"}, *const none[] = {"none"},
                             *const first[] = {"1f1b"};
    set_values(PLAN_FIELD_ZERO_STAGE, zero, 1);
    set_values(PLAN_FIELD_VIRTUAL_STAGES, one, 1);
    set_values(PLAN_FIELD_RECOMPUTE, none, 1);
    set_values(PLAN_FIELD_SCHEDULE, first, 1);
    struct plan_list list = check_plan_list(&space, arena);
    size_t legal = 0, total = (size_t)count_combinations();
    for (size_t i = 0; i < total; i++) {
        struct error_list faults = {0};
        struct plan_point point;
        size_t rest = i;
        for (int field = PLAN_FIELD_COUNT - 1; field >= 0; field--) {
            const struct plan_values *values = &space.fields[field];
            point.values[field] = values->values[rest % values->count];
            rest /= values->count;
        }
        struct plan plan = plan_space_plan(&space, &point);
        if (!plan_check(&plan, base->plan_object, base->inputs.workload.arch,
                        base->inputs.cluster, &faults))
            continue;
        ck_assert_uint_lt(legal, list.count);
        ck_assert_int_eq(memcmp(&list.points[legal], &point, sizeof point), 0);
        legal++;
    }
    ck_assert_uint_eq(legal, list.count);
}
END_TEST

/* Of tensor 1, 2, 4 and context 1, 2 alone, (4, 1) is place 2 x 2 + 0. */
START_TEST(a_place_is_a_plan)
{
    static const char *const one[] = {"1"}, *const three[] = {"4", "1", "2"},
                             *const two[] = {"2", "1"};
    struct plan_list list = check_plan_list(&space, arena);
    uint64_t before = 0;
    for (size_t i = 0; i < list.count; i++) {
        uint64_t place = plan_space_place(&space, &list.points[i]);
        struct plan_point point = plan_space_point(&space, place);
        CHECK_OFTEN(memcmp(&point, &list.points[i], sizeof point) == 0);
        CHECK_OFTEN(i == 0 || place > before);
        before = place;
    }
    for (int field = PLAN_FIELD_PIPELINE; field < PLAN_FIELD_COUNT; field++)
        space.fields[field].count = 1;
    set_values(PLAN_FIELD_TENSOR, three, 3);
    set_values(PLAN_FIELD_CONTEXT, two, 2);
    set_values(PLAN_FIELD_PIPELINE, one, 1);
    ck_assert_int_eq(plan_space_point(&space, 4).values[PLAN_FIELD_TENSOR], 4);
    ck_assert_int_eq(plan_space_point(&space, 4).values[PLAN_FIELD_CONTEXT], 1);
}
END_TEST

/* What a plan is printed as, read again, is that plan. */
START_TEST(settings_lead_to_the_plan)
{
    struct plan_list list = check_plan_list(&space, arena);
    for (size_t i = 0; i < list.count; i += 37) {
        const char *texts[PLAN_FIELD_COUNT + 1];
        size_t count = 0;
        char *words =
            arena_format(arena, "%s", plan_space_settings(&space, &list.points[i], arena));
        for (char *word = strstr(words, "--set "); word;) {
            char *next = strstr(word + 1, " --set ");
            if (next)
                *next++ = '\0';
            texts[count++] = word + strlen("--set ");
            word = next;
        }
        struct plan wanted = plan_space_plan(&space, &list.points[i]);
        const struct run *run =
            run_again(base, &(struct run_settings){texts, count}, arena, &errors);
        ck_assert_msg(run != NULL, "%s: %s", words, errors.items[0].what);
        const struct plan *plan = run->inputs.workload.plan;
        ck_assert_int_eq(plan->tensor, wanted.tensor);
        ck_assert_int_eq(plan->expert_tensor, wanted.expert_tensor);
        ck_assert_int_eq(plan->pipeline, wanted.pipeline);
        ck_assert_int_eq(plan->microbatch_sequences, wanted.microbatch_sequences);
        ck_assert_int_eq((int)plan->schedule, (int)wanted.schedule);
        ck_assert_int_eq(plan->virtual_stages, wanted.virtual_stages);
        ck_assert_int_eq((int)plan->recompute, (int)wanted.recompute);
    }
}
END_TEST

START_TEST(values_are_words_of_a_plan)
{
    static const char *const words[] = {"full", "none", "full"}, *const wrong[] = {"half"};
    static const char *const numbers[] = {"4"}, *const stage[] = {"4"}, *const zero[] = {"0"};
    ck_assert(plan_space_set(&space, PLAN_FIELD_RECOMPUTE, words, 3, arena));
    ck_assert_uint_eq(space.fields[PLAN_FIELD_RECOMPUTE].count, 2);
    ck_assert_int_eq(space.fields[PLAN_FIELD_RECOMPUTE].values[0], RECOMPUTE_NONE);
    ck_assert_int_eq(space.fields[PLAN_FIELD_RECOMPUTE].values[1], RECOMPUTE_FULL);
    ck_assert(plan_space_set(&space, PLAN_FIELD_TENSOR, numbers, 1, arena));
    ck_assert(!plan_space_set(&space, PLAN_FIELD_ZERO_STAGE, stage, 1, arena));
    ck_assert(!plan_space_set(&space, PLAN_FIELD_TENSOR, zero, 1, arena));
    ck_assert(!plan_space_set(&space, PLAN_FIELD_RECOMPUTE, wrong, 1, arena));
    ck_assert(!plan_space_set(&space, PLAN_FIELD_SCHEDULE, numbers, 1, arena));
    ck_assert_str_eq(plan_field_wanted(PLAN_FIELD_RECOMPUTE, arena),
                     "none, selective, full, every_other_product");
    ck_assert_str_eq(plan_field_wanted(PLAN_FIELD_ZERO_STAGE, arena), "0 to 3");
}
END_TEST

Suite *
plan_space_suite(void)
{
    Suite *suite = suite_create("plan_space");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, every_combination_is_a_plan_or_counted_as_refused);
    tcase_add_test(facts, what_is_legal_is_what_can_be_run);
    tcase_add_test(facts, a_place_is_a_plan);
    tcase_add_test(facts, settings_lead_to_the_plan);
    tcase_add_test(facts, values_are_words_of_a_plan);
    suite_add_tcase(suite, facts);
    return suite;
}
