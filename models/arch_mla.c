/* config.json of the families with multi-head latent attention: deepseek_v2, deepseek_v3 and
 * kimi_k2, which is DeepSeek-V3 by another name.
 *
 *            ┌─▶ q_lora_rank ─norm─▶ heads x (nope + rope)     without q_lora_rank: in one step
 *      x ────┤
 *            └─▶ kv_lora_rank ─norm─▶ heads x (nope + v)       and beside it one key of the
 *                + qk_rope_head_dim                            rope width for all heads
 *
 * Sources: configuration_deepseek.py and modeling_deepseek.py beside the published checkpoints,
 * and configuration_deepseek_v{2,3}.py of Hugging Face transformers. The keys of multi-token
 * prediction ("num_nextn_predict_layers") and of the router are of the former alone. */
#include <string.h>

#include "models/arch_dialect.h"

enum { OPTIONAL = JSON_OPTIONAL | JSON_NULLABLE };

/* What is read beside the arch itself. */
struct mla_config {
    struct arch arch;
    int64_t nope_dim;
    int64_t kv_heads;
    int64_t shared_experts;
    int64_t layer_freq;
    const char *scoring;
    const char *method;
};

#define PLACE(member) offsetof(struct mla_config, member)

static void
read_attention(const struct json *config, struct mla_config *out, struct error_list *errors)
{
    static const struct json_field fields[] = {
        {"num_hidden_layers", JSON_FIELD_INTEGER, PLACE(arch.layers), 0, 1, ARCH_LAYERS_MAX,
         NULL},
        {"num_attention_heads", JSON_FIELD_INTEGER, PLACE(arch.query_heads), 0, 1,
         ARCH_HEADS_MAX, NULL},
        {"num_key_value_heads", JSON_FIELD_INTEGER, PLACE(kv_heads), OPTIONAL, 1,
         ARCH_HEADS_MAX, NULL},
        {"q_lora_rank", JSON_FIELD_INTEGER, PLACE(arch.query_rank), OPTIONAL, 1, ARCH_RANK_MAX,
         NULL},
        {"kv_lora_rank", JSON_FIELD_INTEGER, PLACE(arch.kv_rank), 0, 1, ARCH_RANK_MAX, NULL},
        {"qk_nope_head_dim", JSON_FIELD_INTEGER, PLACE(nope_dim), 0, 1, ARCH_HEAD_PART_MAX,
         NULL},
        {"qk_rope_head_dim", JSON_FIELD_INTEGER, PLACE(arch.rotary_head_dim), 0, 1,
         ARCH_HEAD_PART_MAX, NULL},
        {"v_head_dim", JSON_FIELD_INTEGER, PLACE(arch.value_head_dim), 0, 1, ARCH_HEAD_DIM_MAX,
         NULL},
    };
    struct arch *arch = &out->arch;
    arch_read_common(config, arch, errors);
    arch_read_fields(config, fields, sizeof fields / sizeof fields[0], out, errors);
    arch->attention = ATTENTION_MLA;
    arch->kv_heads = arch->query_heads;
    arch->head_dim = out->nope_dim + arch->rotary_head_dim;
    if (arch->head_dim > 0)
        arch->rotary_fraction = (double)arch->rotary_head_dim / (double)arch->head_dim;
    if (out->kv_heads > 0 && out->kv_heads != arch->query_heads)
        json_fail(json_member(config, "num_key_value_heads"), errors,
                  "is %lld: latent attention has a key and a value for each of its %lld heads",
                  (long long)out->kv_heads, (long long)arch->query_heads);
}

