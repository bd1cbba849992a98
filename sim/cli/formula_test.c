/* Does a formula come to what its reader expects, and say why where it cannot? */
#include "sim/cli/formula.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *formula_suite(void);

static struct arena *arena;
static const char *fault;

static void
setup(void)
{
    arena = check_arena_new();
}

static void
teardown(void)
{
    arena_free(arena);
}

static bool
find(const void *context, const char *name, double *value)
{
    (void)context;
    *value = 2048;
    return strcmp(name, "model.hidden") == 0;
}

static double
value_of(const char *text)
{
    double value = 0;
    struct formula_names names = {find, NULL};
    ck_assert_msg(formula_value(text, &names, &value, arena, &fault), "%s: %s", text, fault);
    return value;
}

static void
check_fault(const char *text, const char *words)
{
    double value = 0;
    struct formula_names names = {find, NULL};
    ck_assert_msg(!formula_value(text, &names, &value, arena, &fault), "%s is no fault", text);
    ck_assert_msg(strstr(fault, words) != NULL, "%s: %s", text, fault);
}

START_TEST(products_bind_tighter_and_go_from_left_to_right)
{
    CHECK_NEAR(value_of("1 + 2 * 3 - 4 / 2"), 5, 0);
    CHECK_NEAR(value_of("8 / 4 / 2"), 1, 0);
    CHECK_NEAR(value_of("-(2 - 5) * -2"), -6, 0);
    CHECK_NEAR(value_of(" .5*model.hidden "), 1024, 0);
}
END_TEST

/* 8/3 x 2048 = 5461.3: between 85 and 86 times 64, nearer to 85 x 64 = 5440. */
START_TEST(values_are_rounded_to_multiples)
{
    CHECK_NEAR(value_of("round(8/3 * model.hidden, 64)"), 5440, 0);
    CHECK_NEAR(value_of("ceil(8/3 * model.hidden, 64)"), 5504, 0);
    CHECK_NEAR(value_of("floor(100, 64)"), 64, 0);
    CHECK_NEAR(value_of("max(min(3, 4), abs(-2))"), 3, 0);
}
END_TEST

START_TEST(a_comparison_is_one_or_nothing)
{
    CHECK_NEAR(value_of("model.hidden <= 2048"), 1, 0);
    CHECK_NEAR(value_of("model.hidden < 2048"), 0, 0);
    CHECK_NEAR(value_of("abs(model.hidden / 2000 - 1) <= 0.02"), 0, 0); /* 2.4 % */
    CHECK_NEAR(value_of("2 == 1 + 1"), 1, 0);
}
END_TEST

START_TEST(what_is_no_formula_says_why)
{
    check_fault("", "ends where a value should stand");
    check_fault("2 *", "ends where a value should stand");
    check_fault("model.width", "'model.width' is no number of the run");
    check_fault("sqrt(2)", "there is no function sqrt");
    check_fault("abs(1, 2)", "abs takes 1 values");
    check_fault("min(1, 2, 3)", "too many values");
    check_fault("(1", "a ')' is missing");
    check_fault("1 2", "does not go on with '2'");
    check_fault("1 / 0", "no finite number");
    check_fault("$", "wanted a number or a name");
}
END_TEST

START_TEST(parentheses_have_an_end)
{
    char deep[512];
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    check_fault(deep, "too many parentheses");
}
END_TEST

Suite *
formula_suite(void)
{
    Suite *suite = suite_create("formula");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, products_bind_tighter_and_go_from_left_to_right);
    tcase_add_test(facts, values_are_rounded_to_multiples);
    tcase_add_test(facts, a_comparison_is_one_or_nothing);
    tcase_add_test(facts, what_is_no_formula_says_why);
    tcase_add_test(facts, parentheses_have_an_end);
    suite_add_tcase(suite, facts);
    return suite;
}
