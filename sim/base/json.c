/* JSON in: jansson parses, and its tree is copied into the arena as values that know their
 * place. */
#include "sim/base/json.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "sim/base/json_tree.h"
#include "sim/base/spelling.h"
#include "sim/base/text.h"

enum { FILE_BYTES_MAX = 16 * 1024 * 1024, INDEX_DIGITS_MAX = 10 };

/* Where a new value stands: everything of it but the value itself. */
struct place {
    const struct json_document *document;
    const struct json *parent;
    const char *key;
    size_t index;
    const char *origin;
};

static struct json *copy_tree(const json_t *from, struct place place);

static const char *
copy_text(struct arena *arena, const char *text)
{
    return arena_copy(arena, text, strlen(text) + 1);
}

static struct place
place_within(const struct json *parent, const char *key)
{
    return (struct place){parent->document, parent, key, parent->count, parent->origin};
}

static struct json *
new_value(enum json_kind kind, struct place place)
{
    struct json *value = arena_alloc(place.document->arena, 1, sizeof *value);
    value->kind = kind;
    value->document = place.document;
    value->parent = place.parent;
    value->key = place.key;
    value->index = place.index;
    value->origin = place.origin;
    return value;
}

static void
append_child(struct json *parent, struct json *child)
{
    parent->items = arena_grow(parent->document->arena, parent->items, parent->count,
                               &parent->capacity, sizeof *parent->items);
    parent->items[parent->count++] = child;
}

static struct json *
copy_object(const json_t *from, struct place place)
{
    struct json *object = new_value(JSON_KIND_OBJECT, place);
    json_t *members = json_incref((json_t *)(uintptr_t)from);
    for (void *at = json_object_iter(members); at; at = json_object_iter_next(members, at)) {
        const char *key = copy_text(place.document->arena, json_object_iter_key(at));
        append_child(object, copy_tree(json_object_iter_value(at), place_within(object, key)));
    }
    json_decref(members);
    return object;
}

static struct json *
copy_array(const json_t *from, struct place place)
{
    struct json *array = new_value(JSON_KIND_ARRAY, place);
    for (size_t i = 0; i < json_array_size(from); i++)
        append_child(array, copy_tree(json_array_get(from, i), place_within(array, NULL)));
    return array;
}

static struct json *
copy_scalar(const json_t *from, struct place place)
{
    struct json *value = new_value(JSON_KIND_NULL, place);
    if (json_is_boolean(from)) {
        value->kind = JSON_KIND_BOOL;
        value->boolean = json_is_true(from);
    } else if (json_is_integer(from)) {
        value->kind = JSON_KIND_INTEGER;
        value->integer = json_integer_value(from);
    } else if (json_is_real(from)) {
        value->kind = JSON_KIND_REAL;
        value->real = json_real_value(from);
    } else if (json_is_string(from)) {
        value->kind = JSON_KIND_STRING;
        value->string = copy_text(place.document->arena, json_string_value(from));
    }
    return value;
}

static struct json *
copy_tree(const json_t *from, struct place place)
{
    if (json_is_object(from))
        return copy_object(from, place);
    if (json_is_array(from))
        return copy_array(from, place);
    return copy_scalar(from, place);
}

