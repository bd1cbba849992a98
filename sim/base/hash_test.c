/* Are they the hashes that their sources define? */
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

/* The first outputs of SplitMix64 seeded with 0 (its author's splitmix64.c): of the golden ratio's
 * odd multiple once and twice. */
START_TEST(numbers_mix_as_splitmix_does)
{
    const uint64_t golden = UINT64_C(0x9E3779B97F4A7C15);
    ck_assert_uint_eq(hash_mixed(golden), UINT64_C(0xE220A8397B1DCDAF));
    ck_assert_uint_eq(hash_mixed(2 * golden), UINT64_C(0x6E789E6AA1B965F4));
}
END_TEST

Suite *
hash_suite(void)
{
    Suite *suite = suite_create("hash");
    TCase *tests = tcase_create("facts");
    tcase_add_test(tests, texts_hash_as_the_draft_says);
    tcase_add_test(tests, numbers_mix_as_splitmix_does);
    suite_add_tcase(suite, tests);
    return suite;
}
