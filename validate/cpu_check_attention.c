/* fp64 references of attention, from the definition, pair of query and key by pair. Vectors are
 * compared by their products with fixed weights, row by row, so that no array is needed. */
#include "validate/cpu_check.h"

#include <math.h>

/* One head of one sequence. */
struct head {
    const struct attention *shape;
    const union cpu_array *before, *after;
    int64_t sequence, head;
};

static int64_t
query_place(const struct head *head, int64_t query)
{
    const struct attention *shape = head->shape;
    return ((head->sequence * shape->q_len + query) * shape->q_heads + head->head) *
           shape->head_dim;
}

static int64_t
key_place(const struct head *head, int64_t key)
{
    const struct attention *shape = head->shape;
    int64_t group = shape->q_heads / shape->kv_heads;
    return ((head->sequence * shape->kv_len + key) * shape->kv_heads + head->head / group) *
           shape->head_dim;
}

static bool
sees(const struct attention *shape, int64_t query, int64_t key)
{
    int64_t behind = query + shape->kv_len - shape->q_len - key;
    return !shape->is_causal || (behind >= 0 && (shape->window == 0 || behind < shape->window));
}

static double
dot(const float *a, const float *b, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* From -1 to 1, by Knuth's multiplicative hash (The Art of Computer Programming 3, 6.4). */
static double
weight(int64_t place)
{
    uint32_t mixed = (uint32_t)place * 2654435761U;
    return (double)mixed * 0x1p-31 - 1;
}

/* The product of `count` numbers with the weights of their places. */
static double
weighed(const float *numbers, int64_t place, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)numbers[i] * weight(place + i);
    return sum;
}

static double
score(const struct head *head, int64_t query, int64_t key)
{
    int64_t width = head->shape->head_dim;
    return dot(head->before[0].reals + query_place(head, query),
               head->before[1].reals + key_place(head, key), width) /
           sqrt((double)width);
}

/* sum(e^score) over the keys that the query sees; scores of a few tens need no shift. */
static double
exponential_sum(const struct head *head, int64_t query)
{
    double sum = 0;
    for (int64_t key = 0; key < head->shape->kv_len; key++)
        if (sees(head->shape, query, key))
            sum += exp(score(head, query, key));
    return sum;
}

static void
check_forward_row(const struct head *head, int64_t query, struct cpu_error *error)
{
    int64_t width = head->shape->head_dim, place = query_place(head, query);
    double whole = exponential_sum(head, query), wanted = 0;
    for (int64_t key = 0; key < head->shape->kv_len; key++)
        if (sees(head->shape, query, key))
            wanted += exp(score(head, query, key)) / whole *
                      weighed(head->before[2].reals + key_place(head, key), place, width);
    cpu_error_add(error, weighed(head->after[3].reals + place, place, width), wanted);
}

/* Products of a head's dK and dV with the weights of their places. */
struct key_sums {
    double k, v;
};

/* sum over keys of P dP: what softmax's slope takes off every dP */
static double
shared_slope(const struct head *head, int64_t query, double whole)
{
    double shared = 0;
    for (int64_t key = 0; key < head->shape->kv_len; key++)
        if (sees(head->shape, query, key))
            shared += exp(score(head, query, key)) / whole *
                      dot(head->before[3].reals + query_place(head, query),
                          head->before[2].reals + key_place(head, key), head->shape->head_dim);
    return shared;
}

static void
check_backward_row(const struct head *head, int64_t query, struct key_sums *sums,
                   struct cpu_error *error)
{
    int64_t width = head->shape->head_dim, place = query_place(head, query);
    double whole = exponential_sum(head, query), shared = shared_slope(head, query, whole),
           wanted = 0;
    const float *out_slope = head->before[3].reals + place;
    for (int64_t key = 0; key < head->shape->kv_len; key++) {
        if (!sees(head->shape, query, key))
            continue;
        int64_t at = key_place(head, key);
        double p = exp(score(head, query, key)) / whole;
        double slope = p * (dot(out_slope, head->before[2].reals + at, width) - shared) /
                       sqrt((double)width);
        wanted += slope * weighed(head->before[1].reals + at, place, width);
        sums->k += slope * weighed(head->before[0].reals + place, at, width);
        sums->v += p * weighed(out_slope, at, width);
    }
    cpu_error_add(error, weighed(head->after[4].reals + place, place, width), wanted);
}

/* The query heads that share one head of keys. */
static void
check_backward_keys(struct head head, struct cpu_error *error)
{
    const struct attention *shape = head.shape;
    int64_t group = shape->q_heads / shape->kv_heads, end = head.head + group;
    struct key_sums wanted = {0}, found = {0};
    for (int64_t key = 0; key < shape->kv_len; key++) {
        int64_t at = key_place(&head, key);
        found.k += weighed(head.after[5].reals + at, at, shape->head_dim);
        found.v += weighed(head.after[6].reals + at, at, shape->head_dim);
    }
    for (; head.head < end; head.head++)
        for (int64_t query = 0; query < shape->q_len; query++)
            check_backward_row(&head, query, &wanted, error);
    cpu_error_add(error, found.k, wanted.k);
    cpu_error_add(error, found.v, wanted.v);
}

void
cpu_check_attention(const struct kernel *kernel, const union cpu_array *before,
                    const union cpu_array *after, struct cpu_error *error)
{
    const struct attention *shape = &kernel->attention;
    bool is_backward = kernel->direction == DIRECTION_BACKWARD;
    int64_t step = is_backward ? shape->q_heads / shape->kv_heads : 1;
    for (int64_t sequence = 0; sequence < shape->batch; sequence++)
        for (int64_t i = 0; i < shape->q_heads; i += step) {
            struct head head = {shape, before, after, sequence, i};
            if (is_backward)
                check_backward_keys(head, error);
            for (int64_t query = 0; !is_backward && query < shape->q_len; query++)
                check_forward_row(&head, query, error);
        }
}
