/* Reads saved error tables and sets today's beside them. */
#include "validate/baseline.h"

#include <string.h>

#include "validate/split.h"

/* ---- Reading */

static const struct json *
member_of_kind(const struct json *object, const char *key, enum json_kind kind,
               struct error_list *errors)
{
    const struct json *member = json_member(object, key);
    if (member && json_kind(member) == kind)
        return member;
    json_fail(member ? member : object, errors, "no '%s' as stepcast validate --json writes it",
              key);
    return NULL;
}

static const char *
text_of(const struct json *object, const char *key, struct error_list *errors)
{
    const struct json *member = member_of_kind(object, key, JSON_KIND_STRING, errors);
    return member ? json_as_string(member) : NULL;
}

static bool
read_mape(const struct json *object, double *mape_fraction, struct error_list *errors)
{
    const struct json *member = json_member(object, "mape_fraction");
    enum json_kind kind = member ? json_kind(member) : JSON_KIND_NULL;
    if (kind != JSON_KIND_REAL && kind != JSON_KIND_INTEGER)
        return json_fail(member ? member : object, errors,
                         "no 'mape_fraction' as stepcast validate --json writes it");
    *mape_fraction = json_as_real(member);
    return true;
}

static bool
read_row(struct baseline *baseline, const char *title, const struct json *object,
         struct arena *arena, struct error_list *errors)
{
    struct baseline_row row = {.title = title};
    const char *part = text_of(object, "part", errors);
    row.group.kind = text_of(object, "kind", errors);
    row.group.dtype = text_of(object, "dtype", errors);
    row.group.size = text_of(object, "size", errors);
    if (!part || !row.group.kind || !row.group.dtype || !row.group.size ||
        !read_mape(object, &row.mape_fraction, errors))
        return false;
    if (strcmp(part, split_part_name(SPLIT_HELD_OUT)) != 0)
        return true;
    baseline->rows = arena_grow(arena, baseline->rows, baseline->count, &baseline->capacity,
                                sizeof *baseline->rows);
    baseline->rows[baseline->count++] = row;
    return true;
}

static bool
read_table(struct baseline *baseline, const struct json *object, struct arena *arena,
           struct error_list *errors)
{
    const char *title = text_of(object, "title", errors);
    const struct json *rows = member_of_kind(object, "rows", JSON_KIND_ARRAY, errors);
    bool is_right = title && rows;
    for (size_t i = 0; is_right && i < json_count(rows); i++)
        is_right = read_row(baseline, title, json_element(rows, i), arena, errors);
    return is_right;
}

bool
baseline_read(struct baseline *baseline, const struct json *object, struct arena *arena,
              struct error_list *errors)
{
    const struct json *tables = member_of_kind(object, "tables", JSON_KIND_ARRAY, errors);
    bool is_right = tables != NULL;
    for (size_t i = 0; is_right && i < json_count(tables); i++)
        is_right = read_table(baseline, json_element(tables, i), arena, errors);
    return is_right && (baseline->count > 0 ||
                        json_fail(object, errors, "no held-out row to compare with"));
}

/* ---- Comparing */

static const struct error_row *
row_of(const struct error_table *table, const struct error_group *group)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].part == SPLIT_HELD_OUT &&
            error_group_is(&table->rows[i].group, group))
            return &table->rows[i];
    return NULL;
}

void
baseline_compare(const struct baseline *baseline, const char *title,
                 const struct error_table *table, double allowed_fraction,
                 struct baseline_growths *growths, struct arena *arena)
{
    for (size_t i = 0; i < baseline->count; i++) {
        const struct baseline_row *before = &baseline->rows[i];
        if (strcmp(before->title, title) != 0)
            continue;
        const struct error_row *now = row_of(table, &before->group);
        growths->compared_count++;
        if (now && now->mape_fraction <= before->mape_fraction + allowed_fraction)
            continue; /* not when NaN */
        growths->items = arena_grow(arena, growths->items, growths->count, &growths->capacity,
                                    sizeof *growths->items);
        growths->items[growths->count++] = (struct baseline_growth){before, now};
    }
}

/* ---- Telling */

void
baseline_print(const struct baseline_growths *growths, const char *name, struct text *out)
{
    for (size_t i = 0; i < growths->count; i++) {
        const struct baseline_row *before = growths->items[i].before;
        const struct error_row *now = growths->items[i].now;
        text_format(out, "grown: %s%s%s %s %s: held-out MAPE %.2f %% in %s, ", before->title,
                    *before->title ? ": " : "", before->group.kind, before->group.dtype,
                    before->group.size, before->mape_fraction * 100, name);
        if (now)
            text_format(out, "%.2f %% now\n", now->mape_fraction * 100);
        else
            text_format(out, "no such row now\n");
    }
    text_format(out, "%zu of %zu errors have not grown against %s\n",
                growths->compared_count - growths->count, growths->compared_count, name);
}

void
baseline_write(const struct baseline_growths *growths, struct json_writer *writer)
{
    json_write_begin_array(writer);
    for (size_t i = 0; i < growths->count; i++) {
        const struct baseline_row *before = growths->items[i].before;
        const struct error_row *now = growths->items[i].now;
        json_write_begin_object(writer);
        json_write_string_at(writer, "title", before->title);
        json_write_string_at(writer, "kind", before->group.kind);
        json_write_string_at(writer, "dtype", before->group.dtype);
        json_write_string_at(writer, "size", before->group.size);
        json_write_real_at(writer, "before_mape_fraction", before->mape_fraction);
        if (now)
            json_write_real_at(writer, "mape_fraction", now->mape_fraction);
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}
