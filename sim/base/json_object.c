/* Objects read by a table of fields: every fault of an object found at once. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/json_tree.h"
#include "sim/base/spelling.h"

enum { CANDIDATES_MAX = 64 };

static const char *const ALWAYS_ALLOWED[] = {"note", "source", "$schema", NULL};

static const char *
kind_name(enum json_kind kind)
{
    static const char *const names[] = {"null",     "a boolean", "an integer", "a number",
                                        "a string", "a list",    "an object"};
    return names[kind];
}

static const char *
wanted_name(enum json_field_type type)
{
    static const char *const names[] = {"a boolean", "an integer",         "a number",
                                        "a string",  "one of its choices", "a value"};
    return names[type];
}

/* A pattern is the key itself, or its beginning followed by a star. */
static bool
is_among(const char *key, const char *const *patterns)
{
    for (; patterns && *patterns; patterns++) {
        size_t length = strlen(*patterns);
        bool is_open = length > 0 && (*patterns)[length - 1] == '*';
        if (is_open ? strncmp(key, *patterns, length - 1) == 0 : strcmp(key, *patterns) == 0)
            return true;
    }
    return false;
}

static bool
is_known(const struct json_object_type *type, const char *key)
{
    for (size_t i = 0; i < type->field_count; i++)
        if (strcmp(type->fields[i].key, key) == 0)
            return true;
    return is_among(key, type->ignored) || is_among(key, ALWAYS_ALLOWED);
}

static bool
fail_unknown(const struct json *member, const struct json_object_type *type,
             struct error_list *errors)
{
    const char *candidates[CANDIDATES_MAX];
    size_t count = 0;
    for (; count < type->field_count && count < CANDIDATES_MAX; count++)
        candidates[count] = type->fields[count].key;
    const char *nearest = spelling_nearest(member->key, candidates, count);
    const char *where = json_position_of_key(member);
    if (nearest)
        return error_add(errors, ERROR_INPUT, where,
                         "unknown key '%.60s' of %s, did you mean '%s'?", member->key,
                         type->noun, nearest);
    return error_add(errors, ERROR_INPUT, where, "unknown key '%.60s' of %s", member->key,
                     type->noun);
}

static bool
fail_kind(const struct json *value, const struct json_field *field, struct error_list *errors)
{
    if (value->kind == JSON_KIND_STRING)
        return json_fail(value, errors, "is the string '%.60s', wanted %s", value->string,
                         wanted_name(field->type));
    return json_fail(value, errors, "is %s, wanted %s", kind_name(value->kind),
                     wanted_name(field->type));
}

static bool
check_range(const struct json *value, const struct json_field *field, double number,
            struct error_list *errors)
{
    bool is_free = field->minimum == 0 && field->maximum == 0;
    if (is_free || (number >= field->minimum && number <= field->maximum))
        return true;
    if (isinf(field->maximum))
        return json_fail(value, errors, "is %.12g, wanted at least %.12g", number,
                         field->minimum);
    return json_fail(value, errors, "is %.12g, wanted %.12g to %.12g", number, field->minimum,
                     field->maximum);
}

/* An integer, or a real without a fraction such as 1e9. */
static bool
is_whole(const struct json *value, int64_t *out)
{
    if (value->kind == JSON_KIND_REAL && fabs(value->real) < 0x1p53 &&
        value->real == floor(value->real))
        *out = (int64_t)value->real;
    else if (value->kind == JSON_KIND_INTEGER)
        *out = value->integer;
    else
        return false;
    return true;
}

static bool
read_choice(const struct json *value, const struct json_field *field, int *out,
            struct error_list *errors)
{
    if (value->kind != JSON_KIND_STRING)
        return fail_kind(value, field, errors);
    char list[160] = "";
    size_t count = 0, length = 0;
    for (; field->choices[count]; count++) {
        if (strcmp(field->choices[count], value->string) == 0) {
            *out = (int)count;
            return true;
        }
        int more = snprintf(list + length, sizeof list - length, "%s%s", count ? ", " : "",
                            field->choices[count]);
        length += (size_t)more < sizeof list - length ? (size_t)more : sizeof list - 1 - length;
    }
    const char *nearest = spelling_nearest(value->string, field->choices, count);
    if (nearest)
        return json_fail(value, errors, "is '%.40s', did you mean '%s'?", value->string,
                         nearest);
    return json_fail(value, errors, "is '%.40s', wanted one of: %s", value->string, list);
}

