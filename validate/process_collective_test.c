/* Is every collective between processes planned, run and checked, and a wrong one seen? */
#include "validate/process_collective.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_json.h"
#include "validate/process_collective_work.h"

Suite *process_collective_suite(void);

/* Linked twice, as process_group_test.c; a process alone has nobody and refuses all. */
static struct arena *arena;
static struct error_list errors;
static const struct process_group *world;

static void
open_world(void)
{
    arena = check_arena_new();
    world = process_world_open(arena);
}

static void
close_world(void)
{
    process_world_close();
    arena_free(arena);
}

static struct collective
read(const char *line)
{
    struct collective collective;
    errors = (struct error_list){0};
    ck_assert(collective_read(check_json_read(arena, line), &collective, arena, &errors));
    return collective;
}

/* For two ranks, of any world that has them. */
static const char *const lines[] = {
    "{\"collective\": \"all_reduce\", \"ranks\": 2, \"nodes\": 1, \"bytes\": 4096, \"dtype\": "
    "\"fp32\"}",
    "{\"collective\": \"reduce_scatter\", \"ranks\": 2, \"nodes\": 1, \"bytes\": 4096, "
    "\"dtype\": \"fp32\"}",
    "{\"collective\": \"all_gather\", \"ranks\": 2, \"nodes\": 1, \"bytes\": 4096}",
    "{\"collective\": \"broadcast\", \"ranks\": 2, \"nodes\": 1, \"bytes\": 4096}",
    "{\"collective\": \"all_to_all\", \"ranks\": 2, \"nodes\": 1, \"bytes\": 4096}",
    "{\"collective\": \"all_to_all_v\", \"bytes_matrix\": [[3, 10], [20, 0]]}",
    "{\"collective\": \"send_recv\", \"bytes\": 4096}",
    "{\"collective\": \"send_recv\", \"bytes\": 4096, \"from\": 1, \"to\": 0}",
};
enum { LINES = sizeof lines / sizeof lines[0] };

static struct measure_backend
backend_of_processes(void)
{
    static const struct measure_cpu_options options = {
        .effort = {.warmups = 1, .repeats_min = 2, .repeats_max = 3, .budget_s = 0.01},
        .cache_bytes = 1e5,
        .memory_bytes = 1e8,
        .seed = 1};
    static const struct measure_backend inner = {.device = "a core"};
    return process_collective_backend(world, &inner, &options, arena);
}

START_TEST(each_kind_is_right_and_takes_time)
{
    struct measure_backend backend = backend_of_processes();
    struct collective collective = read(lines[_i]);
    struct measure_result result;
    bool is_run = backend.run_collective(backend.context, &collective, &result, arena, &errors);
    ck_assert(is_run == (world->size > 1));
    if (world->rank > 1 || world->size == 1)
        return;
    ck_assert_double_eq(result.error_fraction, 0);
    ck_assert(result.times.min_s > 0 && result.times.median_s >= result.times.min_s);
    ck_assert_int_ge(result.times.repeats, 2);
}
END_TEST

/* One byte of the last rank that receives is changed: all see that something is wrong. */
START_TEST(a_wrong_byte_is_seen_by_all)
{
    struct process_collective_work work;
    int ranks;
    struct collective collective = read(lines[_i]);
    if (world->size == 1)
        return;
    ck_assert(process_collective_plan(&collective, world, &work, &ranks, arena, &errors));
    work.group = process_group_split(world, world->rank < ranks ? 0 : -1, arena);
    if (work.group == NULL)
        return;
    unsigned char *in = arena_alloc(arena, work.in_bytes + 1, 1);
    unsigned char *out = arena_alloc(arena, work.out_bytes + 1, 1);
    process_collective_fill(&work, 5, in, out);
    process_collective_call(&work, in, out);
    ck_assert_double_eq(process_collective_error(&work, 5, out), 0);
    ck_assert_double_gt(process_collective_error(&work, 6, out), 0.5);
    if (work.out_bytes > 0)
        out[work.out_bytes - 1] ^= 1;
    ck_assert_double_gt(process_collective_error(&work, 5, out), 0);
}
END_TEST

static void
check_refused(const char *line, const char *what)
{
    struct process_collective_work work;
    int ranks;
    struct collective collective = read(line);
    ck_assert(!process_collective_plan(&collective, world, &work, &ranks, arena, &errors));
    ck_assert_msg(strstr(errors.items[0].what, what) != NULL, "%s", errors.items[0].what);
}

START_TEST(what_processes_cannot_do_is_refused)
{
    check_refused("{\"collective\": \"broadcast\", \"ranks\": 99, \"nodes\": 1, \"bytes\": 4}",
                  "found 99 ranks, wanted 2 to");
    check_refused("{\"collective\": \"broadcast\", \"ranks\": 2, \"nodes\": 2, \"bytes\": 4}",
                  "this is one node");
    if (world->size == 1)
        return;
    check_refused("{\"collective\": \"all_reduce\", \"ranks\": 2, \"nodes\": 1, \"bytes\": 4, "
                  "\"dtype\": \"bf16\"}",
                  "processes add fp32, not bf16");
    check_refused("{\"collective\": \"all_gather\", \"ranks\": 2, \"nodes\": 1, \"bytes\": 3}",
                  "3 bytes are not whole elements for each of 2 blocks");
    check_refused("{\"collective\": \"broadcast\", \"ranks\": 2, \"nodes\": 1, \"bytes\": 4e9}",
                  "wanted blocks of less than");
    check_refused("{\"collective\": \"all_to_all_v\", \"bytes_matrix\": [[1, 2.5], [1, 1]]}",
                  "2.5 bytes, wanted whole ones");
    check_refused("{\"collective\": \"all_to_all_v\", \"bytes_matrix\": [[1, 1], [1, 4e9]]}",
                  "rank 1 has more bytes than");
}
END_TEST

Suite *
process_collective_suite(void)
{
    Suite *suite = suite_create("process_collective");
    TCase *tests = tcase_create("world");
    tcase_add_unchecked_fixture(tests, open_world, close_world);
    tcase_add_loop_test(tests, each_kind_is_right_and_takes_time, 0, LINES);
    tcase_add_loop_test(tests, a_wrong_byte_is_seen_by_all, 0, LINES);
    tcase_add_test(tests, what_processes_cannot_do_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
