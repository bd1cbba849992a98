/* Who owns what of the optimizer: a walk over the flattened tensors, or a list of whole matrices
 * handed out by weight. */
#include "models/optimizer.h"

#include <assert.h>
#include <stdlib.h>

#include "models/fp8.h"

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

enum { SIZES_MAX = 16 }; /* different matrix sizes in one share */

/* The matrices of a share that is being filled. */
struct matrix_counts {
    struct optimizer_matrices sizes[SIZES_MAX];
};

/* Notes one more matrix of that size; of the layers' few sizes there is always room. */
static void
add_matrix(struct optimizer_share *share, struct optimizer_matrices *sizes,
           const struct tensor *tensor)
{
    int i = 0;
    while (i < share->matrix_sizes &&
           (sizes[i].rows != tensor->rows || sizes[i].columns != tensor->columns))
        i++;
    assert(i < SIZES_MAX && "a model of more matrix sizes than expected");
    if (i == share->matrix_sizes)
        sizes[share->matrix_sizes++] =
            (struct optimizer_matrices){tensor->rows, tensor->columns, 0};
    sizes[i].count++;
}

/* A copy of a tensor, and which of its elements come next. */
struct cut_tensor {
    const struct tensor *tensor;
    bool is_orthogonalised, is_fp8;
    int64_t before, left; /* of its elements: those in shares by now, and the others */
    int64_t owners;
};

/* The share that is being filled, and how much more goes into it. */
struct filling {
    struct optimizer_share *share;
    struct optimizer_matrices *sizes; /* the share's; those of the next behind them */
    int sizes_left;                   /* for which there is room there, at least SIZES_MAX */
    int64_t room, share_size;
    struct arena *arena;
};

static void
add_piece(struct filling *filling, const struct cut_tensor *cut, int64_t own)
{
    struct optimizer_share *share = filling->share;
    share->tensors++;
    share->fp8_parameters += cut->is_fp8 ? own : 0;
    if (!cut->is_orthogonalised) {
        share->adamw_parameters += own;
        return;
    }
    share->muon_parameters += own;
    add_matrix(share, filling->sizes, cut->tensor);
    share->owners_max = most(share->owners_max, cut->owners);
    if (cut->before > 0)
        share->exchange_before_elements += most(cut->before, own);
    if (cut->left > own)
        share->exchange_after_elements += most(cut->left - own, own);
}

static void
begin_share(struct filling *filling)
{
    enum { SIZES_AT_ONCE = 32 * SIZES_MAX };
    filling->room = filling->share_size;
    if (filling->sizes_left >= SIZES_MAX)
        return;
    filling->sizes = arena_alloc_unset(filling->arena, SIZES_AT_ONCE, sizeof *filling->sizes);
    filling->sizes_left = SIZES_AT_ONCE;
}

/* The share is full, or there is nothing more. */
static void
end_share(struct filling *filling)
{
    struct optimizer_share *share = filling->share++;
    share->matrices = filling->sizes;
    filling->sizes += share->matrix_sizes;
    filling->sizes_left -= share->matrix_sizes;
    begin_share(filling);
}

/* Cuts one copy of a tensor over the shares that it touches. */
static void
add_tensor(struct filling *filling, struct cut_tensor cut)
{
    int64_t beyond = cut.left - filling->room;
    cut.owners = beyond > 0 ? 1 + (beyond + filling->share_size - 1) / filling->share_size : 1;
    while (cut.left > 0) {
        int64_t own = least(cut.left, filling->room);
        add_piece(filling, &cut, own);
        cut.before += own;
        cut.left -= own;
        filling->room -= own;
        if (filling->room == 0)
            end_share(filling);
    }
}

/* All tensors behind one another, cut into equal pieces. */
static void
cut_evenly(struct optimizer_share *shares, int64_t data_ranks,
           const struct tensor_list *tensors, const struct plan *plan, struct arena *arena)
{
    int64_t total = 0;
    for (int64_t i = 0; i < tensors->count; i++)
        total += tensor_elements(&tensors->items[i]);
    int64_t share_size = plan->zero_stage == 0 ? total : (total + data_ranks - 1) / data_ranks;
    struct filling filling = {.share = shares, .share_size = share_size, .arena = arena};
    begin_share(&filling);
    for (int64_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i];
        struct cut_tensor cut = {.tensor = tensor,
                                 .is_orthogonalised = is_orthogonalised(tensor, plan),
                                 .is_fp8 = fp8_takes_tensor(tensor),
                                 .left = tensor->rows * tensor->columns};
        for (int64_t copy = 0; copy < tensor->copies; copy++)
            add_tensor(&filling, cut);
    }
    if (filling.room < share_size)
        end_share(&filling);
    for (int64_t rank = 1; plan->zero_stage == 0 && rank < data_ranks; rank++)
        shares[rank] = shares[0];
}

/* Instead of sending pieces to and fro, all matrices go to all. */
static void
gather_all(struct optimizer_share *shares, int64_t data_ranks)
{
    int64_t all = 0;
    for (int64_t rank = 0; rank < data_ranks; rank++)
        all += shares[rank].muon_parameters;
    for (int64_t rank = 0; rank < data_ranks; rank++) {
        shares[rank].gathered_elements = all;
        shares[rank].exchange_before_elements = shares[rank].exchange_after_elements = 0;
    }
}

/* A rank and what it has to do so far: the least burdened lies on top of a heap. */
struct burden {
    double flop;
    int64_t rank;
};

