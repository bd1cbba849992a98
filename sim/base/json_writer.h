/* JSON out: one value after the other, commas and quotes set by themselves, numbers that read back
 * to the same double. */
#ifndef SIM_BASE_JSON_WRITER_H
#define SIM_BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/text.h"

/* Plain: set up by json_writer_new, then only the functions below touch it. `": "` stands between
 * key and value (some trace readers insist on the space). */
struct json_writer {
    struct text *out;
    bool is_indented; /* two spaces a level; else all on one line */
    bool has_key;     /* a key was just written: its value follows */
    int depth;
};

struct json_writer json_writer_new(struct text *out, bool is_indented);

void json_write_begin_object(struct json_writer *writer);
void json_write_end_object(struct json_writer *writer);
void json_write_begin_array(struct json_writer *writer);
void json_write_end_array(struct json_writer *writer);
void json_write_key(struct json_writer *writer, const char *key);

void json_write_string(struct json_writer *writer, const char *value); /* NULL writes null */
void json_write_integer(struct json_writer *writer, int64_t value);
void json_write_real(struct json_writer *writer, double value); /* NaN and infinity: null */
void json_write_bool(struct json_writer *writer, bool value);

/* Key and value at once. */
void json_write_string_at(struct json_writer *writer, const char *key, const char *value);
void json_write_integer_at(struct json_writer *writer, const char *key, int64_t value);
void json_write_real_at(struct json_writer *writer, const char *key, double value);
void json_write_bool_at(struct json_writer *writer, const char *key, bool value);

struct json;
/* A value that was read: the same keys in the same order, the same numbers. */
void json_write_value(struct json_writer *writer, const struct json *value);

#endif
