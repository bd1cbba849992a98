/* JSON out, one value after the other. */
#include "sim/base/json_writer.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/json.h"
#include "sim/base/real_text.h"

struct json_writer
json_writer_new(struct text *out, bool is_indented)
{
    return (struct json_writer){.out = out, .is_indented = is_indented};
}

static void
break_line(struct json_writer *writer)
{
    if (writer->is_indented)
        text_format(writer->out, "\n%*s", 2 * writer->depth, "");
}

/* Outside a string no value ends with an opening bracket, and a string ends with a quote. */
static bool
is_just_opened(const struct json_writer *writer)
{
    char last = writer->out->bytes[writer->out->length - 1];
    return last == '{' || last == '[';
}

/* The comma and line break that come before a value or key, if any. */
static void
begin_item(struct json_writer *writer)
{
    if (writer->has_key) {
        writer->has_key = false;
        return;
    }
    if (writer->depth == 0)
        return;
    if (!is_just_opened(writer))
        text_append(writer->out, ", ", writer->is_indented ? 1 : 2);
    break_line(writer);
}

static void
begin_nested(struct json_writer *writer, char bracket)
{
    begin_item(writer);
    text_append(writer->out, &bracket, 1);
    writer->depth++;
}

static void
end_nested(struct json_writer *writer, char bracket)
{
    assert(writer->depth > 0 && !writer->has_key);
    bool is_empty = is_just_opened(writer);
    writer->depth--;
    if (!is_empty)
        break_line(writer);
    text_append(writer->out, &bracket, 1);
}

void
json_write_begin_object(struct json_writer *writer)
{
    begin_nested(writer, '{');
}

void
json_write_end_object(struct json_writer *writer)
{
    end_nested(writer, '}');
}

void
json_write_begin_array(struct json_writer *writer)
{
    begin_nested(writer, '[');
}

void
json_write_end_array(struct json_writer *writer)
{
    end_nested(writer, ']');
}

static bool
is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

static void
append_quoted(struct text *out, const char *string)
{
    text_append(out, "\"", 1);
    while (*string) {
        size_t plain = 0;
        while (is_plain((unsigned char)string[plain]))
            plain++;
        text_append(out, string, plain);
        string += plain;
        unsigned char c = (unsigned char)*string;
        if (c == '"' || c == '\\')
            text_format(out, "\\%c", c);
        else if (c != '\0')
            text_format(out, "\\u%04x", c);
        string += c != '\0';
    }
    text_append(out, "\"", 1);
}

void
json_write_key(struct json_writer *writer, const char *key)
{
    assert(!writer->has_key && "a key is followed by its value");
    begin_item(writer);
    append_quoted(writer->out, key);
    text_append(writer->out, ": ", 2);
    writer->has_key = true;
}

void
json_write_string(struct json_writer *writer, const char *value)
{
    begin_item(writer);
    if (value)
        append_quoted(writer->out, value);
    else
        text_append(writer->out, "null", 4);
}

void
json_write_integer(struct json_writer *writer, int64_t value)
{
    begin_item(writer);
    char digits[REAL_TEXT_MAX];
    size_t length = real_text_write_whole(value, digits);
    text_append(writer->out, digits, length);
}

void
json_write_real(struct json_writer *writer, double value)
{
    begin_item(writer);
    if (!isfinite(value)) {
        text_append(writer->out, "null", 4);
        return;
    }
    char digits[REAL_TEXT_MAX];
    size_t length = real_text_write(value, digits);
    text_append(writer->out, digits, length);
    if (strpbrk(digits, ".e") == NULL)
        text_append(writer->out, ".0", 2);
}

void
json_write_bool(struct json_writer *writer, bool value)
{
    begin_item(writer);
    text_format(writer->out, "%s", value ? "true" : "false");
}

void
json_write_string_at(struct json_writer *writer, const char *key, const char *value)
{
    json_write_key(writer, key);
    json_write_string(writer, value);
}

void
json_write_integer_at(struct json_writer *writer, const char *key, int64_t value)
{
    json_write_key(writer, key);
    json_write_integer(writer, value);
}

void
json_write_real_at(struct json_writer *writer, const char *key, double value)
{
    json_write_key(writer, key);
    json_write_real(writer, value);
}

void
json_write_bool_at(struct json_writer *writer, const char *key, bool value)
{
    json_write_key(writer, key);
    json_write_bool(writer, value);
}

static void
write_members(struct json_writer *writer, const struct json *object)
{
    json_write_begin_object(writer);
    for (size_t i = 0; i < json_count(object); i++) {
        json_write_key(writer, json_key(object, i));
        json_write_value(writer, json_value_at(object, i));
    }
    json_write_end_object(writer);
}

static void
write_elements(struct json_writer *writer, const struct json *array)
{
    json_write_begin_array(writer);
    for (size_t i = 0; i < json_count(array); i++)
        json_write_value(writer, json_element(array, i));
    json_write_end_array(writer);
}

void
json_write_value(struct json_writer *writer, const struct json *value)
{
    switch (json_kind(value)) {
    case JSON_KIND_NULL:
        json_write_string(writer, NULL);
        break;
    case JSON_KIND_BOOL:
        json_write_bool(writer, json_as_bool(value));
        break;
    case JSON_KIND_INTEGER:
        json_write_integer(writer, json_as_integer(value));
        break;
    case JSON_KIND_REAL:
        json_write_real(writer, json_as_real(value));
        break;
    case JSON_KIND_STRING:
        json_write_string(writer, json_as_string(value));
        break;
    case JSON_KIND_ARRAY:
        write_elements(writer, value);
        break;
    case JSON_KIND_OBJECT:
        write_members(writer, value);
        break;
    }
}
