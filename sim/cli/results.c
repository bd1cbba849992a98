/* CSV line by line, JSON value by value. */
#include "sim/cli/results.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "sim/base/json.h"
#include "sim/base/text.h"
#include "sim/cli/store.h"

struct result *
results_add(struct results *results, struct arena *arena)
{
    results->items = arena_grow(arena, results->items, results->count, &results->room,
                                sizeof *results->items);
    struct result *result = &results->items[results->count];
    *result = (struct result){
        .label = "", .run = "", .key = "", .reason = "", .order = results->count++};
    return result;
}

static size_t
field_length(const char *setting)
{
    return strcspn(setting, "=") + 1;
}

void
results_set_apart(struct results *results, const char *setting, struct arena *arena)
{
    struct result *result = &results->items[results->count - 1];
    size_t place = 0, length = field_length(setting);
    const char *own = arena_format(arena, "%s", setting);
    result->label =
        arena_format(arena, "%s%s%s", result->label, *result->label ? " " : "", own);
    while (place < result->setting_count && strncmp(result->settings[place], own, length) != 0)
        place++;
    if (place == result->setting_count) {
        const char **settings = arena_alloc(arena, place + 1, sizeof *settings);
        for (size_t i = 0; i < place; i++)
            settings[i] = result->settings[i];
        result->settings = settings;
        result->setting_count++;
    }
    result->settings[place] = own;
}

static size_t
find_column(const struct results *results, const char *column)
{
    size_t i = 0;
    while (i < results->column_count && strcmp(results->columns[i], column) != 0)
        i++;
    return i;
}

void
results_set(struct results *results, size_t index, const struct result_number *number,
            struct arena *arena)
{
    struct result *result = &results->items[index];
    const char *column = number->column;
    size_t place = find_column(results, column);
    if (place == results->column_count) {
        results->columns = arena_grow(arena, results->columns, results->column_count,
                                      &results->column_room, sizeof *results->columns);
        results->columns[results->column_count++] = arena_format(arena, "%s", column);
    }
    if (place >= result->value_count) {
        double *values = arena_alloc(arena, results->column_room, sizeof *values);
        for (size_t i = 0; i < results->column_room; i++)
            values[i] = i < result->value_count ? result->values[i] : (double)NAN;
        result->values = values;
        result->value_count = results->column_room;
    }
    result->values[place] = number->value;
}

double
results_value(const struct results *results, const struct result *result, const char *column)
{
    size_t place = find_column(results, column);
    return place < result->value_count && place < results->column_count ? result->values[place]
                                                                        : (double)NAN;
}

/* The next field of a line of RFC 4180, without its quotes; *at is then behind its comma, or
 * NULL. */
static const char *
next_field(char **at)
{
    char *from = *at, *to = *at, *begin = *at;
    bool is_quoted = *from == '"';
    from += is_quoted;
    for (; *from && (is_quoted || *from != ','); from++) {
        if (is_quoted && *from == '"' && from[1] != '"') {
            is_quoted = false;
            continue;
        }
        from += is_quoted && *from == '"';
        *to++ = *from;
    }
    *at = *from == ',' ? from + 1 : NULL;
    *to = '\0';
    return begin;
}

/* Columns up to the step are what was set, unless a column of settings says it. */
struct csv_head {
    const char **names;
    size_t count, room, label_count;
    bool has_settings;
};

static bool
read_csv_head(struct csv_head *head, char *line, struct arena *arena)
{
    for (char *at = line; at;) {
        head->names =
            arena_grow(arena, head->names, head->count, &head->room, sizeof *head->names);
        head->names[head->count] = arena_format(arena, "%s", next_field(&at));
        head->has_settings |= strcmp(head->names[head->count++], "settings") == 0;
    }
    while (head->label_count < head->count &&
           strcmp(head->names[head->label_count], "step_s") != 0)
        head->label_count++;
    return head->label_count < head->count;
}

