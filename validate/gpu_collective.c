/* One process drives all ranks: a stream, two buffers and a graph on each GPU.
 *
 * Buffers are rows of `blocks` of equal length, one a rank where a collective tells them apart:
 *
 *                      sent    received     block b of rank r holds
 *     all_reduce       1       1 (same)     the sum over ranks
 *     broadcast        1       1 (same)     rank 0's
 *     all_gather       1       ranks        rank b's
 *     reduce_scatter   ranks   1            the sum over ranks of their block r
 *     all_to_all       ranks   ranks        rank b's block r
 *     send_recv        1       1            on `to`: what `from` sent */
#include "validate/gpu_collective.h"

#include <math.h>

#include "validate/gpu_collective_work.h"

struct gpu_collectives *
gpu_collectives_new(struct gpu *gpu, struct arena *arena)
{
    struct gpu_collectives *all = arena_alloc(arena, 1, sizeof *all);
    all->gpu = gpu;
    return all;
}

static const struct gpu_api *
api_of(const struct gpu_collectives *all)
{
    return &all->gpu->libraries.api;
}

static bool
library_ok(const struct gpu_collectives *all, int status, const char *doing,
           struct error_list *errors)
{
    return status == 0 ||
           error_add(errors, ERROR_INFEASIBLE, "", "%s: %s: %s",
                     gpu_library_name(all->gpu->libraries.vendor, GPU_COLLECTIVES), doing,
                     api_of(all)->collectives_error_text(status));
}

bool
gpu_rank_turn_to(const struct gpu_collectives *all, int rank, struct error_list *errors)
{
    return gpu_ok(all->gpu, api_of(all)->context_set(all->ranks[rank].context), "a GPU",
                  errors);
}

/* ---- Opening and closing */

static bool
open_rank(struct gpu_collectives *all, int index, struct error_list *errors)
{
    const struct gpu_api *api = api_of(all);
    struct gpu_rank *rank = &all->ranks[index];
    int device;
    return gpu_ok(all->gpu, api->device_get(&device, index), "a GPU", errors) &&
           gpu_ok(all->gpu, api->context_retain(&rank->context, device), "a GPU", errors) &&
           gpu_rank_turn_to(all, index, errors) &&
           gpu_ok(all->gpu, api->stream_new(&rank->stream, GPU_STREAM_APART), "a stream",
                  errors) &&
           gpu_ok(all->gpu, api->event_new(&rank->start, 0), "an event", errors) &&
           gpu_ok(all->gpu, api->event_new(&rank->end, 0), "an event", errors);
}

static bool
open_ranks(struct gpu_collectives *all, int count, struct error_list *errors)
{
    int devices[GPU_RANKS_MAX];
    if (!gpu_library_open(&all->gpu->libraries, GPU_COLLECTIVES, errors))
        return false;
    for (; all->open_count < count; all->open_count++)
        if (!open_rank(all, all->open_count, errors))
            return false;
    if (all->communicators[count][0] != NULL)
        return true;
    for (int rank = 0; rank < count; rank++)
        devices[rank] = rank;
    return library_ok(all,
                      api_of(all)->communicators_new(all->communicators[count], count, devices),
                      "making communicators", errors);
}

void
gpu_collectives_close(struct gpu_collectives *all)
{
    const struct gpu_api *api = api_of(all);
    for (int count = 0; count <= GPU_RANKS_MAX; count++)
        for (int rank = 0; rank < count && all->communicators[count][rank] != NULL; rank++)
            (void)api->communicator_free(all->communicators[count][rank]);
    for (int i = 0; i < all->open_count; i++) {
        const struct gpu_rank *rank = &all->ranks[i];
        (void)api->context_set(rank->context);
        (void)api->event_free(rank->start);
        (void)api->event_free(rank->end);
        (void)api->stream_free(rank->stream);
        (void)api->context_release(i);
    }
    all->open_count = 0;
    (void)api->context_set(all->gpu->context);
}

/* ---- What is asked for */

static bool
describe(struct gpu_collective_work *work, const struct collective *collective)
{
    int64_t ranks = work->ranks;
    work->sent_blocks = work->received_blocks = 1;
    switch (work->kind) {
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_BROADCAST:
        work->is_in_place = true;
        return true;
    case COLLECTIVE_ALL_GATHER:
        work->received_blocks = ranks;
        return true;
    case COLLECTIVE_REDUCE_SCATTER:
        work->sent_blocks = ranks;
        return true;
    case COLLECTIVE_ALL_TO_ALL:
        work->sent_blocks = work->received_blocks = ranks;
        return true;
    case COLLECTIVE_SEND_RECV:
        work->from = (int)collective->from;
        work->to = collective->to != collective->from ? (int)collective->to : work->from + 1;
        return true;
    case COLLECTIVE_ALL_TO_ALL_V:
    case COLLECTIVE_KIND_COUNT:
        break;
    }
    return false;
}

