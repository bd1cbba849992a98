/* config.json of the families with grouped-query attention: llama, mixtral, qwen3_moe, olmoe,
 * gpt_oss. What a key means differs among them: "intermediate_size" is the dense width in llama
 * and the experts' in mixtral, olmoe and gpt_oss; the head's width is hidden / heads unless
 * "head_dim" says otherwise. Defaults are those of the classes configuration_*.py of Hugging
 * Face transformers. */
#include "models/arch_dialect.h"

/* What is read beside the arch itself. */
struct gqa_config {
    struct arch arch;
    int64_t num_experts, num_local_experts; /* one number, two spellings */
    int64_t num_experts_per_tok, experts_per_token;
    const struct json *layer_types;
    const struct json *mlp_only_layers;
    int64_t decoder_sparse_step;
    int64_t max_window_layers;
    bool is_window_used;
};

/* The members of struct gqa_config as tables of fields want them. */
#define PLACE(member) offsetof(struct gqa_config, member)

enum { OPTIONAL = JSON_OPTIONAL | JSON_NULLABLE };

static void
read_attention(const struct json *config, struct gqa_config *out, struct error_list *errors)
{
    static const struct json_field fields[] = {
        {"num_hidden_layers", JSON_FIELD_INTEGER, PLACE(arch.layers), 0, 1, ARCH_LAYERS_MAX,
         NULL},
        {"num_attention_heads", JSON_FIELD_INTEGER, PLACE(arch.query_heads), 0, 1,
         ARCH_HEADS_MAX, NULL},
        {"head_dim", JSON_FIELD_INTEGER, PLACE(arch.head_dim), OPTIONAL, 1, ARCH_HEAD_DIM_MAX,
         NULL},
        {"partial_rotary_factor", JSON_FIELD_REAL, PLACE(arch.rotary_fraction), OPTIONAL, 0, 1,
         NULL},
    };
    arch_read_common(config, &out->arch, errors);
    arch_read_fields(config, fields, sizeof fields / sizeof fields[0], out, errors);
}

/* llama and olmoe: as many kv heads as query heads where the key is absent; the other classes
 * have defaults of their own (8, 4, 8), which no published file relies on: they must say. */
static void
read_kv_heads(const struct json *config, bool is_optional, struct gqa_config *out,
              struct error_list *errors)
{
    const struct json_field field = {"num_key_value_heads",
                                     JSON_FIELD_INTEGER,
                                     PLACE(arch.kv_heads),
                                     is_optional ? OPTIONAL : 0,
                                     1,
                                     ARCH_HEADS_MAX,
                                     NULL};
    if (is_optional)
        out->arch.kv_heads = out->arch.query_heads;
    arch_read_fields(config, &field, 1, out, errors);
}

static const char *const HEAD_DIM_KEYS[] = {"head_dim", NULL};

static void
require_head_dim(const struct json *config, struct error_list *errors)
{
    if (arch_place(config, HEAD_DIM_KEYS) == config)
        json_fail(config, errors, "lacks the key 'head_dim' (an integer)");
}

static void
default_head_dim(const struct json *config, struct arch *arch, struct error_list *errors)
{
    bool is_given = arch_place(config, HEAD_DIM_KEYS) != config;
    if (is_given || arch->query_heads <= 0 || arch->hidden <= 0)
        return;
    if (arch->hidden % arch->query_heads != 0)
        json_fail(json_member(config, "num_attention_heads"), errors,
                  "%lld heads do not divide the hidden size %lld, and there is no 'head_dim'",
                  (long long)arch->query_heads, (long long)arch->hidden);
    else
        arch->head_dim = arch->hidden / arch->query_heads;
}

/* Of two spellings of one number: either, or both if they agree. */
static int64_t
one_of(const struct json *config, const char *const *keys, const int64_t *values,
       struct error_list *errors)
{
    bool is_missing = arch_place(config, keys) == config;
    if (is_missing)
        json_fail(config, errors, "lacks the key '%s' or '%s' (an integer)", keys[0], keys[1]);
    if (values[0] > 0 && values[1] > 0 && values[0] != values[1])
        json_fail(arch_place(config, keys), errors, "'%s' is %lld, but '%s' is %lld", keys[0],
                  (long long)values[0], keys[1], (long long)values[1]);
    return values[0] > 0 ? values[0] : values[1];
}