/* "--set plan.tensor=2 --set plan.zero_stage=1" */
static void
set_apart_by_options(struct results *results, const char *options, struct arena *arena)
{
    static const char before[] = "--set ";
    for (const char *at = strstr(options, before), *next; at; at = next) {
        at += sizeof before - 1;
        next = strstr(at, " --set ");
        next = next ? next + 1 : NULL;
        int length = (int)(next ? (size_t)(next - at) - 1 : strlen(at));
        results_set_apart(results, arena_format(arena, "%.*s", length, at), arena);
    }
}

static bool
read_csv_field(struct results *results, const struct csv_head *head, size_t column,
               const char *field, struct arena *arena)
{
    struct result *result = &results->items[results->count - 1];
    const char *name = head->names[column];
    char *end = NULL;
    double value = strtod(field, &end);
    if (column < head->label_count && !head->has_settings)
        results_set_apart(results, arena_format(arena, "%s=%s", name, field), arena);
    else if (column < head->label_count)
        return true;
    else if (strcmp(name, "reason") == 0)
        result->reason = arena_format(arena, "%s", field);
    else if (strcmp(name, "settings") == 0)
        set_apart_by_options(results, field, arena);
    else if (end != field && !*end)
        results_set(results, results->count - 1, &(struct result_number){name, value}, arena);
    else
        return !*field;
    return true;
}

static bool
read_csv_row(struct results *results, const struct csv_head *head, char *line,
             struct arena *arena)
{
    size_t column = 0;
    bool is_right = true;
    results_add(results, arena);
    for (char *at = line; at && is_right; column++) {
        const char *field = next_field(&at);
        is_right = column < head->count && read_csv_field(results, head, column, field, arena);
    }
    return is_right && column == head->count;
}

static bool
read_csv(struct results *results, FILE *file, struct arena *arena, struct error_list *errors)
{
    struct csv_head head = {0};
    char *line = NULL;
    size_t room = 0, number = 0;
    bool is_right = true;
    for (ssize_t length; is_right && (length = getline(&line, &room, file)) > 0;) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        is_right = number++ == 0 ? read_csv_head(&head, line, arena)
                                 : read_csv_row(results, &head, line, arena);
    }
    free(line);
    if (is_right && number > 0)
        return true;
    return error_add(errors, ERROR_INPUT, arena_format(arena, "%s:%zu", results->path, number),
                     number <= 1 ? "has no column step_s: wanted results of sweep or search"
                                 : "has not the fields of the head");
}

/* A list of settings, or options that set them. */
static void
set_apart(struct results *results, const struct json *settings, struct arena *arena)
{
    for (size_t i = 0; json_kind(settings) == JSON_KIND_ARRAY && i < json_count(settings); i++)
        if (json_kind(json_element(settings, i)) == JSON_KIND_STRING)
            results_set_apart(results, json_as_string(json_element(settings, i)), arena);
    if (json_kind(settings) == JSON_KIND_STRING)
        set_apart_by_options(results, json_as_string(settings), arena);
}

/* Where numbers go: to a result, under names that begin with a path. */
struct place {
    struct results *results;
    size_t index;
    const char *path;
    struct arena *arena;
};

static void take_value(const struct place *place, const struct json *value);

static void
take_number(const struct place *place, double value)
{
    results_set(place->results, place->index, &(struct result_number){place->path, value},
                place->arena);
}

/* What has settings is a result by itself; all else is of the one around it. */
static void
take_object(const struct place *place, const struct json *object)
{
    struct place own = *place;
    const struct json *settings = json_member(object, "settings");
    const struct json *reason = json_member(object, "reason");
    if (settings) {
        struct result *result = results_add(own.results, own.arena);
        set_apart(own.results, settings, own.arena);
        if (reason && json_kind(reason) == JSON_KIND_STRING)
            result->reason = arena_format(own.arena, "%s", json_as_string(reason));
        own.index = own.results->count - 1;
        own.path = "";
    }
    const char *before = own.path;
    for (size_t i = 0; i < json_count(object); i++) {
        own.path =
            arena_format(own.arena, "%s%s%s", before, *before ? "." : "", json_key(object, i));
        take_value(&own, json_value_at(object, i));
    }
}

