/* Lists of flows: read row by row, then ids are found, then an order.
 *
 * No field of a right list holds a comma, a quote or a semicolon, so a field is a piece of the
 * text, quoted or not, and an id is known by where it begins. */
#include "hw/flow_list.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hw/flow_order.h"
#include "sim/base/hash.h"

enum { COLUMNS = 6, NAME_MAX_BYTES = 120 };
enum column {
    COLUMN_ID,
    COLUMN_START,
    COLUMN_FROM,
    COLUMN_TO,
    COLUMN_BYTES,
    COLUMN_DEPENDENCIES
};

static const char *const HEADER[COLUMNS] = {"id", "start_s", "src", "dst", "bytes", "deps"};

/* What lies beyond is a slip: a year, and a thousand times what all disks on Earth hold. */
static const double START_MAX_S = 3.2e7;
static const double BYTES_MAX = 1e24;

static const uint32_t NONE = UINT32_MAX;

struct field {
    const char *begin;
    size_t length;
};

struct reader {
    struct flow_list *list;
    struct flow *flows;
    uint32_t *dependencies; /* where their ids stand in the text, until they are found */
    size_t dependency_count, dependency_capacity;
    const struct text *text;
    int64_t rank_count;
    bool has_header;
    bool is_numbered; /* each id is its flow's place in the list: then there is no table */
    uint32_t *table;  /* open addressing over ids: flows, or NONE */
    size_t table_mask;
    struct arena *arena;
    struct error_list *errors;
};

/* "flows.csv:7" */
static const char *
show_line(const char *name, const char *text, const char *at, struct arena *arena)
{
    size_t line = 1;
    for (const char *c = text; c < at; c++)
        line += *c == '\n';
    return arena_format(arena, "%s:%zu", name, line);
}

static bool
fail_at(const struct reader *reader, const char *at, const char *what)
{
    const char *where = show_line(reader->list->name, reader->list->text, at, reader->arena);
    return error_add(reader->errors, ERROR_INPUT, where, "%s", what);
}

/* The field that starts at `at`, quotes and blanks around it left out; where the next begins, or
 * NULL when it is not a field. */
static const char *
cut_field(const char *at, const char *end, struct field *field)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    bool is_quoted = at < end && *at == '"';
    field->begin = at + is_quoted;
    const char *stop = field->begin;
    while (stop < end && *stop != '"' && (is_quoted || *stop != ','))
        stop++;
    if (is_quoted != (stop < end && *stop == '"'))
        return NULL;
    at = stop + is_quoted;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    if (at < end && *at != ',')
        return NULL;
    while (stop > field->begin && (stop[-1] == ' ' || stop[-1] == '\t'))
        stop--;
    field->length = (size_t)(stop - field->begin);
    return at < end ? at + 1 : end + 1;
}

/* How many fields the line has, of which the first COLUMNS are kept; -1 for broken quotes. */
static int
cut_line(const char *at, const char *end, struct field *fields)
{
    int count = 0;
    while (at <= end) {
        struct field field;
        at = cut_field(at, end, &field);
        if (!at)
            return -1;
        if (count < COLUMNS)
            fields[count] = field;
        count++;
    }
    return count;
}

static bool
check_header(struct reader *reader, const struct field *fields, int count)
{
    bool is_right = count == COLUMNS;
    for (int i = 0; i < COLUMNS && is_right; i++)
        is_right = fields[i].length == strlen(HEADER[i]) &&
                   memcmp(fields[i].begin, HEADER[i], fields[i].length) == 0;
    reader->has_header = true;
    return is_right ||
           fail_at(reader, fields[0].begin, "wanted the columns id,start_s,src,dst,bytes,deps");
}

static const char *
show_field(const struct reader *reader, struct field field)
{
    int length = (int)(field.length < NAME_MAX_BYTES ? field.length : NAME_MAX_BYTES);
    return arena_format(reader->arena, "%.*s", length, field.begin);
}

/* Digits with at most one point: quick, and right to the last bit as long as the digits make a
 * whole number that a double holds (Clinger, How to read floating point numbers accurately, PLDI
 * 1990). */
static bool
read_plain_real(struct field field, double *out)
{
    enum { DIGITS_MAX = 15 };
    int64_t digits = 0;
    double divisor = 1;
    bool has_point = false;
    size_t digit_count = 0;
    for (size_t i = 0; i < field.length; i++) {
        char c = field.begin[i];
        if (c == '.' && !has_point) {
            has_point = true;
        } else if (c >= '0' && c <= '9' && digit_count < DIGITS_MAX) {
            digits = digits * 10 + (c - '0');
            divisor *= has_point ? 10 : 1;
            digit_count++;
        } else {
            return false;
        }
    }
    *out = (double)digits / divisor;
    return digit_count > 0;
}

/* Any number as C has it, but decimal. */
static bool
read_any_real(struct field field, double *out)
{
    if (field.length == 0 || strspn(field.begin, "+-.0123456789eE") < field.length)
        return false;
    char *end;
    *out = strtod(field.begin, &end);
    return end == field.begin + field.length;
}

