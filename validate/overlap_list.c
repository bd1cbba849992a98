/* Reads measured pairs of kernels and collectives, one JSON object a line. */
#include "validate/overlap_list.h"

#include <assert.h>
#include <string.h>

static const size_t LIST_BYTES_MAX = (size_t)16 << 20;
static const char *const PARTS[] = {[SPLIT_FIT] = "fit", [SPLIT_HELD_OUT] = "held-out", NULL};
static const char *const IGNORED[] = {"library", "source", "note", NULL};

static_assert(sizeof(enum split_part) == sizeof(int), "choices are read as int");

struct line_reading {
    const struct json *kernel, *collective;
    struct measured_overlap row;
};

/* Counts and times beyond these are slips: no list runs for longer than a day. */
static const struct json_field FIELDS[] = {
    {"kernel", JSON_FIELD_VALUE, offsetof(struct line_reading, kernel), 0, 0, 0, NULL},
    {"kernel_count", JSON_FIELD_INTEGER, offsetof(struct line_reading, row.pair.kernel_count),
     0, 1, 1e6, NULL},
    {"collective", JSON_FIELD_VALUE, offsetof(struct line_reading, collective), 0, 0, 0, NULL},
    {"collective_count", JSON_FIELD_INTEGER,
     offsetof(struct line_reading, row.pair.collective_count), 0, 1, 1e6, NULL},
    {"measured_kernels_alone_s", JSON_FIELD_REAL,
     offsetof(struct line_reading, row.pair.kernels_alone_s), 0, 1e-9, 86400, NULL},
    {"measured_collectives_alone_s", JSON_FIELD_REAL,
     offsetof(struct line_reading, row.pair.collectives_alone_s), JSON_OPTIONAL, 1e-9, 86400,
     NULL},
    {"measured_kernels_s", JSON_FIELD_REAL, offsetof(struct line_reading, row.kernels_s),
     JSON_OPTIONAL, 1e-9, 86400, NULL},
    {"measured_both_s", JSON_FIELD_REAL, offsetof(struct line_reading, row.both_s),
     JSON_OPTIONAL, 1e-9, 86400, NULL},
    {"measured_collectives_s", JSON_FIELD_REAL,
     offsetof(struct line_reading, row.collectives_s), JSON_OPTIONAL, 1e-9, 86400, NULL},
    {"measured_part", JSON_FIELD_CHOICE, offsetof(struct line_reading, row.part), 0, 0, 0,
     PARTS},
};

static const struct json_object_type TYPE = {"a measured pair", FIELDS,
                                             sizeof FIELDS / sizeof *FIELDS, IGNORED};

static bool
read_pair(const struct line_reading *reading, struct overlap_pair *pair, struct arena *arena,
          struct error_list *errors)
{
    if (json_kind(reading->kernel) != JSON_KIND_OBJECT)
        return json_fail(reading->kernel, errors, "wanted a kernel, an object");
    if (json_kind(reading->collective) != JSON_KIND_OBJECT)
        return json_fail(reading->collective, errors, "wanted a collective, an object");
    return kernel_read(reading->kernel, &pair->kernel, arena, errors) &&
           collective_read(reading->collective, &pair->collective, arena, errors);
}

static bool
check_times(const struct json *object, const struct measured_overlap *row,
            struct error_list *errors)
{
    if ((row->kernels_s > 0) != (row->both_s > 0) &&
        !(row->collectives_s > 0 && row->both_s > 0))
        return true;
    return json_fail(object, errors,
                     "wanted 'measured_kernels_s', or 'measured_both_s' and no other time of "
                     "the pair");
}

static bool
parse_line(struct overlap_list *list, const struct json *object, int line, struct arena *arena,
           struct error_list *errors)
{
    struct line_reading reading = {.row = {.line = line, .list = json_file_name(object)}};
    if (!json_read_object(object, &TYPE, &reading, errors) ||
        !check_times(object, &reading.row, errors) ||
        !read_pair(&reading, &reading.row.pair, arena, errors))
        return false;
    list->items =
        arena_grow(arena, list->items, list->count, &list->capacity, sizeof *list->items);
    list->items[list->count++] = reading.row;
    return true;
}

bool
overlap_list_parse(struct overlap_list *list, const char *name, const struct text *text,
                   struct arena *arena, struct error_list *errors)
{
    size_t count_before = list->count;
    bool is_right = true;
    int line = 1;
    for (size_t start = 0; start < text->length; line++) {
        const char *bytes = text->bytes + start;
        const char *end = memchr(bytes, '\n', text->length - start);
        size_t length = end ? (size_t)(end - bytes) : text->length - start;
        start += length + 1;
        if (strspn(bytes, " \t\r") >= length)
            continue;
        const struct json *object = json_read_text(arena, name, line, bytes, length, errors);
        if (!object || !parse_line(list, object, line, arena, errors))
            is_right = false;
    }
    if (is_right && list->count == count_before)
        return error_add(errors, ERROR_INPUT, name, "no line, wanted measured pairs");
    return is_right;
}

bool
overlap_list_read(struct overlap_list *list, const char *path, struct arena *arena,
                  struct error_list *errors)
{
    struct text text = text_new(arena);
    return text_read_file(&text, path, LIST_BYTES_MAX, errors) &&
           overlap_list_parse(list, path, &text, arena, errors);
}
