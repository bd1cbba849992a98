/* One line of a collective list. */
#include "hw/collective.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "hw/collective_matrix.h"

/* As many as any cluster file may have (cluster.c), so that products of them stay exact. */
enum { RANKS_MAX = 1000000000 };

static const char *const DTYPES[] = {"fp64", "fp32", "tf32", "bf16",
                                     "fp16", "fp8",  "int8", NULL};
static const char *const IGNORED[] = {"measured_*", "library", "count", NULL};

static_assert(sizeof DTYPES / sizeof *DTYPES == DTYPE_COUNT + 1, "a name for each dtype");

/* A collective with what is read of it in a second pass. */
struct collective_line {
    struct collective collective;
    const struct json *ranks, *matrix;
};

static const struct json_field COLLECTIVE_FIELDS[] = {
    {"collective", JSON_FIELD_CHOICE, offsetof(struct collective, kind), 0, 0, 0,
     collective_kind_names},
    {"ranks", JSON_FIELD_INTEGER, offsetof(struct collective, ranks), 0, 1, RANKS_MAX, NULL},
    {"nodes", JSON_FIELD_INTEGER, offsetof(struct collective, nodes), 0, 1, RANKS_MAX, NULL},
    {"bytes", JSON_FIELD_REAL, offsetof(struct collective, bytes), 0, 1, 1e18, NULL},
    {"dtype", JSON_FIELD_CHOICE, offsetof(struct collective, dtype), JSON_OPTIONAL, 0, 0,
     DTYPES},
};

/* Of ranks that are listed one by one. */
static const struct json_field LISTED_FIELDS[] = {
    {"collective", JSON_FIELD_CHOICE, offsetof(struct collective, kind), 0, 0, 0,
     collective_kind_names},
    {"ranks", JSON_FIELD_VALUE, offsetof(struct collective_line, ranks), 0, 0, 0, NULL},
    {"bytes", JSON_FIELD_REAL, offsetof(struct collective, bytes), 0, 1, 1e18, NULL},
    {"dtype", JSON_FIELD_CHOICE, offsetof(struct collective, dtype), JSON_OPTIONAL, 0, 0,
     DTYPES},
};

static const struct json_field MATRIX_FIELDS[] = {
    {"collective", JSON_FIELD_CHOICE, offsetof(struct collective, kind), 0, 0, 0,
     collective_kind_names},
    {"bytes_matrix", JSON_FIELD_VALUE, offsetof(struct collective_line, matrix), 0, 0, 0, NULL},
    {"ranks", JSON_FIELD_VALUE, offsetof(struct collective_line, ranks), JSON_OPTIONAL, 0, 0,
     NULL},
    {"nodes", JSON_FIELD_INTEGER, offsetof(struct collective, nodes), JSON_OPTIONAL, 1,
     RANKS_MAX, NULL},
    {"dtype", JSON_FIELD_CHOICE, offsetof(struct collective, dtype), JSON_OPTIONAL, 0, 0,
     DTYPES},
};

static const struct json_field SEND_RECV_FIELDS[] = {
    {"collective", JSON_FIELD_CHOICE, offsetof(struct collective, kind), 0, 0, 0,
     collective_kind_names},
    {"ranks", JSON_FIELD_INTEGER, offsetof(struct collective, ranks), JSON_OPTIONAL, 2, 2,
     NULL},
    {"nodes", JSON_FIELD_INTEGER, offsetof(struct collective, nodes), JSON_OPTIONAL, 1, 2,
     NULL},
    {"bytes", JSON_FIELD_REAL, offsetof(struct collective, bytes), 0, 1, 1e18, NULL},
    {"dtype", JSON_FIELD_CHOICE, offsetof(struct collective, dtype), JSON_OPTIONAL, 0, 0,
     DTYPES},
    {"from", JSON_FIELD_INTEGER, offsetof(struct collective, from), JSON_OPTIONAL, 0, RANKS_MAX,
     NULL},
    {"to", JSON_FIELD_INTEGER, offsetof(struct collective, to), JSON_OPTIONAL, 0, RANKS_MAX,
     NULL},
};

static const struct json_object_type COLLECTIVE_TYPE = {
    "a collective", COLLECTIVE_FIELDS, sizeof COLLECTIVE_FIELDS / sizeof *COLLECTIVE_FIELDS,
    IGNORED};
static const struct json_object_type LISTED_TYPE = {
    "a collective", LISTED_FIELDS, sizeof LISTED_FIELDS / sizeof *LISTED_FIELDS, IGNORED};
static const struct json_object_type MATRIX_TYPE = {
    "an all_to_all_v", MATRIX_FIELDS, sizeof MATRIX_FIELDS / sizeof *MATRIX_FIELDS, IGNORED};
static const struct json_object_type SEND_RECV_TYPE = {
    "a send_recv", SEND_RECV_FIELDS, sizeof SEND_RECV_FIELDS / sizeof *SEND_RECV_FIELDS,
    IGNORED};

static bool
is_named(const struct json *value, const char *name)
{
    return value && json_kind(value) == JSON_KIND_STRING &&
           strcmp(json_as_string(value), name) == 0;
}

static bool
check_ends(const struct json *object, const struct collective *collective,
           struct error_list *errors)
{
    bool has_from = json_member(object, "from") != NULL;
    bool has_to = json_member(object, "to") != NULL;
    if (has_from != has_to)
        return json_fail(object, errors, "has '%s' alone, wanted both 'from' and 'to' or none",
                         has_from ? "from" : "to");
    if (has_from && collective->from == collective->to)
        return json_fail(json_member(object, "to"), errors, "rank %lld sends to itself",
                         (long long)collective->to);
    return true;
}

