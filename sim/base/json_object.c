/* Objects read by a table of fields: every fault of an object found at once. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/json_tree.h"
#include "sim/base/spelling.h"
#include "sim/base/text.h"

/* Reals up to here that are whole are shown with all their digits. */
static const double WHOLE_SHOWN_MAX = 1e15;

static const char *const ALWAYS_ALLOWED[] = {"note", "source", "$schema", NULL};

static const char *
show_number(struct arena *arena, double number)
{
    bool is_whole = fabs(number) < WHOLE_SHOWN_MAX && number == floor(number);
    return arena_format(arena, is_whole ? "%.0f" : "%.12g", number);
}

/* What was found, as the file has it. */
static const char *
found(const struct json *value)
{
    struct arena *arena = value->document->arena;
    switch (value->kind) {
    case JSON_KIND_NULL:
        return "null";
    case JSON_KIND_BOOL:
        return value->boolean ? "true" : "false";
    case JSON_KIND_INTEGER:
        return arena_format(arena, "%" PRId64, value->integer);
    case JSON_KIND_REAL:
        return show_number(arena, value->real);
    case JSON_KIND_STRING:
        return arena_format(arena, "the string '%.60s'", value->string);
    case JSON_KIND_ARRAY:
        return "a list";
    case JSON_KIND_OBJECT:
        return "an object";
    }
    return "";
}

/* "one of: bf16, fp8" */
static const char *
wanted_choice(struct arena *arena, const char *const *choices)
{
    struct text text = text_new(arena);
    for (size_t i = 0; choices[i]; i++)
        text_format(&text, "%s%s", i ? ", " : "one of: ", choices[i]);
    return text.bytes;
}

static const char *
wanted(struct arena *arena, const struct json_field *field)
{
    switch (field->type) {
    case JSON_FIELD_BOOL:
        return "true or false";
    case JSON_FIELD_INTEGER:
        return "an integer";
    case JSON_FIELD_REAL:
        return "a number";
    case JSON_FIELD_STRING:
        return "a string";
    case JSON_FIELD_CHOICE:
        return wanted_choice(arena, field->choices);
    case JSON_FIELD_VALUE:
        return "a value";
    }
    return "";
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
    if (errors->count >= ERROR_LIST_MAX) /* only counted: spare the search for its place */
        return error_add(errors, ERROR_INPUT, "", "%s", "");
    const char **candidates =
        arena_alloc(member->document->arena, type->field_count, sizeof *candidates);
    for (size_t i = 0; i < type->field_count; i++)
        candidates[i] = type->fields[i].key;
    const char *nearest = spelling_nearest(member->key, candidates, type->field_count);
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
    if (errors->count >= ERROR_LIST_MAX)
        return error_add(errors, ERROR_INPUT, "", "%s", "");
    return json_fail(value, errors, "is %s, wanted %s", found(value),
                     wanted(value->document->arena, field));
}

static bool
check_range(const struct json *value, const struct json_field *field, double number,
            struct error_list *errors)
{
    bool is_free = field->minimum == 0 && field->maximum == 0;
    if (is_free || (number >= field->minimum && number <= field->maximum))
        return true;
    struct arena *arena = value->document->arena;
    const char *least = show_number(arena, field->minimum);
    const char *most = show_number(arena, field->maximum);
    if (isinf(field->maximum))
        return json_fail(value, errors, "is %s, wanted at least %s", found(value), least);
    if (isinf(field->minimum))
        return json_fail(value, errors, "is %s, wanted at most %s", found(value), most);
    return json_fail(value, errors, "is %s, wanted %s to %s", found(value), least, most);
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
    size_t count = 0;
    for (; field->choices[count]; count++) {
        if (strcmp(field->choices[count], value->string) == 0) {
            *out = (int)count;
            return true;
        }
    }
    const char *nearest = spelling_nearest(value->string, field->choices, count);
    if (nearest)
        return json_fail(value, errors, "is the string '%.60s', did you mean '%s'?",
                         value->string, nearest);
    return fail_kind(value, field, errors);
}

/* Of {"value": 1, "source": ".."} the value; of anything else itself. NULL after a fault. */
static const struct json *
unwrap(const struct json *value, const struct json_field *field, struct error_list *errors)
{
    if (value->kind != JSON_KIND_OBJECT) {
        bool is_bare = (field->flags & JSON_SOURCED) && !value->origin;
        if (is_bare && (value->kind == JSON_KIND_INTEGER || value->kind == JSON_KIND_REAL)) {
            const char *number = found(value);
            json_fail(value, errors,
                      "is %s without its source, wanted {\"value\": %s, \"source\": \"...\"}",
                      number, number);
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
                      "unknown key '%.60s' of a number, wanted value, source, note",
                      value->items[i]->key);
    bool has_source = source && source->kind == JSON_KIND_STRING && source->string[0];
    if (inner && (has_source || !(field->flags & JSON_SOURCED)))
        return inner;
    json_fail(value, errors, "lacks the key '%s' (%s)", inner ? "source" : "value",
              inner ? "text that says where the number is from" : "the number itself");
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
        return json_fail(value, errors, "is an empty string, wanted some text");
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

static bool
knows_all(const struct json *object, const struct json_object_type *type)
{
    for (size_t i = 0; i < object->count; i++)
        if (!is_known(type, object->items[i]->key))
            return false;
    return true;
}

/* Several keys and none of ours: the wrong file, which one message says better than one a key.
 * A name and notes stand in every kind. */
static bool
is_of_another_kind(const struct json *object, const struct json_object_type *type)
{
    size_t strange = 0, neutral = 0;
    for (size_t i = 0; i < object->count; i++) {
        const char *key = object->items[i]->key;
        bool is_neutral = strcmp(key, "name") == 0 || is_among(key, ALWAYS_ALLOWED);
        neutral += is_neutral;
        strange += !is_neutral && !is_known(type, key);
    }
    return type->field_count > 0 && strange > 1 && strange + neutral == object->count;
}

bool
json_read_object(const struct json *object, const struct json_object_type *type, void *out,
                 struct error_list *errors)
{
    if (object->kind != JSON_KIND_OBJECT)
        return json_fail(object, errors, "is %s, wanted an object: %s", found(object),
                         type->noun);
    int faults_before = errors->count;
    bool is_all_known = knows_all(object, type);
    if (!is_all_known && is_of_another_kind(object, type))
        return json_fail(object, errors, "holds no key of %s, such as '%s'", type->noun,
                         type->fields[type->field_count - 1].key);
    for (size_t i = 0; !is_all_known && i < object->count; i++)
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
                      wanted(object->document->arena, field));
    }
    return errors->count == faults_before;
}
