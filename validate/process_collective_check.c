/* What each rank puts into a collective, and whether it got what it should.
 *
 * Every byte or number of a buffer follows from the seed, the rank whose buffer it is and its place
 * there, so that a rank knows what the others sent without asking them. */
#include "validate/process_collective_work.h"

#include <math.h>

enum { ROOT = 0, WORD_BYTES = 8 };

/* SplitMix64's mixing of a number (validate/split.h). */
static uint64_t
mixed(uint64_t number)
{
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
    number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
    return number ^ (number >> 31);
}

static uint64_t
word_of(uint64_t seed, int rank, size_t index)
{
    const uint64_t golden = 0x9e3779b97f4a7c15;
    return mixed(mixed(seed * golden + (uint64_t)rank) + index * golden);
}

static float
number_of(uint64_t seed, int rank, size_t index)
{
    const uint64_t range = 17, middle = 8;
    return (float)(word_of(seed, rank, index) % range) - (float)middle;
}

static unsigned char
byte_of(uint64_t seed, int rank, size_t index)
{
    return (unsigned char)(word_of(seed, rank, index / WORD_BYTES) >>
                           index % WORD_BYTES * WORD_BYTES);
}

static bool
adds(enum collective_kind kind)
{
    return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_REDUCE_SCATTER;
}

static void
fill_bytes(unsigned char *bytes, size_t count, uint64_t seed, int rank)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = byte_of(seed, rank, i);
}

void
process_collective_fill(const struct process_collective_work *work, uint64_t seed, void *in,
                        void *out)
{
    int rank = work->group->rank;
    if (work->kind == COLLECTIVE_BROADCAST) {
        if (rank == ROOT)
            fill_bytes(out, work->out_bytes, seed, rank);
        return;
    }
    if (!adds(work->kind)) {
        fill_bytes(in, work->in_bytes, seed, rank);
        return;
    }
    float *numbers = in;
    for (size_t i = 0; i < work->in_bytes / sizeof *numbers; i++)
        numbers[i] = number_of(seed, rank, i);
}

/* ---- What should have arrived */

struct tally {
    double wrong, all;
};

static struct tally
compare_bytes(const unsigned char *out, size_t count, uint64_t seed, int sender, size_t first)
{
    struct tally tally = {0, (double)count};
    for (size_t i = 0; i < count; i++)
        tally.wrong += out[i] != byte_of(seed, sender, first + i);
    return tally;
}

static struct tally
compare_sums(const struct process_collective_work *work, uint64_t seed, const float *out)
{
    struct tally tally = {0, 0};
    size_t count = work->out_bytes / sizeof *out;
    size_t first = work->kind == COLLECTIVE_ALL_REDUCE ? 0 : (size_t)work->group->rank * count;
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (int rank = 0; rank < work->group->size; rank++)
            sum += (double)number_of(seed, rank, first + i);
        tally.wrong += ((double)out[i] - sum) * ((double)out[i] - sum);
        tally.all += sum * sum;
    }
    return tally;
}

/* What `sender` has for this rank: bytes, and where they begin in its buffer. */
static size_t
part_of(const struct process_collective_work *work, int sender, size_t *first)
{
    size_t ranks = (size_t)work->group->size, rank = (size_t)work->group->rank;
    *first = 0;
    if (work->kind == COLLECTIVE_ALL_TO_ALL)
        *first = rank * work->block_bytes;
    if (work->kind != COLLECTIVE_ALL_TO_ALL_V)
        return work->block_bytes;
    for (size_t i = 0; i < rank; i++)
        *first += (size_t)work->bytes_matrix[(size_t)sender * ranks + i];
    return (size_t)work->out_parts[sender];
}

static struct tally
compare_parts(const struct process_collective_work *work, uint64_t seed,
              const unsigned char *out)
{
    struct tally sum = {0, 0};
    for (int sender = 0; sender < work->group->size; sender++) {
        size_t first, bytes = part_of(work, sender, &first);
        struct tally part = compare_bytes(out, bytes, seed, sender, first);
        sum.wrong += part.wrong;
        sum.all += part.all;
        out += bytes;
    }
    return sum;
}

static struct tally
compare(const struct process_collective_work *work, uint64_t seed, const void *out)
{
    switch (work->kind) {
    case COLLECTIVE_ALL_REDUCE:
    case COLLECTIVE_REDUCE_SCATTER:
        return compare_sums(work, seed, out);
    case COLLECTIVE_BROADCAST:
        return compare_bytes(out, work->out_bytes, seed, ROOT, 0);
    case COLLECTIVE_SEND_RECV:
        return compare_bytes(out, work->out_bytes, seed, work->from, 0);
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_ALL_TO_ALL:
    case COLLECTIVE_ALL_TO_ALL_V:
    case COLLECTIVE_KIND_COUNT:
        break;
    }
    return compare_parts(work, seed, out);
}

double
process_collective_error(const struct process_collective_work *work, uint64_t seed,
                         const void *out)
{
    struct tally own = compare(work, seed, out);
    double wrong = process_total(work->group, own.wrong);
    double all = process_total(work->group, own.all);
    if (wrong == 0)
        return 0;
    return adds(work->kind) ? sqrt(wrong / all) : wrong / all;
}
