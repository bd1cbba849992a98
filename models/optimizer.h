/* Who owns what of the optimizer, and what a rank does with its share.
 *
 * ZeRO-1 as ZAYA1 has it (arXiv 2511.17127 section V): all tensors flattened one behind the other
 * in forward order and cut into equal pieces over the data ranks, not minding tensor borders:
 *
 *      rank 0            rank 1            rank 2
 *   |  a  |   b   |  c  :  c  |     d     :   d   | e |
 *
 * Muon needs whole matrices. Three ways to come by them (enum muon_distribution):
 *
 *   neighbour      ranks that share one (c, d) send each other their pieces, and all of them
 *                  orthogonalise it: ZAYA1's
 *   all_gather     every rank gathers all matrices into one buffer and orthogonalises those that
 *                  it has a piece of: what ZAYA1 replaced
 *   layer_sharded  no matrix is cut: each has one owner, the heaviest first to the rank that has
 *                  least to do (Megatron-Core's layer-wise distributed optimizer). Shares are of
 *                  unequal size, and collectives padded to the largest */
#ifndef MODELS_OPTIMIZER_H
#define MODELS_OPTIMIZER_H

#include "models/plan.h"
#include "models/tensors.h"

struct optimizer_matrices {
    int64_t rows, columns;
    int64_t count;
};

struct optimizer_share {
    int64_t adamw_parameters;
    int64_t muon_parameters; /* elements of matrices, as far as they lie in the share */
    int64_t fp8_parameters;  /* of both: weights of products that fp8 recipes take */
    int64_t tensors;         /* tensors that it holds all or a piece of */
    const struct optimizer_matrices *matrices; /* orthogonalised on this rank */
    int matrix_sizes;
    int64_t exchange_before_elements; /* the larger of sent and received, with lower ranks */
    int64_t exchange_after_elements;  /* the same with higher ranks */
    int64_t gathered_elements;        /* of the buffer that all matrices are gathered into */
    int64_t owners_max;               /* ranks that the most divided of its matrices lies on */
};

/* One share a data rank; of zero_stage 0 every rank has all. */
const struct optimizer_share *optimizer_shares(const struct tensor_list *tensors,
                                               const struct plan *plan, int64_t data_ranks,
                                               struct arena *arena);

/* Elements that a reduce-scatter or all-gather over the shares counts: all of them, the shares
 * padded to the largest. */
int64_t optimizer_padded_elements(const struct optimizer_share *shares, int64_t data_ranks);

/* Elements of the buffers that pieces or whole matrices come into. */
int64_t optimizer_buffer_elements(const struct optimizer_share *share);

/* Launches of a pass over so many elements by PyTorch's multi-tensor kernels, AdamW(fused=True)
 * among them: chunks of 65,536 elements, at most 320 a launch (ATen/native/cuda/
 * MultiTensorApply.cuh, kChunkSize and depth_to_max_blocks). */
int64_t optimizer_multi_tensor_launches(int64_t elements);

/* Bytes of one share's state: fp32 master weight and momentum, and AdamW's second moment. */
double optimizer_state_bytes(const struct optimizer_share *share);

#endif
