/* Reads limits on held-out errors and holds a table against them. */
#include "validate/tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cuts "kind/dtype/size" at its slashes. */
static bool
add_selected(struct tolerance_list *list, const char *selector, struct tolerance tolerance,
             struct arena *arena, struct error_list *errors)
{
    char *kind = arena_format(arena, "%s", selector);
    char *dtype = strchr(kind, '/');
    char *size = dtype != NULL ? strchr(dtype + 1, '/') : NULL;
    if (dtype != NULL)
        *dtype++ = '\0';
    if (size != NULL)
        *size++ = '\0';
    if (*kind == '\0')
        return error_add(errors, ERROR_INPUT, tolerance.where,
                         "no kind, wanted KIND, KIND/DTYPE or KIND/DTYPE/SIZE");
    tolerance.kind = kind;
    tolerance.dtype = dtype != NULL ? dtype : "";
    tolerance.size = size != NULL ? size : "all";
    list->items =
        arena_grow(arena, list->items, list->count, &list->capacity, sizeof *list->items);
    list->items[list->count++] = tolerance;
    return true;
}

static bool
parse_fraction(const char *text, double *fraction)
{
    char *end;
    *fraction = strtod(text, &end);
    if (end == text || !isfinite(*fraction) || *fraction < 0)
        return false;
    if (*end == '%') {
        *fraction /= 100;
        end++;
    }
    return *end == '\0';
}

bool
tolerance_parse(struct tolerance_list *list, const char *text, struct arena *arena,
                struct error_list *errors)
{
    const char *equals = strrchr(text, '=');
    struct tolerance tolerance = {.where = arena_format(arena, "--tolerance %s", text)};
    if (equals == NULL || !parse_fraction(equals + 1, &tolerance.mape_fraction_max))
        return error_add(errors, ERROR_INPUT, tolerance.where,
                         "wanted KIND=LIMIT, as gemm=8%%");
    const char *selector = arena_format(arena, "%.*s", (int)(equals - text), text);
    return add_selected(list, selector, tolerance, arena, errors);
}

static bool
read_limit(struct tolerance_list *list, const struct json *object, size_t index,
           struct arena *arena, struct error_list *errors)
{
    const char *key = json_key(object, index);
    const struct json *value = json_member(object, key);
    enum json_kind kind = json_kind(value);
    if (kind != JSON_KIND_REAL && kind != JSON_KIND_INTEGER)
        return json_fail(value, errors, "wanted a fraction, 0.08 for 8 %%");
    struct tolerance tolerance = {.mape_fraction_max = json_as_real(value),
                                  .where = json_where(value)};
    if (!(tolerance.mape_fraction_max >= 0))
        return json_fail(value, errors, "wanted a fraction of at least 0");
    return add_selected(list, key, tolerance, arena, errors);
}

bool
tolerance_read(struct tolerance_list *list, const struct json *object, struct arena *arena,
               struct error_list *errors)
{
    if (json_kind(object) != JSON_KIND_OBJECT)
        return json_fail(object, errors, "wanted an object of kinds and fractions");
    bool is_right = true;
    for (size_t i = 0; i < json_count(object); i++)
        if (!read_limit(list, object, i, arena, errors))
            is_right = false;
    return is_right;
}

static bool
selects(const struct tolerance *tolerance, const struct error_row *row)
{
    return row->part == SPLIT_HELD_OUT && strcmp(tolerance->kind, row->group.kind) == 0 &&
           strcmp(tolerance->size, row->group.size) == 0 &&
           (*tolerance->dtype == '\0' || strcmp(tolerance->dtype, row->group.dtype) == 0);
}

static size_t
check_one(const struct tolerance *tolerance, const struct error_table *table,
          struct tolerance_verdicts *verdicts, struct arena *arena)
{
    size_t count_before = verdicts->count;
    for (size_t i = 0; i < table->count; i++) {
        const struct error_row *row = &table->rows[i];
        if (!selects(tolerance, row))
            continue;
        verdicts->items = arena_grow(arena, verdicts->items, verdicts->count,
                                     &verdicts->capacity, sizeof *verdicts->items);
        bool holds = row->mape_fraction <= tolerance->mape_fraction_max; /* not when NaN */
        verdicts->items[verdicts->count++] = (struct tolerance_verdict){tolerance, row, holds};
        verdicts->all_hold = verdicts->all_hold && holds;
    }
    return verdicts->count - count_before;
}

static bool
add_selects_nothing(const struct tolerance *tolerance, struct error_list *errors)
{
    bool is_any_dtype = *tolerance->dtype == '\0';
    return error_add(errors, ERROR_INPUT, tolerance->where,
                     "no held-out rows of kind %s, %s%s, size \"%s\"", tolerance->kind,
                     is_any_dtype ? "any dtype" : "dtype ", tolerance->dtype, tolerance->size);
}

bool
tolerance_check(const struct tolerance_list *list, const struct error_table *table,
                struct tolerance_verdicts *verdicts, struct arena *arena,
                struct error_list *errors)
{
    bool is_right = true;
    verdicts->all_hold = true;
    for (size_t i = 0; i < list->count; i++)
        if (check_one(&list->items[i], table, verdicts, arena) == 0)
            is_right = add_selects_nothing(&list->items[i], errors);
    return is_right;
}

size_t
tolerance_print_broken(const struct tolerance_verdicts *verdicts, struct text *out)
{
    size_t broken_count = 0;
    for (size_t i = 0; i < verdicts->count; i++) {
        const struct tolerance_verdict *verdict = &verdicts->items[i];
        const struct error_group *group = &verdict->row->group;
        if (verdict->holds)
            continue;
        broken_count++;
        text_format(out, "past its limit: %s %s %s: held-out MAPE %.2f %%, at most %.2f %%\n",
                    group->kind, group->dtype, group->size, verdict->row->mape_fraction * 100,
                    verdict->tolerance->mape_fraction_max * 100);
    }
    return broken_count;
}

void
tolerance_print(const struct tolerance_verdicts *verdicts, struct text *out)
{
    size_t broken_count = tolerance_print_broken(verdicts, out);
    if (verdicts->count > 0)
        text_format(out, "%zu of %zu limits hold\n", verdicts->count - broken_count,
                    verdicts->count);
}

void
tolerance_write(const struct tolerance_verdicts *verdicts, struct json_writer *writer)
{
    json_write_begin_array(writer);
    for (size_t i = 0; i < verdicts->count; i++) {
        const struct tolerance_verdict *verdict = &verdicts->items[i];
        json_write_begin_object(writer);
        json_write_string_at(writer, "kind", verdict->row->group.kind);
        json_write_string_at(writer, "dtype", verdict->row->group.dtype);
        json_write_string_at(writer, "size", verdict->row->group.size);
        json_write_real_at(writer, "mape_fraction", verdict->row->mape_fraction);
        json_write_real_at(writer, "mape_fraction_max", verdict->tolerance->mape_fraction_max);
        json_write_bool_at(writer, "holds", verdict->holds);
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}
