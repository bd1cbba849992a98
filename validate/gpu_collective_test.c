/* Does a collective that goes wrong on its way end, and is the next one not its victim? */
#include "validate/gpu_collective_work.h"

#include <string.h>

#include <check.h>

Suite *gpu_collective_suite(void);

enum { RANKS = 2, OTHER_RANKS = 3, REMOTE_ERROR = 6 /* ncclRemoteError */ };

/* A library whose streams are busy for so many questions, and what its communicators then say. */
static struct {
    int busy_queries, queries, aborted;
    int fault, fault_from_query; /* the latter 0: none */
} fake;

static struct gpu gpu;
static struct gpu_collectives all;
static struct gpu_collective_work work;
static struct error_list errors;
static int places[OTHER_RANKS]; /* that pointers of a library can point to */

static int
context_set(void *context)
{
    (void)context;
    return 0;
}

static int
stream_query(void *stream)
{
    (void)stream;
    return ++fake.queries > fake.busy_queries || fake.aborted > 0 ? 0 : GPU_STATUS_NOT_READY;
}

static int
communicator_error(void *communicator, int *status)
{
    bool is_faulty = fake.fault_from_query > 0 && fake.queries >= fake.fault_from_query;
    ck_assert_ptr_nonnull(communicator);
    *status = is_faulty && communicator == &places[1] ? fake.fault : 0;
    return 0;
}

static int
communicator_abort(void *communicator)
{
    ck_assert_ptr_eq(communicator, &places[fake.aborted]);
    fake.aborted++;
    return 0;
}

static const char *
error_text(int status)
{
    return status == REMOTE_ERROR ? "remote process exited" : "something else";
}

static void
setup(void)
{
    memset(&errors, 0, sizeof errors);
    memset(&fake, 0, sizeof fake);
    memset(&all, 0, sizeof all);
    gpu = (struct gpu){.options = gpu_options_new()};
    gpu.libraries.api = (struct gpu_api){.context_set = context_set,
                                         .stream_query = stream_query,
                                         .communicator_error = communicator_error,
                                         .communicator_abort = communicator_abort,
                                         .collectives_error_text = error_text};
    all.gpu = &gpu;
    for (int i = 0; i < RANKS; i++)
        all.communicators[RANKS][i] = &places[i];
    for (int i = 0; i < OTHER_RANKS; i++)
        all.communicators[OTHER_RANKS][i] = &places[i];
    work = (struct gpu_collective_work){.all = &all, .ranks = RANKS};
}

static void
check_given_up(void)
{
    ck_assert_int_eq(fake.aborted, RANKS);
    for (int i = 0; i < RANKS; i++)
        ck_assert_ptr_null(all.communicators[RANKS][i]);
    for (int i = 0; i < OTHER_RANKS; i++)
        ck_assert_ptr_eq(all.communicators[OTHER_RANKS][i], &places[i]);
}

/* Two streams: four questions to the first, one to the second. */
START_TEST(streams_are_asked_until_they_are_empty)
{
    fake.busy_queries = 3;
    ck_assert(gpu_collective_wait(&work, &errors));
    ck_assert_int_eq(fake.queries, 5);
    ck_assert_int_eq(fake.aborted, 0);
}
END_TEST

START_TEST(a_fault_on_the_way_ends_it)
{
    fake.busy_queries = 1000000000;
    fake.fault = REMOTE_ERROR;
    fake.fault_from_query = 3;
    ck_assert(!gpu_collective_wait(&work, &errors));
    ck_assert_str_eq(errors.items[0].what, "NCCL: running: remote process exited");
    ck_assert_int_eq(fake.queries, 3);
    check_given_up();
}
END_TEST

START_TEST(what_never_ends_is_aborted)
{
    fake.busy_queries = 1000000000;
    gpu.options.timeout_s = 0.02;
    ck_assert(!gpu_collective_wait(&work, &errors));
    ck_assert_str_eq(errors.items[0].what, "NCCL: it did not end in 0.02 s and was aborted");
    check_given_up();
}
END_TEST

START_TEST(being_on_the_way_is_no_fault)
{
    fake.busy_queries = 10;
    fake.fault = GPU_COLLECTIVE_IN_PROGRESS;
    fake.fault_from_query = 1;
    ck_assert(gpu_collective_wait(&work, &errors));
    ck_assert_int_eq(fake.aborted, 0);
}
END_TEST

Suite *
gpu_collective_suite(void)
{
    Suite *suite = suite_create("gpu_collective");
    TCase *waiting = tcase_create("waiting");
    tcase_add_checked_fixture(waiting, setup, NULL);
    tcase_add_test(waiting, streams_are_asked_until_they_are_empty);
    tcase_add_test(waiting, a_fault_on_the_way_ends_it);
    tcase_add_test(waiting, what_never_ends_is_aborted);
    tcase_add_test(waiting, being_on_the_way_is_no_fault);
    suite_add_tcase(suite, waiting);
    return suite;
}
