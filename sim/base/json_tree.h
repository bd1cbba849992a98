/* The inside of a JSON value, shared by the files that build, place and check it; others see
 * sim/base/json.h only. */
#ifndef SIM_BASE_JSON_TREE_H
#define SIM_BASE_JSON_TREE_H

#include "sim/base/json.h"

struct json_document {
    const char *name;
    int first_line; /* line number of the first line of `text` */
    const char *text;
    size_t length;
    struct arena *arena;
};

struct json {
    enum json_kind kind;
    const struct json_document *document;
    const struct json *parent; /* NULL of the root */
    const char *key;           /* in an object; NULL in an array and of the root */
    size_t index;              /* among its parent's members or elements */
    const char *origin; /* of a value given by json_set: the words that gave it; else NULL */
    bool is_read;       /* some reader has asked for it */
    union {
        bool boolean;
        int64_t integer;
        double real;
        const char *string;
        struct {
            struct json **items; /* members or elements in the order of the file */
            size_t count;
            size_t capacity;
        };
    };
};

/* "file:line:col: $.path" of the value, or of its key. */
const char *json_position_of_value(const struct json *value);
const char *json_position_of_key(const struct json *value);

/* The value's bytes in the text of its document. */
struct json_extent {
    size_t start, end;
};
struct json_extent json_position_extent(const struct json *value);

/* Where the parser stopped, from 1. */
struct json_syntax_place {
    int line, column;
    size_t offset; /* bytes from the start of the text */
};

/* Adds ERROR_INPUT for a text that is not JSON; `message` is the parser's. Always false. */
bool json_syntax_fail(const struct json_document *document, struct json_syntax_place place,
                      const char *message, struct error_list *errors);

#endif
