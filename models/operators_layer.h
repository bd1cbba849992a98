/* The two blocks of a layer, appended to a builder. */
#ifndef MODELS_OPERATORS_LAYER_H
#define MODELS_OPERATORS_LAYER_H

#include "models/operator_builder.h"

/* Residual, norm and attention: grouped-query, CCA (arXiv 2510.04476, 2511.17127 table III) or
 * MLA (arXiv 2405.04434). window_tokens 0: to all positions before. */
void build_attention(struct operator_builder *builder, int64_t window_tokens);

/* Residual, norm and a dense feed-forward or a mixture of experts with its router. */
void build_feed_forward(struct operator_builder *builder, bool has_experts);

/* Scores, the choice, and the order of the tokens by expert. */
void build_router(struct operator_builder *builder);

#endif
