/* Low-rank adapters (LoRA, arXiv 2106.09685): the model's own weights stay as they came, and
 * beside chosen products run two thin ones whose weights alone are trained.
 *
 *      x ──┬──────────▶ W (out, in), frozen ────────────────────────▶ + ──▶ y
 *          └▶ dropout ──▶ A (rank, in) ──▶ B (out, rank) ──▶ x alpha / rank
 *
 * A frozen weight has no gradient: no product for it, no reduction, no master weight and no state
 * of the optimizer; the gradient of its input flows on. Its input need not be kept either. What
 * runs beside it is as in NeMo (nlp/modules/common/megatron/adapters/parallel_adapters.py,
 * ParallelLinearAdapter): dropout, both products, the scale and the sum are kernels of their own.
 *
 * Under tensor parallelism A of a product whose input is whole is whole on every rank, and B of
 * one whose output is a partial sum: the adapter is summed with it, nothing more is exchanged.
 *
 *   "adapters": {"rank": 16, "alpha": 32, "modules": ["down"], "dropout_fraction": 0.1} */
#ifndef MODELS_ADAPTERS_H
#define MODELS_ADAPTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "models/arch.h"
#include "models/arch_flop.h"
#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/json.h"

/* Products that may have adapters; of routed experts none has. */
enum adapted_module {
    ADAPTED_QUERY_KEY_VALUE, /* all that leads into attention's core */
    ADAPTED_ATTENTION_OUTPUT,
    ADAPTED_GATE_UP, /* or up alone, where there is no gate */
    ADAPTED_DOWN,
    ADAPTED_NONE,
};

struct adapters {
    int64_t rank;
    double alpha; /* the adapter's output counts alpha / rank times */
    double dropout_fraction;
    unsigned modules; /* bits of enum adapted_module */
};

/* NULL after adding every fault of the object. */
const struct adapters *adapters_read(const struct json *object, struct arena *arena,
                                     struct error_list *errors);

/* Whether the model has such products. */
bool adapters_check(const struct adapters *adapters, const struct json *object,
                    const struct arch *arch, struct error_list *errors);

/* The module that an operator of that name ("query_key_value", "down") is. */
enum adapted_module adapters_module_of(const char *operator_name);
bool adapters_has(const struct adapters *adapters, enum adapted_module module);

/* FLOP of a token with so many trained weights, of a model that takes `whole` when all are trained:
 * backward forms one product instead of two for each frozen weight, attention's core has none, and
 * the adapters are three times two FLOP a weight. */
struct token_flop adapters_flop(const struct token_flop *whole, double trained_parameters);

#endif
