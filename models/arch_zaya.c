/* config.json of ZAYA, which comes in three dialects. Read wrong, parameters are off by 6 % to
 * 100 %.
 *
 *            layers                     heads                      experts' width
 *   list     zaya_layers, one entry     cca_num_q_heads,           ffn_hidden_size_list: gate
 *            a half-block: "a" for      num_query_groups_list;     and up fused, twice the
 *            attention, or a number     num_attention_heads only   width
 *            of experts                 gives hidden / head_dim
 *   scalar   num_hidden_layers counts   num_attention_heads,       ffn_hidden_size: fused
 *            half-blocks                num_query_groups
 *   native   num_hidden_layers counts   num_attention_heads,       moe_intermediate_size: the
 *            whole layers               num_key_value_heads        width itself
 *
 * In the list dialect lists win over scalars (num_hidden_layers is 120 in ZAYA1-base and means
 * nothing). Of a list only the entries of the half-blocks it speaks of are read: every second
 * one; all must be equal. A list longer than zaya_layers is padded: its surplus is passed over.
 * One that is shorter is a fault.
 *
 * Sources: configuration_zaya.py and modeling_zaya.py of github Zyphra/transformers (branch
 * zaya) and of huggingface/transformers (native, from 5.13). */
#include <string.h>

#include "models/arch_dialect.h"

enum half_block { HALF_ATTENTION, HALF_EXPERTS };

enum { HALF_BLOCKS_MAX = 2 * ARCH_LAYERS_MAX };

/* A list with one entry for each half-block. */
struct half_block_list {
    const char *key;
    enum half_block half; /* the half-blocks that its entries are for */
    int64_t maximum;
};

static void
require_bool(const struct json *config, const char *key, bool wanted, struct error_list *errors)
{
    const struct json *value = json_member(config, key);
    if (!value || json_kind(value) == JSON_KIND_NULL)
        return;
    if (json_kind(value) != JSON_KIND_BOOL)
        json_fail(value, errors, "is not a boolean, wanted %s", wanted ? "true" : "false");
    else if (json_as_bool(value) != wanted)
        json_fail(value, errors, "is %s, which is not modelled, wanted %s",
                  wanted ? "false" : "true", wanted ? "true" : "false");
}

static void
require_plain(const struct json *config, struct error_list *errors)
{
    require_bool(config, "cca", true, errors);
    require_bool(config, "gated_linear_unit", true, errors);
    require_bool(config, "add_bias_linear", false, errors);
    require_bool(config, "lm_head_bias", false, errors);
    const struct json *window = json_member(config, "sliding_window");
    if (window && json_kind(window) == JSON_KIND_INTEGER)
        json_fail(window, errors, "a window is not modelled in this dialect, wanted null");
}

static bool
check_entry(const struct json *entry, const struct half_block_list *list,
            struct error_list *errors)
{
    if (json_kind(entry) != JSON_KIND_INTEGER)
        return json_fail(entry, errors, "is not an integer, wanted 1 to %lld",
                         (long long)list->maximum);
    if (json_as_integer(entry) < 1 || json_as_integer(entry) > list->maximum)
        return json_fail(entry, errors, "is %lld, wanted 1 to %lld",
                         (long long)json_as_integer(entry), (long long)list->maximum);
    return true;
}

/* The one number that all entries for these half-blocks are; 0 after a fault. */
static int64_t
equal_entry(const struct json *values, size_t half_blocks, const struct half_block_list *list,
            struct error_list *errors)
{
    const struct json *first = json_element(values, list->half);
    for (size_t i = list->half; i < half_blocks; i += 2) {
        const struct json *entry = json_element(values, i);
        if (!check_entry(entry, list, errors))
            return 0;
        if (json_as_integer(entry) != json_as_integer(first)) {
            json_fail(entry, errors,
                      "is %lld, but entry %d is %lld: unequal layers are not modelled",
                      (long long)json_as_integer(entry), (int)list->half,
                      (long long)json_as_integer(first));
            return 0;
        }
    }
    return json_as_integer(first);
}

static int64_t
read_list(const struct json *config, size_t half_blocks, const struct half_block_list *list,
          struct error_list *errors)
{
    const struct json *values = json_member(config, list->key);
    if (!values) {
        json_fail(config, errors, "lacks the key '%s' (a list)", list->key);
        return 0;
    }
    if (json_kind(values) == JSON_KIND_INTEGER)
        return check_entry(values, list, errors) ? json_as_integer(values) : 0;
    if (json_kind(values) != JSON_KIND_ARRAY) {
        json_fail(values, errors, "is neither a list nor an integer");
        return 0;
    }
    if (json_count(values) < half_blocks) {
        json_fail(values, errors, "has %zu entries, wanted one for each of the %zu half-blocks",
                  json_count(values), half_blocks);
        return 0;
    }
    return equal_entry(values, half_blocks, list, errors);
}

