/* Reads measured kernels and collectives, one JSON object a line. */
#include "validate/measured_list.h"

#include <math.h>
#include <string.h>

#include "hw/gemm_cost.h"
#include "sim/base/json.h"
#include "validate/collective_log.h"

enum { LIST_BYTES_MAX = 64 * 1024 * 1024 };

static const char *
string_member(const struct json *object, const char *key)
{
    const struct json *member = json_member(object, key);
    return member != NULL && json_kind(member) == JSON_KIND_STRING ? json_as_string(member)
                                                                   : NULL;
}

static bool
read_measured_s(const struct json *object, double *measured_s, struct error_list *errors)
{
    const struct json *member = json_member(object, "measured_s");
    if (member == NULL)
        return json_fail(object, errors, "measured_s is missing, wanted the seconds measured");
    enum json_kind kind = json_kind(member);
    if (kind != JSON_KIND_REAL && kind != JSON_KIND_INTEGER)
        return json_fail(member, errors, "wanted a number of seconds");
    *measured_s = json_as_real(member);
    if (!isfinite(*measured_s) || *measured_s <= 0)
        return json_fail(member, errors, "%g seconds, wanted more than 0", *measured_s);
    return true;
}

/* "fit" or "held-out", of data whose fit did not go by the split. */
static bool
read_part(const struct json *object, struct measured *measured, struct error_list *errors)
{
    const struct json *member = json_member(object, "measured_part");
    if (member == NULL)
        return true;
    const char *name = string_member(object, "measured_part");
    for (int part = 0; name != NULL && part < SPLIT_PART_COUNT; part++) {
        if (strcmp(name, split_part_name((enum split_part)part)) != 0)
            continue;
        measured->has_part = true;
        measured->part = (enum split_part)part;
        return true;
    }
    return json_fail(member, errors, "wanted \"fit\" or \"held-out\"");
}

static bool
read_enqueued(const struct json *object, struct measured *measured, struct error_list *errors)
{
    const struct json *member = json_member(object, "measured_enqueued");
    if (member == NULL)
        return true;
    if (json_kind(member) != JSON_KIND_BOOL)
        return json_fail(member, errors, "wanted true or false");
    measured->is_enqueued = json_as_bool(member);
    return true;
}

static bool
read_work(const struct json *object, struct measured *measured, struct arena *arena,
          struct error_list *errors)
{
    if (json_kind(object) != JSON_KIND_OBJECT)
        return json_fail(object, errors, "wanted an object, a kernel or a collective");
    measured->is_collective = json_member(object, "collective") != NULL;
    if (measured->is_collective)
        return collective_read(object, &measured->collective, arena, errors);
    return kernel_read(object, &measured->kernel, arena, errors);
}

static bool
parse_line(struct measured_list *list, const struct json *object, int line, struct arena *arena,
           struct error_list *errors)
{
    struct measured measured = {.line = line, .list = json_file_name(object)};
    if (!read_work(object, &measured, arena, errors))
        return false;
    if (!read_measured_s(object, &measured.measured_s, errors) ||
        !read_part(object, &measured, errors) || !read_enqueued(object, &measured, errors))
        return false;
    measured.library = string_member(object, "library");
    measured.source = string_member(object, "source");
    list->items =
        arena_grow(arena, list->items, list->count, &list->capacity, sizeof *list->items);
    list->items[list->count++] = measured;
    return true;
}

static bool
is_blank(const char *bytes, size_t length)
{
    return strspn(bytes, " \t\r") >= length;
}

bool
measured_list_parse(struct measured_list *list, const char *name, const struct text *text,
                    struct arena *arena, struct error_list *errors)
{
    size_t count_before = list->count;
    bool is_right = true;
    int line = 1;
    if (collective_log_is(text))
        return collective_log_parse(list, name, text, arena, errors);
    for (size_t start = 0; start < text->length; line++) {
        const char *bytes = text->bytes + start;
        const char *end = memchr(bytes, '\n', text->length - start);
        size_t length = end != NULL ? (size_t)(end - bytes) : text->length - start;
        start += length + 1;
        if (is_blank(bytes, length))
            continue;
        const struct json *object = json_read_text(arena, name, line, bytes, length, errors);
        if (object == NULL || !parse_line(list, object, line, arena, errors))
            is_right = false;
    }
    if (is_right && list->count == count_before)
        return error_add(errors, ERROR_INPUT, name,
                         "no line, wanted measured kernels or collectives");
    return is_right;
}

bool
measured_list_read(struct measured_list *list, const char *path, struct arena *arena,
                   struct error_list *errors)
{
    struct text text = text_new(arena);
    if (!text_read_file(&text, path, LIST_BYTES_MAX, errors))
        return false;
    return measured_list_parse(list, path, &text, arena, errors);
}

bool
measured_list_read_all(struct measured_list *list, const char *const *paths, size_t count,
                       struct arena *arena, struct error_list *errors)
{
    for (size_t i = 0; i < count; i++)
        if (!measured_list_read(list, paths[i], arena, errors))
            return false;
    return true;
}

void
measured_list_forget_clocks(struct measured_list *list, const struct device *device)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct measured *row = &list->items[i];
        if (row->is_collective || gemm_clock_fraction(device, row->kernel.source) == 0)
            continue;
        row->kernel.source = NULL;
        list->items[kept++] = *row;
    }
    list->count = kept;
}

double
measured_predicted_s(const struct measured *measured, const struct kernel_cost *cost)
{
    return measured->is_enqueued ? cost->seconds_s - cost->host_s : cost->seconds_s;
}

const char *
measured_shape(const struct measured *measured, struct arena *arena)
{
    struct text shape = text_new(arena);
    if (measured->is_collective)
        split_collective_shape(&measured->collective, &shape);
    else
        split_kernel_shape(&measured->kernel, &shape);
    return shape.bytes;
}
