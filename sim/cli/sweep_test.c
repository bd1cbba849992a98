/* Does a range on the command line mean the values that a reader expects? */
#include "sim/cli/sweep.h"

#include <check.h>

#include "sim/base/check_arena.h"

Suite *sweep_suite(void);

static struct arena *arena;
static struct sweep sweep;
static const char *fault;

static void
setup(void)
{
    arena = check_arena_new();
    fault = "";
}

static void
teardown(void)
{
    arena_free(arena);
}

static void
check_values(const char *text, const int64_t *values, size_t count)
{
    ck_assert_msg(sweep_parse(text, &sweep, arena, &fault), "%s: %s", text, fault);
    ck_assert_uint_eq(sweep.count, count);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(sweep.values[i], values[i]);
}

START_TEST(a_range_steps_up_to_its_end_and_never_beyond)
{
    check_values("n=64:192:64", (const int64_t[]){64, 128, 192}, 3);
    ck_assert_str_eq(sweep.key, "n");
    check_values("width=64:191:64", (const int64_t[]){64, 128}, 2);
    check_values("n=7:7:1", (const int64_t[]){7}, 1);
    check_values("n=9223372036854775806:9223372036854775807:5",
                 (const int64_t[]){9223372036854775806}, 1);
}
END_TEST

START_TEST(a_range_without_step_doubles)
{
    check_values("k=3:30", (const int64_t[]){3, 6, 12, 24}, 4);
    check_values("k=4611686018427387904:9223372036854775807",
                 (const int64_t[]){4611686018427387904}, 1);
}
END_TEST

START_TEST(a_list_is_sorted_and_says_each_value_once)
{
    check_values("n=512,64,512,128", (const int64_t[]){64, 128, 512}, 3);
    check_values("n=5", (const int64_t[]){5}, 1);
}
END_TEST

START_TEST(what_is_no_range_is_refused)
{
    const char *const texts[] = {"",         "n",       "n=",
                                 "=1:2:1",   "n=1:2:",  "n=1:2:1:1",
                                 "n=0:2:1",  "n=1:2:0", "n=2:1:1",
                                 "n=-4:4:1", "n=1,",    "n=,1",
                                 "n=1.5,2",  "n=1,x",   "n=a:b:c",
                                 "n=1:2:x",  "n=0",     "n=1:1e6:1",
                                 "n=1::2",   "n=:2:1",  "n=99999999999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fault = "";
        ck_assert_msg(!sweep_parse(texts[i], &sweep, arena, &fault), "%s", texts[i]);
        ck_assert_str_ne(fault, "");
    }
}
END_TEST

START_TEST(a_range_of_more_values_than_a_page_has_dots_is_refused)
{
    ck_assert(sweep_parse("n=1:16384:1", &sweep, arena, &fault));
    ck_assert_uint_eq(sweep.count, 16384);
    ck_assert(!sweep_parse("n=1:16385:1", &sweep, arena, &fault));
    ck_assert_str_eq(fault, "more than 16384 values");
}
END_TEST

START_TEST(words_keep_their_order)
{
    struct sweep_words words;
    ck_assert(sweep_parse_words("dtype=fp8,bf16", &words, arena, &fault));
    ck_assert_str_eq(words.key, "dtype");
    ck_assert_uint_eq(words.count, 2);
    ck_assert_str_eq(words.words[0], "fp8");
    ck_assert_str_eq(words.words[1], "bf16");
    ck_assert(!sweep_parse_words("dtype", &words, arena, &fault));
    ck_assert(!sweep_parse_words("dtype=fp8,,bf16", &words, arena, &fault));
    ck_assert(!sweep_parse_words("dtype=fp8,", &words, arena, &fault));
}
END_TEST

Suite *
sweep_suite(void)
{
    Suite *suite = suite_create("sweep");
    TCase *tests = tcase_create("sweep");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_range_steps_up_to_its_end_and_never_beyond);
    tcase_add_test(tests, a_range_without_step_doubles);
    tcase_add_test(tests, a_list_is_sorted_and_says_each_value_once);
    tcase_add_test(tests, what_is_no_range_is_refused);
    tcase_add_test(tests, a_range_of_more_values_than_a_page_has_dots_is_refused);
    tcase_add_test(tests, words_keep_their_order);
    suite_add_tcase(suite, tests);
    return suite;
}