/* Of {"value": 1, "source": ".."} the value; of anything else itself. NULL after a fault. */
static const struct json *
unwrap(const struct json *value, const struct json_field *field, struct error_list *errors)
{
    if (value->kind != JSON_KIND_OBJECT) {
        bool is_bare = (field->flags & JSON_SOURCED) && !value->origin;
        if (is_bare && (value->kind == JSON_KIND_INTEGER || value->kind == JSON_KIND_REAL)) {
            json_fail(value, errors,
                      "has no source, wanted {\"value\": .., \"source\": \"..\"}");
            return NULL;
        }
        return value;
    }
    const struct json *inner = json_member(value, "value");
    const struct json *source = json_member(value, "source");
    for (size_t i = 0; i < value->count; i++)
        if (strcmp(value->items[i]->key, "value") != 0 &&
            !is_among(value->items[i]->key, ALWAYS_ALLOWED))
            error_add(errors, ERROR_INPUT, json_position_of_key(value->items[i]),
                      "unknown key '%.60s', wanted value, source, note", value->items[i]->key);
    bool has_source = source && source->kind == JSON_KIND_STRING && source->string[0];
    if (inner && (has_source || !(field->flags & JSON_SOURCED)))
        return inner;
    json_fail(value, errors, inner ? "has no source" : "has no value");
    return NULL;
}

static bool
read_number(const struct json *value, const struct json_field *field, void *place,
            struct error_list *errors)
{
    value = unwrap(value, field, errors);
    if (!value)
        return false;
    int64_t integer = 0;
    bool is_integer = is_whole(value, &integer);
    if (field->type == JSON_FIELD_INTEGER && !is_integer)
        return fail_kind(value, field, errors);
    if (!is_integer && value->kind != JSON_KIND_REAL)
        return fail_kind(value, field, errors);
    double number = is_integer ? (double)integer : value->real;
    if (!check_range(value, field, number, errors))
        return false;
    if (field->type == JSON_FIELD_INTEGER)
        *(int64_t *)place = integer;
    else
        *(double *)place = number;
    return true;
}

static bool
read_string(const struct json *value, const struct json_field *field, const char **place,
            struct error_list *errors)
{
    if (value->kind != JSON_KIND_STRING)
        return fail_kind(value, field, errors);
    if (!value->string[0])
        return json_fail(value, errors, "is an empty string");
    *place = value->string;
    return true;
}

static bool
read_bool(const struct json *value, const struct json_field *field, bool *place,
          struct error_list *errors)
{
    if (value->kind != JSON_KIND_BOOL)
        return fail_kind(value, field, errors);
    *place = value->boolean;
    return true;
}

static bool
read_field(const struct json *value, const struct json_field *field, void *place,
           struct error_list *errors)
{
    switch (field->type) {
    case JSON_FIELD_BOOL:
        return read_bool(value, field, place, errors);
    case JSON_FIELD_INTEGER:
    case JSON_FIELD_REAL:
        return read_number(value, field, place, errors);
    case JSON_FIELD_STRING:
        return read_string(value, field, place, errors);
    case JSON_FIELD_CHOICE:
        return read_choice(value, field, place, errors);
    case JSON_FIELD_VALUE:
        *(const struct json **)place = value;
        return true;
    }
    assert(false && "a field type without a reader");
    return false;
}

bool
json_read_object(const struct json *object, const struct json_object_type *type, void *out,
                 struct error_list *errors)
{
    if (object->kind != JSON_KIND_OBJECT)
        return json_fail(object, errors, "is %s, wanted %s: an object", kind_name(object->kind),
                         type->noun);
    int faults_before = errors->count;
    for (size_t i = 0; i < object->count; i++)
        if (!is_known(type, object->items[i]->key))
            fail_unknown(object->items[i], type, errors);
    for (size_t i = 0; i < type->field_count; i++) {
        const struct json_field *field = &type->fields[i];
        const struct json *value = json_member(object, field->key);
        if (value && value->kind == JSON_KIND_NULL && (field->flags & JSON_NULLABLE))
            value = NULL;
        if (value)
            read_field(value, field, (char *)out + field->offset, errors);
        else if (!(field->flags & JSON_OPTIONAL))
            json_fail(object, errors, "lacks the key '%s' (%s)", field->key,
                      wanted_name(field->type));
    }
    return errors->count == faults_before;
}

const char *
json_source(const struct json *object, const char *key)
{
    const struct json *value = json_member(object, key);
    const struct json *source = value ? json_member(value, "source") : NULL;
    return source && source->kind == JSON_KIND_STRING ? source->string : NULL;
}