/* "a", 16, "a", 16, ...: sets layers and experts. How many half-blocks; 0 after a fault. */
static size_t
read_half_blocks(const struct json *layers, struct arch *arch, struct error_list *errors)
{
    static const struct half_block_list experts = {"zaya_layers", HALF_EXPERTS,
                                                   ARCH_EXPERTS_MAX};
    size_t count = json_count(layers);
    if (json_kind(layers) != JSON_KIND_ARRAY) {
        json_fail(layers, errors, "is not a list of half-blocks");
        return 0;
    }
    if (count == 0 || count % 2 != 0 || count > HALF_BLOCKS_MAX) {
        json_fail(layers, errors,
                  "has %zu entries, wanted pairs of \"a\" and a number of experts, at most %d",
                  count, HALF_BLOCKS_MAX);
        return 0;
    }
    for (size_t i = 0; i < count; i += 2) {
        const struct json *entry = json_element(layers, i);
        if (json_kind(entry) != JSON_KIND_STRING || strcmp(json_as_string(entry), "a") != 0) {
            json_fail(entry, errors, "is not \"a\": attention and experts stand by turns");
            return 0;
        }
    }
    arch->layers = (int64_t)(count / 2);
    arch->experts = equal_entry(layers, count, &experts, errors);
    return count;
}

static int64_t
half_of_fused(const struct json *place, int64_t fused, struct error_list *errors)
{
    if (fused % 2 != 0)
        json_fail(place, errors, "is %lld: gate and up together, wanted an even number",
                  (long long)fused);
    return fused / 2;
}

/* Where no key gives it: hidden / num_attention_heads, as the class does (kv_channels). */
static void
default_head_dim(const struct json *config, struct arch *arch, struct error_list *errors)
{
    int64_t heads = 0;
    const struct json_field field = {
        "num_attention_heads", JSON_FIELD_INTEGER, 0, 0, 1, ARCH_HEADS_MAX, NULL};
    if (arch->head_dim > 0)
        return;
    arch_read_fields(config, &field, 1, &heads, errors);
    if (heads > 0 && arch->hidden % heads != 0)
        json_fail(json_member(config, "num_attention_heads"), errors,
                  "%lld does not divide the hidden size %lld", (long long)heads,
                  (long long)arch->hidden);
    else if (heads > 0)
        arch->head_dim = arch->hidden / heads;
}

static void
refuse_window_list(const struct json *config, struct error_list *errors)
{
    const struct json *list = json_member(config, "swa_layers");
    for (size_t i = 0; list && i < json_count(list); i++) {
        const struct json *entry = json_element(list, i);
        if (json_kind(entry) == JSON_KIND_INTEGER && json_as_integer(entry) != 0) {
            json_fail(entry, errors, "a window is not modelled in this dialect, wanted 0");
            return;
        }
    }
}

/* What the list and the scalar dialect spell alike. */
static void
read_legacy(const struct json *config, struct arch *arch, struct error_list *errors)
{
    static const struct json_field fields[] = {
        {"kv_channels", JSON_FIELD_INTEGER, offsetof(struct arch, head_dim),
         JSON_OPTIONAL | JSON_NULLABLE, 1, ARCH_HEAD_DIM_MAX, NULL},
        {"head_dim", JSON_FIELD_INTEGER, offsetof(struct arch, head_dim),
         JSON_OPTIONAL | JSON_NULLABLE, 1, ARCH_HEAD_DIM_MAX, NULL},
        {"moe_router_topk", JSON_FIELD_INTEGER, offsetof(struct arch, experts_per_token), 0, 1,
         ARCH_EXPERTS_MAX, NULL},
        {"zaya_use_mod", JSON_FIELD_BOOL, offsetof(struct arch, has_skip_route), JSON_OPTIONAL,
         0, 0, NULL},
        {"zaya_use_eda", JSON_FIELD_BOOL, offsetof(struct arch, has_router_average),
         JSON_OPTIONAL, 0, 0, NULL},
        {"scale_residual_merge", JSON_FIELD_BOOL, offsetof(struct arch, has_residual_scaling),
         JSON_OPTIONAL, 0, 0, NULL},
        {"residual_in_fp32", JSON_FIELD_BOOL, offsetof(struct arch, is_residual_fp32),
         JSON_OPTIONAL, 0, 0, NULL},
        {"partial_rotary_factor", JSON_FIELD_REAL, offsetof(struct arch, rotary_fraction),
         JSON_OPTIONAL, 0, 1, NULL},
    };
    arch_read_fields(config, fields, sizeof fields / sizeof fields[0], arch, errors);
    require_plain(config, errors);
    refuse_window_list(config, errors);
}