static void
read_experts(const struct json *config, const char *ffn_key, struct gqa_config *out,
             struct error_list *errors)
{
    static const char *const experts[] = {"num_experts", "num_local_experts", NULL};
    static const char *const visits[] = {"num_experts_per_tok", "experts_per_token", NULL};
    const struct json_field fields[] = {
        {ffn_key, JSON_FIELD_INTEGER, PLACE(arch.expert_ffn), 0, 1, ARCH_FFN_MAX, NULL},
        {experts[0], JSON_FIELD_INTEGER, PLACE(num_experts), OPTIONAL, 1, ARCH_EXPERTS_MAX,
         NULL},
        {experts[1], JSON_FIELD_INTEGER, PLACE(num_local_experts), OPTIONAL, 1,
         ARCH_EXPERTS_MAX, NULL},
        {visits[0], JSON_FIELD_INTEGER, PLACE(num_experts_per_tok), OPTIONAL, 1,
         ARCH_EXPERTS_MAX, NULL},
        {visits[1], JSON_FIELD_INTEGER, PLACE(experts_per_token), OPTIONAL, 1, ARCH_EXPERTS_MAX,
         NULL},
    };
    arch_read_fields(config, fields, sizeof fields / sizeof fields[0], out, errors);
    out->arch.experts =
        one_of(config, experts, (int64_t[]){out->num_experts, out->num_local_experts}, errors);
    out->arch.experts_per_token = one_of(
        config, visits, (int64_t[]){out->num_experts_per_tok, out->experts_per_token}, errors);
    out->arch.router = ROUTER_LINEAR;
}

static void
read_window_tokens(const struct json *config, struct gqa_config *out, struct error_list *errors)
{
    static const struct json_field field = {"sliding_window",
                                            JSON_FIELD_INTEGER,
                                            PLACE(arch.window_tokens),
                                            OPTIONAL,
                                            1,
                                            ARCH_CONTEXT_MAX,
                                            NULL};
    arch_read_fields(config, &field, 1, out, errors);
}

void
arch_read_llama(const struct json *config, struct arch *arch, struct error_list *errors)
{
    static const struct json_field fields[] = {
        {"intermediate_size", JSON_FIELD_INTEGER, PLACE(arch.dense_ffn), 0, 1, ARCH_FFN_MAX,
         NULL},
        {"mlp_bias", JSON_FIELD_BOOL, PLACE(arch.has_ffn_bias), JSON_OPTIONAL, 0, 0, NULL},
    };
    struct gqa_config out = {.arch = *arch};
    read_attention(config, &out, errors);
    read_kv_heads(config, true, &out, errors);
    default_head_dim(config, &out.arch, errors);
    arch_read_fields(config, fields, sizeof fields / sizeof fields[0], &out, errors);
    *arch = out.arch;
}

void
arch_read_mixtral(const struct json *config, struct arch *arch, struct error_list *errors)
{
    struct gqa_config out = {.arch = *arch};
    read_attention(config, &out, errors);
    read_kv_heads(config, false, &out, errors);
    default_head_dim(config, &out.arch, errors);
    read_experts(config, "intermediate_size", &out, errors);
    read_window_tokens(config, &out, errors);
    out.arch.window = out.arch.window_tokens > 0 ? WINDOW_ALL : WINDOW_NONE;
    *arch = out.arch;
}

/* Layers from max_window_layers on slide, those before do not. */
static void
read_qwen3_window(const struct json *config, struct gqa_config *out, struct error_list *errors)
{
    static const char *const keys[] = {"max_window_layers", "use_sliding_window", NULL};
    read_window_tokens(config, out, errors);
    if (!out->is_window_used || out->max_window_layers >= out->arch.layers)
        out->arch.window = WINDOW_NONE;
    else if (out->max_window_layers == 0)
        out->arch.window = WINDOW_ALL;
    else
        json_fail(
            arch_place(config, keys), errors,
            "windows from layer %lld on are not modelled, wanted 0 (all slide) or %lld (none)",
            (long long)out->max_window_layers, (long long)out->arch.layers);
}

