/* Low-rank adapters: reading what a plan says of them, and what they compute. */
#include "models/adapters.h"

#include <stddef.h>
#include <string.h>

enum { RANK_MAX = 1 << 16 };

static const char *const MODULE_NAMES[] = {"query_key_value", "attention_output", "gate_up",
                                           "down"};
enum { MODULE_COUNT = ADAPTED_NONE };

struct adapters_reader {
    struct adapters adapters;
    const struct json *modules;
};

static const struct json_field FIELDS[] = {
    {"rank", JSON_FIELD_INTEGER, offsetof(struct adapters_reader, adapters.rank), 0, 1,
     RANK_MAX, NULL},
    {"alpha", JSON_FIELD_REAL, offsetof(struct adapters_reader, adapters.alpha), 0, 1e-6, 1e6,
     NULL},
    {"dropout_fraction", JSON_FIELD_REAL,
     offsetof(struct adapters_reader, adapters.dropout_fraction), JSON_OPTIONAL, 0, 0.99, NULL},
    {"modules", JSON_FIELD_VALUE, offsetof(struct adapters_reader, modules), 0, 0, 0, NULL},
};
static const struct json_object_type TYPE = {"adapters", FIELDS, sizeof FIELDS / sizeof *FIELDS,
                                             NULL};

static int
find_module(const struct json *value)
{
    int module = 0;
    if (json_kind(value) != JSON_KIND_STRING)
        return MODULE_COUNT;
    while (module < MODULE_COUNT && strcmp(json_as_string(value), MODULE_NAMES[module]) != 0)
        module++;
    return module;
}

static bool
read_modules(const struct json *list, struct adapters *adapters, struct error_list *errors)
{
    if (json_kind(list) != JSON_KIND_ARRAY || json_count(list) == 0)
        return json_fail(list, errors,
                         "wanted a list of modules, such as [\"query_key_value\", "
                         "\"attention_output\"]");
    for (size_t i = 0; i < json_count(list); i++) {
        int module = find_module(json_element(list, i));
        if (module == MODULE_COUNT)
            return json_fail(json_element(list, i), errors,
                             "wanted query_key_value, attention_output, gate_up or down");
        adapters->modules |= 1u << module;
    }
    return true;
}

const struct adapters *
adapters_read(const struct json *object, struct arena *arena, struct error_list *errors)
{
    struct adapters_reader reader = {.modules = NULL};
    if (!json_read_object(object, &TYPE, &reader, errors) ||
        !read_modules(reader.modules, &reader.adapters, errors))
        return NULL;
    return arena_copy(arena, &reader.adapters, sizeof reader.adapters);
}

bool
adapters_check(const struct adapters *adapters, const struct json *object,
               const struct arch *arch, struct error_list *errors)
{
    unsigned of_feed_forward = 1u << ADAPTED_GATE_UP | 1u << ADAPTED_DOWN;
    bool has_dense = arch->experts == 0 || arch->dense_layers > 0;
    if (adapters->rank > arch->hidden)
        return error_add(errors, ERROR_INFEASIBLE, json_where(json_member(object, "rank")),
                         "%lld is more than the %lld channels of %s", (long long)adapters->rank,
                         (long long)arch->hidden, arch->name);
    if (adapters->modules & of_feed_forward && !has_dense)
        return error_add(errors, ERROR_INFEASIBLE, json_where(json_member(object, "modules")),
                         "%s has routed experts in every layer, whose adapters are not "
                         "modelled, wanted query_key_value or attention_output",
                         arch->name);
    return true;
}

/* By the names that models/operators_attention.c and models/operators_feed_forward.c give. */
enum adapted_module
adapters_module_of(const char *operator_name)
{
    static const struct {
        const char *name;
        enum adapted_module module;
    } products[] = {
        {"query_key_value", ADAPTED_QUERY_KEY_VALUE},
        {"query", ADAPTED_QUERY_KEY_VALUE},
        {"key", ADAPTED_QUERY_KEY_VALUE},
        {"value", ADAPTED_QUERY_KEY_VALUE},
        {"cca_query", ADAPTED_QUERY_KEY_VALUE},
        {"cca_key", ADAPTED_QUERY_KEY_VALUE},
        {"cca_value_now", ADAPTED_QUERY_KEY_VALUE},
        {"cca_value_before", ADAPTED_QUERY_KEY_VALUE},
        {"mla_query", ADAPTED_QUERY_KEY_VALUE},
        {"mla_query_down", ADAPTED_QUERY_KEY_VALUE},
        {"mla_query_up", ADAPTED_QUERY_KEY_VALUE},
        {"mla_key_value_down", ADAPTED_QUERY_KEY_VALUE},
        {"mla_key_value_up", ADAPTED_QUERY_KEY_VALUE},
        {"attention_output", ADAPTED_ATTENTION_OUTPUT},
        {"gate_up", ADAPTED_GATE_UP},
        {"gate_projection", ADAPTED_GATE_UP},
        {"up_projection", ADAPTED_GATE_UP},
        {"up", ADAPTED_GATE_UP},
        {"down", ADAPTED_DOWN},
    };
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (strcmp(operator_name, products[i].name) == 0)
            return products[i].module;
    return ADAPTED_NONE;
}

bool
adapters_has(const struct adapters *adapters, enum adapted_module module)
{
    return module != ADAPTED_NONE && adapters->modules >> module & 1;
}

struct token_flop
adapters_flop(const struct token_flop *whole, double trained_parameters)
{
    enum { FLOP_PER_MULTIPLY_ADD = 2, PRODUCTS = 3 };
    struct token_flop flop = *whole;
    double forward = FLOP_PER_MULTIPLY_ADD * trained_parameters;
    double full_mask_core = whole->attention_core + whole->forward_full_mask - whole->forward;
    flop.train = 2 * whole->forward + whole->attention_core + PRODUCTS * forward;
    flop.train_full_mask = 2 * whole->forward_full_mask + full_mask_core + PRODUCTS * forward;
    flop.forward += forward;
    flop.forward_full_mask += forward;
    return flop;
}
