/* Memory from an arena: aligned, zeroed, growing without loss, and never beyond its limit. */
#include "sim/base/arena.h"

#include <check.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_often.h"

enum { LIMIT_BYTES = 1 << 20 };

struct refusal {
    jmp_buf back;
    size_t wanted_bytes;
};

static void
refuse(void *context, size_t wanted_bytes)
{
    struct refusal *refusal = context;
    refusal->wanted_bytes = wanted_bytes;
    longjmp(refusal->back, 1);
}

static struct arena *
limited_arena(struct refusal *refusal)
{
    struct arena_policy policy = {LIMIT_BYTES, refuse, refusal};
    return arena_new(&policy);
}

static bool
is_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i])
            return false;
    return true;
}

START_TEST(memory_is_aligned_and_zeroed)
{
    static const size_t sizes[] = {1, 3, 17, 1000, 16383, 16384, 65536, 100001, 5};
    struct arena *arena = check_arena_new();
    for (size_t round = 0; round < 20; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            unsigned char *bytes = arena_alloc(arena, sizes[i], 1);
            ck_assert_uint_eq((uintptr_t)bytes % _Alignof(max_align_t), 0);
            ck_assert(is_zero(bytes, sizes[i]));
            memset(bytes, 0xFF, sizes[i]); /* what the next must not show */
        }
    arena_free(arena);
}
END_TEST

START_TEST(unset_memory_is_aligned_and_its_own)
{
    struct arena *arena = check_arena_new();
    unsigned char *before = arena_alloc(arena, 3, 1);
    unsigned char *small = arena_alloc_unset(arena, 5, 1);
    unsigned char *large = arena_alloc_unset(arena, 100001, 1);
    ck_assert_uint_eq((uintptr_t)small % _Alignof(max_align_t), 0);
    ck_assert_uint_eq((uintptr_t)large % _Alignof(max_align_t), 0);
    memset(small, 0xFF, 5);
    memset(large, 0xFF, 100001);
    ck_assert(is_zero(before, 3));
    ck_assert(is_zero(arena_alloc(arena, 100001, 1), 100001));
    arena_free(arena);
}
END_TEST

START_TEST(pieces_do_not_overlap)
{
    struct arena *arena = check_arena_new();
    unsigned char *pieces[200];
    for (size_t i = 0; i < 200; i++) {
        pieces[i] = arena_alloc(arena, i * 13 + 1, 1);
        memset(pieces[i], (int)i, i * 13 + 1);
    }
    for (size_t i = 0; i < 200; i++)
        for (size_t j = 0; j < i * 13 + 1; j++)
            CHECK_OFTEN(pieces[i][j] == i);
    arena_free(arena);
}
END_TEST

/* Later rounds find the memory of those before, zeroed, and take no more from the system. */
START_TEST(a_cleared_arena_gives_the_same_memory_again)
{
    static const size_t sizes[] = {10, 20000, 1000, 70000, 16384, 30000};
    struct arena *arena = check_arena_new();
    size_t size_bytes = 0;
    for (int round = 0; round < 12; round++) {
        size_t capacity = 0;
        unsigned char *grown = NULL;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            unsigned char *bytes = arena_alloc(arena, sizes[i], 1);
            ck_assert(is_zero(bytes, sizes[i]));
            memset(bytes, 0xFF, sizes[i]);
        }
        for (size_t i = 0; i < 100000; i++) {
            grown = arena_grow(arena, grown, i, &capacity, 1);
            CHECK_OFTEN(grown[i] == 0);
            grown[i] = 0xFF;
        }
        if (round == 6) /* what grows finds other blocks than before, for some rounds */
            size_bytes = arena_size_bytes(arena);
        arena_clear(arena);
        ck_assert(round < 6 || arena_size_bytes(arena) == size_bytes);
    }
    arena_free(arena);
}
END_TEST

