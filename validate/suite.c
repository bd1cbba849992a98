/* Reads the file of error tables and their limits. */
#include "validate/suite.h"

#include <string.h>

#include "sim/base/path.h"
#include "validate/split.h"

/* What the keys of one table are before paths and limits are looked at. */
struct table_reading {
    struct suite_table table;
    const struct json *measured;
    const struct json *again;
    const struct json *overlap;
    const struct json *limits;
};

static const struct json_field table_fields[] = {
    {.key = "title",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct table_reading, table.title)},
    {.key = "device",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct table_reading, table.device),
     .flags = JSON_OPTIONAL},
    {.key = "cluster",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct table_reading, table.cluster),
     .flags = JSON_OPTIONAL},
    {.key = "holds_steps",
     .type = JSON_FIELD_BOOL,
     .offset = offsetof(struct table_reading, table.holds_steps),
     .flags = JSON_OPTIONAL},
    {.key = "forgets_clocks",
     .type = JSON_FIELD_BOOL,
     .offset = offsetof(struct table_reading, table.forgets_clocks),
     .flags = JSON_OPTIONAL},
    {.key = "small_s",
     .type = JSON_FIELD_REAL,
     .offset = offsetof(struct table_reading, table.small_s),
     .flags = JSON_OPTIONAL,
     .minimum = 0,
     .maximum = 1e6},
    {.key = "large_s",
     .type = JSON_FIELD_REAL,
     .offset = offsetof(struct table_reading, table.large_s),
     .flags = JSON_OPTIONAL,
     .minimum = 0,
     .maximum = 1e6},
    {.key = "seed",
     .type = JSON_FIELD_INTEGER,
     .offset = offsetof(struct table_reading, table.seed),
     .flags = JSON_OPTIONAL,
     .minimum = 0,
     .maximum = 1e15},
    {.key = "measured",
     .type = JSON_FIELD_VALUE,
     .offset = offsetof(struct table_reading, measured),
     .flags = JSON_OPTIONAL},
    {.key = "measured_again",
     .type = JSON_FIELD_VALUE,
     .offset = offsetof(struct table_reading, again),
     .flags = JSON_OPTIONAL},
    {.key = "overlap",
     .type = JSON_FIELD_VALUE,
     .offset = offsetof(struct table_reading, overlap),
     .flags = JSON_OPTIONAL},
    {.key = "mape_fraction_max",
     .type = JSON_FIELD_VALUE,
     .offset = offsetof(struct table_reading, limits),
     .flags = JSON_OPTIONAL},
};

static const struct json_object_type table_type = {
    .noun = "an error table",
    .fields = table_fields,
    .field_count = sizeof table_fields / sizeof table_fields[0],
};

struct suite_table
suite_table_new(void)
{
    return (struct suite_table){
        .title = "",
        .device = "",
        .cluster = "",
        .small_s = 10e-6,
        .large_s = 100e-6,
        .seed = SPLIT_SEED_DEFAULT,
    };
}

static bool
read_lists(const struct json *measured, const char *const **out, size_t *out_count,
           struct arena *arena, struct error_list *errors)
{
    size_t count = measured ? json_count(measured) : 0;
    if (!measured)
        return true;
    if (json_kind(measured) != JSON_KIND_ARRAY || count == 0)
        return json_fail(measured, errors, "wanted an array of paths of measured lists");
    const char **lists = arena_alloc(arena, count, sizeof *lists);
    for (size_t i = 0; i < count; i++) {
        const struct json *path = json_element(measured, i);
        if (json_kind(path) != JSON_KIND_STRING)
            return json_fail(path, errors, "wanted the path of a measured list");
        lists[i] = path_beside(json_file_name(path), json_as_string(path), arena);
    }
    *out = lists;
    *out_count = count;
    return true;
}

static bool
read_table(const struct json *object, struct suite_table *table, struct arena *arena,
           struct error_list *errors)
{
    struct table_reading reading = {.table = suite_table_new()};
    if (!json_read_object(object, &table_type, &reading, errors))
        return false;
    *table = reading.table;
    if (*table->device == '\0' && *table->cluster == '\0' && !table->holds_steps &&
        !reading.again)
        return json_fail(object, errors, "neither device nor cluster, wanted what to price by");
    if (table->forgets_clocks && *table->device == '\0')
        return json_fail(object, errors, "forgets_clocks without a device that knows them");
    if (table->small_s > table->large_s)
        return json_fail(object, errors, "small_s %g is over large_s %g", table->small_s,
                         table->large_s);
    const char *file = json_file_name(object);
    if (*table->device != '\0')
        table->device = path_beside(file, table->device, arena);
    if (*table->cluster != '\0')
        table->cluster = path_beside(file, table->cluster, arena);
    if (!reading.measured && !reading.overlap)
        return json_fail(object, errors, "no 'measured' lists");
    if (!read_lists(reading.measured, &table->lists, &table->list_count, arena, errors) ||
        !read_lists(reading.again, &table->again, &table->again_count, arena, errors) ||
        !read_lists(reading.overlap, &table->overlaps, &table->overlap_count, arena, errors))
        return false;
    return reading.limits == NULL ||
           tolerance_read(&table->tolerances, reading.limits, arena, errors);
}

bool
suite_read(struct suite *suite, const struct json *object, struct arena *arena,
           struct error_list *errors)
{
    const struct json *tables = NULL;
    const struct json_field field = {.key = "tables", .type = JSON_FIELD_VALUE};
    const struct json_object_type type = {
        .noun = "a suite", .fields = &field, .field_count = 1};
    if (!json_read_object(object, &type, &tables, errors))
        return false;
    if (json_kind(tables) != JSON_KIND_ARRAY || json_count(tables) == 0)
        return json_fail(tables, errors, "wanted an array of error tables");
    suite->count = json_count(tables);
    suite->tables = arena_alloc(arena, suite->count, sizeof *suite->tables);
    bool is_right = true;
    for (size_t i = 0; i < suite->count; i++)
        if (!read_table(json_element(tables, i), &suite->tables[i], arena, errors))
            is_right = false;
    return is_right;
}