static bool
read_real(const struct reader *reader, enum column column, struct field field, double most,
          double *out)
{
    bool is_number = read_plain_real(field, out) || read_any_real(field, out);
    if (is_number && *out >= 0 && *out <= most)
        return true;
    return fail_at(reader, field.begin,
                   arena_format(reader->arena, "%s is \"%s\", wanted a number from 0 to %g",
                                HEADER[column], show_field(reader, field), most));
}

static bool
read_rank(const struct reader *reader, enum column column, struct field field, uint32_t *out)
{
    int64_t rank = field.length > 0 ? 0 : -1;
    for (size_t i = 0; i < field.length && rank >= 0; i++) {
        bool is_digit = field.begin[i] >= '0' && field.begin[i] <= '9';
        rank = is_digit ? rank * 10 + (field.begin[i] - '0') : -1;
        rank = rank < reader->rank_count ? rank : -1;
    }
    *out = (uint32_t)rank;
    return rank >= 0 ||
           fail_at(reader, field.begin,
                   arena_format(reader->arena, "%s is \"%s\", wanted a rank from 0 to %lld",
                                HEADER[column], show_field(reader, field),
                                (long long)reader->rank_count - 1));
}

/* Up to a blank, a control character (the text's end is one), or what divides fields. */
static size_t
id_length(const char *id)
{
    const char *at = id;
    while ((unsigned char)*at > ' ' && *at != ',' && *at != ';' && *at != '"')
        at++;
    return (size_t)(at - id);
}

static bool
read_id(const struct reader *reader, struct field field, uint32_t *out)
{
    *out = (uint32_t)(field.begin - reader->list->text);
    return (field.length > 0 && id_length(field.begin) == field.length) ||
           fail_at(reader, field.begin,
                   arena_format(reader->arena,
                                "\"%s\" is no id, wanted text without blanks and semicolons",
                                show_field(reader, field)));
}

static bool
read_dependencies(struct reader *reader, struct field field)
{
    const char *end = field.begin + field.length;
    for (const char *at = field.begin; field.length > 0 && at <= end;) {
        size_t length = id_length(at);
        const char *next = at + length + 1;
        bool is_last = at + length == end;
        if (length == 0 || (!is_last && at[length] != ';'))
            return fail_at(reader, field.begin,
                           arena_format(reader->arena,
                                        "deps is \"%s\", wanted ids joined by semicolons",
                                        show_field(reader, field)));
        reader->dependencies =
            arena_grow(reader->arena, reader->dependencies, reader->dependency_count,
                       &reader->dependency_capacity, sizeof *reader->dependencies);
        reader->dependencies[reader->dependency_count++] = (uint32_t)(at - reader->list->text);
        at = next;
    }
    return true;
}

static bool
read_row(struct reader *reader, const struct field *fields)
{
    struct flow *flow = &reader->flows[reader->list->count];
    flow->dependency_begin = (uint32_t)reader->dependency_count;
    bool is_right = read_id(reader, fields[COLUMN_ID], &flow->id);
    is_right &=
        read_real(reader, COLUMN_START, fields[COLUMN_START], START_MAX_S, &flow->start_s);
    is_right &= read_real(reader, COLUMN_BYTES, fields[COLUMN_BYTES], BYTES_MAX, &flow->bytes);
    is_right &= read_rank(reader, COLUMN_FROM, fields[COLUMN_FROM], &flow->from);
    is_right &= read_rank(reader, COLUMN_TO, fields[COLUMN_TO], &flow->to);
    is_right &= read_dependencies(reader, fields[COLUMN_DEPENDENCIES]);
    if (is_right && flow->from == flow->to)
        is_right = fail_at(reader, fields[COLUMN_FROM].begin,
                           "src and dst are one rank: what stays there is no flow");
    reader->list->count++;
    return is_right;
}

static bool
read_line(struct reader *reader, const char *at, const char *end)
{
    if (at < end && end[-1] == '\r')
        end--;
    if (at >= end || *at == '#')
        return true;
    struct field fields[COLUMNS] = {{NULL, 0}};
    int count = cut_line(at, end, fields);
    if (count < 0)
        return fail_at(reader, at, "a quote that does not enclose a whole field");
    if (!reader->has_header)
        return check_header(reader, fields, count);
    if (count != COLUMNS)
        return fail_at(reader, at,
                       arena_format(reader->arena, "%d fields, wanted %d", count, COLUMNS));
    return read_row(reader, fields);
}

/* Lines, and so flows at most. */
static size_t
count_lines(const struct text *text)
{
    size_t count = 1;
    for (size_t i = 0; i < text->length; i++)
        count += text->bytes[i] == '\n';
    return count;
}

static bool
read_lines(struct reader *reader)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    const char *at = reader->list->text, *end = at + reader->text->length;
    bool is_right = true;
    if (reader->text->length >= 3 && memcmp(at, byte_order_mark, 3) == 0)
        at += 3;
    while (at < end && reader->errors->count < ERROR_LIST_MAX) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        is_right &= read_line(reader, at, stop);
        at = stop + 1;
    }
    reader->flows[reader->list->count].dependency_begin = (uint32_t)reader->dependency_count;
    return is_right && (reader->has_header || fail_at(reader, end,
                                                      "wanted the columns "
                                                      "id,start_s,src,dst,bytes,deps"));
}

