/* Is it the hash that its draft defines? */
#include "sim/base/hash.h"

#include <check.h>

Suite *hash_suite(void);

/* draft-eastlake-fnv-17, appendix C: of nothing, "a" and "foobar". */
START_TEST(texts_hash_as_the_draft_says)
{
    ck_assert_uint_eq(hash_fnv1a_64("", 0), 0xcbf29ce484222325);
    ck_assert_uint_eq(hash_fnv1a_64("a", 1), 0xaf63dc4c8601ec8c);
    ck_assert_uint_eq(hash_fnv1a_64("foobar", 6), 0x85944171f73967e8);
}
END_TEST

Suite *
hash_suite(void)
{
    Suite *suite = suite_create("hash");
    TCase *tests = tcase_create("fnv1a");
    tcase_add_test(tests, texts_hash_as_the_draft_says);
    suite_add_tcase(suite, tests);
    return suite;
}
