/* Each shard says in its head, or of JSON in each row, which of how many it is; each row begins
 * with its point. Points were dealt out one by one, so that it is known whose turn it is; of a
 * search the rows, a few from each shard, are held and sorted. */
#include "sim/cli/merge_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/slice.h"

enum { HELD_BYTES = 1 << 16, COLUMN_NONE = -1 };

/* A file, at its next row. */
struct part {
    const char *path;
    FILE *file;
    char *line; /* getline's */
    size_t room;
    bool is_json, is_over;
    struct slice slice; /* of JSON without rows: count 0 */
    const char *head;   /* of CSV: behind the shard */
    size_t best;        /* of a search: how many it wants */
    bool is_front;
    size_t point;
    const char *row; /* as it is without shard and point */
};

struct merge {
    struct part *parts;
    size_t count;
    struct part **in_order; /* by their shards */
    const struct merge_output *output;
    struct arena *arena;
    struct error_list *errors;
};

static bool
fail_part(const struct part *part, struct error_list *errors)
{
    return error_add(errors, ERROR_INPUT, part->path,
                     "is no shard: wanted a store, or CSV or JSON lines that sweep or search "
                     "wrote with --shard");
}

/* The next line without its end; false at the end of the file. */
static bool
read_line(struct part *part)
{
    ssize_t length = getline(&part->line, &part->room, part->file);
    part->is_over = length < 0;
    if (length > 0 && part->line[length - 1] == '\n')
        part->line[length - 1] = '\0';
    return length >= 0;
}

/* "3/16" up to the end character, and what follows it. */
static const char *
read_slice(const char *text, const char *ends, struct slice *slice, struct arena *arena)
{
    size_t length = strcspn(text, ends);
    const char *word = arena_format(arena, "%.*s", (int)length, text);
    return text[length] && slice_parse(word, slice) ? text + length : NULL;
}

/* "shard 3/16,model.hidden,..." of a sweep; of a search, "shard 3/16 best 10," or "... front,". */
static bool
read_head(struct part *part, struct arena *arena)
{
    static const char before[] = "shard ";
    if (strncmp(part->line, before, sizeof before - 1) != 0)
        return false;
    const char *at = read_slice(part->line + sizeof before - 1, " ,", &part->slice, arena);
    char *end = NULL;
    if (at && strncmp(at, " best ", 6) == 0) {
        part->best = strtoul(at + 6, &end, 10);
        at = end;
    } else if (at && strncmp(at, " front", 6) == 0) {
        part->is_front = true;
        at += 6;
    }
    if (!at || *at != ',')
        return false;
    part->head = arena_format(arena, "%s", at + 1);
    return true;
}

static bool
read_csv_row(struct part *part)
{
    char *end = NULL;
    part->point = strtoull(part->line, &end, 10);
    part->row = end + 1;
    return end != part->line && *end == ',';
}

/* {"shard": "3/16", "point": 34, "settings": ... */
static bool
read_json_row(struct part *part, struct arena *arena)
{
    static const char shard[] = "{\"shard\": \"", point[] = "\", \"point\": ";
    struct slice slice;
    char *end = NULL;
    if (strncmp(part->line, shard, sizeof shard - 1) != 0)
        return false;
    const char *at = read_slice(part->line + sizeof shard - 1, "\"", &slice, arena);
    if (!at || strncmp(at, point, sizeof point - 1) != 0 ||
        (part->slice.count > 0 &&
         (slice.index != part->slice.index || slice.count != part->slice.count)))
        return false;
    part->slice = slice;
    at += sizeof point - 1;
    part->point = strtoull(at, &end, 10);
    if (end == at || strncmp(end, ", ", 2) != 0)
        return false;
    end[1] = '{'; /* in place of the blank */
    part->row = end + 1;
    return true;
}

