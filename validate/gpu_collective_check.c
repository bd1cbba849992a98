/* Whether a collective gives every rank what it should: whole numbers from -5 to 5, whose sums over
 * 16 ranks bf16 holds exactly. */
#include "validate/gpu_collective_work.h"

#include "validate/gpu_half.h"

enum { CHECKED_ELEMENTS = 65536 };

static int
value_of(int rank, int64_t index)
{
    return (int)((index * 7 + rank * INT64_C(13)) % 11) - 5;
}

static size_t
checked_count(const struct gpu_collective_work *work)
{
    return work->count < CHECKED_ELEMENTS ? work->count : CHECKED_ELEMENTS;
}

/* The first elements of each block that a rank sends. */
static bool
write_values(const struct gpu_collective_work *work, int rank, char *raw,
             struct error_list *errors)
{
    size_t count = checked_count(work);
    for (int64_t block = 0; block < work->sent_blocks; block++) {
        int64_t first = block * (int64_t)work->count;
        for (size_t i = 0; i < count; i++)
            gpu_half_write(work->dtype, value_of(rank, first + (int64_t)i),
                           raw + i * work->element_bytes);
        char *to = (char *)work->all->ranks[rank].sent + (size_t)first * work->element_bytes;
        if (!gpu_ok(work->all->gpu,
                    work->all->gpu->libraries.api.copy_to_device(to, raw,
                                                                 count * work->element_bytes),
                    "copying", errors))
            return false;
    }
    return true;
}

static int
sum_of_values(const struct gpu_collective_work *work, int64_t index)
{
    int sum = 0;
    for (int rank = 0; rank < work->ranks; rank++)
        sum += value_of(rank, index);
    return sum;
}

/* What element `index` of the block must be. */
static int
wanted_value(const struct gpu_collective_work *work, int rank, int64_t block, int64_t index)
{
    int64_t own = rank * (int64_t)work->count + index;
    switch (work->kind) {
    case COLLECTIVE_ALL_REDUCE:
        return sum_of_values(work, index);
    case COLLECTIVE_REDUCE_SCATTER:
        return sum_of_values(work, own);
    case COLLECTIVE_ALL_GATHER:
        return value_of((int)block, index);
    case COLLECTIVE_ALL_TO_ALL:
        return value_of((int)block, own);
    case COLLECTIVE_SEND_RECV:
        return value_of(work->from, index);
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_ALL_TO_ALL_V:
    case COLLECTIVE_KIND_COUNT:
        break;
    }
    return value_of(0, index);
}

static bool
read_values(const struct gpu_collective_work *work, int rank, char *raw, float *reals,
            struct cpu_error *error, struct error_list *errors)
{
    size_t count = checked_count(work);
    for (int64_t block = 0; block < work->received_blocks; block++) {
        const char *from = (const char *)work->all->ranks[rank].received +
                           (size_t)block * work->count * work->element_bytes;
        if (!gpu_ok(work->all->gpu,
                    work->all->gpu->libraries.api.copy_to_host(raw, from,
                                                               count * work->element_bytes),
                    "copying", errors))
            return false;
        gpu_half_widen(work->dtype, raw, reals, count);
        for (size_t i = 0; i < count; i++) {
            double wanted = wanted_value(work, rank, block, (int64_t)i);
            double difference = (double)reals[i] - wanted;
            error->difference_squared += difference * difference;
            error->reference_squared += wanted * wanted;
        }
    }
    return true;
}

bool
gpu_collective_check(const struct gpu_collective_work *work, double *error_fraction,
                     struct arena *arena, struct error_list *errors)
{
    struct cpu_error error = {0};
    char *raw = arena_alloc(arena, CHECKED_ELEMENTS, work->element_bytes);
    float *reals = arena_alloc(arena, CHECKED_ELEMENTS, sizeof *reals);
    if (!gpu_collective_wait(work, errors))
        return false;
    for (int rank = 0; rank < work->ranks; rank++)
        if (!gpu_rank_turn_to(work->all, rank, errors) ||
            !write_values(work, rank, raw, errors))
            return false;
    if (!gpu_collective_call(work, errors) || !gpu_collective_wait(work, errors))
        return false;
    for (int rank = 0; rank < work->ranks; rank++) {
        if (work->kind == COLLECTIVE_SEND_RECV && rank != work->to)
            continue;
        if (!gpu_rank_turn_to(work->all, rank, errors) ||
            !read_values(work, rank, raw, reals, &error, errors))
            return false;
    }
    *error_fraction = cpu_error_fraction(&error);
    return *error_fraction == 0 ||
           error_add(errors, ERROR_INPUT, "", "wrong by %g of the reference, not timed",
                     *error_fraction);
}
