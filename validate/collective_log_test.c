/* Logs of rccl-tests and nccl-tests as they come, and as they should not. */
#include "validate/collective_log.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

static struct arena *arena;
static struct error_list errors;
static struct measured_list list;

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    list = (struct measured_list){0};
}

static void
teardown(void)
{
    arena_free(arena);
}

/* Through the list's own reader, which tells a log by its content. */
static bool
parse(const char *name, const char *log)
{
    struct text text = text_new(arena);
    text_append(&text, log, strlen(log));
    return measured_list_parse(&list, name, &text, arena, &errors);
}

/* As published for 8 MI300X (crickett-hpe/hpc-ai-envs pull 30), two of the ranks. */
static const char RCCL[] =
    "# nThread 1 nGpus 2 minBytes 8388608 maxBytes 1073741824 step: 2(factor) warmup iters: 5\n"
    "#\n"
    "rccl-tests: Version develop:83d38d9\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid  37300 on   g100n126 device  0 [0000:05:00] AMD Instinct MI300X\n"
    "#  Rank  1 Group  0 Pid  37300 on   g100n126 device  1 [0000:33:00] AMD Instinct MI300X\n"
    "#\n"
    "#                                                     out-of-place                "
    "in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
    "time   algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
    "(us)  (GB/s)  (GB/s)\n"
    "           0             0     float     sum      -1     0.19    0.00    0.00      0     "
    "0.17    0.00    0.00    N/A\n"
    "     8388608       2097152     float     sum      -1    91.10   92.08  161.14      0    "
    "94.94   88.36  154.63      0\r\n"
    "NCCL WARN something in between 8388608 float\n"
    "    16777216       4194304  bfloat16     sum      -1   152    92.08  161.14    N/A    "
    "154   88.36  154.63      N/A\n"
    "# Out of bounds values : 0 OK\n"
    "# Avg bus bandwidth    : 157.9\n";

START_TEST(rows_are_taken_with_their_ranks)
{
    ck_assert_msg(parse("/logs/all_reduce.2.log", RCCL), "%s: %s", errors.items[0].where,
                  errors.items[0].what);
    ck_assert_uint_eq(list.count, 2);
    const struct collective *first = &list.items[0].collective;
    ck_assert(list.items[0].is_collective);
    ck_assert_int_eq(first->kind, COLLECTIVE_ALL_REDUCE);
    ck_assert_int_eq(first->dtype, DTYPE_FP32);
    ck_assert_int_eq(first->ranks, 2);
    ck_assert_int_eq(first->nodes, 1);
    CHECK_NEAR(first->bytes, 8388608, 0);
    CHECK_NEAR(list.items[0].measured_s, 91.10e-6, 1e-15);
    ck_assert_int_eq(list.items[0].line, 12);
    ck_assert_int_eq(list.items[1].collective.dtype, DTYPE_BF16);
    CHECK_NEAR(list.items[1].measured_s, 152e-6, 1e-15);
}
END_TEST

/* A launcher's labels, a program's name, two nodes, one group of times, no root, no
 * operation. */
START_TEST(other_versions_are_understood)
{
    ck_assert_msg(parse("x.log", "+ mpirun -np 2 ./build/alltoall_perf -b 1M\n"
                                 "0: # nThread 1 nGpus 1 minBytes 1048576\n"
                                 "0: #   Rank  0 Pid 3844613 on  gpu-53 device  0 [0000:05]\n"
                                 "0: #   Rank  1 Pid  366643 on  gpu-56 device  0 [0000:05]\n"
                                 "0: #  size  count  type  redop  time  algbw  busbw  error\n"
                                 "0:  1048576   262144     float           100.5    0.52    "
                                 "0.51  0e+00\n"),
                  "%s", errors.items[0].what);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_int_eq(list.items[0].collective.kind, COLLECTIVE_ALL_TO_ALL);
    ck_assert_int_eq(list.items[0].collective.ranks, 2);
    ck_assert_int_eq(list.items[0].collective.nodes, 2);
    CHECK_NEAR(list.items[0].measured_s, 100.5e-6, 1e-15);
}
END_TEST

/* Of rccl-tests' sendrecv every rank sends to the next, not only the first. */
START_TEST(sends_are_of_all_ranks)
{
    ck_assert(parse("x.log", "./build/sendrecv_perf -g 8\n"
                             "# nThread 1 nGpus 8 minBytes 8\n"
                             "#  size  count  type  redop  root  time  algbw  busbw\n"
                             " 1024 256 float sum -1 12.5 0.1 0.1 0\n"));
    ck_assert_int_eq(list.items[0].collective.kind, COLLECTIVE_SEND_RECV);
    ck_assert_int_eq(list.items[0].collective.ranks, 8);
}
END_TEST

START_TEST(without_rank_lines_one_process_counts)
{
    ck_assert(parse("all_gather_8.txt",
                    "# nThread 2 nGpus 4 minBytes 8\n"
                    "#  size  count  type  redop  root  time  algbw  busbw\n"
                    " 1024 32 float none -1 12.5 0.1 0.1 0\n"));
    ck_assert_int_eq(list.items[0].collective.kind, COLLECTIVE_ALL_GATHER);
    ck_assert_int_eq(list.items[0].collective.ranks, 8);
}
END_TEST

static void
check_refused(const char *name, const char *log, const char *words)
{
    errors = (struct error_list){0};
    ck_assert(!parse(name, log));
    ck_assert_uint_eq(list.count, 0);
    ck_assert_int_eq(errors.items[0].kind, ERROR_INPUT);
    ck_assert_msg(strstr(errors.items[0].what, words) != NULL, "%s", errors.items[0].what);
}

#define HEADING "#  size  count  type  redop  root  time  algbw  busbw  #wrong\n"
#define GPUS    "# nThread 1 nGpus 8\n"
#define ROW     " 1024 32 float sum -1 12.5 0.1 0.1 0\n"

START_TEST(logs_that_say_too_little_are_refused)
{
    check_refused("a.log", GPUS HEADING ROW, "no collective in its name");
    check_refused("all_reduce.log", GPUS HEADING, "no row");
    check_refused("all_reduce.log", HEADING ROW, "which ranks");
    check_refused("a.log", "./hypercube_perf\n" GPUS HEADING ROW, "hypercube_perf");
    check_refused("all_reduce.log", GPUS HEADING " 1024 32 float sum -1 -3 0.1 0.1 0\n",
                  "wanted a time in us, found -3");
    check_refused("all_reduce.log", GPUS HEADING " 1e30 32 float sum -1 3 0.1 0.1 0\n",
                  "wanted a size in bytes");
    check_refused("all_reduce.log", "# Rank 0 on a\n# Rank 1 on a\n# Rank 2 on b\n" HEADING ROW,
                  "which ranks");
    ck_assert_ptr_nonnull(strstr(errors.items[0].where, "all_reduce.log:1"));
}
END_TEST

Suite *collective_log_suite(void);

Suite *
collective_log_suite(void)
{
    Suite *suite = suite_create("collective_log");
    TCase *tests = tcase_create("collective_log");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, rows_are_taken_with_their_ranks);
    tcase_add_test(tests, other_versions_are_understood);
    tcase_add_test(tests, sends_are_of_all_ranks);
    tcase_add_test(tests, without_rank_lines_one_process_counts);
    tcase_add_test(tests, logs_that_say_too_little_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
