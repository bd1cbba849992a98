/* Which family a config.json is of, what all families share, and the sizes that follow. */
#include "models/arch.h"

#include <string.h>

#include "models/arch_dialect.h"
#include "sim/base/spelling.h"

enum { MISSPELT_EDITS_MAX = 2 };

struct family {
    const char *model_type;
    void (*read)(const struct json *config, struct arch *arch, struct error_list *errors);
};

static const struct family FAMILIES[] = {
    {"zaya", arch_read_zaya},
    {"llama", arch_read_llama},
    {"mixtral", arch_read_mixtral},
    {"qwen3_moe", arch_read_qwen3_moe},
    {"olmoe", arch_read_olmoe},
    {"gpt_oss", arch_read_gpt_oss},
    {"deepseek_v2", arch_read_deepseek_v2},
    {"deepseek_v3", arch_read_deepseek_v3},
    {"kimi_k2", arch_read_deepseek_v3},
    {"stepcast", arch_read_own},
};

enum { FAMILY_COUNT = sizeof FAMILIES / sizeof FAMILIES[0] };

static const char FAMILY_LIST[] = "zaya, llama, mixtral, qwen3_moe, olmoe, gpt_oss, "
                                  "deepseek_v2, deepseek_v3, kimi_k2, stepcast";

static const struct json *
member_not_null(const struct json *object, const char *key)
{
    const struct json *member = json_member(object, key);
    return member && json_kind(member) != JSON_KIND_NULL ? member : NULL;
}

const struct json *
arch_place(const struct json *config, const char *const *keys)
{
    for (; *keys; keys++)
        if (member_not_null(config, *keys))
            return json_member(config, *keys);
    return config;
}

static bool
is_field(const struct json_field *fields, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].key, key) == 0)
            return true;
    return false;
}

static void
check_spelling(const struct json *config, const struct json_field *fields, size_t count,
               struct error_list *errors)
{
    for (size_t k = 0; k < json_count(config); k++) {
        const char *key = json_key(config, k);
        if (is_field(fields, count, key))
            continue;
        for (size_t i = 0; i < count; i++)
            if (!json_member(config, fields[i].key) &&
                spelling_distance(key, fields[i].key) <= MISSPELT_EDITS_MAX)
                json_fail(json_member(config, key), errors,
                          "is an unknown key, did you mean '%s'?", fields[i].key);
    }
}

void
arch_read_fields(const struct json *config, const struct json_field *fields, size_t count,
                 void *out, struct error_list *errors)
{
    static const char *const every_key[] = {"*", NULL};
    struct json_object_type type = {"a model's config", fields, count, every_key};
    json_read_object(config, &type, out, errors);
    check_spelling(config, fields, count, errors);
}

void
arch_read_common(const struct json *config, struct arch *arch, struct error_list *errors)
{
    static const struct json_field fields[] = {
        {"hidden_size", JSON_FIELD_INTEGER, offsetof(struct arch, hidden), 0, 1,
         ARCH_HIDDEN_MAX, NULL},
        {"vocab_size", JSON_FIELD_INTEGER, offsetof(struct arch, vocab), 0, 1, ARCH_VOCAB_MAX,
         NULL},
        {"max_position_embeddings", JSON_FIELD_INTEGER, offsetof(struct arch, context_max), 0,
         1, ARCH_CONTEXT_MAX, NULL},
        {"tie_word_embeddings", JSON_FIELD_BOOL, offsetof(struct arch, is_embedding_tied),
         JSON_OPTIONAL, 0, 0, NULL},
        {"attention_bias", JSON_FIELD_BOOL, offsetof(struct arch, has_attention_bias),
         JSON_OPTIONAL, 0, 0, NULL},
    };
    arch_read_fields(config, fields, sizeof fields / sizeof fields[0], arch, errors);
}

/* Sliding, full, sliding, full, ... */
static bool
is_alternating(const struct json *list, struct arch_window_names names)
{
    for (size_t i = 0; i < json_count(list); i++) {
        const char *wanted = i % 2 == 0 ? names.sliding : names.full;
        if (strcmp(json_as_string(json_element(list, i)), wanted) != 0)
            return false;
    }
    return true;
}