static bool
is_lighter(const struct burden *a, const struct burden *b)
{
    return a->flop < b->flop || (a->flop == b->flop && a->rank < b->rank);
}

/* The top has become heavier: it sinks to its place. */
static void
sink(struct burden *heap, int64_t count)
{
    int64_t at = 0;
    for (;;) {
        int64_t lightest = at;
        for (int64_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (is_lighter(&heap[child], &heap[lightest]))
                lightest = child;
        if (lightest == at)
            return;
        struct burden kept = heap[at];
        heap[at] = heap[lightest];
        heap[lightest] = kept;
        at = lightest;
    }
}

struct whole_matrix {
    const struct tensor *tensor;
    double flop;
    int64_t index;
};

/* Newton-Schulz is of the order of the long side times the square of the short one. */
static double
matrix_flop(const struct tensor *tensor)
{
    double rows = (double)tensor->rows, columns = (double)tensor->columns;
    return rows < columns ? rows * rows * columns : rows * columns * columns;
}

static int
heaviest_first(const void *left, const void *right)
{
    const struct whole_matrix *a = left, *b = right;
    if (a->flop != b->flop)
        return a->flop > b->flop ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

struct matrix_list {
    struct whole_matrix *items;
    int64_t count;
};

/* Every copy of every matrix, heaviest first. */
static struct matrix_list
list_matrices(const struct tensor_list *tensors, const struct plan *plan, struct arena *arena)
{
    struct matrix_list list = {0};
    int64_t room = 0;
    for (int64_t i = 0; i < tensors->count; i++)
        room += is_orthogonalised(&tensors->items[i], plan) ? tensors->items[i].copies : 0;
    list.items = arena_alloc(arena, (size_t)room, sizeof *list.items);
    for (int64_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i];
        for (int64_t copy = 0; is_orthogonalised(tensor, plan) && copy < tensor->copies;
             copy++) {
            list.items[list.count] =
                (struct whole_matrix){tensor, matrix_flop(tensor), list.count};
            list.count++;
        }
    }
    if (list.count > 0)
        qsort(list.items, (size_t)list.count, sizeof *list.items, heaviest_first);
    return list;
}

/* Graham's longest-processing-time rule (SIAM J. Appl. Math. 17, 1969): at most 4/3 of the best. */
static void
own_wholes(struct optimizer_share *shares, int64_t data_ranks, const struct matrix_list *list,
           struct arena *arena)
{
    struct burden *heap = arena_alloc(arena, (size_t)data_ranks, sizeof *heap);
    struct matrix_counts *counts = arena_alloc_unset(arena, (size_t)data_ranks, sizeof *counts);
    for (int64_t rank = 0; rank < data_ranks; rank++)
        heap[rank].rank = rank;
    for (int64_t i = 0; i < list->count; i++) {
        const struct tensor *tensor = list->items[i].tensor;
        struct optimizer_share *share = &shares[heap[0].rank];
        share->matrices = counts[heap[0].rank].sizes;
        share->muon_parameters += tensor->rows * tensor->columns;
        share->fp8_parameters += fp8_takes_tensor(tensor) ? tensor->rows * tensor->columns : 0;
        share->tensors++;
        share->owners_max = 1;
        add_matrix(share, counts[heap[0].rank].sizes, tensor);
        heap[0].flop += list->items[i].flop;
        sink(heap, data_ranks);
    }
}

/* Whole matrices to one owner each; all else is cut evenly. */
static void
shard_by_layer(struct optimizer_share *shares, int64_t data_ranks,
               const struct tensor_list *tensors, const struct plan *plan, struct arena *arena)
{
    struct tensor *others = arena_alloc(arena, (size_t)tensors->count, sizeof *others);
    struct tensor_list rest = {others, 0};
    for (int64_t i = 0; i < tensors->count; i++)
        if (!is_orthogonalised(&tensors->items[i], plan))
            others[rest.count++] = tensors->items[i];
    cut_evenly(shares, data_ranks, &rest, plan, arena);
    struct matrix_list matrices = list_matrices(tensors, plan, arena);
    own_wholes(shares, data_ranks, &matrices, arena);
}

const struct optimizer_share *
optimizer_shares(const struct tensor_list *tensors, const struct plan *plan, int64_t data_ranks,
                 struct arena *arena)
{
    struct optimizer_share *shares = arena_alloc(arena, (size_t)data_ranks, sizeof *shares);
    bool is_sharded = plan->zero_stage > 0 && plan->optimizer == OPTIMIZER_MUON;
    if (is_sharded && plan->muon_distribution == MUON_LAYER_SHARDED) {
        shard_by_layer(shares, data_ranks, tensors, plan, arena);
        return shares;
    }
    cut_evenly(shares, data_ranks, tensors, plan, arena);
    if (is_sharded && plan->muon_distribution == MUON_ALL_GATHER)
        gather_all(shares, data_ranks);
    return shares;
}

int64_t
optimizer_padded_elements(const struct optimizer_share *shares, int64_t data_ranks)
{
    int64_t largest = 0;
    for (int64_t rank = 0; rank < data_ranks; rank++)
        largest = most(largest, shares[rank].adamw_parameters + shares[rank].muon_parameters);
    return largest * data_ranks;
}

int64_t
optimizer_buffer_elements(const struct optimizer_share *share)
{
    return share->exchange_before_elements + share->exchange_after_elements +
           share->gathered_elements;
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