static int
type_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_FP32:
        return GPU_COLLECTIVE_FP32;
    case DTYPE_BF16:
        return GPU_COLLECTIVE_BF16;
    case DTYPE_FP16:
        return GPU_COLLECTIVE_FP16;
    case DTYPE_FP64:
    case DTYPE_TF32:
    case DTYPE_FP8:
    case DTYPE_INT8:
    case DTYPE_COUNT:
        break;
    }
    return -1;
}

static bool
plan(struct gpu_collective_work *work, const struct collective *collective,
     struct error_list *errors)
{
    int gpus = work->all->gpu->device_count;
    int64_t last = collective->from > collective->to ? collective->from : collective->to;
    int64_t ranks = collective->ranks;
    if (collective->kind == COLLECTIVE_SEND_RECV)
        ranks = last > 1 ? last + 1 : 2;
    if (collective->group.size != 0 || collective->nodes > 1)
        return error_add(errors, ERROR_INPUT, "",
                         "this is one node: wanted ranks as a number, nodes 1");
    if (ranks < 2 || ranks > GPU_RANKS_MAX || ranks > gpus)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "found %lld ranks, wanted 2 to %d: a GPU for each", (long long)ranks,
                         gpus < GPU_RANKS_MAX ? gpus : GPU_RANKS_MAX);
    work->kind = collective->kind;
    work->dtype = collective->dtype;
    work->ranks = (int)ranks;
    work->type = type_of(collective->dtype);
    work->element_bytes = (size_t)dtype_bytes(collective->dtype);
    if (!describe(work, collective) || work->type < 0)
        return error_add(errors, ERROR_INPUT, "", "the GPUs have no code for %s of %s",
                         collective_kind_name(collective->kind), dtype_name(collective->dtype));
    int64_t blocks =
        work->sent_blocks > work->received_blocks ? work->sent_blocks : work->received_blocks;
    double count = collective->bytes / dtype_bytes(collective->dtype) / (double)blocks;
    work->count = (size_t)count;
    if (count < 1 || count != floor(count))
        return error_add(errors, ERROR_INPUT, "",
                         "%.17g bytes are not whole elements for each of %lld blocks",
                         collective->bytes, (long long)blocks);
    return true;
}

/* ---- Buffers */

static bool
new_buffers(struct gpu_collective_work *work, struct error_list *errors)
{
    struct gpu_collectives *all = work->all;
    const struct gpu_api *api = api_of(all);
    size_t block_bytes = work->count * work->element_bytes;
    for (int i = 0; i < work->ranks; i++) {
        struct gpu_rank *rank = &all->ranks[i];
        size_t received_bytes = (size_t)work->received_blocks * block_bytes;
        size_t sent_bytes = (size_t)work->sent_blocks * block_bytes;
        if (!gpu_rank_turn_to(all, i, errors) ||
            !gpu_ok(all->gpu, api->memory_new(&rank->received, received_bytes), "a buffer",
                    errors) ||
            !gpu_ok(all->gpu, api->enqueue_set(rank->received, 0, received_bytes, rank->stream),
                    "a buffer", errors))
            return false;
        if (work->is_in_place) {
            rank->sent = rank->received;
            continue;
        }
        if (!gpu_ok(all->gpu, api->memory_new(&rank->sent, sent_bytes), "a buffer", errors) ||
            !gpu_ok(all->gpu, api->enqueue_set(rank->sent, 0, sent_bytes, rank->stream),
                    "a buffer", errors))
            return false;
    }
    return true;
}

static void
free_buffers(struct gpu_collective_work *work)
{
    const struct gpu_api *api = api_of(work->all);
    for (int i = 0; i < work->ranks; i++) {
        struct gpu_rank *rank = &work->all->ranks[i];
        (void)api->context_set(rank->context);
        if (rank->sent != NULL && rank->sent != rank->received)
            (void)api->memory_free(rank->sent);
        if (rank->received != NULL)
            (void)api->memory_free(rank->received);
        if (rank->ready != NULL)
            (void)api->graph_ready_free(rank->ready);
        rank->sent = rank->received = rank->ready = NULL;
    }
    (void)api->context_set(work->all->gpu->context);
}

/* ---- Running */

static int
exchange(const struct gpu_collective_work *work, const struct gpu_rank *rank,
         void *communicator)
{
    const struct gpu_api *api = api_of(work->all);
    size_t block_bytes = work->count * work->element_bytes;
    int status = 0;
    for (int peer = 0; status == 0 && peer < work->ranks; peer++) {
        const char *from = (const char *)rank->sent + (size_t)peer * block_bytes;
        char *to = (char *)rank->received + (size_t)peer * block_bytes;
        status = api->send(from, work->count, work->type, peer, communicator, rank->stream);
        if (status == 0)
            status =
                api->receive(to, work->count, work->type, peer, communicator, rank->stream);
    }
    return status;
}

