/* One line of a collective list. */
#include "hw/collective.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* As many as any cluster file may have (cluster.c), so that products of them stay exact. */
enum { RANKS_MAX = 1000000000 };

static const char *const DTYPES[] = {"fp64", "fp32", "tf32", "bf16",
                                     "fp16", "fp8",  "int8", NULL};
static const char *const IGNORED[] = {"measured_*", "library", "count", NULL};

static_assert(sizeof DTYPES / sizeof *DTYPES == DTYPE_COUNT + 1, "a name for each dtype");

static const struct json_field COLLECTIVE_FIELDS[] = {
    {"collective", JSON_FIELD_CHOICE, offsetof(struct collective, kind), 0, 0, 0,
     collective_kind_names},
    {"ranks", JSON_FIELD_INTEGER, offsetof(struct collective, ranks), 0, 1, RANKS_MAX, NULL},
    {"nodes", JSON_FIELD_INTEGER, offsetof(struct collective, nodes), 0, 1, RANKS_MAX, NULL},
    {"bytes", JSON_FIELD_REAL, offsetof(struct collective, bytes), 0, 1, 1e18, NULL},
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

bool
collective_read(const struct json *object, struct collective *collective,
                struct error_list *errors)
{
    const struct json *kind = json_member(object, "collective");
    *collective = (struct collective){.dtype = DTYPE_BF16, .ranks = 2, .nodes = 1};
    if (is_named(kind, "all_to_all_v"))
        return json_fail(kind, errors,
                         "all_to_all_v cannot be priced, wanted all_reduce, reduce_scatter, "
                         "all_gather, broadcast, all_to_all or send_recv");
    if (is_named(kind, "send_recv"))
        return json_read_object(object, &SEND_RECV_TYPE, collective, errors) &&
               check_ends(object, collective, errors);
    if (!json_read_object(object, &COLLECTIVE_TYPE, collective, errors))
        return false;
    if (collective->ranks % collective->nodes != 0)
        return json_fail(json_member(object, "nodes"), errors,
                         "%lld does not divide %lld ranks", (long long)collective->nodes,
                         (long long)collective->ranks);
    return true;
}
