/* Does every rank hold what the collective promises, in a world of any size? */
#include "validate/process_group.h"

#include <check.h>

#include "sim/base/check_arena.h"

Suite *process_group_suite(void);

/* Linked twice: into build/unit alone, and into build/unit-mpi, that mpirun starts. What a rank
 * gives says who gives it: rank r's values are 10 r + i. All sums are exact in fp32. */
enum { COUNT = 3, RANKS_MAX = 16 };

static struct arena *arena;
static const struct process_group *world;

static void
open_world(void)
{
    arena = check_arena_new();
    world = process_world_open(arena);
    ck_assert_int_le(world->size, RANKS_MAX);
}

static void
close_world(void)
{
    process_world_close();
    arena_free(arena);
}

static void
check_real(float actual, float wanted)
{
    ck_assert_double_eq((double)actual, (double)wanted);
}

static void
fill(float *values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = (float)(10 * world->rank + i);
}

/* Over n ranks: sum of 10 r + i = 10 n (n - 1) / 2 + n i. */
static float
sum_at(int i)
{
    int n = world->size;
    return (float)(5 * n * (n - 1) + n * i);
}

START_TEST(every_rank_holds_the_sums)
{
    float in[COUNT], out[COUNT];
    fill(in, COUNT);
    process_all_reduce(world, in, out, COUNT);
    process_all_reduce(world, in, in, COUNT); /* in place */
    for (int i = 0; i < COUNT; i++) {
        check_real(out[i], sum_at(i));
        check_real(in[i], sum_at(i));
    }
}
END_TEST

START_TEST(each_rank_holds_its_part_of_the_sums)
{
    float in[RANKS_MAX * COUNT], out[COUNT];
    fill(in, world->size * COUNT);
    process_reduce_scatter(world, in, out, COUNT);
    for (int i = 0; i < COUNT; i++)
        check_real(out[i], sum_at(world->rank * COUNT + i));
}
END_TEST

START_TEST(single_numbers_are_added_and_compared)
{
    double n = world->size;
    ck_assert_double_eq(process_total(world, world->rank + 1), n * (n + 1) / 2);
    ck_assert_double_eq(process_largest(world, -world->rank), 0);
    ck_assert_double_eq(process_largest(world, world->rank), n - 1);
}
END_TEST

START_TEST(what_is_gathered_lies_by_rank)
{
    float in[COUNT], out[RANKS_MAX * COUNT];
    fill(in, COUNT);
    process_all_gather(world, in, out, sizeof in);
    for (int r = 0; r < world->size; r++)
        for (int i = 0; i < COUNT; i++)
            check_real(out[r * COUNT + i], (float)(10 * r + i));
}
END_TEST

START_TEST(the_root_s_bytes_are_everybody_s)
{
    int root = world->size - 1;
    float values[COUNT];
    fill(values, COUNT);
    process_broadcast(world, values, sizeof values, root);
    for (int i = 0; i < COUNT; i++)
        check_real(values[i], (float)(10 * root + i));
}
END_TEST

/* Rank r's i-th block goes to rank i: there the r-th, holding 10 r + COUNT i + j. */
START_TEST(blocks_change_places)
{
    float in[RANKS_MAX * COUNT], out[RANKS_MAX * COUNT];
    fill(in, world->size * COUNT);
    process_all_to_all(world, in, out, COUNT * sizeof *in);
    for (int r = 0; r < world->size; r++)
        for (int i = 0; i < COUNT; i++)
            check_real(out[r * COUNT + i], (float)(10 * r + COUNT * world->rank + i));
}
END_TEST

/* Rank s sends s + d + 1 bytes to rank d, each 16 s + d; rank 0 nothing to itself. */
static int64_t
part_bytes(int sender, int receiver)
{
    return sender + receiver == 0 ? 0 : sender + receiver + 1;
}

