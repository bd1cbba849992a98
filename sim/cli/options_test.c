/* Which command lines are taken, how they are read, and what is said of those that are not. */
#include "sim/cli/options.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/cli/help.h"

enum { ARGUMENTS_MAX = 16, COLUMNS = 80 };

static const struct option_spec OPTIONS[] = {
    {"json", 0, OPTION_FLAG, NULL, "print the answer as JSON"},
    {"list", 'l', OPTION_TEXT, "FILE", "read the questions from FILE"},
    {"output", 'o', OPTION_TEXT, "FILE", "write to FILE instead of standard output"},
    {"set", 0, OPTION_TEXTS, "KEY=VALUE",
     "replace one value of the run, as often as it is given; the words of this help are so "
     "many "
     "that they need a second line"},
};

static int
run_nothing(const struct options *options, struct arena *arena)
{
    (void)options;
    (void)arena;
    return EXIT_DONE;
}

static const struct command COMMAND = {
    .name = "model show",
    .summary = "count the parameters of a model",
    .synopsis = "MODEL.json [--json] [-o FILE]",
    .example = "stepcast model show configs/models/zaya1-base.json --json --set layers=20 "
               "--set hidden=1024 -o zaya1-half.json",
    .options = OPTIONS,
    .option_count = 4,
    .word_minimum = 1,
    .word_maximum = 2,
    .run = run_nothing,
};

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

/* A command line as one text, its arguments divided by single spaces ("" by two). */
static struct arguments
split(const char *line)
{
    const char **words = arena_alloc(arena, ARGUMENTS_MAX, sizeof *words);
    struct arguments arguments = {words, 0};
    while (*line) {
        size_t length = strcspn(line, " ");
        ck_assert(arguments.count < ARGUMENTS_MAX);
        words[arguments.count++] = arena_format(arena, "%.*s", (int)length, line);
        line += length + (line[length] == ' ');
    }
    return arguments;
}

static const struct options *
parse(const char *line)
{
    const struct options *options = options_parse(arena, &COMMAND, split(line), &fault);
    ck_assert_msg(options, "'%s' is refused: %s", line, fault);
    return options;
}

static void
check_fault(const char *line, const char *wanted)
{
    ck_assert_ptr_null(options_parse(arena, &COMMAND, split(line), &fault));
    ck_assert_str_eq(fault, wanted);
}

START_TEST(nothing_given_reads_as_nothing)
{
    const struct options *options = parse("a.json");
    ck_assert(!options_flag(options, "json"));
    ck_assert_str_eq(options_text(options, "list"), "");
    ck_assert_uint_eq(options_text_count(options, "set"), 0);
    ck_assert_ptr_null(options_text_at(options, "set", 0));
    ck_assert_uint_eq(options_word_count(options), 1);
    ck_assert_str_eq(options_word(options, 0), "a.json");
    ck_assert_ptr_null(options_word(options, 1));
}
END_TEST

