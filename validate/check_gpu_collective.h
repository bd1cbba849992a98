/* For tests only: check_gpu.h's library of collectives. Ranks are threads, which wait for each
 * other within the call, and leave it when somebody aborts. */
#ifndef VALIDATE_CHECK_GPU_COLLECTIVE_H
#define VALIDATE_CHECK_GPU_COLLECTIVE_H

#include <stdlib.h>
#include <string.h>

#include "validate/check_gpu_faults.h"
#include "validate/gpu_api.h"

enum { CHECK_GPU_RANKS = 4, CHECK_GPU_SETS = 16, CHECK_GPU_GROUP = 4 * CHECK_GPU_RANKS };

/* Ranks that were joined. */
struct check_gpu_set {
    int count, arrived, meetings;
    bool is_aborted;
    const float *from[CHECK_GPU_RANKS];
    struct {
        const void *bytes; /* NULL: nothing has been sent that was not received */
        size_t length;
    } letters[CHECK_GPU_RANKS][CHECK_GPU_RANKS]; /* [sender][receiver] */
};

struct check_gpu_communicator {
    struct check_gpu_set *set;
    int rank;
};

static struct check_gpu_set check_gpu_sets[CHECK_GPU_SETS];
static struct check_gpu_communicator check_gpu_communicators[CHECK_GPU_SETS][CHECK_GPU_RANKS];
static int check_gpu_set_count;

/* A message of a group that is not at its end. */
struct check_gpu_message {
    struct check_gpu_communicator *communicator;
    const void *from; /* NULL: to receive */
    void *to;
    size_t length;
    int peer;
};

static _Thread_local struct {
    struct check_gpu_message messages[CHECK_GPU_GROUP];
    int count;
    bool is_open;
} check_gpu_group;

static int
check_gpu_communicators_new(void **communicators, int count, const int *devices)
{
    int number = check_gpu_set_count++ % CHECK_GPU_SETS;
    check_gpu_sets[number] = (struct check_gpu_set){.count = count};
    for (int i = 0; i < count; i++) {
        check_gpu_communicators[number][i] =
            (struct check_gpu_communicator){&check_gpu_sets[number], i};
        communicators[i] = &check_gpu_communicators[number][i];
        if (i > 0 && devices[i] <= devices[i - 1])
            return CHECK_GPU_FAULT;
    }
    check_gpu_count(&check_gpu_live, count);
    return 0;
}

static int
check_gpu_communicator_free(void *communicator)
{
    (void)communicator;
    check_gpu_count(&check_gpu_live, -1);
    return 0;
}

static int
check_gpu_communicator_abort(void *communicator)
{
    check_gpu_enter();
    ((struct check_gpu_communicator *)communicator)->set->is_aborted = true;
    check_gpu_leave();
    return check_gpu_communicator_free(communicator);
}

/* Lets others run; false when nobody is to be waited for any more. */
static bool
check_gpu_yield(const struct check_gpu_set *set)
{
    bool is_aborted = set->is_aborted;
    check_gpu_leave();
    (void)sched_yield();
    check_gpu_enter();
    return !is_aborted;
}

/* Within enter and leave, until all ranks have come. */
static bool
check_gpu_meet_ranks(struct check_gpu_set *set)
{
    int meeting = set->meetings;
    if (++set->arrived == set->count) {
        set->arrived = 0;
        set->meetings++;
    }
    while (set->meetings == meeting)
        if (!check_gpu_yield(set))
            return false;
    return true;
}

/* Within enter and leave, until somebody aborts. */
static void
check_gpu_stay(const struct check_gpu_set *set)
{
    while (check_gpu_yield(set))
        continue;
}

/* The sum over ranks of elements [begin, + count), or, of a gather, rank by rank. */
struct check_gpu_collective {
    size_t begin, count;
    bool is_gather;
};

static int
check_gpu_run_collective(struct check_gpu_communicator *own, const float *from, float *to,
                         struct check_gpu_collective work)
{
    struct check_gpu_set *set = own->set;
    size_t total = work.count * (work.is_gather ? (size_t)set->count : 1);
    if (check_gpu_fails(&check_gpu_faults.exchange))
        return CHECK_GPU_FAULT;
    check_gpu_count(&check_gpu_launches, 1);
    float *result = calloc(total, sizeof *result);
    bool is_stuck = check_gpu_fails(&check_gpu_faults.stuck);
    check_gpu_enter();
    if (is_stuck)
        check_gpu_stay(set);
    set->from[own->rank] = from;
    bool is_met = !is_stuck && check_gpu_meet_ranks(set);
    for (size_t i = 0; is_met && i < total; i++) {
        if (work.is_gather)
            result[i] = set->from[i / work.count][i % work.count];
        for (int rank = 0; !work.is_gather && rank < set->count; rank++)
            result[i] += set->from[rank][work.begin + i];
    }
    is_met = is_met && check_gpu_meet_ranks(set);
    check_gpu_leave();
    if (is_met)
        memcpy(to, result, total * sizeof *result);
    free(result);
    return is_met ? 0 : CHECK_GPU_FAULT;
}