/* The number that is written so, from 0 and without a needless 0 before it; or NONE. */
static uint32_t
id_number(const char *id)
{
    uint64_t number = 0;
    size_t length = id_length(id);
    bool is_number = length > 0 && length < 10 && (id[0] != '0' || length == 1);
    for (size_t i = 0; i < length && is_number; i++) {
        is_number = id[i] >= '0' && id[i] <= '9';
        number = number * 10 + (uint64_t)(id[i] - '0');
    }
    return is_number ? (uint32_t)number : NONE;
}

static bool
is_numbered(const struct reader *reader)
{
    for (uint32_t i = 0; i < reader->list->count; i++)
        if (id_number(reader->list->text + reader->flows[i].id) != i)
            return false;
    return true;
}

/* The place of that id in the table: its flow's, or the free one where it belongs. */
static uint32_t *
find_id(const struct reader *reader, const char *id)
{
    size_t length = id_length(id);
    size_t at = hash_mixed(hash_fnv1a_64(id, length)) & reader->table_mask;
    for (;; at = (at + 1) & reader->table_mask) {
        uint32_t flow = reader->table[at];
        if (flow == NONE)
            return &reader->table[at];
        const char *other = reader->list->text + reader->flows[flow].id;
        if (id_length(other) == length && memcmp(id, other, length) == 0)
            return &reader->table[at];
    }
}

static bool
enter_ids(struct reader *reader, struct arena *scratch)
{
    size_t size = 16;
    while (size < 2 * reader->list->count)
        size *= 2;
    reader->table = arena_alloc(scratch, size, sizeof *reader->table);
    reader->table_mask = size - 1;
    memset(reader->table, 0xFF, size * sizeof *reader->table);
    bool is_right = true;
    for (uint32_t i = 0; i < reader->list->count; i++) {
        const char *id = reader->list->text + reader->flows[i].id;
        uint32_t *entry = find_id(reader, id);
        if (*entry != NONE)
            is_right = fail_at(reader, id,
                               arena_format(reader->arena, "a second flow of the id %.*s",
                                            (int)id_length(id), id));
        *entry = i;
    }
    return is_right;
}

/* Or NONE. Ids of a list of 100,000 flows lie in some megabytes: a table of them is what takes
 * longest to walk. */
static uint32_t
find_flow(const struct reader *reader, const char *id)
{
    if (!reader->is_numbered)
        return *find_id(reader, id);
    uint32_t number = id_number(id);
    return number < reader->list->count ? number : NONE;
}

static bool
find_dependencies(struct reader *reader)
{
    bool is_right = true;
    for (size_t i = 0; i < reader->dependency_count; i++) {
        const char *id = reader->list->text + reader->dependencies[i];
        uint32_t flow = find_flow(reader, id);
        if (flow == NONE)
            is_right = fail_at(reader, id,
                               arena_format(reader->arena, "deps: no flow has the id %.*s",
                                            (int)id_length(id), id));
        reader->dependencies[i] = flow;
    }
    return is_right;
}

/* Ids to flows. */
static bool
link_flows(struct reader *reader)
{
    struct arena *scratch = arena_new_beside(reader->arena);
    reader->is_numbered = is_numbered(reader);
    bool is_right =
        (reader->is_numbered || enter_ids(reader, scratch)) && find_dependencies(reader);
    arena_free(scratch);
    return is_right;
}

struct flow_list *
flow_list_read(const char *name, const struct text *text, int64_t rank_count,
               struct arena *arena, struct error_list *errors)
{
    struct reader reader = {.text = text, .rank_count = rank_count};
    assert(rank_count > 0 && rank_count <= UINT32_MAX);
    if (text->length >= UINT32_MAX) {
        (void)error_add(errors, ERROR_INPUT, name, "is longer than 4 GB");
        return NULL;
    }
    reader.list = arena_alloc(arena, 1, sizeof *reader.list);
    reader.flows = arena_alloc(arena, count_lines(text) + 1, sizeof *reader.flows);
    reader.arena = arena;
    reader.errors = errors;
    *reader.list = (struct flow_list){
        .flows = reader.flows, .name = name, .text = text->bytes ? text->bytes : ""};
    if (!read_lines(&reader) || !link_flows(&reader))
        return NULL;
    reader.list->dependencies = reader.dependencies;
    return flow_order_find(reader.list, arena, errors) ? reader.list : NULL;
}

const char *
flow_list_id(const struct flow_list *list, size_t flow, size_t *length)
{
    const char *id = list->text + list->flows[flow].id;
    *length = id_length(id);
    return id;
}

const char *
flow_list_where(const struct flow_list *list, size_t flow, struct arena *arena)
{
    return show_line(list->name, list->text, list->text + list->flows[flow].id, arena);
}