START_TEST(a_value_follows_a_space_an_equals_sign_or_a_letter)
{
    static const char *const lines[] = {"a --output x=y.csv", "a --output=x=y.csv",
                                        "a -o x=y.csv", "a -ox=y.csv", "a -o=x=y.csv"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_str_eq(options_text(parse(lines[i]), "output"), "x=y.csv");
    ck_assert_str_eq(options_text_of_letter(parse("a -o b"), 'o'), "b");
    ck_assert_str_eq(options_text_of_letter(parse("a -o b"), 'x'), "");
}
END_TEST

START_TEST(options_and_words_come_in_any_order)
{
    static const char *const lines[] = {"a b --json -l c", "--json a -l c b",
                                        "-l c a b --json"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const struct options *options = parse(lines[i]);
        ck_assert(options_flag(options, "json"));
        ck_assert_str_eq(options_text(options, "list"), "c");
        ck_assert_str_eq(options_word(options, 0), "a");
        ck_assert_str_eq(options_word(options, 1), "b");
    }
}
END_TEST

START_TEST(a_repeatable_option_keeps_the_order_of_its_values)
{
    const struct options *options = parse("--set a=1 x --set=b=2 --set a=3");
    ck_assert_uint_eq(options_text_count(options, "set"), 3);
    ck_assert_str_eq(options_text_at(options, "set", 0), "a=1");
    ck_assert_str_eq(options_text_at(options, "set", 1), "b=2");
    ck_assert_str_eq(options_text_at(options, "set", 2), "a=3");
}
END_TEST

START_TEST(two_dashes_end_the_options)
{
    const struct options *options = parse("--json -- --list -o");
    ck_assert_uint_eq(options_word_count(options), 2);
    ck_assert_str_eq(options_word(options, 0), "--list");
    ck_assert_str_eq(options_word(options, 1), "-o");
    ck_assert_str_eq(options_text(options, "list"), "");
}
END_TEST

START_TEST(a_dash_is_a_word_and_a_value)
{
    const struct options *options = parse("- --list -");
    ck_assert_str_eq(options_word(options, 0), "-");
    ck_assert_str_eq(options_text(options, "list"), "-");
    ck_assert_str_eq(options_text(parse("a --list -3"), "list"), "-3");
    ck_assert_str_eq(options_text(parse("a --list -.5"), "list"), "-.5");
}
END_TEST

START_TEST(an_unknown_option_names_the_nearest)
{
    check_fault("a --outptu b", "unknown option --outptu, did you mean --output?");
    check_fault("a --lst=b", "unknown option --lst, did you mean --list?");
    check_fault("a --hepl", "unknown option --hepl, did you mean --help?");
    check_fault("a --frobnicate", "unknown option --frobnicate");
    check_fault("a -x", "unknown option -x");
    check_fault("a -json", "unknown option -json, did you mean --json?");
}
END_TEST

START_TEST(names_are_never_shortened)
{
    check_fault("a --out b", "unknown option --out, did you mean --output?");
    check_fault("a --outpu b", "unknown option --outpu, did you mean --output?");
}
END_TEST

START_TEST(a_missing_value_says_what_it_would_be)
{
    check_fault("a --list", "--list needs a value: FILE");
    check_fault("a --list --json", "--list needs a value: FILE");
    check_fault("a -o -l b", "--output needs a value: FILE");
    check_fault("a --list=", "--list needs a value: FILE");
    check_fault("a --list  b", "--list needs a value: FILE");
    check_fault("--set -- a", "--set needs a value: KEY=VALUE");
}
END_TEST

START_TEST(a_flag_takes_no_value)
{
    check_fault("a --json=yes", "--json takes no value, but 'yes' was given");
}
END_TEST

START_TEST(a_single_option_is_given_once)
{
    check_fault("a --list b -l c", "--list is given twice: 'b' and 'c'");
    ck_assert(options_flag(parse("a --json --json"), "json"));
}
END_TEST

START_TEST(the_number_of_words_is_checked)
{
    check_fault("--json",
                "too few words, wanted: stepcast model show MODEL.json [--json] [-o FILE]");
    check_fault(
        "a b c",
        "'c' is one word too many, wanted: stepcast model show MODEL.json [--json] [-o FILE]");
}
END_TEST

START_TEST(help_is_asked_for_only_before_two_dashes)
{
    ck_assert(options_ask_for_help(split("a --bogus --help")));
    ck_assert(options_ask_for_help(split("-h")));
    ck_assert(!options_ask_for_help(split("a -- --help")));
    ck_assert(!options_ask_for_help(split("")));
}
END_TEST

START_TEST(a_help_page_shows_the_example_first_in_80_columns)
{
    struct text page = text_new(arena);
    help_command(&page, &COMMAND);
    ck_assert_str_eq(
        page.bytes,
        "stepcast model show: count the parameters of a model\n"
        "\n"
        "Example:\n"
        "  stepcast model show configs/models/zaya1-base.json --json --set layers=20 \\\n"
        "    --set hidden=1024 -o zaya1-half.json\n"
        "\n"
        "Usage:\n"
        "  stepcast model show MODEL.json [--json] [-o FILE]\n"
        "\n"
        "Options:\n"
        "      --json           print the answer as JSON\n"
        "  -l, --list FILE      read the questions from FILE\n"
        "  -o, --output FILE    write to FILE instead of standard output\n"
        "      --set KEY=VALUE  replace one value of the run, as often as it is given;\n"
        "                       the words of this help are so many that they need a\n"
        "                       second line\n"
        "  -h, --help           show this page and do nothing else\n");
    for (const char *line = page.bytes; *line; line += strcspn(line, "\n") + 1)
        ck_assert_uint_le(strcspn(line, "\n"), COLUMNS);
}
END_TEST

START_TEST(the_overview_lists_each_command)
{
    const struct command *const commands[] = {&COMMAND};
    struct text page = text_new(arena);
    help_overview(&page, (struct command_table){commands, 1});
    ck_assert_ptr_nonnull(
        strstr(page.bytes, "\nCommands:\n  model show  count the parameters of a model\n"));
}
END_TEST

Suite *options_suite(void);

Suite *
options_suite(void)
{
    Suite *suite = suite_create("options");
    TCase *tests = tcase_create("options");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, nothing_given_reads_as_nothing);
    tcase_add_test(tests, a_value_follows_a_space_an_equals_sign_or_a_letter);
    tcase_add_test(tests, options_and_words_come_in_any_order);
    tcase_add_test(tests, a_repeatable_option_keeps_the_order_of_its_values);
    tcase_add_test(tests, two_dashes_end_the_options);
    tcase_add_test(tests, a_dash_is_a_word_and_a_value);
    tcase_add_test(tests, an_unknown_option_names_the_nearest);
    tcase_add_test(tests, names_are_never_shortened);
    tcase_add_test(tests, a_missing_value_says_what_it_would_be);
    tcase_add_test(tests, a_flag_takes_no_value);
    tcase_add_test(tests, a_single_option_is_given_once);
    tcase_add_test(tests, the_number_of_words_is_checked);
    tcase_add_test(tests, help_is_asked_for_only_before_two_dashes);
    tcase_add_test(tests, a_help_page_shows_the_example_first_in_80_columns);
    tcase_add_test(tests, the_overview_lists_each_command);
    suite_add_tcase(suite, tests);
    return suite;
}
