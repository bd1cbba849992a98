/* A line of a collective list as this process meets it: its buffers, and the call.
 *
 *                      in                 out
 *     all_reduce       bytes              bytes
 *     broadcast        -                  bytes, in place
 *     all_gather       bytes / ranks      bytes
 *     reduce_scatter   bytes              bytes / ranks
 *     all_to_all       bytes              bytes
 *     all_to_all_v     the rank's row     its column
 *     send_recv        bytes on `from`    bytes on `to` */
#include "validate/process_collective_work.h"

#include <math.h>

static bool
adds(enum collective_kind kind)
{
    return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_REDUCE_SCATTER;
}

static bool
moves_whole_buffer(enum collective_kind kind)
{
    return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_BROADCAST ||
           kind == COLLECTIVE_SEND_RECV;
}

static bool
plan_ranks(const struct collective *collective, const struct process_group *world,
           struct process_collective_work *work, int *ranks, struct error_list *errors)
{
    bool is_sent = collective->kind == COLLECTIVE_SEND_RECV;
    int64_t from = collective->from,
            to = collective->to != from ? collective->to : collective->from + 1;
    int64_t wanted = is_sent ? (from > to ? from : to) + 1 : collective->ranks;
    if (collective->group.size != 0 || collective->nodes > 1)
        return error_add(errors, ERROR_INPUT, "",
                         "this is one node: wanted ranks as a number, nodes 1");
    if (wanted < 2 || wanted > world->size)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "found %lld ranks, wanted 2 to %d: a process for each",
                         (long long)wanted, world->size);
    if (adds(collective->kind) && collective->dtype != DTYPE_FP32)
        return error_add(errors, ERROR_INPUT, "", "processes add fp32, not %s",
                         dtype_name(collective->dtype));
    work->from = (int)from;
    work->to = (int)to;
    *ranks = (int)wanted;
    return true;
}

/* Parts of equal length. */
static bool
plan_blocks(const struct collective *collective, struct process_collective_work *work,
            int ranks, struct error_list *errors)
{
    double blocks = moves_whole_buffer(work->kind) ? 1 : ranks;
    double grain = adds(work->kind) ? sizeof(float) : 1, block = collective->bytes / blocks;
    if (block < grain || fmod(block, grain) != 0)
        return error_add(errors, ERROR_INPUT, "",
                         "%.17g bytes are not whole elements for each of %.0f blocks",
                         collective->bytes, blocks);
    if (block / grain > PROCESS_BLOCK_MAX)
        return error_add(errors, ERROR_INPUT, "", "%.17g bytes, wanted blocks of less than %d",
                         collective->bytes, PROCESS_BLOCK_MAX);
    work->block_bytes = (size_t)block;
    work->in_bytes = work->out_bytes = (size_t)collective->bytes;
    if (work->kind == COLLECTIVE_ALL_GATHER)
        work->in_bytes = work->block_bytes;
    if (work->kind == COLLECTIVE_REDUCE_SCATTER)
        work->out_bytes = work->block_bytes;
    if (work->kind == COLLECTIVE_BROADCAST)
        work->in_bytes = 0;
    return true;
}

static double
sum_along(const double *first, ptrdiff_t count, ptrdiff_t step)
{
    double sum = 0;
    for (ptrdiff_t i = 0; i < count; i++)
        sum += first[i * step];
    return sum;
}

/* The rank's row and column of the matrix. */
static bool
plan_parts(const struct collective *collective, struct process_collective_work *work, int rank,
           struct arena *arena, struct error_list *errors)
{
    ptrdiff_t ranks = (ptrdiff_t)collective->ranks;
    const double *matrix = collective->bytes_matrix;
    for (ptrdiff_t i = 0; i < ranks * ranks; i++)
        if (fmod(matrix[i], 1) != 0)
            return error_add(errors, ERROR_INPUT, "", "%.17g bytes, wanted whole ones",
                             matrix[i]);
    for (ptrdiff_t i = 0; i < ranks; i++)
        if (sum_along(matrix + i * ranks, ranks, 1) > PROCESS_BLOCK_MAX ||
            sum_along(matrix + i, ranks, ranks) > PROCESS_BLOCK_MAX)
            return error_add(errors, ERROR_INPUT, "",
                             "rank %td has more bytes than %d for the others", i,
                             PROCESS_BLOCK_MAX);
    work->bytes_matrix = matrix;
    work->in_parts = arena_alloc(arena, (size_t)ranks, sizeof *work->in_parts);
    work->out_parts = arena_alloc(arena, (size_t)ranks, sizeof *work->out_parts);
    for (ptrdiff_t i = 0; rank < ranks && i < ranks; i++) {
        work->in_parts[i] = (int64_t)matrix[rank * ranks + i];
        work->out_parts[i] = (int64_t)matrix[i * ranks + rank];
        work->in_bytes += (size_t)work->in_parts[i];
        work->out_bytes += (size_t)work->out_parts[i];
    }
    return true;
}

bool
process_collective_plan(const struct collective *collective, const struct process_group *world,
                        struct process_collective_work *work, int *ranks, struct arena *arena,
                        struct error_list *errors)
{
    int rank = world->rank;
    *work = (struct process_collective_work){.kind = collective->kind};
    if (!plan_ranks(collective, world, work, ranks, errors))
        return false;
    if (collective->kind == COLLECTIVE_ALL_TO_ALL_V)
        return plan_parts(collective, work, rank, arena, errors);
    if (!plan_blocks(collective, work, *ranks, errors))
        return false;
    if (collective->kind == COLLECTIVE_SEND_RECV) {
        work->in_bytes = rank == work->from ? work->block_bytes : 0;
        work->out_bytes = rank == work->to ? work->block_bytes : 0;
    }
    return true;
}

static void
send_or_receive(const struct process_collective_work *work, const void *in, void *out)
{
    if (work->group->rank == work->from)
        process_send(work->group, work->to, in, work->in_bytes);
    if (work->group->rank == work->to)
        process_receive(work->group, work->from, out, work->out_bytes);
}

void
process_collective_call(const struct process_collective_work *work, void *in, void *out)
{
    switch (work->kind) {
    case COLLECTIVE_ALL_REDUCE:
        process_all_reduce(work->group, in, out, work->block_bytes / sizeof(float));
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        process_reduce_scatter(work->group, in, out, work->block_bytes / sizeof(float));
        break;
    case COLLECTIVE_ALL_GATHER:
        process_all_gather(work->group, in, out, work->block_bytes);
        break;
    case COLLECTIVE_BROADCAST:
        process_broadcast(work->group, out, work->block_bytes, 0);
        break;
    case COLLECTIVE_ALL_TO_ALL:
        process_all_to_all(work->group, in, out, work->block_bytes);
        break;
    case COLLECTIVE_ALL_TO_ALL_V:
        process_all_to_all_v(work->group, in, work->in_parts, out, work->out_parts);
        break;
    case COLLECTIVE_SEND_RECV:
        send_or_receive(work, in, out);
        break;
    case COLLECTIVE_KIND_COUNT:
        break;
    }
}
