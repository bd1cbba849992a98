/* Does each rank own the pieces of the flattened tensors that it should? */
#include "models/optimizer.h"

#include <check.h>

#include "sim/base/check_arena.h"

Suite *optimizer_suite(void);

/* 100 elements over 4 ranks, 25 each:
 *
 *   | vector 10 |  matrix a 4x10  |  matrix b 4x10  | vector 10 |
 *   0           10                50                90          100
 *   |---- rank 0 ----|---- rank 1 ----|---- rank 2 ----|---- rank 3 ----|
 *   0               25               50               75               100 */
static const struct tensor TENSORS[] = {
    {.name = "first", .rows = 10, .columns = 1, .copies = 1},
    {.name = "matrices", .rows = 4, .columns = 10, .copies = 2, .is_matrix = true},
    {.name = "last", .rows = 10, .columns = 1, .copies = 1},
};
static const struct tensor_list LIST = {TENSORS, 3};

START_TEST(a_matrix_is_orthogonalised_by_each_rank_it_lies_on)
{
    struct arena *arena = check_arena_new();
    struct plan plan = {.zero_stage = 1, .optimizer = OPTIMIZER_MUON};
    const struct optimizer_share *shares = optimizer_shares(&LIST, &plan, 4, arena);
    const int64_t adamw[] = {10, 0, 0, 10}, muon[] = {15, 25, 25, 15};
    for (int rank = 0; rank < 4; rank++) {
        ck_assert_int_eq(shares[rank].adamw_parameters, adamw[rank]);
        ck_assert_int_eq(shares[rank].muon_parameters, muon[rank]);
        ck_assert_int_eq(shares[rank].matrix_sizes, 1);
        ck_assert_int_eq(shares[rank].matrices[0].count, 1);
        ck_assert_int_eq(shares[rank].owners_max, 2);
    }
    arena_free(arena);
}
END_TEST

/* Rank 0 has 15 of matrix a and lacks 25: it receives 25 and sends 15, the larger counts. */
START_TEST(owners_of_a_split_matrix_exchange_their_pieces)
{
    struct arena *arena = check_arena_new();
    struct plan plan = {.zero_stage = 1, .optimizer = OPTIMIZER_MUON};
    const struct optimizer_share *shares = optimizer_shares(&LIST, &plan, 4, arena);
    const int64_t before[] = {0, 25, 0, 25}, after[] = {25, 0, 25, 0};
    for (int rank = 0; rank < 4; rank++) {
        ck_assert_int_eq(shares[rank].exchange_before_elements, before[rank]);
        ck_assert_int_eq(shares[rank].exchange_after_elements, after[rank]);
    }
    arena_free(arena);
}
END_TEST

START_TEST(adamw_needs_no_whole_matrices)
{
    struct arena *arena = check_arena_new();
    struct plan plan = {.zero_stage = 1, .optimizer = OPTIMIZER_ADAMW};
    const struct optimizer_share *shares = optimizer_shares(&LIST, &plan, 4, arena);
    for (int rank = 0; rank < 4; rank++) {
        ck_assert_int_eq(shares[rank].adamw_parameters, 25);
        ck_assert_int_eq(shares[rank].muon_parameters, 0);
        ck_assert_int_eq(shares[rank].exchange_before_elements, 0);
        ck_assert_int_eq(shares[rank].matrix_sizes, 0);
    }
    arena_free(arena);
}
END_TEST

START_TEST(without_sharding_every_rank_owns_everything)
{
    struct arena *arena = check_arena_new();
    struct plan plan = {.zero_stage = 0, .optimizer = OPTIMIZER_MUON};
    const struct optimizer_share *shares = optimizer_shares(&LIST, &plan, 4, arena);
    for (int rank = 0; rank < 4; rank++) {
        ck_assert_int_eq(shares[rank].adamw_parameters, 20);
        ck_assert_int_eq(shares[rank].muon_parameters, 80);
        ck_assert_int_eq(shares[rank].matrices[0].count, 2);
        ck_assert_int_eq(shares[rank].exchange_after_elements, 0);
    }
    arena_free(arena);
}
END_TEST

/* 100 over 8 ranks, 13 each: matrix a (10 to 50) lies on ranks 0 to 3, the middle ones lack both
 * sides. Rank 1 (13 to 26) has 13, before it lie 3, behind it 24. */
START_TEST(a_matrix_larger_than_a_share_lies_on_many_ranks)
{
    struct arena *arena = check_arena_new();
    struct plan plan = {.zero_stage = 1, .optimizer = OPTIMIZER_MUON};
    const struct optimizer_share *shares = optimizer_shares(&LIST, &plan, 8, arena);
    ck_assert_int_eq(shares[1].owners_max, 4);
    ck_assert_int_eq(shares[1].exchange_before_elements, 13);
    ck_assert_int_eq(shares[1].exchange_after_elements, 24);
    arena_free(arena);
}
END_TEST

/* Master weight and momentum 8 bytes, AdamW's second moment 4 more: 10 x 12 + 15 x 8. */
START_TEST(state_is_eight_bytes_with_muon_and_twelve_with_adamw)
{
    struct optimizer_share share = {.adamw_parameters = 10, .muon_parameters = 15};
    ck_assert_double_eq(optimizer_state_bytes(&share), 240);
}
END_TEST

Suite *
optimizer_suite(void)
{
    Suite *suite = suite_create("optimizer");
    TCase *tests = tcase_create("shares");
    tcase_add_test(tests, a_matrix_is_orthogonalised_by_each_rank_it_lies_on);
    tcase_add_test(tests, owners_of_a_split_matrix_exchange_their_pieces);
    tcase_add_test(tests, adamw_needs_no_whole_matrices);
    tcase_add_test(tests, without_sharding_every_rank_owns_everything);
    tcase_add_test(tests, a_matrix_larger_than_a_share_lies_on_many_ranks);
    tcase_add_test(tests, state_is_eight_bytes_with_muon_and_twelve_with_adamw);
    suite_add_tcase(suite, tests);
    return suite;
}
