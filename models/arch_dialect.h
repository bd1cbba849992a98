/* For the readers of arch only: what the dialects of config.json share. */
#ifndef MODELS_ARCH_DIALECT_H
#define MODELS_ARCH_DIALECT_H

#include <stddef.h>

#include "models/arch.h"

/* The largest sizes that are taken for a model: together they keep every count of parameters,
 * and sixteen bytes for each, inside int64_t (3 * 2^(10+12+16+18) < 2^58). */
enum {
    ARCH_LAYERS_MAX = 1 << 10,
    ARCH_EXPERTS_MAX = 1 << 12,
    ARCH_HIDDEN_MAX = 1 << 16,
    ARCH_FFN_MAX = 1 << 18,
    ARCH_HEADS_MAX = 1 << 12,
    ARCH_HEAD_DIM_MAX = 1 << 12,
    ARCH_HEAD_PART_MAX = 1 << 11, /* of the two parts that make a head of latent attention */
    ARCH_VOCAB_MAX = 1 << 24,
    ARCH_CONTEXT_MAX = 1 << 30,
    ARCH_TAPS_MAX = 1 << 6,
    ARCH_ROUTER_HIDDEN_MAX = 1 << 16,
    ARCH_RANK_MAX = 1 << 16,
    ARCH_SHARED_MAX = 1 << 6,
    ARCH_MTP_MAX = 1 << 4,
};

/* One family's reader: fills what it found, adds every fault. */
void arch_read_llama(const struct json *config, struct arch *arch, struct error_list *errors);
void arch_read_mixtral(const struct json *config, struct arch *arch, struct error_list *errors);
void arch_read_qwen3_moe(const struct json *config, struct arch *arch,
                         struct error_list *errors);
void arch_read_olmoe(const struct json *config, struct arch *arch, struct error_list *errors);
void arch_read_gpt_oss(const struct json *config, struct arch *arch, struct error_list *errors);
void arch_read_deepseek_v2(const struct json *config, struct arch *arch,
                           struct error_list *errors);
void arch_read_deepseek_v3(const struct json *config, struct arch *arch,
                           struct error_list *errors); /* and Kimi K2 */
void arch_read_own(const struct json *config, struct arch *arch, struct error_list *errors);
void arch_read_zaya(const struct json *config, struct arch *arch, struct error_list *errors);

/* Fills the struct at `out` from the fields' keys; all other keys are passed over, but one that
 * is nearly the name of a field that is absent is an error: a misspelt option would be lost. */
void arch_read_fields(const struct json *config, const struct json_field *fields, size_t count,
                      void *out, struct error_list *errors);

/* The keys that every family spells alike. */
void arch_read_common(const struct json *config, struct arch *arch, struct error_list *errors);

/* The member of the first of these keys that stands in the object and is not null, else the
 * object itself: a place to point at. */
const struct json *arch_place(const struct json *config, const char *const *keys);

/* "layer_types": every layer `full`, every layer `sliding`, or from layer 0 on by turns sliding
 * and full. Anything else is refused. Absent or null: nothing changes. */
struct arch_window_names {
    const char *full;
    const char *sliding;
};
void arch_read_window(const struct json *layer_types, struct arch_window_names names,
                      struct arch *arch, struct error_list *errors);

#endif
