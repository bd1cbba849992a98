/* Is a record of a fit that is whole taken, and one that is not named by its key? */
#include "hw/calibration_record.h"

#include <check.h>
#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_json.h"

Suite *calibration_record_suite(void);

static const char whole[] =
    "{\"date\": \"2026-11-21\", \"split_seed\": 1,"
    "\"lists\": [{\"name\": \"a.jsonl\", \"rows_count\": 2, \"fnv1a_64\": "
    "\"85944171f73967e8\"}],"
    "\"residuals\": [{\"kind\": \"memory_bound\", \"dtype\": \"\", \"size\": \"all\","
    "\"part\": \"held-out\", \"rows_count\": 2,"
    "\"mape_before_fraction\": 0.2, \"mape_after_fraction\": 0.1,"
    "\"bias_before_fraction\": -0.2, \"bias_after_fraction\": 0,"
    "\"p90_before_fraction\": 0.3, \"p90_after_fraction\": 0.2}]}";

START_TEST(a_whole_record_is_taken)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    ck_assert(calibration_record_check(check_json_read(arena, whole), &errors));
    ck_assert_int_eq(errors.count, 0);
    arena_free(arena);
}
END_TEST

static void
check_refused(const char *path, const char *value, const char *where, const char *what)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct json *object = check_json_read(arena, whole);
    ck_assert(json_set(object, path, value, "a test", &errors));
    ck_assert_msg(!calibration_record_check(object, &errors), "%s = %s", path, value);
    ck_assert_msg(strstr(errors.items[0].where, where) && strstr(errors.items[0].what, what),
                  "%s: %s", errors.items[0].where, errors.items[0].what);
    arena_free(arena);
}

START_TEST(what_is_no_record_is_named)
{
    check_refused("date", "21.11.2026", "$.date", "wanted a date");
    check_refused("date", "2026-11-211", "$.date", "wanted a date");
    check_refused("split_seed", "-1", "$.split_seed", "-1");
    check_refused("lists", "[]", "$.lists", "measured lists");
    check_refused("lists", "{}", "$.lists", "measured lists");
    check_refused("lists.0.rows_count", "0", "$.lists[0].rows_count", "0");
    check_refused("lists.0.fnv1a_64", "85944171F73967E8", "fnv1a_64", "16 hexadecimal");
    check_refused("residuals", "3", "$.residuals", "residuals");
    check_refused("residuals.0.part", "\"seen\"", "$.residuals[0].part", "held-out");
    check_refused("residuals.0.p90_after_fraction", "-2", "p90_after_fraction", "-2");
    check_refused("residuals.0.p95_after_fraction", "0.1", "p95_after", "p90_after");
    check_refused("by", "\"me\"", "$.by", "by");
}
END_TEST

Suite *
calibration_record_suite(void)
{
    Suite *suite = suite_create("calibration_record");
    TCase *tests = tcase_create("records");
    tcase_add_test(tests, a_whole_record_is_taken);
    tcase_add_test(tests, what_is_no_record_is_named);
    suite_add_tcase(suite, tests);
    return suite;
}
