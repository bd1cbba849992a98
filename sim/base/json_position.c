/* Where a value stands in its file: found by walking the text again along the value's path.
 *
 * Only done for a message or an edit. The text has been parsed before, so it is known to be JSON.
 */
#include <assert.h>
#include <string.h>

#include "sim/base/json_tree.h"
#include "sim/base/text.h"

struct cursor {
    const char *at;
    const char *end;
};

static void
skip_space(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' ||
                                        *cursor->at == '\r' || *cursor->at == '\n'))
        cursor->at++;
}

static void
skip_string(struct cursor *cursor)
{
    for (cursor->at++; cursor->at < cursor->end && *cursor->at != '"'; cursor->at++)
        if (*cursor->at == '\\')
            cursor->at++;
    cursor->at++;
}

/* One whole value: brackets are counted, strings stepped over. */
static void
skip_value(struct cursor *cursor)
{
    int depth = 0;
    skip_space(cursor);
    while (cursor->at < cursor->end) {
        char c = *cursor->at;
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            return;
        if (c == '"') {
            skip_string(cursor);
            continue;
        }
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        cursor->at++;
    }
}

/* From the bracket that opens an object or array to its index-th child (its key in an object).
 */
static void
enter_child(struct cursor *cursor, size_t index)
{
    cursor->at++;
    skip_space(cursor);
    for (size_t i = 0; i < index; i++) {
        skip_value(cursor); /* of a member: key, colon and value in one go */
        cursor->at++;
        skip_space(cursor);
    }
}

static void
skip_key(struct cursor *cursor)
{
    skip_string(cursor);
    skip_space(cursor);
    cursor->at++; /* the colon */
    skip_space(cursor);
}

static void
find(const struct json *value, bool is_key_wanted, struct cursor *cursor)
{
    if (!value->parent) {
        skip_space(cursor);
        return;
    }
    find(value->parent, false, cursor);
    enter_child(cursor, value->index);
    if (value->key && !is_key_wanted)
        skip_key(cursor);
}

/* .key, or ["key"] when it is not one plain word. */
static void
append_key(struct text *text, const char *key)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-$";
    bool is_plain = *key && key[strspn(key, plain)] == '\0';
    text_format(text, is_plain ? ".%s" : "[\"%s\"]", key);
}

/* "$.a.b[3]" behind whatever the text holds. */
static void
append_path(struct text *text, const struct json *value)
{
    if (!value->parent) {
        text_format(text, "$");
        return;
    }
    append_path(text, value->parent);
    if (value->key)
        append_key(text, value->key);
    else
        text_format(text, "[%zu]", value->index);
}

static const char *
position(const struct json *value, bool is_key_wanted)
{
    const struct json_document *document = value->document;
    struct text text = text_new(document->arena);
    if (value->origin) {
        text_format(&text, "%s: ", value->origin);
        append_path(&text, value);
        return text.bytes;
    }
    struct cursor cursor = {document->text, document->text + document->length};
    find(value, is_key_wanted, &cursor);
    int line = document->first_line, column = 1;
    for (const char *at = document->text; at < cursor.at && at < cursor.end; at++) {
        bool is_newline = *at == '\n';
        line += is_newline;
        bool is_continued = ((unsigned char)*at & 0xC0) == 0x80; /* inside one UTF-8 letter */
        column = is_newline ? 1 : column + !is_continued;
    }
    text_format(&text, "%s:%d:%d: ", document->name, line, column);
    append_path(&text, value);
    return text.bytes;
}

const char *
json_position_of_value(const struct json *value)
{
    return position(value, false);
}

const char *
json_position_of_key(const struct json *value)
{
    return position(value, true);
}

/* Blanks before the next comma or bracket are not the value's. */
struct json_extent
json_position_extent(const struct json *value)
{
    const struct json_document *document = value->document;
    assert(!value->origin && "a value given by json_set stands in no file");
    struct cursor cursor = {document->text, document->text + document->length};
    find(value, false, &cursor);
    const char *start = cursor.at;
    skip_value(&cursor);
    while (cursor.at > start && strchr(" \t\r\n", cursor.at[-1]))
        cursor.at--;
    return (struct json_extent){(size_t)(start - document->text),
                                (size_t)(cursor.at - document->text)};
}