static int
call_rank(const struct gpu_collective_work *work, int index)
{
    const struct gpu_api *api = api_of(work->all);
    const struct gpu_rank *rank = &work->all->ranks[index];
    void *communicator = work->all->communicators[work->ranks][index];
    switch (work->kind) {
    case COLLECTIVE_ALL_REDUCE:
        return api->all_reduce(rank->sent, rank->received, work->count, work->type,
                               GPU_COLLECTIVE_SUM, communicator, rank->stream);
    case COLLECTIVE_BROADCAST:
        return api->broadcast(rank->sent, rank->received, work->count, work->type, 0,
                              communicator, rank->stream);
    case COLLECTIVE_ALL_GATHER:
        return api->all_gather(rank->sent, rank->received, work->count, work->type,
                               communicator, rank->stream);
    case COLLECTIVE_REDUCE_SCATTER:
        return api->reduce_scatter(rank->sent, rank->received, work->count, work->type,
                                   GPU_COLLECTIVE_SUM, communicator, rank->stream);
    case COLLECTIVE_ALL_TO_ALL:
        return exchange(work, rank, communicator);
    case COLLECTIVE_SEND_RECV:
        if (index == work->from)
            return api->send(rank->sent, work->count, work->type, work->to, communicator,
                             rank->stream);
        return index != work->to ? 0
                                 : api->receive(rank->received, work->count, work->type,
                                                work->from, communicator, rank->stream);
    case COLLECTIVE_ALL_TO_ALL_V:
    case COLLECTIVE_KIND_COUNT:
        break;
    }
    return 0;
}

bool
gpu_collective_call(const struct gpu_collective_work *work, struct error_list *errors)
{
    const struct gpu_api *api = api_of(work->all);
    int status = api->group_start();
    for (int rank = 0; status == 0 && rank < work->ranks; rank++)
        status = call_rank(work, rank);
    int ended = api->group_end();
    return library_ok(work->all, status != 0 ? status : ended, "a call", errors);
}

/* ---- Waiting */

/* The library tells what went wrong on the way, as in a link, by this alone: streams then never
 * empty. */
static bool
is_well(const struct gpu_collective_work *work, struct error_list *errors)
{
    const struct gpu_api *api = api_of(work->all);
    for (int i = 0; i < work->ranks; i++) {
        int fault = 0;
        int status = api->communicator_error(work->all->communicators[work->ranks][i], &fault);
        if (status == 0 && fault != GPU_COLLECTIVE_IN_PROGRESS)
            status = fault;
        if (!library_ok(work->all, status, "running", errors))
            return false;
    }
    return true;
}

static bool
is_in_time(const struct gpu_collective_work *work, double begun_s, struct error_list *errors)
{
    const struct measure_clock clock = measure_system_clock();
    double timeout_s = work->all->gpu->options.timeout_s;
    return clock.now_s(clock.context) - begun_s <= timeout_s ||
           error_add(errors, ERROR_INFEASIBLE, "", "%s: it did not end in %g s and was aborted",
                     gpu_library_name(work->all->gpu->libraries.vendor, GPU_COLLECTIVES),
                     timeout_s);
}

/* Ends what runs on the devices; the next collective gets new communicators. */
static void
give_up(const struct gpu_collective_work *work)
{
    void **communicators = work->all->communicators[work->ranks];
    for (int i = 0; i < work->ranks; i++) {
        (void)api_of(work->all)->communicator_abort(communicators[i]);
        communicators[i] = NULL;
    }
}

static bool
wait_for_rank(const struct gpu_collective_work *work, int rank, double begun_s,
              struct error_list *errors)
{
    const struct gpu_api *api = api_of(work->all);
    int status;
    if (!gpu_rank_turn_to(work->all, rank, errors))
        return false;
    while ((status = api->stream_query(work->all->ranks[rank].stream)) == GPU_STATUS_NOT_READY)
        if (!is_well(work, errors) || !is_in_time(work, begun_s, errors)) {
            give_up(work);
            return false;
        }
    return gpu_ok(work->all->gpu, status, "running", errors);
}

bool
gpu_collective_wait(const struct gpu_collective_work *work, struct error_list *errors)
{
    const struct measure_clock clock = measure_system_clock();
    double begun_s = clock.now_s(clock.context);
    for (int i = 0; i < work->ranks; i++)
        if (!wait_for_rank(work, i, begun_s, errors))
            return false;
    return true;
}

/* ---- Everything together */

static bool
measure(struct gpu_collective_work *work, struct measure_result *result, struct arena *arena,
        struct error_list *errors)
{
    result->operand_sets = 1;
    return new_buffers(work, errors) &&
           gpu_collective_check(work, &result->error_fraction, arena, errors) &&
           gpu_collective_times(work, &result->times, arena, errors);
}

bool
gpu_collective_measure(struct gpu_collectives *all, const struct collective *collective,
                       struct measure_result *result, struct arena *arena,
                       struct error_list *errors)
{
    struct gpu_collective_work work = {.all = all};
    int version = 0;
    *result = (struct measure_result){0};
    if (!plan(&work, collective, errors) || !open_ranks(all, work.ranks, errors))
        return false;
    bool is_measured = measure(&work, result, arena, errors);
    free_buffers(&work);
    (void)api_of(all)->collectives_version(&version);
    result->library =
        arena_format(arena, "%s %d, one process for all GPUs",
                     gpu_library_name(all->gpu->libraries.vendor, GPU_COLLECTIVES), version);
    return is_measured;
}
