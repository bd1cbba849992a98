/* Distances worked by hand, and which word is taken for the one that was meant. */
#include "sim/base/spelling.h"

#include <check.h>
#include <string.h>

START_TEST(each_edit_counts_one)
{
    ck_assert_uint_eq(spelling_distance("hidden", "hidden"), 0);
    ck_assert_uint_eq(spelling_distance("hiden", "hidden"), 1);   /* insert */
    ck_assert_uint_eq(spelling_distance("hiddden", "hidden"), 1); /* delete */
    ck_assert_uint_eq(spelling_distance("hodden", "hidden"), 1);  /* replace */
    ck_assert_uint_eq(spelling_distance("hdiden", "hidden"), 1);  /* swap */
    ck_assert_uint_eq(spelling_distance("", "abc"), 3);
    ck_assert_uint_eq(spelling_distance("abc", ""), 3);
    ck_assert_uint_eq(spelling_distance("kitten", "sitting"), 3); /* k>s, e>i, +g */
}
END_TEST

START_TEST(distance_is_the_same_both_ways)
{
    static const char *const words[] = {"experts", "expert", "expret_ffn",
                                        "",        "top_k",  "pot_k"};
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            ck_assert_uint_eq(spelling_distance(words[i], words[j]),
                              spelling_distance(words[j], words[i]));
}
END_TEST

START_TEST(long_words_are_compared_by_their_first_letters)
{
    char a[201], b[201];
    memset(a, 'a', 200);
    memset(b, 'a', 200);
    a[200] = b[200] = '\0';
    b[199] = 'b';
    ck_assert_uint_eq(spelling_distance(a, b), 0);
    b[0] = 'b';
    ck_assert_uint_eq(spelling_distance(a, b), 1);
}
END_TEST

START_TEST(the_nearest_word_is_found)
{
    static const char *const words[] = {"tensor", "pipeline", "expert", "experts", "data"};
    ck_assert_str_eq(spelling_nearest("tensro", words, 5), "tensor");
    ck_assert_str_eq(spelling_nearest("pipline", words, 5), "pipeline");
    ck_assert_str_eq(spelling_nearest("expertt", words, 5), "expert"); /* the first of two */
    ck_assert_str_eq(spelling_nearest("dat", words, 5), "data");
}
END_TEST

/* Seven letters away, but nothing else begins so. */
START_TEST(a_beginning_stands_for_its_word)
{
    static const char *const words[] = {"name", "microbatch_sequences",
                                        "global_batch_sequences"};
    ck_assert_str_eq(spelling_nearest("microbatch", words, 3), "microbatch_sequences");
    ck_assert_ptr_null(spelling_nearest("gl", words, 3));
}
END_TEST

/* "microbatch" allows 10 / 3 = 3 edits, "ab" only 1. */
START_TEST(a_word_too_far_from_all_is_given_up)
{
    static const char *const words[] = {"microbatch", "abcd"};
    ck_assert_str_eq(spelling_nearest("mikrobatge", words, 1), "microbatch"); /* k, g, e */
    ck_assert_ptr_null(spelling_nearest("makrobatge", words, 1));
    ck_assert_ptr_null(spelling_nearest("ab", words, 2));
    ck_assert_ptr_null(spelling_nearest("", words, 2));
    ck_assert_ptr_null(spelling_nearest("abcd", words, 0));
}
END_TEST

Suite *spelling_suite(void);

Suite *
spelling_suite(void)
{
    Suite *suite = suite_create("spelling");
    TCase *tests = tcase_create("spelling");
    tcase_add_test(tests, each_edit_counts_one);
    tcase_add_test(tests, distance_is_the_same_both_ways);
    tcase_add_test(tests, long_words_are_compared_by_their_first_letters);
    tcase_add_test(tests, the_nearest_word_is_found);
    tcase_add_test(tests, a_beginning_stands_for_its_word);
    tcase_add_test(tests, a_word_too_far_from_all_is_given_up);
    suite_add_tcase(suite, tests);
    return suite;
}