static int
check_gpu_all_reduce(const void *from, void *to, size_t count, int type, int operation,
                     void *communicator, void *stream)
{
    (void)stream;
    if (from != to || type != GPU_COLLECTIVE_FP32 || operation != GPU_COLLECTIVE_SUM)
        return CHECK_GPU_FAULT;
    return check_gpu_run_collective(communicator, from, to,
                                    (struct check_gpu_collective){0, count, false});
}

static int
check_gpu_all_gather(const void *from, void *to, size_t count_each, int type,
                     void *communicator, void *stream)
{
    (void)stream;
    if (type != GPU_COLLECTIVE_FP32)
        return CHECK_GPU_FAULT;
    return check_gpu_run_collective(communicator, from, to,
                                    (struct check_gpu_collective){0, count_each, true});
}

static int
check_gpu_reduce_scatter(const void *from, void *to, size_t count_each, int type, int operation,
                         void *communicator, void *stream)
{
    const struct check_gpu_communicator *own = communicator;
    (void)stream;
    if (type != GPU_COLLECTIVE_FP32 || operation != GPU_COLLECTIVE_SUM)
        return CHECK_GPU_FAULT;
    return check_gpu_run_collective(
        communicator, from, to,
        (struct check_gpu_collective){(size_t)own->rank * count_each, count_each, false});
}

static int
check_gpu_add_message(struct check_gpu_message message, int type)
{
    if (!check_gpu_group.is_open || type != GPU_COLLECTIVE_INT8 || message.length == 0 ||
        check_gpu_group.count == CHECK_GPU_GROUP)
        return CHECK_GPU_FAULT;
    check_gpu_group.messages[check_gpu_group.count++] = message;
    return 0;
}

static int
check_gpu_send(const void *from, size_t count, int type, int peer, void *communicator,
               void *stream)
{
    (void)stream;
    return check_gpu_add_message(
        (struct check_gpu_message){communicator, from, NULL, count, peer}, type);
}

static int
check_gpu_receive(void *to, size_t count, int type, int peer, void *communicator, void *stream)
{
    (void)stream;
    return check_gpu_add_message(
        (struct check_gpu_message){communicator, NULL, to, count, peer}, type);
}

static int
check_gpu_group_start(void)
{
    check_gpu_group.count = 0;
    check_gpu_group.is_open = true;
    return 0;
}

/* A letter is laid out, or taken as soon as it lies there; within enter and leave. */
static bool
check_gpu_pass(const struct check_gpu_message *message)
{
    struct check_gpu_set *set = message->communicator->set;
    int own = message->communicator->rank, peer = message->peer;
    if (message->from) {
        set->letters[own][peer].bytes = message->from;
        set->letters[own][peer].length = message->length;
        return true;
    }
    while (set->letters[peer][own].bytes == NULL)
        if (!check_gpu_yield(set))
            return false;
    if (set->letters[peer][own].length != message->length)
        return false;
    memcpy(message->to, set->letters[peer][own].bytes, message->length);
    set->letters[peer][own].bytes = NULL;
    return true;
}

/* All letters are laid out, then all are taken, then the own ones must have been. */
static int
check_gpu_group_end(void)
{
    bool is_well = !check_gpu_fails(&check_gpu_faults.exchange);
    check_gpu_count(&check_gpu_launches, 1);
    check_gpu_group.is_open = false;
    check_gpu_enter();
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; is_well && i < check_gpu_group.count; i++) {
            const struct check_gpu_message *message = &check_gpu_group.messages[i];
            struct check_gpu_set *set = message->communicator->set;
            if (turn < 2 && (message->from != NULL) == (turn == 0))
                is_well = check_gpu_pass(message);
            while (turn == 2 && is_well && message->from &&
                   set->letters[message->communicator->rank][message->peer].bytes)
                is_well = check_gpu_yield(set);
        }
    check_gpu_leave();
    return is_well ? 0 : CHECK_GPU_FAULT;
}

static int
check_gpu_communicator_error(void *communicator, int *fault)
{
    (void)communicator;
    *fault = check_gpu_fails(&check_gpu_faults.link) ? CHECK_GPU_FAULT : 0;
    return 0;
}

static const char *
check_gpu_collectives_text(int status)
{
    return status == CHECK_GPU_FAULT ? "unhandled system error" : "something else";
}

static int
check_gpu_collectives_version(int *version)
{
    *version = 22809;
    return 0;
}

/* Its part of the table. */
static inline void
check_gpu_add_collectives(struct gpu_api *api)
{
    check_gpu_set_count = 0;
    api->collectives_version = check_gpu_collectives_version;
    api->communicators_new = check_gpu_communicators_new;
    api->communicator_free = check_gpu_communicator_free;
    api->communicator_abort = check_gpu_communicator_abort;
    api->communicator_error = check_gpu_communicator_error;
    api->collectives_error_text = check_gpu_collectives_text;
    api->group_start = check_gpu_group_start;
    api->group_end = check_gpu_group_end;
    api->all_reduce = check_gpu_all_reduce;
    api->all_gather = check_gpu_all_gather;
    api->reduce_scatter = check_gpu_reduce_scatter;
    api->send = check_gpu_send;
    api->receive = check_gpu_receive;
}

#endif