static void
read_feed_forward(const struct json *config, struct mla_config *out, struct error_list *errors)
{
    static const struct json_field fields[] = {
        {"intermediate_size", JSON_FIELD_INTEGER, PLACE(arch.dense_ffn), 0, 1, ARCH_FFN_MAX,
         NULL},
        {"moe_intermediate_size", JSON_FIELD_INTEGER, PLACE(arch.expert_ffn), 0, 1,
         ARCH_FFN_MAX, NULL},
        {"n_routed_experts", JSON_FIELD_INTEGER, PLACE(arch.experts), 0, 1, ARCH_EXPERTS_MAX,
         NULL},
        {"num_experts_per_tok", JSON_FIELD_INTEGER, PLACE(arch.experts_per_token), 0, 1,
         ARCH_EXPERTS_MAX, NULL},
        {"n_shared_experts", JSON_FIELD_INTEGER, PLACE(shared_experts), OPTIONAL, 0,
         ARCH_SHARED_MAX, NULL},
        {"first_k_dense_replace", JSON_FIELD_INTEGER, PLACE(arch.dense_layers), OPTIONAL, 0,
         ARCH_LAYERS_MAX, NULL},
        {"moe_layer_freq", JSON_FIELD_INTEGER, PLACE(layer_freq), OPTIONAL, 1, ARCH_LAYERS_MAX,
         NULL},
        {"num_nextn_predict_layers", JSON_FIELD_INTEGER, PLACE(arch.mtp_layers), OPTIONAL, 0,
         ARCH_MTP_MAX, NULL},
        {"n_group", JSON_FIELD_INTEGER, PLACE(arch.router_groups), OPTIONAL, 1,
         ARCH_EXPERTS_MAX, NULL},
        {"topk_group", JSON_FIELD_INTEGER, PLACE(arch.router_groups_per_token), OPTIONAL, 1,
         ARCH_EXPERTS_MAX, NULL},
        {"scoring_func", JSON_FIELD_STRING, PLACE(scoring), OPTIONAL, 0, 0, NULL},
        {"topk_method", JSON_FIELD_STRING, PLACE(method), OPTIONAL, 0, 0, NULL},
    };
    arch_read_fields(config, fields, sizeof fields / sizeof fields[0], out, errors);
    out->arch.router = ROUTER_LINEAR;
    out->arch.shared_ffn = out->shared_experts * out->arch.expert_ffn;
    if (out->layer_freq > 1)
        json_fail(json_member(config, "moe_layer_freq"), errors,
                  "is %lld: layers without experts among the others are not modelled, wanted 1",
                  (long long)out->layer_freq);
    if (out->arch.dense_layers > out->arch.layers && out->arch.layers > 0)
        json_fail(json_member(config, "first_k_dense_replace"), errors,
                  "is %lld, but the model has only %lld layers",
                  (long long)out->arch.dense_layers, (long long)out->arch.layers);
}

static void
read_router(const struct json *config, struct mla_config *out, struct error_list *errors)
{
    struct arch *arch = &out->arch;
    bool is_sigmoid = strcmp(out->scoring, "sigmoid") == 0;
    if (!is_sigmoid && strcmp(out->scoring, "softmax") != 0)
        json_fail(json_member(config, "scoring_func"), errors,
                  "is '%.40s', wanted softmax or sigmoid", out->scoring);
    arch->is_router_sigmoid = is_sigmoid;
    arch->has_balancing_bias = strcmp(out->method, "noaux_tc") == 0;
    if (arch->router_groups <= 1) /* one group is no limit */
        arch->router_groups = arch->router_groups_per_token = 0;
    else if (arch->experts % arch->router_groups != 0)
        json_fail(json_member(config, "n_group"), errors,
                  "%lld groups do not divide the %lld experts", (long long)arch->router_groups,
                  (long long)arch->experts);
    else if (arch->router_groups_per_token < 1 ||
             arch->router_groups_per_token > arch->router_groups)
        json_fail(json_member(config, "n_group"), errors,
                  "'topk_group' is %lld, wanted 1 to the %lld groups",
                  (long long)arch->router_groups_per_token, (long long)arch->router_groups);
}

static void
read_mla(const struct json *config, struct mla_config *out, struct error_list *errors)
{
    read_attention(config, out, errors);
    read_feed_forward(config, out, errors);
    read_router(config, out, errors);
}

void
arch_read_deepseek_v2(const struct json *config, struct arch *arch, struct error_list *errors)
{
    struct mla_config out = {.arch = *arch, .scoring = "softmax", .method = "greedy"};
    read_mla(config, &out, errors);
    *arch = out.arch;
}

void
arch_read_deepseek_v3(const struct json *config, struct arch *arch, struct error_list *errors)
{
    struct mla_config out = {.arch = *arch, .scoring = "sigmoid", .method = "noaux_tc"};
    out.arch.dense_layers = 3; /* the class's default */
    read_mla(config, &out, errors);
    *arch = out.arch;
}