/* The next row; a shard has its own points only, in order unless it is of a search. */
static bool
next_row(struct part *part, struct arena *arena, struct error_list *errors)
{
    size_t before = part->row ? part->point + 1 : 0;
    bool is_sweep = part->best == 0 && !part->is_front;
    if (!read_line(part))
        return true;
    bool is_right = part->is_json ? read_json_row(part, arena) : read_csv_row(part);
    if (!is_right || part->point % part->slice.count != part->slice.index ||
        (is_sweep && part->point < before))
        return fail_part(part, errors);
    return true;
}

static bool
open_part(struct part *part, const char *path, struct arena *arena, struct error_list *errors)
{
    *part = (struct part){.path = path, .file = fopen(path, "r")};
    if (!part->file)
        return error_add(errors, ERROR_IO, path, "cannot be read: %s", strerror(errno));
    if (!read_line(part))
        return true; /* of JSON, a shard without points */
    part->is_json = *part->line == '{';
    if (!part->is_json)
        return read_head(part, arena) ? next_row(part, arena, errors) : fail_part(part, errors);
    return read_json_row(part, arena) || fail_part(part, errors);
}

/* Parts of one kind and one count, none twice. */
static bool
place_part(struct merge *merge, struct part *part, const struct part *first)
{
    bool is_same = part->is_json == first->is_json && part->slice.count == first->slice.count &&
                   part->best == first->best && part->is_front == first->is_front &&
                   (part->is_json || strcmp(part->head, first->head) == 0);
    if (!is_same)
        return error_add(merge->errors, ERROR_INPUT, part->path,
                         "is of another sweep or search than %.160s", first->path);
    if (part->slice.count != merge->count)
        return error_add(merge->errors, ERROR_INPUT, part->path,
                         "is one of %zu shards, and %zu were given", part->slice.count,
                         merge->count);
    if (merge->in_order[part->slice.index])
        return error_add(merge->errors, ERROR_INPUT, part->path, "is shard %zu, as is %.160s",
                         part->slice.index + 1, merge->in_order[part->slice.index]->path);
    merge->in_order[part->slice.index] = part;
    return true;
}

static bool
place_parts(struct merge *merge)
{
    size_t empty = 0;
    const struct part *first = NULL;
    merge->in_order = arena_alloc(merge->arena, merge->count, sizeof(void *));
    for (size_t i = 0; i < merge->count; i++) {
        struct part *part = &merge->parts[i];
        first = first || part->slice.count == 0 ? first : part;
        if (part->slice.count > 0 && !place_part(merge, part, first))
            return false;
    }
    for (size_t i = 0; i < merge->count;
         i++) { /* files without a row are the shards that miss */
        while (empty < merge->count && merge->parts[empty].slice.count > 0)
            empty++;
        if (!merge->in_order[i])
            merge->in_order[i] = &merge->parts[empty++];
    }
    return true;
}

static bool
write_text(const struct merge *merge, struct text *text)
{
    bool is_written =
        text->length == 0 || merge->output->write(merge->output->context, text, merge->errors);
    arena_clear(text->arena);
    *text = text_new(text->arena);
    return is_written;
}

/* Point by point; shards have none of those that --where left out. */
static bool
merge_points(const struct merge *merge)
{
    struct arena *arena = arena_new_beside(merge->arena),
                 *word = arena_new_beside(merge->arena);
    struct text text = text_new(arena);
    size_t over = 0;
    bool is_right = true;
    for (size_t i = 0; i < merge->count; i++)
        over += merge->in_order[i]->is_over;
    for (size_t point = 0; over < merge->count && is_right; point++) {
        struct part *part = merge->in_order[point % merge->count];
        if (part->is_over || part->point != point)
            continue;
        text_format(&text, "%s\n", part->row);
        is_right = next_row(part, word, merge->errors) &&
                   (text.length < HELD_BYTES || write_text(merge, &text));
        over += part->is_over;
        arena_clear(word);
    }
    is_right = is_right && write_text(merge, &text);
    arena_free(word);
    arena_free(arena);
    return is_right;
}

/* A plan of a search. */
struct found_row {
    double step_s, memory_bytes;
    size_t point;
    const char *row;
};

