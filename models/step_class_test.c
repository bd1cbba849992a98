/* Do the classes have names that breakdowns can use? */
#include "models/step_class.h"

#include <string.h>

#include <check.h>

Suite *step_class_suite(void);

START_TEST(keys_are_all_different)
{
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        for (int j = i + 1; j < STEP_CLASS_COUNT; j++)
            ck_assert_str_ne(step_class_key((enum step_class)i),
                             step_class_key((enum step_class)j));
}
END_TEST

START_TEST(communication_is_what_is_exposed)
{
    for (int i = 0; i < STEP_CLASS_COUNT; i++) {
        const char *key = step_class_key((enum step_class)i);
        ck_assert_int_eq(step_class_is_communication((enum step_class)i),
                         strncmp(key, "exposed_", 8) == 0);
        ck_assert_ptr_nonnull(step_class_label((enum step_class)i));
    }
}
END_TEST

Suite *
step_class_suite(void)
{
    Suite *suite = suite_create("step_class");
    TCase *tests = tcase_create("names");
    tcase_add_test(tests, keys_are_all_different);
    tcase_add_test(tests, communication_is_what_is_exposed);
    suite_add_tcase(suite, tests);
    return suite;
}
