/* The project's own form of a model, for sweeps: every size is a field, under the name it has in
 * struct arch and in `stepcast model show --json`.
 *
 *   {"model_type": "stepcast", "layers": 40, "hidden": 2048, "vocab": 262272,
 *    "attention": "ccgqa", "head_dim": 128, "query_compression": 2, "kv_compression": 8, ...}
 *
 * How narrow attention is may be said by heads and ranks, or by factors against the model's width E
 * (arXiv 2510.04476), so that kinds can be compared at one size of their cache:
 *
 *            query_compression C1             kv_compression C2
 *   mha      -                                -
 *   gqa      -                                key-value heads E / C2 wide together
 *   mla      rank of queries E / C1           rank of keys and values E / C2
 *   cca      query heads E / C1 wide          key-value heads E / C1 wide (no C2)
 *   ccgqa    query heads E / C1 wide          key-value heads E / C2 wide */
#include <math.h>
#include <string.h>

#include "models/arch_dialect.h"

enum own_attention { OWN_MHA, OWN_GQA, OWN_MLA, OWN_CCA, OWN_CCGQA };
static const char *const ATTENTION_NAMES[] = {"mha", "gqa", "mla", "cca", "ccgqa", NULL};
static const char *const WINDOW_NAMES[] = {"none", "all", "even", NULL};
static const char *const ROUTER_NAMES[] = {"linear", "mlp", NULL};

enum { COMPRESSION_MAX = 1 << 16 };

struct own_config {
    struct arch arch;
    enum own_attention attention;
    double query_compression, kv_compression; /* 0: not given */
};

#define SIZE(member, flags, minimum, maximum)                                                  \
    {                                                                                          \
#member, JSON_FIELD_INTEGER, offsetof(struct own_config, arch.member), flags, minimum, \
            maximum, NULL                                                                      \
    }
#define SWITCH(member)                                                                         \
    {                                                                                          \
#member, JSON_FIELD_BOOL, offsetof(struct own_config, arch.member), JSON_OPTIONAL, 0,  \
            0, NULL                                                                            \
    }

static const struct json_field FIELDS[] = {
    {"name", JSON_FIELD_STRING, offsetof(struct own_config, arch.name), JSON_OPTIONAL, 0, 0,
     NULL},
    SIZE(layers, 0, 1, ARCH_LAYERS_MAX),
    SIZE(hidden, 0, 1, ARCH_HIDDEN_MAX),
    SIZE(vocab, 0, 1, ARCH_VOCAB_MAX),
    {"context_tokens_max", JSON_FIELD_INTEGER, offsetof(struct own_config, arch.context_max),
     JSON_OPTIONAL, 0, ARCH_CONTEXT_MAX, NULL},
    SWITCH(is_embedding_tied),
    {"attention", JSON_FIELD_CHOICE, offsetof(struct own_config, attention), 0, 0, 0,
     ATTENTION_NAMES},
    SIZE(query_heads, JSON_OPTIONAL, 1, ARCH_HEADS_MAX),
    SIZE(kv_heads, JSON_OPTIONAL, 1, ARCH_HEADS_MAX),
    SIZE(head_dim, JSON_OPTIONAL, 1, ARCH_HEAD_DIM_MAX),
    SIZE(value_head_dim, JSON_OPTIONAL, 1, ARCH_HEAD_DIM_MAX),
    {"query_compression", JSON_FIELD_REAL, offsetof(struct own_config, query_compression),
     JSON_OPTIONAL, 0.001, COMPRESSION_MAX, NULL},
    {"kv_compression", JSON_FIELD_REAL, offsetof(struct own_config, kv_compression),
     JSON_OPTIONAL, 0.001, COMPRESSION_MAX, NULL},
    {"rotary_fraction", JSON_FIELD_REAL, offsetof(struct own_config, arch.rotary_fraction),
     JSON_OPTIONAL, 0, 1, NULL},
    SIZE(query_rank, JSON_OPTIONAL, 0, ARCH_RANK_MAX),
    SIZE(kv_rank, JSON_OPTIONAL, 0, ARCH_RANK_MAX),
    SIZE(rotary_head_dim, JSON_OPTIONAL, 0, ARCH_HEAD_PART_MAX),
    SIZE(sequence_taps, JSON_OPTIONAL, 0, ARCH_TAPS_MAX),
    SIZE(channel_taps, JSON_OPTIONAL, 0, ARCH_TAPS_MAX),
    {"window", JSON_FIELD_CHOICE, offsetof(struct own_config, arch.window), JSON_OPTIONAL, 0, 0,
     WINDOW_NAMES},
    SIZE(window_tokens, JSON_OPTIONAL, 0, ARCH_CONTEXT_MAX),
    SIZE(experts, JSON_OPTIONAL, 0, ARCH_EXPERTS_MAX),
    SIZE(experts_per_token, JSON_OPTIONAL, 0, ARCH_EXPERTS_MAX),
    SIZE(expert_ffn, JSON_OPTIONAL, 0, ARCH_FFN_MAX),
    SIZE(shared_ffn, JSON_OPTIONAL, 0, (double)ARCH_FFN_MAX *ARCH_SHARED_MAX),
    SIZE(dense_ffn, JSON_OPTIONAL, 0, ARCH_FFN_MAX),
    SIZE(dense_layers, JSON_OPTIONAL, 0, ARCH_LAYERS_MAX),
    {"router", JSON_FIELD_CHOICE, offsetof(struct own_config, arch.router), JSON_OPTIONAL, 0, 0,
     ROUTER_NAMES},
    SIZE(router_hidden, JSON_OPTIONAL, 0, ARCH_ROUTER_HIDDEN_MAX),
    SIZE(router_groups, JSON_OPTIONAL, 0, ARCH_EXPERTS_MAX),
    SIZE(router_groups_per_token, JSON_OPTIONAL, 0, ARCH_EXPERTS_MAX),
    SIZE(mtp_layers, JSON_OPTIONAL, 0, ARCH_MTP_MAX),
    SWITCH(has_router_average),
    SWITCH(has_skip_route),
    SWITCH(is_router_sigmoid),
    SWITCH(has_balancing_bias),
    SWITCH(has_residual_scaling),
    SWITCH(is_residual_fp32),
    SWITCH(has_query_key_norm),
    SWITCH(is_query_key_norm_whole),
    SWITCH(has_attention_bias),
    SWITCH(has_attention_sinks),
    SWITCH(has_ffn_bias),
    SWITCH(is_ffn_plain),
    SWITCH(has_router_bias),
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS };

