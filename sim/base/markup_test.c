/* Can words from outside end what they stand in? */
#include "sim/base/markup.h"

#include <check.h>

#include "sim/base/check_arena.h"

Suite *markup_suite(void);

static void
check_words(const char *words, const char *wanted)
{
    struct arena *arena = check_arena_new();
    struct text out = text_new(arena);
    text_format(&out, "%s", "");
    markup_write(&out, words);
    ck_assert_str_eq(out.bytes, wanted);
    arena_free(arena);
}

START_TEST(what_means_something_becomes_an_entity)
{
    check_words("<script>alert('&\"')</script>",
                "&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;");
}
END_TEST

START_TEST(other_words_stay_and_control_characters_go)
{
    check_words("a \xc2\xb5s", "a \xc2\xb5s");
    check_words("a\x01\n\x7f"
                "b",
                "a   b");
    check_words("", "");
}
END_TEST

Suite *
markup_suite(void)
{
    Suite *suite = suite_create("markup");
    TCase *tests = tcase_create("words");
    tcase_add_test(tests, what_means_something_becomes_an_entity);
    tcase_add_test(tests, other_words_stay_and_control_characters_go);
    suite_add_tcase(suite, tests);
    return suite;
}
