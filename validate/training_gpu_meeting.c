/* Where the GPUs of one step meet. */
#include "validate/training_gpu_meeting.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "validate/measure_times.h"

/* How long a call into the library may take before it is thought to hang: its calls return at
 * once, but for the first between two ranks, which connects them. */
static const double PATIENCE_S = 0.5;

enum { SETS_MAX = 3 * TRAINING_GPUS_MAX };

struct set {
    int count;
    int ranks[TRAINING_GPUS_MAX];
    void *communicators[TRAINING_GPUS_MAX];
};

struct training_gpu_meeting {
    const struct gpu_libraries *libraries;
    int rank_count, set_count;
    struct set sets[SETS_MAX];
    atomic_bool is_inside[TRAINING_GPUS_MAX];
    /* Since when a rank is inside or waits for its GPU, nanoseconds of the clock; 0: it does not */
    atomic_llong waiting_ns[TRAINING_GPUS_MAX];
    atomic_int running;   /* ranks that have not ended the step */
    atomic_int failed;    /* a rank; -1: none */
    atomic_bool is_taken; /* the communicators, by who asks or aborts them */
    int fault_rank;
    char fault[160]; /* written by the watch alone, before `failed` */
};

static double
now_s(void)
{
    const struct measure_clock clock = measure_system_clock();
    return clock.now_s(clock.context);
}

static const double NS_PER_S = 1e9;

static void
note_waiting(struct training_gpu_meeting *meeting, int rank, bool is_waiting)
{
    long long at_ns = is_waiting ? (long long)(now_s() * NS_PER_S) + 1 : 0;
    atomic_store(&meeting->waiting_ns[rank], at_ns);
}

struct training_gpu_meeting *
training_gpu_meeting_new(const struct gpu_libraries *libraries, int ranks, struct arena *arena)
{
    struct training_gpu_meeting *meeting = arena_alloc(arena, 1, sizeof *meeting);
    meeting->libraries = libraries;
    meeting->rank_count = ranks;
    atomic_init(&meeting->failed, -1);
    return meeting;
}

static bool
is_same(const struct set *set, const int *ranks, int count)
{
    for (int i = 0; i < count && i < set->count; i++)
        if (set->ranks[i] != ranks[i])
            return false;
    return set->count == count;
}

void *const *
training_gpu_meeting_join(struct training_gpu_meeting *meeting, const int *ranks, int count,
                          struct error_list *errors)
{
    const struct gpu_api *api = &meeting->libraries->api;
    for (int i = 0; i < meeting->set_count; i++)
        if (is_same(&meeting->sets[i], ranks, count))
            return meeting->sets[i].communicators;
    assert(meeting->set_count < SETS_MAX && "more groups than degrees make of the ranks");
    struct set *set = &meeting->sets[meeting->set_count];
    *set = (struct set){.count = count};
    for (int i = 0; i < count; i++)
        set->ranks[i] = ranks[i];
    int status = api->communicators_new(set->communicators, count, set->ranks);
    if (status != 0) {
        error_add(errors, ERROR_INFEASIBLE, "", "%s: %s",
                  gpu_library_name(meeting->libraries->vendor, GPU_COLLECTIVES),
                  api->collectives_error_text(status));
        return NULL;
    }
    meeting->set_count++;
    return set->communicators;
}

/* ---- Calls, and the end of them */

bool
training_gpu_meeting_enter(struct training_gpu_meeting *meeting, int rank)
{
    atomic_store(&meeting->is_inside[rank], true);
    note_waiting(meeting, rank, true);
    if (atomic_load(&meeting->failed) < 0)
        return true;
    training_gpu_meeting_leave(meeting, rank);
    return false;
}

void
training_gpu_meeting_leave(struct training_gpu_meeting *meeting, int rank)
{
    note_waiting(meeting, rank, false);
    atomic_store(&meeting->is_inside[rank], false);
}

void
training_gpu_meeting_wait(struct training_gpu_meeting *meeting, int rank)
{
    note_waiting(meeting, rank, true);
}

void
training_gpu_meeting_go_on(struct training_gpu_meeting *meeting, int rank)
{
    note_waiting(meeting, rank, false);
}

/* Nobody asks a communicator that another aborts. */
static void
take(struct training_gpu_meeting *meeting)
{
    while (atomic_exchange(&meeting->is_taken, true))
        (void)sched_yield();
}

static void
put_back(struct training_gpu_meeting *meeting)
{
    atomic_store(&meeting->is_taken, false);
}