static void
read_list_dialect(const struct json *config, struct arch *arch, struct error_list *errors)
{
    static const char *const groups_keys[] = {"num_query_groups_list", NULL};
    bool has_groups = arch_place(config, groups_keys) != config;
    const struct half_block_list heads = {"cca_num_q_heads", HALF_ATTENTION, ARCH_HEADS_MAX};
    const struct half_block_list groups = {has_groups ? "num_query_groups_list"
                                                      : "num_key_value_heads",
                                           HALF_ATTENTION, ARCH_HEADS_MAX};
    const struct half_block_list ffn = {"ffn_hidden_size_list", HALF_EXPERTS,
                                        2 * (int64_t)ARCH_FFN_MAX};
    const struct half_block_list router = {"zaya_mlp_expansion", HALF_EXPERTS,
                                           ARCH_ROUTER_HIDDEN_MAX};
    read_legacy(config, arch, errors);
    default_head_dim(config, arch, errors);
    size_t half_blocks = read_half_blocks(json_member(config, "zaya_layers"), arch, errors);
    if (half_blocks == 0)
        return;
    arch->query_heads = read_list(config, half_blocks, &heads, errors);
    arch->kv_heads = read_list(config, half_blocks, &groups, errors);
    arch->expert_ffn = half_of_fused(json_member(config, ffn.key),
                                     read_list(config, half_blocks, &ffn, errors), errors);
    arch->router_hidden = read_list(config, half_blocks, &router, errors);
}

static void
read_scalar_dialect(const struct json *config, struct arch *arch, struct error_list *errors)
{
    static const char *const groups[] = {"num_query_groups", NULL};
    bool has_groups = arch_place(config, groups) != config;
    const struct json_field fields[] = {
        {"num_hidden_layers", JSON_FIELD_INTEGER, offsetof(struct arch, layers), 0, 2,
         HALF_BLOCKS_MAX, NULL},
        {"num_attention_heads", JSON_FIELD_INTEGER, offsetof(struct arch, query_heads), 0, 1,
         ARCH_HEADS_MAX, NULL},
        {has_groups ? "num_query_groups" : "num_key_value_heads", JSON_FIELD_INTEGER,
         offsetof(struct arch, kv_heads), 0, 1, ARCH_HEADS_MAX, NULL},
        {"num_experts", JSON_FIELD_INTEGER, offsetof(struct arch, experts), 0, 1,
         ARCH_EXPERTS_MAX, NULL},
        {"ffn_hidden_size", JSON_FIELD_INTEGER, offsetof(struct arch, expert_ffn), 0, 2,
         2 * (double)ARCH_FFN_MAX, NULL},
        {"zaya_mlp_expansion", JSON_FIELD_INTEGER, offsetof(struct arch, router_hidden), 0, 1,
         ARCH_ROUTER_HIDDEN_MAX, NULL},
    };
    read_legacy(config, arch, errors);
    arch_read_fields(config, fields, sizeof fields / sizeof fields[0], arch, errors);
    if (arch->layers % 2 != 0)
        json_fail(json_member(config, "num_hidden_layers"), errors,
                  "is %lld: half-blocks, attention and experts by turns, wanted an even number",
                  (long long)arch->layers);
    arch->layers /= 2;
    arch->expert_ffn =
        half_of_fused(json_member(config, "ffn_hidden_size"), arch->expert_ffn, errors);
    if (arch->head_dim == 0)
        json_fail(config, errors, "lacks the key 'head_dim' (an integer)");
}

/* The factor stands in "rope_parameters", for each kind of layer or for all. */
static void
read_rotary(const struct json *config, struct arch *arch, struct error_list *errors)
{
    static const struct json_field field = {"partial_rotary_factor",
                                            JSON_FIELD_REAL,
                                            offsetof(struct arch, rotary_fraction),
                                            JSON_OPTIONAL,
                                            0,
                                            1,
                                            NULL};
    const struct json *rope = json_member(config, "rope_parameters");
    const struct json *hybrid = rope ? json_member(rope, "hybrid") : NULL;
    arch_read_fields(config, &field, 1, arch, errors);
    const struct json *place = hybrid ? hybrid : rope;
    if (!place || json_kind(place) == JSON_KIND_NULL)
        return;
    if (json_kind(place) == JSON_KIND_OBJECT)
        arch_read_fields(place, &field, 1, arch, errors);
    else
        json_fail(place, errors, "is not an object");
}