/* The first layers may have no experts. */
static void
read_dense_layers(const struct json *config, struct gqa_config *out, struct error_list *errors)
{
    static const struct json_field ffn = {"intermediate_size",
                                          JSON_FIELD_INTEGER,
                                          PLACE(arch.dense_ffn),
                                          0,
                                          1,
                                          ARCH_FFN_MAX,
                                          NULL};
    const struct json *only = out->mlp_only_layers;
    size_t count = only ? json_count(only) : 0;
    if (only && json_kind(only) != JSON_KIND_ARRAY)
        json_fail(only, errors, "is not a list of layers");
    for (size_t i = 0; i < count; i++) {
        const struct json *layer = json_element(only, i);
        bool is_next = json_kind(layer) == JSON_KIND_INTEGER &&
                       json_as_integer(layer) == (int64_t)i && (int64_t)i < out->arch.layers;
        if (!is_next) {
            json_fail(layer, errors,
                      "layers without experts behind others are not modelled, wanted %zu here, "
                      "as in [0, 1, ...]",
                      i);
            return;
        }
    }
    out->arch.dense_layers = (int64_t)count;
    if (count > 0)
        arch_read_fields(config, &ffn, 1, out, errors);
    if (out->decoder_sparse_step > 1)
        json_fail(json_member(config, "decoder_sparse_step"), errors,
                  "is %lld: layers without experts among the others are not modelled, wanted 1",
                  (long long)out->decoder_sparse_step);
}

void
arch_read_qwen3_moe(const struct json *config, struct arch *arch, struct error_list *errors)
{
    static const struct json_field fields[] = {
        {"mlp_only_layers", JSON_FIELD_VALUE, PLACE(mlp_only_layers), OPTIONAL, 0, 0, NULL},
        {"decoder_sparse_step", JSON_FIELD_INTEGER, PLACE(decoder_sparse_step), OPTIONAL, 1,
         ARCH_LAYERS_MAX, NULL},
        {"use_sliding_window", JSON_FIELD_BOOL, PLACE(is_window_used), OPTIONAL, 0, 0, NULL},
        {"max_window_layers", JSON_FIELD_INTEGER, PLACE(max_window_layers), OPTIONAL, 0,
         ARCH_LAYERS_MAX, NULL},
    };
    struct gqa_config out = {.arch = *arch, .max_window_layers = 28}; /* the class's default */
    read_attention(config, &out, errors);
    read_kv_heads(config, false, &out, errors);
    require_head_dim(config, errors);
    read_experts(config, "moe_intermediate_size", &out, errors);
    arch_read_fields(config, fields, sizeof fields / sizeof fields[0], &out, errors);
    read_qwen3_window(config, &out, errors);
    read_dense_layers(config, &out, errors);
    out.arch.has_query_key_norm = true;
    *arch = out.arch;
}

void
arch_read_olmoe(const struct json *config, struct arch *arch, struct error_list *errors)
{
    struct gqa_config out = {.arch = *arch};
    read_attention(config, &out, errors);
    read_kv_heads(config, true, &out, errors);
    default_head_dim(config, &out.arch, errors);
    read_experts(config, "intermediate_size", &out, errors);
    out.arch.has_query_key_norm = true;
    out.arch.is_query_key_norm_whole = true;
    *arch = out.arch;
}

void
arch_read_gpt_oss(const struct json *config, struct arch *arch, struct error_list *errors)
{
    static const struct json_field field = {
        "layer_types", JSON_FIELD_VALUE, PLACE(layer_types), OPTIONAL, 0, 0, NULL};
    static const struct arch_window_names names = {"full_attention", "sliding_attention"};
    struct gqa_config out = {.arch = *arch};
    out.arch.has_attention_bias = true; /* the class's default */
    out.arch.window = WINDOW_EVEN;      /* without "layer_types" */
    read_attention(config, &out, errors);
    read_kv_heads(config, false, &out, errors);
    require_head_dim(config, errors);
    read_experts(config, "intermediate_size", &out, errors);
    read_window_tokens(config, &out, errors);
    arch_read_fields(config, &field, 1, &out, errors);
    arch_read_window(out.layer_types, names, &out.arch, errors);
    out.arch.has_attention_sinks = true;
    out.arch.has_ffn_bias = true;
    out.arch.has_router_bias = true;
    *arch = out.arch;
}
