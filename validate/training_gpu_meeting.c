/* Where the GPUs of one step meet. */
#include "validate/training_gpu_meeting.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

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
    atomic_int failed; /* a rank; -1: none */
};

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
    if (atomic_load(&meeting->failed) < 0)
        return true;
    atomic_store(&meeting->is_inside[rank], false);
    return false;
}

void
training_gpu_meeting_leave(struct training_gpu_meeting *meeting, int rank)
{
    atomic_store(&meeting->is_inside[rank], false);
}

/* Until the rank has left the library, or must be torn out of it. */
static void
wait_for(const struct training_gpu_meeting *meeting, int rank, double until_s)
{
    const struct measure_clock clock = measure_system_clock();
    while (atomic_load(&meeting->is_inside[rank]) && clock.now_s(clock.context) < until_s)
        (void)sched_yield();
}

void
training_gpu_meeting_fail(struct training_gpu_meeting *meeting, int rank)
{
    const struct measure_clock clock = measure_system_clock();
    double until_s = clock.now_s(clock.context) + PATIENCE_S;
    int nobody = -1;
    if (!atomic_compare_exchange_strong(&meeting->failed, &nobody, rank))
        return;
    for (int other = 0; other < meeting->rank_count; other++)
        if (other != rank)
            wait_for(meeting, other, until_s);
    for (int i = 0; i < meeting->set_count; i++)
        for (int j = 0; j < meeting->sets[i].count; j++)
            (void)meeting->libraries->api.communicator_abort(meeting->sets[i].communicators[j]);
}

int
training_gpu_meeting_failed(const struct training_gpu_meeting *meeting)
{
    return atomic_load(&meeting->failed);
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