static void
read_native_dialect(const struct json *config, struct arch *arch, struct error_list *errors)
{
    static const struct arch_window_names names = {"hybrid", "hybrid_sliding"};
    static const struct json_field fields[] = {
        {"num_hidden_layers", JSON_FIELD_INTEGER, offsetof(struct arch, layers), 0, 1,
         ARCH_LAYERS_MAX, NULL},
        {"num_attention_heads", JSON_FIELD_INTEGER, offsetof(struct arch, query_heads), 0, 1,
         ARCH_HEADS_MAX, NULL},
        {"num_key_value_heads", JSON_FIELD_INTEGER, offsetof(struct arch, kv_heads), 0, 1,
         ARCH_HEADS_MAX, NULL},
        {"head_dim", JSON_FIELD_INTEGER, offsetof(struct arch, head_dim), 0, 1,
         ARCH_HEAD_DIM_MAX, NULL},
        {"num_experts", JSON_FIELD_INTEGER, offsetof(struct arch, experts), 0, 1,
         ARCH_EXPERTS_MAX, NULL},
        {"num_experts_per_tok", JSON_FIELD_INTEGER, offsetof(struct arch, experts_per_token), 0,
         1, ARCH_EXPERTS_MAX, NULL},
        {"moe_intermediate_size", JSON_FIELD_INTEGER, offsetof(struct arch, expert_ffn), 0, 1,
         ARCH_FFN_MAX, NULL},
        {"router_hidden_size", JSON_FIELD_INTEGER, offsetof(struct arch, router_hidden), 0, 1,
         ARCH_ROUTER_HIDDEN_MAX, NULL},
        {"sliding_window", JSON_FIELD_INTEGER, offsetof(struct arch, window_tokens),
         JSON_OPTIONAL | JSON_NULLABLE, 1, ARCH_CONTEXT_MAX, NULL},
    };
    arch->is_residual_fp32 = true; /* the native code knows no other */
    arch_read_fields(config, fields, sizeof fields / sizeof fields[0], arch, errors);
    require_bool(config, "lm_head_bias", false, errors);
    read_rotary(config, arch, errors);
    arch_read_window(json_member(config, "layer_types"), names, arch, errors);
}

static void
read_dialect(const struct json *config, struct arch *arch, struct error_list *errors)
{
    static const char *const native_keys[] = {"moe_intermediate_size", "router_hidden_size",
                                              NULL};
    static const char *const scalar_keys[] = {"ffn_hidden_size", "zaya_mlp_expansion", NULL};
    static const char *const list_keys[] = {"zaya_layers", NULL};
    bool is_native = arch_place(config, native_keys) != config;
    bool is_scalar = arch_place(config, scalar_keys) != config;
    if (arch_place(config, list_keys) != config)
        read_list_dialect(config, arch, errors);
    else if (is_native && is_scalar)
        json_fail(
            arch_place(config, native_keys), errors,
            "stands beside '%s' of the dialect in which num_hidden_layers counts half-blocks",
            arch_place(config, (const char *const[]){"ffn_hidden_size", NULL}) != config
                ? "ffn_hidden_size"
                : "zaya_mlp_expansion");
    else if (is_native)
        read_native_dialect(config, arch, errors);
    else if (is_scalar)
        read_scalar_dialect(config, arch, errors);
    else
        json_fail(config, errors,
                  "has none of zaya_layers, ffn_hidden_size, moe_intermediate_size, "
                  "by which ZAYA's dialects are known");
}

void
arch_read_zaya(const struct json *config, struct arch *arch, struct error_list *errors)
{
    static const struct json_field taps[] = {
        {"cca_time0", JSON_FIELD_INTEGER, offsetof(struct arch, sequence_taps), JSON_OPTIONAL,
         1, ARCH_TAPS_MAX, NULL},
        {"cca_time1", JSON_FIELD_INTEGER, offsetof(struct arch, channel_taps), JSON_OPTIONAL, 1,
         ARCH_TAPS_MAX, NULL},
    };
    static const char *const groups[] = {"num_query_groups_list", "num_query_groups",
                                         "num_key_value_heads", NULL};
    arch->attention = ATTENTION_CCA;
    arch->router = ROUTER_MLP;
    arch->is_embedding_tied = true; /* the classes' defaults, all of them */
    arch->rotary_fraction = 0.5;
    arch->sequence_taps = 2;
    arch->channel_taps = 2;
    arch->has_router_average = true;
    arch->has_skip_route = true;
    arch->has_residual_scaling = true;
    arch_read_common(config, arch, errors);
    arch_read_fields(config, taps, sizeof taps / sizeof taps[0], arch, errors);
    read_dialect(config, arch, errors);
    if (arch_kv_width(arch) % 2 != 0)
        json_fail(arch_place(config, groups), errors,
                  "%lld channels of values cannot be halved for the value shift",
                  (long long)arch_kv_width(arch));
}
