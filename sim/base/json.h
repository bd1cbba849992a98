/* Reading JSON that people wrote: values that know where they stand, and tables of wanted keys.
 *
 * A reader describes an object as a table of fields (key, type, place in a struct, range);
 * json_read_object then finds every missing, unknown, misspelt, mistyped or out-of-range key at
 * once, each with file:line:col and the path. Any number may be written as
 * {"value": 5.3e12, "source": "where it was found", "note": "..."}; a table may insist on that.
 */
#ifndef SIM_BASE_JSON_H
#define SIM_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"

/* A value and the way to it from the root. Lives in the arena of its document; passed by
 * pointer. */
struct json;

enum json_kind {
    JSON_KIND_NULL,
    JSON_KIND_BOOL,
    JSON_KIND_INTEGER,
    JSON_KIND_REAL,
    JSON_KIND_STRING,
    JSON_KIND_ARRAY,
    JSON_KIND_OBJECT,
};

/* A file of at most 16 MiB ("-" is standard input). NULL after adding ERROR_IO or ERROR_INPUT:
 * unreadable, not JSON, a key twice, nested deeper than 2048. */
const struct json *json_read_file(struct arena *arena, const char *path,
                                  struct error_list *errors);

/* The same from memory: `name` and `first_line` stand in messages (a line of a list). Name and
 * text must last as long as the arena. A byte order mark before the text is passed over. */
const struct json *json_read_text(struct arena *arena, const char *name, int first_line,
                                  const char *text, size_t length, struct error_list *errors);

/* The document of that root once more, as it was read: without what json_set has changed since, and
 * with no value read yet. Its text is shared and must last as long as the new tree. */
const struct json *json_read_again(struct arena *arena, const struct json *root,
                                   struct error_list *errors);

/* Replaces or adds one value below the root. The path is keys of objects and indices of arrays,
 * joined by dots: "layers.3.width"; only its last key may be new. The text is JSON or else taken
 * as a string. Messages about the value then name `origin` ("--set layers.3.width=64") in place
 * of file and line. False with ERROR_INPUT when the path leads nowhere. */
bool json_set(const struct json *root, const char *path, const char *value_text,
              const char *origin, struct error_list *errors);

enum json_kind json_kind(const struct json *value);
/* The member of that key or the element of that index; NULL when there is none or the value is
 * of another kind. */
const struct json *json_member(const struct json *object, const char *key);
const struct json *json_element(const struct json *array, size_t index);
/* Members of an object, elements of an array, 0 of anything else. */
size_t json_count(const struct json *value);
/* The key and the value of the index-th member in the order of the file. */
const char *json_key(const struct json *object, size_t index);
const struct json *json_value_at(const struct json *object, size_t index);

/* The value at "a.b.0" below the root, NULL when there is none. Looking here is no reading. */
const struct json *json_at(const struct json *root, const char *path);
/* Whether a reader has asked for the value by json_member or json_element. */
bool json_is_read(const struct json *value);

/* The plain values; assert the kind (a real may be read from an integer). */
bool json_as_bool(const struct json *value);
int64_t json_as_integer(const struct json *value);
double json_as_real(const struct json *value);
const char *json_as_string(const struct json *value);

/* The file that the document was read from, for paths relative to it. */
const char *json_file_name(const struct json *value);

/* "plan.json:7:13: $.tensor", the value's place; computed by scanning the text again. Columns
 * count characters, from 1. */
const char *json_where(const struct json *value);

/* Adds ERROR_INPUT at the value's place. Always false. */
bool json_fail(const struct json *value, struct error_list *errors, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum json_field_type {
    JSON_FIELD_BOOL,    /* bool */
    JSON_FIELD_INTEGER, /* int64_t */
    JSON_FIELD_REAL,    /* double, an integer is fine */
    JSON_FIELD_STRING,  /* const char *, not empty */
    JSON_FIELD_CHOICE,  /* int: index into `choices` */
    JSON_FIELD_VALUE,   /* const struct json *: read by the caller, any kind */
};

enum json_field_flag {
    JSON_OPTIONAL = 1, /* absent: the struct keeps what it held, its default */
    JSON_NULLABLE = 2, /* null is the same as absent */
    JSON_SOURCED = 4,  /* the number must come with its source */
};

struct json_field {
    const char *key;
    enum json_field_type type;
    size_t offset;              /* offsetof the struct's member */
    uint64_t flags;             /* of enum json_field_flag */
    double minimum, maximum;    /* of numbers, both included; both 0: any */
    const char *const *choices; /* of JSON_FIELD_CHOICE, ended by NULL */
};

struct json_object_type {
    const char *noun; /* "a plan": stands in messages */
    const struct json_field *fields;
    size_t field_count;
    const char *const
        *ignored; /* further keys that are allowed, ended by NULL; "measured_*" takes
                     every key that begins so. May be NULL. "note", "source" and
                     "$schema" are always allowed. */
};

/* Fills the struct at `out` from the object. False after adding every fault of this object;
 * fields that are right are filled all the same. */
bool json_read_object(const struct json *object, const struct json_object_type *type, void *out,
                      struct error_list *errors);

#endif