static bool
is_all(const struct json *list, const char *name)
{
    for (size_t i = 0; i < json_count(list); i++)
        if (strcmp(json_as_string(json_element(list, i)), name) != 0)
            return false;
    return true;
}

static bool
are_names(const struct json *list, struct arch_window_names names, struct error_list *errors)
{
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *item = json_element(list, i);
        const char *name = json_kind(item) == JSON_KIND_STRING ? json_as_string(item) : "";
        if (strcmp(name, names.full) != 0 && strcmp(name, names.sliding) != 0)
            return json_fail(item, errors, "is not a kind of layer known here, wanted %s or %s",
                             names.full, names.sliding);
    }
    return true;
}

void
arch_read_window(const struct json *layer_types, struct arch_window_names names,
                 struct arch *arch, struct error_list *errors)
{
    if (!layer_types || json_kind(layer_types) == JSON_KIND_NULL)
        return;
    if (json_kind(layer_types) != JSON_KIND_ARRAY) {
        json_fail(layer_types, errors, "is not a list of layer kinds");
        return;
    }
    if (arch->layers > 0 && (int64_t)json_count(layer_types) != arch->layers) {
        json_fail(layer_types, errors,
                  "has %zu entries, wanted one for each of the %lld layers",
                  json_count(layer_types), (long long)arch->layers);
        return;
    }
    if (!are_names(layer_types, names, errors))
        return;
    if (is_all(layer_types, names.full))
        arch->window = WINDOW_NONE;
    else if (is_all(layer_types, names.sliding))
        arch->window = WINDOW_ALL;
    else if (is_alternating(layer_types, names))
        arch->window = WINDOW_EVEN;
    else
        json_fail(
            layer_types, errors,
            "is a pattern that is not modelled, wanted all %s, all %s, or %s and %s by turns",
            names.full, names.sliding, names.sliding, names.full);
}

static void
check_heads(const struct json *config, const struct arch *arch, struct error_list *errors)
{
    static const char *const kv_keys[] = {"num_query_groups_list",
                                          "num_query_groups",
                                          "num_key_value_heads",
                                          "num_attention_heads",
                                          "kv_heads",
                                          "query_heads",
                                          NULL};
    if (arch->query_heads <= 0 || arch->kv_heads <= 0)
        return;
    if (arch->query_heads % arch->kv_heads != 0)
        json_fail(arch_place(config, kv_keys), errors,
                  "%lld key-value heads do not divide the %lld query heads",
                  (long long)arch->kv_heads, (long long)arch->query_heads);
}

static void
check_experts(const struct json *config, const struct arch *arch, struct error_list *errors)
{
    static const char *const keys[] = {"num_experts_per_tok", "moe_router_topk",
                                       "experts_per_token", NULL};
    if (arch->experts > 0 && arch->experts_per_token > arch->experts)
        json_fail(arch_place(config, keys), errors,
                  "each token visits %lld experts, but there are only %lld",
                  (long long)arch->experts_per_token, (long long)arch->experts);
}

static void
check_window(const struct json *config, struct arch *arch, struct error_list *errors)
{
    static const char *const keys[] = {"sliding_window", "layer_types", "window", NULL};
    if (arch->window == WINDOW_NONE)
        arch->window_tokens = 0;
    else if (arch->window_tokens == 0)
        json_fail(
            arch_place(config, keys), errors, "some layers slide, but '%s' gives no width",
            strcmp(arch->model_type, "stepcast") == 0 ? "window_tokens" : "sliding_window");
}

static void
refuse_family(const struct json *type, const char *name, struct error_list *errors)
{
    const char *names[FAMILY_COUNT];
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        names[i] = FAMILIES[i].model_type;
    const char *nearest = spelling_nearest(name, names, FAMILY_COUNT);
    if (nearest)
        json_fail(type, errors, "is '%.40s', did you mean '%s'? supported: %s", name, nearest,
                  FAMILY_LIST);
    else
        json_fail(type, errors, "is '%.40s', supported: %s", name, FAMILY_LIST);
}