static const struct json *
place_of(const struct json *config, const char *key)
{
    const struct json *value = json_member(config, key);
    return value ? value : config;
}

/* hidden / factor as that many parts of `part` each; 0 after a fault. */
static int64_t
parts_of(const struct json *config, const char *key, const struct own_config *own, int64_t part,
         struct error_list *errors)
{
    bool is_query = strcmp(key, "query_compression") == 0;
    double factor = is_query ? own->query_compression : own->kv_compression;
    double parts = (double)own->arch.hidden / factor / (double)part;
    if (parts < 1 || parts > ARCH_RANK_MAX || fabs(parts - floor(parts + 0.5)) > 1e-9) {
        json_fail(
            place_of(config, key), errors,
            "is %g: the %lld channels of the model so compressed are not whole %s of %lld",
            factor, (long long)own->arch.hidden, part == 1 ? "channels" : "heads",
            (long long)part);
        return 0;
    }
    return (int64_t)floor(parts + 0.5);
}

/* A size that a factor gives, or that is given itself; both must agree. */
struct compressed {
    const char *size_key, *factor_key;
    int64_t part; /* channels that one of the size is */
};

static void
settle(const struct json *config, const struct compressed *which, const struct own_config *own,
       int64_t *size, struct error_list *errors)
{
    if (!json_member(config, which->factor_key) || own->arch.hidden == 0 || which->part == 0)
        return;
    int64_t given = *size;
    *size = parts_of(config, which->factor_key, own, which->part, errors);
    if (given > 0 && *size > 0 && given != *size)
        json_fail(place_of(config, which->size_key), errors, "is %lld, but '%s' makes it %lld",
                  (long long)given, which->factor_key, (long long)*size);
}

static void
refuse_factor(const struct json *config, const char *key, enum own_attention kind,
              struct error_list *errors)
{
    if (json_member(config, key))
        json_fail(json_member(config, key), errors, "says nothing of %s attention",
                  ATTENTION_NAMES[kind]);
}