static int
compare_rows(const void *a, const void *b)
{
    const struct found_row *one = a, *two = b;
    if (one->step_s < two->step_s || one->step_s > two->step_s)
        return one->step_s < two->step_s ? -1 : 1;
    return (one->point > two->point) - (one->point < two->point);
}

static int
find_column(const char *head, const char *name)
{
    size_t length = strlen(name);
    for (int column = 0; head; column++) {
        if (strncmp(head, name, length) == 0 && (head[length] == ',' || !head[length]))
            return column;
        head = strchr(head, ',');
        head = head ? head + 1 : NULL;
    }
    return COLUMN_NONE;
}

static double
read_column(const char *row, int column)
{
    for (; column > 0 && row; column--) {
        row = strchr(row, ',');
        row = row ? row + 1 : NULL;
    }
    return row ? strtod(row, NULL) : 0;
}

/* Whether another of the sorted rows is nowhere worse; of equals the first stays. */
static bool
is_beaten(const struct found_row *rows, size_t count, size_t index)
{
    const struct found_row *own = &rows[index];
    for (size_t i = 0; i < count; i++) {
        bool is_better =
            rows[i].step_s < own->step_s || rows[i].memory_bytes < own->memory_bytes;
        if (i != index && rows[i].step_s <= own->step_s &&
            rows[i].memory_bytes <= own->memory_bytes && (is_better || i < index))
            return true;
    }
    return false;
}

static bool
read_rows(const struct merge *merge, struct found_row **rows, size_t *count)
{
    size_t room = 0;
    int step = find_column(merge->in_order[0]->head, "step_s");
    int memory = find_column(merge->in_order[0]->head, "memory_bytes");
    if (step == COLUMN_NONE || memory == COLUMN_NONE)
        return fail_part(merge->in_order[0], merge->errors);
    for (size_t i = 0; i < merge->count; i++) {
        struct part *part = merge->in_order[i];
        while (!part->is_over) {
            *rows = arena_grow(merge->arena, *rows, *count, &room, sizeof **rows);
            (*rows)[(*count)++] =
                (struct found_row){read_column(part->row, step), read_column(part->row, memory),
                                   part->point, arena_format(merge->arena, "%s", part->row)};
            if (!next_row(part, merge->arena, merge->errors))
                return false;
        }
    }
    return true;
}

static bool
merge_plans(const struct merge *merge)
{
    struct found_row *rows = NULL;
    size_t count = 0, best = merge->in_order[0]->best;
    if (!read_rows(merge, &rows, &count))
        return false;
    if (count > 0)
        qsort(rows, count, sizeof *rows, compare_rows);
    struct arena *arena = arena_new_beside(merge->arena);
    struct text text = text_new(arena);
    for (size_t i = 0; i < count; i++)
        if (best > 0 ? i < best : !is_beaten(rows, count, i))
            text_format(&text, "%s\n", rows[i].row);
    bool is_right = write_text(merge, &text);
    arena_free(arena);
    return is_right;
}

static bool
merge_parts(struct merge *merge)
{
    const struct part *first = merge->in_order[0];
    if (!first->is_json && first->head) {
        struct text head = text_new(merge->arena);
        text_format(&head, "%s\n", first->head);
        if (!merge->output->write(merge->output->context, &head, merge->errors))
            return false;
    }
    return first->best > 0 || first->is_front ? merge_plans(merge) : merge_points(merge);
}

bool
merge_lines(const char *const *paths, size_t count, const struct merge_output *output,
            struct arena *arena, struct error_list *errors)
{
    struct merge merge = {.parts = arena_alloc(arena, count, sizeof *merge.parts),
                          .count = count,
                          .output = output,
                          .arena = arena,
                          .errors = errors};
    bool is_right = true;
    for (size_t i = 0; i < count && is_right; i++)
        is_right = open_part(&merge.parts[i], paths[i], arena, errors);
    is_right = is_right && place_parts(&merge) && merge_parts(&merge);
    for (size_t i = 0; i < count; i++) {
        if (merge.parts[i].file)
            fclose(merge.parts[i].file);
        free(merge.parts[i].line);
    }
    return is_right;
}