/* The mark that some editors put before UTF-8. */
static size_t
mark_length(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

const struct json *
json_read_text(struct arena *arena, const char *name, int first_line, const char *text,
               size_t length, struct error_list *errors)
{
    struct json_document *document = arena_alloc(arena, 1, sizeof *document);
    size_t mark = mark_length(text, length);
    *document = (struct json_document){name, first_line, text + mark, length - mark, arena};
    json_error_t fault;
    json_t *parsed =
        json_loadb(document->text, document->length, JSON_REJECT_DUPLICATES, &fault);
    if (!parsed) {
        struct json_syntax_place place = {fault.line, fault.column,
                                          fault.position > 0 ? (size_t)fault.position : 0};
        json_syntax_fail(document, place, fault.text, errors);
        return NULL;
    }
    const struct json *root = copy_tree(parsed, (struct place){.document = document});
    json_decref(parsed);
    return root;
}

const struct json *
json_read_file(struct arena *arena, const char *path, struct error_list *errors)
{
    struct text text = text_new(arena);
    if (!text_read_file(&text, path, FILE_BYTES_MAX, errors))
        return NULL;
    const char *name = arena_format(arena, "%s", path);
    return json_read_text(arena, name, 1, text.bytes ? text.bytes : "", text.length, errors);
}

const struct json *
json_read_again(struct arena *arena, const struct json *root, struct error_list *errors)
{
    const struct json_document *document = root->document;
    return json_read_text(arena, document->name, document->first_line, document->text,
                          document->length, errors);
}

/* The text as JSON when it is that, else as a string: --set plan.name=fast needs no quotes. */
static struct json *
value_from_text(const char *text, struct place place)
{
    json_t *parsed = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    if (!parsed) {
        struct json *string = new_value(JSON_KIND_STRING, place);
        string->string = arena_format(place.document->arena, "%s", text);
        return string;
    }
    struct json *value = copy_tree(parsed, place);
    json_decref(parsed);
    return value;
}

/* The child that the next word of a path names, NULL when there is none. */
static struct json *
child_named(const struct json *parent, const char *word, size_t length)
{
    for (size_t i = 0; i < json_count(parent); i++) {
        const char *key = parent->items[i]->key;
        if (key && strlen(key) == length && strncmp(key, word, length) == 0)
            return parent->items[i];
    }
    bool is_index = parent->kind == JSON_KIND_ARRAY && length > 0 &&
                    length < INDEX_DIGITS_MAX && strspn(word, "0123456789") >= length;
    size_t index = is_index ? strtoul(word, NULL, 10) : 0;
    return is_index && index < parent->count ? parent->items[index] : NULL;
}

/* Length of the path's part that names the parent of the last word, 0 when that is the root. */
static size_t
parent_length(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? (size_t)(dot - path) : 0;
}

/* The value at the first `length` letters of the path. */
static struct json *
follow(struct json *root, const char *path, size_t length)
{
    struct json *at = root;
    for (size_t start = 0; at && start < length;) {
        size_t word = strcspn(path + start, ".");
        at = child_named(at, path + start, word);
        start += word + 1;
    }
    return at;
}

static bool
has_empty_word(const char *path)
{
    size_t length = strlen(path);
    return length == 0 || path[0] == '.' || path[length - 1] == '.' || strstr(path, "..");
}

/* Names the shortest part of the path that leads nowhere. */
static bool
fail_path(struct json *root, const char *path, const char *origin, struct error_list *errors)
{
    size_t length = strcspn(path, ".");
    while (path[length] && follow(root, path, length))
        length += 1 + strcspn(path + length + 1, ".");
    return error_add(errors, ERROR_INPUT, origin, "%s has no '%.*s'", root->document->name,
                     (int)length, path);
}

bool
json_set(const struct json *root, const char *path, const char *value_text, const char *origin,
         struct error_list *errors)
{
    if (has_empty_word(path))
        return error_add(errors, ERROR_INPUT, origin,
                         "'%s' is no path, wanted keys joined by dots: a.b", path);
    /* ours to change: json_read_text made it in its document's arena */
    struct json *changing = (struct json *)(uintptr_t)root;
    size_t length = parent_length(path);
    struct json *parent = follow(changing, path, length);
    const char *word = path + length + (path[length] == '.');
    struct json *old = parent ? child_named(parent, word, strlen(word)) : NULL;
    if (!old && (!parent || parent->kind != JSON_KIND_OBJECT))
        return fail_path(changing, path, origin, errors);
    struct arena *arena = root->document->arena;
    struct place place = place_within(parent, arena_format(arena, "%s", word));
    place.origin = arena_format(arena, "%s", origin);
    if (old) {
        place.key = old->key;
        place.index = old->index;
        parent->items[old->index] = value_from_text(value_text, place);
    } else {
        append_child(parent, value_from_text(value_text, place));
    }
    return true;
}

enum json_kind
json_kind(const struct json *value)
{
    return value->kind;
}

size_t
json_count(const struct json *value)
{
    bool has_items = value->kind == JSON_KIND_ARRAY || value->kind == JSON_KIND_OBJECT;
    return has_items ? value->count : 0;
}

static const struct json *
mark_read(struct json *value)
{
    value->is_read = true;
    return value;
}

const struct json *
json_member(const struct json *object, const char *key)
{
    for (size_t i = 0; object->kind == JSON_KIND_OBJECT && i < object->count; i++)
        if (strcmp(object->items[i]->key, key) == 0)
            return mark_read(object->items[i]);
    return NULL;
}

const struct json *
json_element(const struct json *array, size_t index)
{
    bool is_there = array->kind == JSON_KIND_ARRAY && index < array->count;
    return is_there ? mark_read(array->items[index]) : NULL;
}

const struct json *
json_at(const struct json *root, const char *path)
{
    struct json *at = (struct json *)(uintptr_t)root; /* as follow wants it; not changed */
    return follow(at, path, strlen(path));
}

bool
json_is_read(const struct json *value)
{
    return value->is_read;
}

const char *
json_key(const struct json *object, size_t index)
{
    assert(object->kind == JSON_KIND_OBJECT && index < object->count);
    return object->items[index]->key;
}

bool
json_as_bool(const struct json *value)
{
    assert(value->kind == JSON_KIND_BOOL);
    return value->boolean;
}

int64_t
json_as_integer(const struct json *value)
{
    assert(value->kind == JSON_KIND_INTEGER);
    return value->integer;
}

double
json_as_real(const struct json *value)
{
    assert(value->kind == JSON_KIND_REAL || value->kind == JSON_KIND_INTEGER);
    return value->kind == JSON_KIND_INTEGER ? (double)value->integer : value->real;
}

const char *
json_as_string(const struct json *value)
{
    assert(value->kind == JSON_KIND_STRING);
    return value->string;
}

const struct json *
json_value_at(const struct json *object, size_t index)
{
    assert(object->kind == JSON_KIND_OBJECT && index < object->count);
    return object->items[index];
}

const char *
json_file_name(const struct json *value)
{
    return value->document->name;
}

const char *
json_where(const struct json *value)
{
    return json_position_of_value(value);
}

bool
json_fail(const struct json *value, struct error_list *errors, const char *format, ...)
{
    if (errors->count >= ERROR_LIST_MAX) /* only counted: spare the search for its place */
        return error_add(errors, ERROR_INPUT, "", "%s", "");
    char what[sizeof errors->items[0].what];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return error_add(errors, ERROR_INPUT, json_where(value), "%s", what);
}
