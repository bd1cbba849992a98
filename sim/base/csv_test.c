/* Does a spreadsheet read back what was written? */
#include "sim/base/csv.h"

#include <check.h>
#include <math.h>

#include "sim/base/check_arena.h"

Suite *csv_suite(void);

/* RFC 4180, section 2: rules 5 to 7. */
START_TEST(what_would_end_a_field_is_quoted)
{
    static const char *const rows[][2] = {
        {"plain", "plain"},
        {"a,b", "\"a,b\""},
        {"say \"a\"", "\"say \"\"a\"\"\""},
        {"two\nlines", "\"two\nlines\""},
        {" room ", " room "},
    };
    struct arena *arena = check_arena_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text out = text_new(arena);
        csv_write_text(&out, rows[i][0]);
        ck_assert_str_eq(out.bytes, rows[i][1]);
    }
    arena_free(arena);
}
END_TEST

START_TEST(a_number_reads_back_and_what_is_none_is_empty)
{
    struct arena *arena = check_arena_new();
    struct text out = text_new(arena);
    csv_write_real(&out, 0.1);
    text_append(&out, ",", 1);
    csv_write_real(&out, NAN);
    text_append(&out, ",", 1);
    csv_write_real(&out, -INFINITY);
    ck_assert_str_eq(out.bytes, "0.1,,");
    arena_free(arena);
}
END_TEST

Suite *
csv_suite(void)
{
    Suite *suite = suite_create("csv");
    TCase *tests = tcase_create("fields");
    tcase_add_test(tests, what_would_end_a_field_is_quoted);
    tcase_add_test(tests, a_number_reads_back_and_what_is_none_is_empty);
    suite_add_tcase(suite, tests);
    return suite;
}
