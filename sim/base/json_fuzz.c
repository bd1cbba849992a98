/* Any bytes at all: what is read has a place for every value, reads by a table, writes back to a
 * text that reads as the same, and takes a value set at a path cut from the same bytes. */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/json.h"
#include "sim/base/json_writer.h"

enum { PLACES_MAX = 200, SET_BYTES_MAX = 64 };

struct record {
    int64_t integer;
    double real;
    const char *string;
    int choice;
};

static const char *const CHOICES[] = {"a", "b", NULL};

static const struct json_field FIELDS[] = {
    {"i", JSON_FIELD_INTEGER, offsetof(struct record, integer), 0, 1, 9, NULL},
    {"r", JSON_FIELD_REAL, offsetof(struct record, real), JSON_SOURCED, 0, 0, NULL},
    {"s", JSON_FIELD_STRING, offsetof(struct record, string), JSON_NULLABLE, 0, 0, NULL},
    {"c", JSON_FIELD_CHOICE, offsetof(struct record, choice), JSON_OPTIONAL, 0, 0, CHOICES},
};

static const struct json_object_type TYPE = {"a record", FIELDS, 4, NULL};

static void
place_all(const struct json *value, int *left)
{
    if ((*left)-- <= 0)
        return;
    assert(strstr(json_where(value), ": $") && "a place has a path");
    for (size_t i = 0; i < json_count(value); i++) {
        bool is_object = json_kind(value) == JSON_KIND_OBJECT;
        place_all(is_object ? json_value_at(value, i) : json_element(value, i), left);
    }
}

static struct text
written(const struct json *value, struct arena *arena)
{
    struct text text = text_new(arena);
    struct json_writer writer = json_writer_new(&text, false);
    json_write_value(&writer, value);
    return text;
}

static void
check_round_trip(const struct json *root, struct arena *arena)
{
    struct error_list errors = {0};
    struct text once = written(root, arena);
    const struct json *again =
        json_read_text(arena, "again", 1, once.bytes, once.length, &errors);
    assert(again && "what is written is JSON");
    struct text twice = written(again, arena);
    assert(strcmp(once.bytes, twice.bytes) == 0 && "and the same JSON");
    (void)twice;
}

static void
set_from(const struct json *root, const uint8_t *data, size_t size, struct arena *arena)
{
    struct error_list errors = {0};
    size_t length = size < SET_BYTES_MAX ? size : SET_BYTES_MAX;
    const char *path = arena_format(arena, "%.*s", (int)length, (const char *)data);
    json_set(root, path, path, "--set", &errors);
    int left = PLACES_MAX;
    place_all(root, &left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    char *text = arena_alloc(arena, size + 1, 1);
    if (size > 0)
        memcpy(text, data, size);
    const struct json *root = json_read_text(arena, "fuzz", 1, text, size, &errors);
    assert(!root == (errors.count == 1) && "a text is read or its fault is said");
    if (root) {
        int left = PLACES_MAX;
        place_all(root, &left);
        struct record record = {0};
        json_read_object(root, &TYPE, &record, &errors);
        check_round_trip(root, arena);
        set_from(root, data, size, arena);
    }
    arena_free(arena);
    return 0;
}
