/* Who owns what of the optimizer: one walk over the flattened tensors. */
#include "models/optimizer.h"

#include <assert.h>

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t
most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool
is_orthogonalised(const struct tensor *tensor, const struct plan *plan)
{
    return plan->optimizer == OPTIMIZER_MUON && tensor->is_matrix;
}

/* Notes one more matrix of that size; of the layers' few sizes there is always room. */
static void
add_matrix(struct optimizer_share *share, const struct tensor *tensor)
{
    int i = 0;
    while (i < share->matrix_sizes && (share->matrices[i].rows != tensor->rows ||
                                       share->matrices[i].columns != tensor->columns))
        i++;
    assert(i < OPTIMIZER_SIZES_MAX && "a model of more matrix sizes than expected");
    if (i == share->matrix_sizes)
        share->matrices[share->matrix_sizes++] =
            (struct optimizer_matrices){tensor->rows, tensor->columns, 0};
    share->matrices[i].count++;
}

/* A piece of one tensor: elements [begin, end) of the flattened whole lie in the share. */
struct piece {
    const struct tensor *tensor;
    int64_t tensor_begin, tensor_end;
    int64_t begin, end;
    int64_t owners;
    bool is_orthogonalised;
};

static void
add_piece(struct optimizer_share *share, const struct piece *piece)
{
    int64_t own = piece->end - piece->begin;
    share->tensors++;
    if (!piece->is_orthogonalised) {
        share->adamw_parameters += own;
        return;
    }
    share->muon_parameters += own;
    add_matrix(share, piece->tensor);
    share->owners_max = most(share->owners_max, piece->owners);
    int64_t before = piece->begin - piece->tensor_begin, after = piece->tensor_end - piece->end;
    if (before > 0)
        share->exchange_before_elements += most(before, own);
    if (after > 0)
        share->exchange_after_elements += most(after, own);
}

/* Cuts one copy of a tensor over the shares that it touches. */
static void
add_tensor(struct optimizer_share *shares, int64_t share_size, const struct tensor *tensor,
           int64_t begin, bool is_matrix)
{
    int64_t end = begin + tensor->rows * tensor->columns;
    int64_t first = begin / share_size, last = (end - 1) / share_size;
    for (int64_t rank = first; rank <= last; rank++) {
        struct piece piece = {.tensor = tensor,
                              .tensor_begin = begin,
                              .tensor_end = end,
                              .begin = most(begin, rank * share_size),
                              .end = least(end, (rank + 1) * share_size),
                              .owners = last - first + 1,
                              .is_orthogonalised = is_matrix};
        add_piece(&shares[rank], &piece);
    }
}

const struct optimizer_share *
optimizer_shares(const struct tensor_list *tensors, const struct plan *plan, int64_t data_ranks,
                 struct arena *arena)
{
    struct optimizer_share *shares = arena_alloc(arena, (size_t)data_ranks, sizeof *shares);
    int64_t total = 0;
    for (int64_t i = 0; i < tensors->count; i++)
        total += tensor_elements(&tensors->items[i]);
    int64_t share_size = plan->zero_stage == 0 ? total : (total + data_ranks - 1) / data_ranks;
    int64_t begin = 0;
    for (int64_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i];
        for (int64_t copy = 0; copy < tensor->copies; copy++) {
            add_tensor(shares, share_size, tensor, begin, is_orthogonalised(tensor, plan));
            begin += tensor->rows * tensor->columns;
        }
    }
    for (int64_t rank = 1; plan->zero_stage == 0 && rank < data_ranks; rank++)
        shares[rank] = shares[0];
    return shares;
}

int64_t
optimizer_multi_tensor_launches(int64_t elements)
{
    enum { CHUNK_ELEMENTS = 65536, LAUNCH_CHUNKS = 320 };
    int64_t chunks = (elements + CHUNK_ELEMENTS - 1) / CHUNK_ELEMENTS;
    return (chunks + LAUNCH_CHUNKS - 1) / LAUNCH_CHUNKS;
}

double
optimizer_state_bytes(const struct optimizer_share *share)
{
    double fp32 = dtype_bytes(DTYPE_FP32);
    return 3 * fp32 * (double)share->adamw_parameters +
           2 * fp32 * (double)share->muon_parameters;
}