static void
require(const struct json *config, const char *key, int64_t size, struct error_list *errors)
{
    if (size > 0)
        return;
    if (json_member(config, key))
        json_fail(json_member(config, key), errors, "is 0, wanted at least 1");
    else
        json_fail(config, errors, "lacks the key '%s' (an integer)", key);
}

/* Heads and ranks of each kind, from factors where they are given. */
static void
settle_attention(const struct json *config, struct own_config *own, struct error_list *errors)
{
    struct arch *arch = &own->arch;
    const struct compressed query_heads = {"query_heads", "query_compression", arch->head_dim};
    const struct compressed kv_heads = {"kv_heads", "kv_compression", arch->head_dim};
    const struct compressed query_rank = {"query_rank", "query_compression", 1};
    const struct compressed kv_rank = {"kv_rank", "kv_compression", 1};
    switch (own->attention) {
    case OWN_MHA:
    case OWN_GQA:
        refuse_factor(config, "query_compression", own->attention, errors);
        if (own->attention == OWN_MHA)
            refuse_factor(config, "kv_compression", own->attention, errors);
        else
            settle(config, &kv_heads, own, &arch->kv_heads, errors);
        break;
    case OWN_MLA:
        settle(config, &query_rank, own, &arch->query_rank, errors);
        settle(config, &kv_rank, own, &arch->kv_rank, errors);
        break;
    case OWN_CCA:
        refuse_factor(config, "kv_compression", own->attention, errors);
        settle(config, &query_heads, own, &arch->query_heads, errors);
        break;
    case OWN_CCGQA:
        settle(config, &query_heads, own, &arch->query_heads, errors);
        settle(config, &kv_heads, own, &arch->kv_heads, errors);
        break;
    }
}

/* As many key-value heads as query heads where the kind says so, or nothing says otherwise. */
static void
settle_heads(const struct json *config, struct own_config *own, struct error_list *errors)
{
    static const enum attention_kind kinds[] = {ATTENTION_GQA, ATTENTION_GQA, ATTENTION_MLA,
                                                ATTENTION_CCA, ATTENTION_CCA};
    struct arch *arch = &own->arch;
    bool has_equal_heads =
        own->attention == OWN_MHA || own->attention == OWN_MLA || own->attention == OWN_CCA;
    arch->attention = kinds[own->attention];
    if (arch->kv_heads == 0 && has_equal_heads)
        arch->kv_heads = arch->query_heads;
    if (has_equal_heads && arch->kv_heads != arch->query_heads)
        json_fail(place_of(config, "kv_heads"), errors,
                  "is %lld: %s attention has as many as query heads, %lld",
                  (long long)arch->kv_heads, ATTENTION_NAMES[own->attention],
                  (long long)arch->query_heads);
    require(config, "head_dim", arch->head_dim, errors);
    require(config, "query_heads", arch->query_heads, errors);
    require(config, "kv_heads", arch->kv_heads, errors);
}

static void
check_mla(const struct json *config, struct arch *arch, struct error_list *errors)
{
    if (arch->attention != ATTENTION_MLA) {
        const char *const keys[] = {"query_rank", "kv_rank", "rotary_head_dim",
                                    "value_head_dim"};
        const int64_t sizes[] = {arch->query_rank, arch->kv_rank, arch->rotary_head_dim,
                                 arch->value_head_dim == arch->head_dim ? 0
                                                                        : arch->value_head_dim};
        for (int i = 0; i < 4; i++)
            if (sizes[i] > 0)
                json_fail(place_of(config, keys[i]), errors, "is of mla attention only");
        return;
    }
    require(config, "kv_rank", arch->kv_rank, errors);
    if (arch->rotary_head_dim > arch->head_dim)
        json_fail(place_of(config, "rotary_head_dim"), errors,
                  "is %lld, more than the %lld channels of a head",
                  (long long)arch->rotary_head_dim, (long long)arch->head_dim);
    else if (arch->head_dim > 0)
        arch->rotary_fraction = (double)arch->rotary_head_dim / (double)arch->head_dim;
}

static void
check_cca(const struct json *config, struct arch *arch, struct error_list *errors)
{
    enum { TAPS_DEFAULT = 2 }; /* as in ZAYA1 */
    if (arch->attention != ATTENTION_CCA) {
        arch->sequence_taps = arch->channel_taps = 0;
        return;
    }
    if (!json_member(config, "sequence_taps"))
        arch->sequence_taps = TAPS_DEFAULT;
    if (!json_member(config, "channel_taps"))
        arch->channel_taps = TAPS_DEFAULT;
    require(config, "sequence_taps", arch->sequence_taps, errors);
    require(config, "channel_taps", arch->channel_taps, errors);
    if (arch_kv_width(arch) % 2 != 0)
        json_fail(place_of(config, "kv_heads"), errors,
                  "%lld channels of values cannot be halved for the value shift",
                  (long long)arch_kv_width(arch));
}