static const struct family *
find_family(const struct json *config, struct error_list *errors)
{
    const struct json *type = json_member(config, "model_type");
    if (!type) {
        json_fail(config, errors, "lacks the key 'model_type', wanted one of: %s", FAMILY_LIST);
        return NULL;
    }
    if (json_kind(type) != JSON_KIND_STRING) {
        json_fail(type, errors, "is not a string, wanted one of: %s", FAMILY_LIST);
        return NULL;
    }
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (strcmp(json_as_string(type), FAMILIES[i].model_type) == 0)
            return &FAMILIES[i];
    refuse_family(type, json_as_string(type), errors);
    return NULL;
}

/* "configs/models/zaya1-base.json" is zaya1-base, "ZAYA1-8B/config.json" is ZAYA1-8B. */
static const char *
name_from_path(const char *path, const char *otherwise, struct arena *arena)
{
    const char *end = path + strlen(path);
    const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (strcmp(file, "config.json") == 0) {
        end = file > path ? file - 1 : path;
        for (file = end; file > path && file[-1] != '/';)
            file--;
    } else if (end - file > 5 && strcmp(end - 5, ".json") == 0) {
        end -= 5;
    }
    bool is_name = end > file && *file != '-' && *file != '.';
    return is_name ? arena_format(arena, "%.*s", (int)(end - file), file) : otherwise;
}

const struct arch *
arch_read(const struct json *config, struct arena *arena, struct error_list *errors)
{
    int faults_before = errors->count;
    if (json_kind(config) != JSON_KIND_OBJECT) {
        json_fail(config, errors, "is not an object, wanted a model's config.json");
        return NULL;
    }
    const struct family *family = find_family(config, errors);
    if (!family)
        return NULL;
    struct arch *arch = arena_alloc(arena, 1, sizeof *arch);
    arch->model_type = family->model_type;
    arch->name = name_from_path(json_file_name(config), family->model_type, arena);
    arch->rotary_fraction = 1;
    family->read(config, arch, errors);
    check_heads(config, arch, errors);
    check_experts(config, arch, errors);
    check_window(config, arch, errors);
    return errors->count == faults_before ? arch : NULL;
}

int64_t
arch_window_tokens(const struct arch *arch, int64_t layer)
{
    bool is_sliding =
        arch->window == WINDOW_ALL || (arch->window == WINDOW_EVEN && layer % 2 == 0);
    return is_sliding ? arch->window_tokens : 0;
}

bool
arch_has_experts(const struct arch *arch, int64_t layer)
{
    return arch->experts > 0 && layer >= arch->dense_layers;
}

int64_t
arch_expert_layers(const struct arch *arch)
{
    return arch->experts > 0 ? arch->layers - arch->dense_layers : 0;
}

int64_t
arch_router_classes(const struct arch *arch)
{
    return arch->experts + (arch->has_skip_route ? 1 : 0);
}

int64_t
arch_query_width(const struct arch *arch)
{
    return arch->query_heads * arch->head_dim;
}

int64_t
arch_kv_width(const struct arch *arch)
{
    return arch->kv_heads * arch->head_dim;
}

int64_t
arch_value_head_dim(const struct arch *arch)
{
    return arch->value_head_dim > 0 ? arch->value_head_dim : arch->head_dim;
}

int64_t
arch_output_width(const struct arch *arch)
{
    return arch->query_heads * arch_value_head_dim(arch);
}

int64_t
arch_kv_cache_elements(const struct arch *arch, int64_t sequence_tokens)
{
    int64_t positions = 0;
    for (int64_t layer = 0; layer < arch->layers; layer++) {
        int64_t window = arch_window_tokens(arch, layer);
        positions += window > 0 && window < sequence_tokens ? window : sequence_tokens;
    }
    int64_t compressed = arch->kv_rank + arch->rotary_head_dim;
    return positions *
           (arch->attention == ATTENTION_MLA ? compressed : 2 * arch_kv_width(arch));
}