/* What is kept does not stand in the way of what fits: 600 kB of the limit of 1 MB are given up. */
START_TEST(spare_memory_is_given_up_before_memory_ends)
{
    struct refusal refusal = {.wanted_bytes = 0};
    struct arena *arena = limited_arena(&refusal);
    if (setjmp(refusal.back) == 0) {
        arena_alloc(arena, 600000, 1);
        arena_clear(arena);
        arena_alloc(arena, 900000, 1);
    }
    ck_assert_uint_eq(refusal.wanted_bytes, 0);
    ck_assert_uint_eq(arena_size_bytes(arena), 900000);
    arena_free(arena);
}
END_TEST

START_TEST(no_bytes_are_given_without_fault)
{
    struct arena *arena = check_arena_new();
    ck_assert_ptr_nonnull(arena_alloc(arena, 0, 8));
    ck_assert_ptr_nonnull(arena_alloc(arena, 8, 0));
    arena_free(arena);
    arena_free(NULL);
}
END_TEST

/* 10^5 integers: through small blocks, the step to a block of its own (16 KiB), and realloc. Two
 * arrays grow by turns, so that a large block moves while others stand in the list around it. */
START_TEST(growing_arrays_keep_their_items)
{
    struct arena *arena = check_arena_new();
    uint32_t *a = NULL, *b = NULL;
    size_t capacity_a = 0, capacity_b = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        a = arena_grow(arena, a, i, &capacity_a, sizeof *a);
        b = arena_grow(arena, b, i, &capacity_b, sizeof *b);
        CHECK_OFTEN(capacity_a > i);
        CHECK_OFTEN(a[i] == 0);
        a[i] = i;
        b[i] = ~i;
    }
    for (uint32_t i = 0; i < 100000; i++) {
        CHECK_OFTEN(a[i] == i);
        CHECK_OFTEN(b[i] == ~i);
    }
    ck_assert(is_zero((unsigned char *)(a + 100000), (capacity_a - 100000) * sizeof *a));
    arena_free(arena);
}
END_TEST

START_TEST(an_array_with_room_stays_where_it_is)
{
    struct arena *arena = check_arena_new();
    size_t capacity = 0;
    int *items = arena_grow(arena, NULL, 0, &capacity, sizeof *items);
    ck_assert_uint_eq(capacity, 16);
    ck_assert_ptr_eq(arena_grow(arena, items, 15, &capacity, sizeof *items), items);
    arena_grow(arena, items, 16, &capacity, sizeof *items);
    ck_assert_uint_eq(capacity, 32);
    items = arena_grow(arena, NULL, 1000, &(size_t){0}, sizeof *items); /* a jump, not a step */
    items[1000] = 1;
    arena_free(arena);
}
END_TEST

START_TEST(text_is_formatted_at_any_length)
{
    struct arena *arena = check_arena_new();
    ck_assert_str_eq(arena_format(arena, "%s is %d", "x", 7), "x is 7");
    ck_assert_str_eq(arena_format(arena, "%s", ""), "");
    ck_assert_uint_eq(strlen(arena_format(arena, "%100000d", 1)), 100000);
    arena_free(arena);
}
END_TEST

/* The first small piece opens a block of 64 KiB; a large one takes what it asks. */
START_TEST(the_size_is_what_the_system_gave)
{
    struct arena *arena = check_arena_new();
    ck_assert_uint_eq(arena_size_bytes(arena), 0);
    arena_alloc(arena, 1, 1);
    arena_alloc(arena, 1000, 1);
    ck_assert_uint_eq(arena_size_bytes(arena), 65536);
    arena_alloc(arena, 1, 100000);
    ck_assert_uint_eq(arena_size_bytes(arena), 165536);
    arena_free(arena);
}
END_TEST