START_TEST(parts_of_unequal_length_change_places)
{
    unsigned char in[2 * RANKS_MAX * RANKS_MAX], out[2 * RANKS_MAX * RANKS_MAX];
    int64_t in_bytes[RANKS_MAX], out_bytes[RANKS_MAX];
    size_t end = 0;
    for (int other = 0; other < world->size; other++) {
        in_bytes[other] = part_bytes(world->rank, other);
        out_bytes[other] = part_bytes(other, world->rank);
        for (int64_t i = 0; i < in_bytes[other]; i++)
            in[end++] = (unsigned char)(16 * world->rank + other);
    }
    process_all_to_all_v(world, in, in_bytes, out, out_bytes);
    end = 0;
    for (int other = 0; other < world->size; other++)
        for (int64_t i = 0; i < out_bytes[other]; i++)
            ck_assert_uint_eq(out[end++], (unsigned char)(16 * other + world->rank));
}
END_TEST

/* Round the ring: to the next, from the one before. */
START_TEST(neighbours_exchange)
{
    int n = world->size, next = (world->rank + 1) % n, before = (world->rank + n - 1) % n;
    float in[COUNT], out[COUNT];
    fill(in, COUNT);
    process_exchange(world, (struct process_message){next, sizeof in}, in,
                     (struct process_message){before, sizeof out}, out);
    for (int i = 0; i < COUNT; i++)
        check_real(out[i], (float)(10 * before + i));
}
END_TEST

START_TEST(an_exchange_may_have_one_side_only)
{
    int last = world->size - 1, rank = world->rank;
    float in[COUNT], out[COUNT] = {-1, -1, -1};
    fill(in, COUNT);
    process_exchange(world, (struct process_message){rank < last ? rank + 1 : -1, sizeof in},
                     in, (struct process_message){rank - 1, sizeof out}, out);
    check_real(out[0], rank == 0 ? -1 : (float)(10 * (rank - 1)));
}
END_TEST

START_TEST(a_message_arrives)
{
    int last = world->size - 1;
    float values[COUNT];
    if (last == 0)
        return;
    fill(values, COUNT);
    if (world->rank == 0)
        process_send(world, last, values, sizeof values);
    if (world->rank == last)
        process_receive(world, 0, values, sizeof values);
    check_real(values[1], (float)(world->rank == last ? 1 : 10 * world->rank + 1));
}
END_TEST

/* Odd ranks one group, even ones another; rank 0 leaves the second split. */
START_TEST(groups_split)
{
    const struct process_group *half = process_group_split(world, world->rank % 2, arena);
    ck_assert_int_eq(half->rank, world->rank / 2);
    ck_assert_int_eq(half->size, (world->size + 1 - world->rank % 2) / 2);
    int seen[RANKS_MAX];
    process_all_gather(half, &world->rank, seen, sizeof world->rank);
    for (int i = 0; i < half->size; i++)
        ck_assert_int_eq(seen[i], 2 * i + world->rank % 2);
    const struct process_group *rest =
        process_group_split(world, world->rank == 0 ? -1 : 7, arena);
    ck_assert((rest == NULL) == (world->rank == 0));
    process_barrier(world);
}
END_TEST

Suite *
process_group_suite(void)
{
    Suite *suite = suite_create("process_group");
    TCase *tests = tcase_create("world");
    tcase_add_unchecked_fixture(tests, open_world, close_world);
    tcase_add_test(tests, every_rank_holds_the_sums);
    tcase_add_test(tests, each_rank_holds_its_part_of_the_sums);
    tcase_add_test(tests, single_numbers_are_added_and_compared);
    tcase_add_test(tests, what_is_gathered_lies_by_rank);
    tcase_add_test(tests, the_root_s_bytes_are_everybody_s);
    tcase_add_test(tests, blocks_change_places);
    tcase_add_test(tests, parts_of_unequal_length_change_places);
    tcase_add_test(tests, neighbours_exchange);
    tcase_add_test(tests, an_exchange_may_have_one_side_only);
    tcase_add_test(tests, a_message_arrives);
    tcase_add_test(tests, groups_split);
    suite_add_tcase(suite, tests);
    return suite;
}
