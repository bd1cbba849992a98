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

/* Every rank gets both matrices, 80 elements, and orthogonalises what it has a piece of. */
START_TEST(gathered_matrices_come_to_every_rank)
{
    struct arena *arena = check_arena_new();
    struct plan plan = {
        .zero_stage = 1, .optimizer = OPTIMIZER_MUON, .muon_distribution = MUON_ALL_GATHER};
    const struct optimizer_share *shares = optimizer_shares(&LIST, &plan, 4, arena);
    for (int rank = 0; rank < 4; rank++) {
        ck_assert_int_eq(optimizer_buffer_elements(&shares[rank]), 80);
        ck_assert_int_eq(shares[rank].exchange_before_elements, 0);
        ck_assert_int_eq(shares[rank].exchange_after_elements, 0);
        ck_assert_int_eq(shares[rank].matrices[0].count, 1);
    }
    ck_assert_int_eq(optimizer_padded_elements(shares, 4), 100);
    arena_free(arena);
}
END_TEST

/* Ranks 0 and 1 own a matrix of 40 each; the vectors' 20 elements are cut into fives. */
START_TEST(a_matrix_has_one_owner_when_sharded_by_layer)
{
    struct arena *arena = check_arena_new();
    struct plan plan = {
        .zero_stage = 1, .optimizer = OPTIMIZER_MUON, .muon_distribution = MUON_LAYER_SHARDED};
    const struct optimizer_share *shares = optimizer_shares(&LIST, &plan, 4, arena);
    for (int rank = 0; rank < 4; rank++) {
        ck_assert_int_eq(shares[rank].adamw_parameters, 5);
        ck_assert_int_eq(shares[rank].muon_parameters, rank < 2 ? 40 : 0);
        ck_assert_int_eq(optimizer_buffer_elements(&shares[rank]), 0);
    }
    ck_assert_int_eq(optimizer_padded_elements(shares, 4), 4 * 45);
    arena_free(arena);
}
END_TEST

static const struct tensor SIZES[] = {
    {.name = "large", .rows = 6, .columns = 6, .copies = 1, .is_matrix = true},
    {.name = "middle", .rows = 5, .columns = 5, .copies = 2, .is_matrix = true},
    {.name = "small", .rows = 4, .columns = 4, .copies = 2, .is_matrix = true},
};

/* Cubes 216, 125, 125, 64, 64 over two ranks: 216 | 125, then 125 to the lighter: 216 | 250, then
 * 64 to each: 216 + 64 = 280 to rank 0, and again to rank 1, 250 + 64 (250 is less than 280). */
START_TEST(the_heaviest_goes_to_who_has_least_to_do)
{
    struct arena *arena = check_arena_new();
    struct plan plan = {
        .zero_stage = 1, .optimizer = OPTIMIZER_MUON, .muon_distribution = MUON_LAYER_SHARDED};
    const struct tensor_list list = {SIZES, 3};
    const struct optimizer_share *shares = optimizer_shares(&list, &plan, 2, arena);
    ck_assert_int_eq(shares[0].muon_parameters, 36 + 16);
    ck_assert_int_eq(shares[1].muon_parameters, 25 + 25 + 16);
    arena_free(arena);
}
END_TEST

/* All of ZAYA1, whoever owns it. The heaviest of its matrices, 4096 x 2048, are 640, no rank of 64
 * needs more than ten of them and what fits beside. */
START_TEST(nothing_of_zaya1_is_lost_or_owned_twice)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct arch *arch = arch_read(
        json_read_file(arena, "configs/models/zaya1-base.json", &errors), arena, &errors);
    struct tensor_list tensors = tensors_of(arch, arena);
    struct plan plan = {.zero_stage = 1, .optimizer = OPTIMIZER_MUON};
    for (int distribution = MUON_NEIGHBOUR; distribution <= MUON_LAYER_SHARDED;
         distribution++) {
        int64_t adamw = 0, muon = 0, wholes = 0;
        plan.muon_distribution = (enum muon_distribution)distribution;
        const struct optimizer_share *shares = optimizer_shares(&tensors, &plan, 64, arena);
        for (int rank = 0; rank < 64; rank++) {
            adamw += shares[rank].adamw_parameters;
            muon += shares[rank].muon_parameters;
            for (int i = 0; i < shares[rank].matrix_sizes; i++)
                wholes += shares[rank].matrices[i].rows * shares[rank].matrices[i].columns *
                          shares[rank].matrices[i].count;
        }
        ck_assert_int_eq(adamw + muon, tensors_count(arch, &tensors).every);
        if (distribution == MUON_LAYER_SHARDED) {
            ck_assert_int_eq(wholes, muon);
            ck_assert_int_le(optimizer_padded_elements(shares, 64), (adamw + muon) * 11 / 10);
        } else {
            ck_assert_int_gt(wholes, muon); /* split ones are orthogonalised by all owners */
        }
    }
    arena_free(arena);
}
END_TEST

/* arXiv 2511.17127 section V: a buffer for all gathered matrices would be 99 % of the optimizer's
 * memory, on ZAYA1's 1,024 ranks in bf16; pieces of split ones are next to nothing beside it. */
START_TEST(gathering_all_of_zaya1_takes_99_percent_of_the_optimizers_memory)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct arch *arch = arch_read(
        json_read_file(arena, "configs/models/zaya1-base.json", &errors), arena, &errors);
    struct tensor_list tensors = tensors_of(arch, arena);
    struct plan plan = {
        .zero_stage = 1, .optimizer = OPTIMIZER_MUON, .muon_distribution = MUON_ALL_GATHER};
    const struct optimizer_share *all = optimizer_shares(&tensors, &plan, 1024, arena);
    double buffer = 2 * (double)optimizer_buffer_elements(&all[500]);
    double part = buffer / (buffer + optimizer_state_bytes(&all[500]));
    ck_assert_double_gt(part, 0.99);
    ck_assert_double_lt(part, 1);
    plan.muon_distribution = MUON_NEIGHBOUR;
    const struct optimizer_share *pieces = optimizer_shares(&tensors, &plan, 1024, arena);
    ck_assert_double_lt(2 * (double)optimizer_buffer_elements(&pieces[500]), buffer / 400);
    arena_free(arena);
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
    tcase_add_test(tests, gathered_matrices_come_to_every_rank);
    tcase_add_test(tests, a_matrix_has_one_owner_when_sharded_by_layer);
    tcase_add_test(tests, the_heaviest_goes_to_who_has_least_to_do);
    tcase_add_test(tests, nothing_of_zaya1_is_lost_or_owned_twice);
    tcase_add_test(tests, gathering_all_of_zaya1_takes_99_percent_of_the_optimizers_memory);
    tcase_add_test(tests, state_is_eight_bytes_with_muon_and_twelve_with_adamw);
    suite_add_tcase(suite, tests);
    return suite;
}
