/* Points of two results under one name each.
 *
 *      store   ZAYA1-base: cluster.nodes=8 plan.zero_stage=1       key   plan.zero_stage=1
 *      CSV                 plan.zero_stage=1                       key   plan.zero_stage=1
 *
 * The run's name is the store's alone, and the nodes are set alike in all of its points. */
#include "sim/cli/results.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"

static bool
is_store(const struct results *results)
{
    return results->count > 0 && *results->items[0].run;
}

static bool
has_setting(const struct result *result, const char *setting, size_t length)
{
    for (size_t i = 0; i < result->setting_count; i++)
        if (strncmp(result->settings[i], setting, length) == 0)
            return true;
    return false;
}

/* Settings that say nothing of which point it is: of all of these, of none of those. */
static bool
is_common(const struct results *own, const struct results *other, const char *setting)
{
    for (size_t i = 0; i < own->count; i++)
        if (!has_setting(&own->items[i], setting, strlen(setting) + 1))
            return false;
    for (size_t i = 0; i < other->count; i++)
        if (has_setting(&other->items[i], setting, strcspn(setting, "=") + 1))
            return false;
    return true;
}

struct common {
    const char **settings;
    size_t count;
};

/* Each is a setting of the first point. */
static struct common
list_common(const struct results *own, const struct results *other, struct arena *arena)
{
    struct common common = {0};
    if (own->count == 0 || is_store(own) == is_store(other))
        return common;
    const struct result *first = &own->items[0];
    common.settings = arena_alloc(arena, first->setting_count + 1, sizeof(char *));
    for (size_t i = 0; i < first->setting_count; i++)
        if (is_common(own, other, first->settings[i]))
            common.settings[common.count++] = first->settings[i];
    return common;
}

static bool
is_listed(const struct common *common, const char *setting)
{
    for (size_t i = 0; i < common->count; i++)
        if (strcmp(common->settings[i], setting) == 0)
            return true;
    return false;
}

static int
compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
set_keys(struct results *own, const struct results *other, struct arena *arena)
{
    struct common common = list_common(own, other, arena);
    for (size_t i = 0; i < own->count; i++) {
        struct result *result = &own->items[i];
        struct text key = text_new(arena);
        if (result->setting_count > 0)
            qsort(result->settings, result->setting_count, sizeof *result->settings,
                  compare_texts);
        if (is_store(own) && is_store(other))
            text_format(&key, "%s\n", result->run);
        for (size_t j = 0; j < result->setting_count; j++)
            if (!is_listed(&common, result->settings[j]))
                text_format(&key, "%s\n", result->settings[j]);
        result->key = key.bytes ? key.bytes : "";
    }
}

static int
compare_results(const void *a, const void *b)
{
    const struct result *one = a, *two = b;
    int order = strcmp(one->key, two->key);
    return order ? order : (one->order > two->order) - (one->order < two->order);
}

static void
sort(struct results *results)
{
    if (results->count > 0)
        qsort(results->items, results->count, sizeof *results->items, compare_results);
}

static bool
check_runs(const struct results *store, const struct results *other, struct error_list *errors)
{
    for (size_t i = 1; is_store(store) && !is_store(other) && i < store->count; i++) {
        const struct result *one = &store->items[i - 1], *two = &store->items[i];
        if (strcmp(one->key, two->key) == 0 && strcmp(one->run, two->run) != 0)
            return error_add(errors, ERROR_INPUT, store->path,
                             "has that point of two runs, \"%.60s\" and \"%.60s\", and "
                             "%.120s does not say of which it is: wanted a store of one run",
                             one->run, two->run, other->path);
    }
    return true;
}

bool
results_align(struct results *a, struct results *b, struct arena *arena,
              struct error_list *errors)
{
    set_keys(a, b, arena);
    set_keys(b, a, arena);
    sort(a);
    sort(b);
    return check_runs(a, b, errors) && check_runs(b, a, errors);
}