static void
take_array(const struct place *place, const struct json *array)
{
    struct place own = *place;
    for (size_t i = 0; i < json_count(array); i++) {
        own.path = arena_format(own.arena, "%s.%zu", place->path, i);
        take_value(&own, json_element(array, i));
    }
}

static void
take_value(const struct place *place, const struct json *value)
{
    switch (json_kind(value)) {
    case JSON_KIND_OBJECT:
        take_object(place, value);
        break;
    case JSON_KIND_ARRAY:
        take_array(place, value);
        break;
    case JSON_KIND_INTEGER:
    case JSON_KIND_REAL:
        take_number(place, json_as_real(value));
        break;
    case JSON_KIND_BOOL:
        take_number(place, json_as_bool(value));
        break;
    case JSON_KIND_STRING:
    case JSON_KIND_NULL:
        break;
    }
}

/* A row of a sweep is a result; of another document, what has no settings is one without label. */
static void
take_document(struct results *results, const struct json *root, struct arena *arena)
{
    size_t count = results->count;
    if (!json_member(root, "settings"))
        results_add(results, arena);
    take_value(&(struct place){results, count, "", arena}, root);
}

/* JSON lines: false, and nothing is added, when the first line is not a value by itself. */
static bool
read_json_lines(struct results *results, FILE *file, struct arena *arena,
                struct error_list *errors)
{
    struct arena *of_line = arena_new_beside(arena);
    char *line = NULL;
    size_t room = 0;
    int number = 0;
    bool is_right = true;
    for (ssize_t length; is_right && (length = getline(&line, &room, file)) > 0;) {
        length -= line[length - 1] == '\n';
        struct error_list own = {0};
        const struct json *root =
            json_read_text(of_line, results->path, ++number, line, (size_t)length, &own);
        is_right = root != NULL;
        if (root)
            take_document(results, root, arena);
        else if (number > 1)
            *errors = own;
        arena_clear(of_line);
    }
    free(line);
    arena_free(of_line);
    return is_right && number > 0;
}

static bool
read_json(struct results *results, FILE *file, struct arena *arena, struct error_list *errors)
{
    if (read_json_lines(results, file, arena, errors))
        return true;
    const struct json *root =
        errors->count == 0 ? json_read_file(arena, results->path, errors) : NULL;
    if (root)
        take_document(results, root, arena);
    return root != NULL;
}

static bool
read_file(struct results *results, struct arena *arena, struct error_list *errors)
{
    FILE *file = fopen(results->path, "r");
    if (!file)
        return error_add(errors, ERROR_IO, results->path, "cannot be read: %s",
                         strerror(errno));
    int first = getc(file);
    rewind(file);
    bool is_right = first == '{' || first == '[' ? read_json(results, file, arena, errors)
                                                 : read_csv(results, file, arena, errors);
    fclose(file);
    return is_right;
}

/* "FILE@VERSION" is a file's version unless there is a file of that name. */
static const char *
split_version(const char *path, const char **version, struct arena *arena)
{
    const char *at = strrchr(path, '@');
    *version = NULL;
    if (!at || access(path, F_OK) == 0)
        return path;
    *version = at + 1;
    return arena_format(arena, "%.*s", (int)(at - path), path);
}

bool
results_read(struct results *results, const char *path, struct arena *arena,
             struct error_list *errors)
{
    const char *version = NULL;
    *results = (struct results){.path = path};
    const char *file = split_version(path, &version, arena);
    return version || store_is_one(file)
               ? results_read_store(results, file, version, arena, errors)
               : read_file(results, arena, errors);
}
