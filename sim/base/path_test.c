/* Are files found where the files that name them say? */
#include "sim/base/path.h"

#include <check.h>

#include "sim/base/check_arena.h"

Suite *path_suite(void);

START_TEST(a_path_is_relative_to_the_file_that_names_it)
{
    static const char *const rows[][3] = {
        {"configs/runs/r.json", "p.json", "configs/runs/p.json"},
        {"configs/runs/r.json", "../models/a.json", "configs/models/a.json"},
        {"configs/runs/r.json", "../../a.json", "a.json"},
        {"configs/runs/r.json", "../../../a.json", "../a.json"},
        {"../runs/r.json", "../models/a.json", "../models/a.json"},
        {"../r.json", "../a.json", "../../a.json"},
        {"./r.json", "../a.json", "./../a.json"},
        {"/r.json", "a.json", "/a.json"},
        {"/runs/r.json", "../a.json", "/a.json"},
        {"r.json", "../a.json", "../a.json"},
        {"runs/r.json", "/a.json", "/a.json"},
        {"runs/r.json", "-", "runs/-"},
        {"r.json", "-", "./-"},
    };
    struct arena *arena = check_arena_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_str_eq(path_beside(rows[i][0], rows[i][1], arena), rows[i][2]);
    arena_free(arena);
}
END_TEST

START_TEST(a_path_is_named_from_a_file_elsewhere)
{
    static const char *const rows[][3] = {
        {"build/b.json", "configs/a.json", "../configs/a.json"},
        {"configs/clusters/b.json", "configs/devices/a.json", "../devices/a.json"},
        {"b.json", "configs/a.json", "configs/a.json"},
        {"./b.json", "configs/a.json", "configs/a.json"},
        {"x/y/b.json", "a.json", "../../a.json"},
        {"/tmp/b.json", "/home/a.json", "../home/a.json"},
        {"../out/b.json", "../configs/a.json", "../configs/a.json"},
        {"build/b.json", "../a.json", "../../a.json"},
    };
    struct arena *arena = check_arena_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = path_from(rows[i][0], rows[i][1], arena);
        ck_assert_str_eq(name, rows[i][2]);
    }
    ck_assert_ptr_null(path_from("/tmp/b.json", "a.json", arena));
    ck_assert_ptr_null(path_from("../out/b.json", "configs/a.json", arena));
    arena_free(arena);
}
END_TEST

Suite *
path_suite(void)
{
    Suite *suite = suite_create("path");
    TCase *tests = tcase_create("beside");
    tcase_add_test(tests, a_path_is_relative_to_the_file_that_names_it);
    tcase_add_test(tests, a_path_is_named_from_a_file_elsewhere);
    suite_add_tcase(suite, tests);
    return suite;
}