static void
check_feed_forward(const struct json *config, const struct arch *arch,
                   struct error_list *errors)
{
    if (arch->dense_layers > arch->layers && arch->layers > 0)
        json_fail(place_of(config, "dense_layers"), errors,
                  "is %lld, but the model has only %lld layers", (long long)arch->dense_layers,
                  (long long)arch->layers);
    if (arch->experts == 0 || arch->dense_layers > 0)
        require(config, "dense_ffn", arch->dense_ffn, errors);
    if (arch->experts == 0)
        return;
    if (arch->is_ffn_plain)
        json_fail(place_of(config, "is_ffn_plain"), errors,
                  "is true, but the model has experts, which have a gate");
    require(config, "experts_per_token", arch->experts_per_token, errors);
    require(config, "expert_ffn", arch->expert_ffn, errors);
    if (arch->router == ROUTER_MLP)
        require(config, "router_hidden", arch->router_hidden, errors);
    if (arch->router_groups > 0 && arch->experts % arch->router_groups != 0)
        json_fail(place_of(config, "router_groups"), errors,
                  "%lld groups do not divide the %lld experts", (long long)arch->router_groups,
                  (long long)arch->experts);
}

void
arch_read_own(const struct json *config, struct arch *arch, struct error_list *errors)
{
    static const char *const also[] = {"model_type", NULL};
    static const struct json_object_type type = {"a model", FIELDS, FIELD_COUNT, also};
    struct own_config own = {.arch = *arch};
    bool is_read = json_read_object(config, &type, &own, errors);
    if (is_read) {
        settle_attention(config, &own, errors);
        settle_heads(config, &own, errors);
        check_mla(config, &own.arch, errors);
        check_cca(config, &own.arch, errors);
        check_feed_forward(config, &own.arch, errors);
        if (own.arch.window == WINDOW_NONE && own.arch.window_tokens > 0)
            json_fail(place_of(config, "window_tokens"), errors,
                      "is %lld, but 'window' is none", (long long)own.arch.window_tokens);
    }
    *arch = own.arch;
}

static enum own_attention
own_attention_of(const struct arch *arch)
{
    bool has_groups = arch->kv_heads != arch->query_heads;
    if (arch->attention == ATTENTION_MLA)
        return OWN_MLA;
    if (arch->attention == ATTENTION_CCA)
        return has_groups ? OWN_CCGQA : OWN_CCA;
    return has_groups ? OWN_GQA : OWN_MHA;
}

static void
write_field(struct json_writer *writer, const struct json_field *field,
            const struct own_config *own)
{
    const char *at = (const char *)own + field->offset;
    switch (field->type) {
    case JSON_FIELD_BOOL:
        json_write_bool_at(writer, field->key, *(const bool *)at);
        break;
    case JSON_FIELD_INTEGER:
        json_write_integer_at(writer, field->key, *(const int64_t *)(const void *)at);
        break;
    case JSON_FIELD_REAL:
        json_write_real_at(writer, field->key, *(const double *)(const void *)at);
        break;
    case JSON_FIELD_CHOICE:
        json_write_string_at(writer, field->key,
                             field->choices[*(const int *)(const void *)at]);
        break;
    case JSON_FIELD_STRING:
        json_write_string_at(writer, field->key, *(const char *const *)(const void *)at);
        break;
    case JSON_FIELD_VALUE:
        break;
    }
}

void
arch_write(struct json_writer *writer, const struct arch *arch)
{
    struct own_config own = {.arch = *arch, .attention = own_attention_of(arch)};
    own.arch.value_head_dim = arch_value_head_dim(arch);
    json_write_begin_object(writer);
    json_write_string_at(writer, "model_type", "stepcast");
    for (int i = 0; i < FIELD_COUNT; i++)
        if (strstr(FIELDS[i].key, "_compression") == NULL)
            write_field(writer, &FIELDS[i], &own);
    json_write_end_object(writer);
}