static bool
read_rank(const struct json *value, int64_t *rank, struct error_list *errors)
{
    if (json_kind(value) != JSON_KIND_INTEGER || json_as_integer(value) < 0 ||
        json_as_integer(value) > RANKS_MAX)
        return json_fail(value, errors, "wanted a rank, a number from 0");
    *rank = json_as_integer(value);
    return true;
}

/* Ranks in any order; the group has them in ascending order. */
static bool
read_list(const struct json *list, struct arena *arena, struct rank_group *group,
          struct error_list *errors)
{
    int64_t count = (int64_t)json_count(list);
    if (json_kind(list) != JSON_KIND_ARRAY || count == 0)
        return json_fail(list, errors, "wanted a number of ranks or a list of them");
    int64_t *ranks = arena_alloc(arena, (size_t)count, sizeof *ranks);
    for (int64_t i = 0; i < count; i++)
        if (!read_rank(json_element(list, (size_t)i), &ranks[i], errors))
            return false;
    rank_list_sort(ranks, count);
    for (int64_t i = 1; i < count; i++)
        if (ranks[i] == ranks[i - 1])
            return json_fail(list, errors, "rank %lld is twice in the group",
                             (long long)ranks[i]);
    *group = (struct rank_group){.size = count, .list = ranks};
    return true;
}

/* A row of the matrix: what one rank sends to each. */
static bool
read_row(const struct json *row, size_t ranks, double *out, struct error_list *errors)
{
    if (json_kind(row) != JSON_KIND_ARRAY || json_count(row) != ranks)
        return json_fail(row, errors, "wanted a row of %zu numbers, one a receiver", ranks);
    for (size_t i = 0; i < ranks; i++) {
        const struct json *value = json_element(row, i);
        bool is_number =
            json_kind(value) == JSON_KIND_INTEGER || json_kind(value) == JSON_KIND_REAL;
        if (!is_number || !(json_as_real(value) >= 0 && json_as_real(value) <= 1e18))
            return json_fail(value, errors, "wanted a number of bytes");
        out[i] = json_as_real(value);
    }
    return true;
}

static bool
read_matrix(const struct json *matrix, struct arena *arena, struct collective *collective,
            struct error_list *errors)
{
    size_t ranks = json_count(matrix);
    if (json_kind(matrix) != JSON_KIND_ARRAY || ranks == 0)
        return json_fail(matrix, errors, "wanted a list of rows, one a sender");
    double *bytes = arena_alloc(arena, ranks * ranks, sizeof *bytes);
    for (size_t row = 0; row < ranks; row++)
        if (!read_row(json_element(matrix, row), ranks, bytes + row * ranks, errors))
            return false;
    collective->bytes_matrix = bytes;
    collective->ranks = (int64_t)ranks;
    collective->bytes = collective_matrix_bytes(bytes, (int64_t)ranks);
    if (collective->bytes > 0)
        return true;
    return json_fail(matrix, errors, "nothing is sent");
}

/* Ranks are those of the matrix; a list says which, a number must be theirs. */
static bool
check_matrix_ranks(const struct collective_line *line, struct error_list *errors)
{
    const struct collective *collective = &line->collective;
    long long rows = collective->ranks;
    long long said = collective->group.size;
    if (line->ranks && json_kind(line->ranks) == JSON_KIND_INTEGER)
        said = json_as_integer(line->ranks);
    if (line->ranks && said != rows)
        return json_fail(line->ranks, errors, "%lld ranks, but a matrix of %lld", said, rows);
    if (rows % collective->nodes == 0)
        return true;
    return json_fail(line->matrix, errors, "%lld nodes do not divide its %lld ranks",
                     (long long)collective->nodes, rows);
}

static bool
read_all_to_all_v(const struct json *object, struct arena *arena, struct collective *collective,
                  struct error_list *errors)
{
    struct collective_line line = {.collective = *collective};
    if (!json_read_object(object, &MATRIX_TYPE, &line, errors) ||
        !read_matrix(line.matrix, arena, &line.collective, errors))
        return false;
    bool is_list = line.ranks && json_kind(line.ranks) != JSON_KIND_INTEGER;
    if (is_list && !read_list(line.ranks, arena, &line.collective.group, errors))
        return false;
    *collective = line.collective;
    return check_matrix_ranks(&line, errors);
}

static bool
read_listed(const struct json *object, struct arena *arena, struct collective *collective,
            struct error_list *errors)
{
    struct collective_line line = {.collective = *collective};
    if (!json_read_object(object, &LISTED_TYPE, &line, errors) ||
        !read_list(line.ranks, arena, &line.collective.group, errors))
        return false;
    *collective = line.collective;
    collective->ranks = collective->group.size;
    return true;
}

bool
collective_read(const struct json *object, struct collective *collective, struct arena *arena,
                struct error_list *errors)
{
    const struct json *kind = json_member(object, "collective");
    const struct json *ranks = json_member(object, "ranks");
    *collective = (struct collective){.dtype = DTYPE_BF16, .ranks = 2, .nodes = 1};
    if (is_named(kind, "send_recv"))
        return json_read_object(object, &SEND_RECV_TYPE, collective, errors) &&
               check_ends(object, collective, errors);
    if (is_named(kind, "all_to_all_v"))
        return read_all_to_all_v(object, arena, collective, errors);
    if (ranks && json_kind(ranks) == JSON_KIND_ARRAY)
        return read_listed(object, arena, collective, errors);
    if (!json_read_object(object, &COLLECTIVE_TYPE, collective, errors))
        return false;
    if (collective->ranks % collective->nodes != 0)
        return json_fail(json_member(object, "nodes"), errors,
                         "%lld does not divide %lld ranks", (long long)collective->nodes,
                         (long long)collective->ranks);
    return true;
}