START_TEST(the_limit_refuses_small_pieces)
{
    struct refusal refusal = {.wanted_bytes = 0};
    struct arena *arena = limited_arena(&refusal);
    if (setjmp(refusal.back) == 0)
        for (;;)
            arena_alloc(arena, 1, 4096);
    ck_assert_uint_eq(refusal.wanted_bytes, 65536);
    ck_assert_uint_eq(arena_size_bytes(arena), LIMIT_BYTES); /* 16 blocks of 64 KiB */
    arena_free(arena);
}
END_TEST

/* Under a sanitizer this also shows that a refused array is still freed with its arena. */
/* Its own blocks, the same limit: both have room for one half of it and a little, neither for
 * two. */
START_TEST(an_arena_beside_another_has_its_policy)
{
    struct refusal refusal = {.wanted_bytes = 0};
    struct arena *arena = limited_arena(&refusal);
    struct arena *beside = arena_new_beside(arena);
    if (setjmp(refusal.back) == 0) {
        memset(arena_alloc(arena, LIMIT_BYTES / 2, 1), 1, LIMIT_BYTES / 2);
        memset(arena_alloc(beside, LIMIT_BYTES / 2, 1), 1, LIMIT_BYTES / 2);
        ck_assert_uint_eq(refusal.wanted_bytes, 0);
        (void)arena_alloc(beside, LIMIT_BYTES, 1);
        ck_abort_msg("the limit was passed");
    }
    ck_assert_uint_ge(refusal.wanted_bytes, LIMIT_BYTES);
    arena_free(beside);
    arena_free(arena);
}
END_TEST

START_TEST(the_limit_refuses_a_growing_array)
{
    struct refusal refusal = {.wanted_bytes = 0};
    struct arena *arena = limited_arena(&refusal);
    if (setjmp(refusal.back) == 0) {
        char *items = NULL;
        size_t capacity = 0;
        for (size_t i = 0;; i++)
            items = arena_grow(arena, items, i, &capacity, 1);
    }
    ck_assert_uint_eq(refusal.wanted_bytes, LIMIT_BYTES); /* beside the first block too much */
    ck_assert_uint_eq(arena_size_bytes(arena), LIMIT_BYTES / 2 + 65536);
    arena_free(arena);
}
END_TEST

START_TEST(sizes_beyond_memory_are_refused)
{
    static const size_t counts[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 8 + 1};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct refusal refusal = {.wanted_bytes = 0};
        struct arena *arena = limited_arena(&refusal);
        if (setjmp(refusal.back) == 0)
            arena_alloc(arena, counts[i], 8);
        ck_assert_uint_gt(refusal.wanted_bytes, LIMIT_BYTES);
        size_t capacity = 0;
        if (setjmp(refusal.back) == 0)
            arena_grow(arena, NULL, counts[i] - 1, &capacity, 8);
        ck_assert_uint_eq(capacity, 0);
        arena_free(arena);
    }
}
END_TEST

Suite *arena_suite(void);

Suite *
arena_suite(void)
{
    Suite *suite = suite_create("arena");
    TCase *tests = tcase_create("arena");
    tcase_add_test(tests, memory_is_aligned_and_zeroed);
    tcase_add_test(tests, unset_memory_is_aligned_and_its_own);
    tcase_add_test(tests, pieces_do_not_overlap);
    tcase_add_test(tests, a_cleared_arena_gives_the_same_memory_again);
    tcase_add_test(tests, spare_memory_is_given_up_before_memory_ends);
    tcase_add_test(tests, no_bytes_are_given_without_fault);
    tcase_add_test(tests, growing_arrays_keep_their_items);
    tcase_add_test(tests, an_array_with_room_stays_where_it_is);
    tcase_add_test(tests, text_is_formatted_at_any_length);
    tcase_add_test(tests, the_size_is_what_the_system_gave);
    tcase_add_test(tests, the_limit_refuses_small_pieces);
    tcase_add_test(tests, an_arena_beside_another_has_its_policy);
    tcase_add_test(tests, the_limit_refuses_a_growing_array);
    tcase_add_test(tests, sizes_beyond_memory_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