/* Until the rank has left the library, or must be torn out of it. */
static void
wait_for(const struct training_gpu_meeting *meeting, int rank, double until_s)
{
    while (atomic_load(&meeting->is_inside[rank]) && now_s() < until_s)
        (void)sched_yield();
}

void
training_gpu_meeting_fail(struct training_gpu_meeting *meeting, int rank)
{
    double until_s = now_s() + PATIENCE_S;
    int nobody = -1;
    if (!atomic_compare_exchange_strong(&meeting->failed, &nobody, rank))
        return;
    for (int other = 0; other < meeting->rank_count; other++)
        if (other != rank)
            wait_for(meeting, other, until_s);
    take(meeting);
    for (int i = 0; i < meeting->set_count; i++)
        for (int j = 0; j < meeting->sets[i].count; j++)
            (void)meeting->libraries->api.communicator_abort(meeting->sets[i].communicators[j]);
    put_back(meeting);
}

int
training_gpu_meeting_failed(const struct training_gpu_meeting *meeting)
{
    return atomic_load(&meeting->failed);
}

/* ---- The watch */

void
training_gpu_meeting_begin(struct training_gpu_meeting *meeting)
{
    atomic_store(&meeting->running, meeting->rank_count);
}

void
training_gpu_meeting_end(struct training_gpu_meeting *meeting)
{
    (void)atomic_fetch_sub(&meeting->running, 1);
}

/* What a communicator tells of itself, 0: nothing. */
static int
status_of(const struct training_gpu_meeting *meeting, void *communicator)
{
    int fault = 0;
    int status = meeting->libraries->api.communicator_error(communicator, &fault);
    return status == 0 && fault != GPU_COLLECTIVE_IN_PROGRESS ? fault : status;
}

/* The rank whose communicator tells of a fault, -1: none. */
static int
faulty_rank(struct training_gpu_meeting *meeting, int *status)
{
    int rank = -1;
    take(meeting);
    for (int i = 0; rank < 0 && i < meeting->set_count; i++)
        for (int j = 0; rank < 0 && j < meeting->sets[i].count; j++) {
            if (atomic_load(&meeting->failed) >= 0)
                break; /* they may be aborted already */
            *status = status_of(meeting, meeting->sets[i].communicators[j]);
            rank = *status != 0 ? meeting->sets[i].ranks[j] : -1;
        }
    put_back(meeting);
    return rank;
}

/* The rank that has waited for longer than that, -1: none. */
static int
stuck_rank(const struct training_gpu_meeting *meeting, double timeout_s)
{
    double ns = now_s() * NS_PER_S;
    for (int rank = 0; rank < meeting->rank_count; rank++) {
        long long since_ns = atomic_load(&meeting->waiting_ns[rank]);
        if (since_ns > 0 && ns - (double)since_ns > timeout_s * NS_PER_S)
            return rank;
    }
    return -1;
}

static void
look(struct training_gpu_meeting *meeting, double timeout_s)
{
    const char *library = gpu_library_name(meeting->libraries->vendor, GPU_COLLECTIVES);
    int status = 0, rank = faulty_rank(meeting, &status);
    if (rank >= 0) {
        (void)snprintf(meeting->fault, sizeof meeting->fault, "%s: %s", library,
                       meeting->libraries->api.collectives_error_text(status));
    } else if ((rank = stuck_rank(meeting, timeout_s)) >= 0) {
        (void)snprintf(meeting->fault, sizeof meeting->fault,
                       "%s: an exchange did not end in %g s and was aborted", library,
                       timeout_s);
    }
    meeting->fault_rank = rank;
    if (rank >= 0)
        training_gpu_meeting_fail(meeting, rank);
}

void
training_gpu_meeting_watch(struct training_gpu_meeting *meeting, double timeout_s)
{
    while (atomic_load(&meeting->running) > 0) {
        if (atomic_load(&meeting->failed) < 0)
            look(meeting, timeout_s);
        measure_rest();
    }
}

const char *
training_gpu_meeting_fault(const struct training_gpu_meeting *meeting)
{
    bool is_first = training_gpu_meeting_failed(meeting) == meeting->fault_rank;
    return is_first ? meeting->fault : "";
}

void
training_gpu_meeting_free(struct training_gpu_meeting *meeting)
{
    bool is_aborted = training_gpu_meeting_failed(meeting) >= 0;
    for (int i = 0; i < meeting->set_count && !is_aborted; i++)
        for (int j = 0; j < meeting->sets[i].count; j++)
            (void)meeting->libraries->api.communicator_free(meeting->sets[i].communicators[j]);
    meeting->set_count = 0;
}
