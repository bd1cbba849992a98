/* What the command line asks to draw of a collective, priced. */
#include "sim/cli/collective_curves.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/sweep.h"

static const char COMMAND[] = "collective";
static const double BYTES_MAX = 1e18;
enum { RANKS_MAX = 1 << 24 };

static const char *const DTYPES[] = {"fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8"};

/* A whole number from 0 that ends at one of `ends`; what follows, NULL when there is none. */
static const char *
read_whole(const char *text, const char *ends, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool is_number = end != text && errno == 0 && value >= 0 && value <= RANKS_MAX;
    *out = value;
    return is_number && strchr(ends, *end) ? end : NULL; /* an end of the text is found too */
}

/* "8M": a number and K, M, G or T, powers of 1024 as rccl-tests has them. Returns what follows,
 * NULL when there is no size. */
static const char *
read_size(const char *text, double *out_bytes)
{
    static const char letters[] = "KMGT";
    char *end;
    double bytes = strtod(text, &end);
    if (end == text)
        return NULL;
    const char *letter = *end ? strchr(letters, *end) : NULL;
    for (const char *l = letters; letter && l <= letter; l++)
        bytes *= 1024;
    if (!(bytes >= 1 && bytes <= BYTES_MAX))
        return NULL;
    *out_bytes = bytes;
    return letter ? end + 1 : end;
}

/* "1K:16G", or one size alone. */
static bool
read_sizes(const char *text, struct collective_curves *curves)
{
    double last_bytes;
    const char *rest = read_size(text, &curves->first_bytes);
    last_bytes = curves->first_bytes;
    if (rest && *rest == ':')
        rest = read_size(rest + 1, &last_bytes);
    if (!rest || *rest != '\0' || curves->first_bytes > last_bytes)
        return false;
    curves->size_count = 1 + (size_t)log2(last_bytes / curves->first_bytes);
    return true;
}

static bool
read_choice(const char *word, const char *const *names, int count, int *out)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(word, names[i]) != 0)
            continue;
        *out = i;
        return true;
    }
    return false;
}

/* "0:120:8", the last rank included where a step ends on it, or "0,8,16"; a number alone is how
 * many. */
static bool
read_ranks(const char *text, struct collective *collective, struct arena *arena)
{
    int64_t first, last, step, count = 0;
    const char *rest = read_whole(text, ",:", &first);
    if (rest && *rest == '\0') {
        collective->ranks = first;
        return first > 0;
    }
    if (rest && *rest == ':') {
        rest = read_whole(rest + 1, ":", &last);
        rest = rest && *rest == ':' ? read_whole(rest + 1, "", &step) : NULL;
        if (!rest || last < first || step < 1)
            return false;
        collective->group = (struct rank_group){
            .first = first, .size = (last - first) / step + 1, .stride = step};
        return true;
    }
    int64_t *ranks = arena_alloc(arena, strlen(text) + 1, sizeof *ranks);
    for (rest = text; rest; rest = *rest == ',' ? rest + 1 : NULL) {
        rest = read_whole(rest, ",", &ranks[count++]);
        if (!rest)
            return false;
        if (*rest == '\0')
            break;
    }
    rank_list_sort(ranks, count);
    collective->group = (struct rank_group){.size = count, .list = ranks};
    return true;
}

/* "2,16,128". */
static bool
read_nodes(const char *text, struct collective_curves *curves, struct arena *arena)
{
    curves->items = arena_alloc(arena, strlen(text) + 1, sizeof *curves->items);
    for (const char *rest = text; rest;) {
        int64_t *nodes = &curves->items[curves->count++].collective.nodes;
        rest = read_whole(rest, ",", nodes);
        if (!rest || *nodes < 1)
            return false;
        rest = *rest == ',' ? rest + 1 : NULL;
    }
    return true;
}

/* Ranks, or GPUs of each node; what is not given is all of the nodes. */
static int
read_members(struct collective_curves *curves, const struct collective *asked,
             const struct options *options)
{
    const char *gpus_text = options_text(options, "gpus");
    bool has_ranks = *options_text(options, "ranks") != '\0';
    int64_t gpus = curves->cluster->gpus_per_node;
    if (*gpus_text && (!read_whole(gpus_text, "", &gpus) || gpus < 1))
        return command_usage(COMMAND, "--gpus %.60s, wanted a number from 1", gpus_text);
    if (has_ranks && (*gpus_text || curves->count > 1))
        return command_usage(COMMAND, "--ranks says who takes part, wanted one number of nodes "
                                      "and no --gpus");
    if (asked->group.size > 0 && *options_text(options, "nodes"))
        return command_usage(COMMAND, "--ranks lists the ranks, which lie on the nodes that "
                                      "they lie on: --nodes cannot stand beside it");
    for (size_t i = 0; i < curves->count; i++) {
        struct collective *collective = &curves->items[i].collective;
        int64_t nodes = collective->nodes;
        *collective = *asked;
        collective->nodes = nodes;
        if (!has_ranks)
            collective->ranks = nodes * gpus;
    }
    return EXIT_DONE;
}

/* "1024,8". */
static bool
read_experts(const char *text, struct routed_tokens *routed)
{
    const char *rest = read_whole(text, ",", &routed->experts);
    rest = rest && *rest == ',' ? read_whole(rest + 1, "", &routed->per_token) : NULL;
    return rest && routed->per_token >= 1 && routed->per_token <= routed->experts;
}

/* What is not the same for all pairs of an exchange. */
static int
read_parts(struct collective_curves *curves, enum collective_kind kind,
           const struct options *options)
{
    const char *skew = options_text(options, "skew"),
               *experts = options_text(options, "experts");
    char *end;
    if (*skew && kind != COLLECTIVE_ALL_TO_ALL_V)
        return command_usage(COMMAND, "--skew is of all_to_all_v, whose parts may differ");
    if (*experts && kind != COLLECTIVE_ALL_TO_ALL)
        return command_usage(COMMAND, "--experts is of all_to_all: a dispatch, or a combine");
    if (*experts && !read_experts(experts, &curves->routed))
        return command_usage(COMMAND, "--experts %.60s, wanted EXPERTS,PER_TOKEN like 256,8",
                             experts);
    curves->skew = *skew ? strtod(skew, &end) : 0;
    if (*skew && (end == skew || *end != '\0' || !(curves->skew >= 0 && curves->skew <= 10)))
        return command_usage(COMMAND, "--skew %.60s, wanted a number from 0 to 10", skew);
    return EXIT_DONE;
}

int
collective_curves_read(struct collective_curves *curves, const char *word,
                       const struct options *options, struct arena *arena)
{
    const char *sizes = options_text(options, "bytes"), *ranks = options_text(options, "ranks");
    const char *nodes = options_text(options, "nodes"), *dtype = options_text(options, "dtype");
    struct collective asked = {.dtype = DTYPE_FP32};
    int kind, type = DTYPE_FP32;
    if (!read_choice(word, collective_kind_names, COLLECTIVE_KIND_COUNT, &kind))
        return command_usage(COMMAND,
                             "'%.60s', wanted all_reduce, reduce_scatter, all_gather, "
                             "broadcast, all_to_all, send_recv or all_to_all_v",
                             word);
    if (*dtype && !read_choice(dtype, DTYPES, DTYPE_COUNT, &type))
        return command_usage(COMMAND, "--dtype %.60s, wanted like fp32 or bf16", dtype);
    asked.kind = (enum collective_kind)kind;
    asked.dtype = (enum dtype)type;
    if (*options_text(options, "algorithm"))
        asked.algorithm = options_text(options, "algorithm");
    if (!read_sizes(*sizes ? sizes : "1K:16G", curves))
        return command_usage(COMMAND, "--bytes %.60s, wanted like 1K:16G or 8M", sizes);
    if (*ranks && !read_ranks(ranks, &asked, arena))
        return command_usage(
            COMMAND, "--ranks %.60s, wanted a number from 1, FIRST:LAST:STEP or a list", ranks);
    const char *all = arena_format(arena, "%lld", (long long)curves->cluster->nodes);
    if (!read_nodes(*nodes ? nodes : all, curves, arena))
        return command_usage(COMMAND, "--nodes %.60s, wanted a number from 1, or several",
                             nodes);
    curves->draws_time = options_flag(options, "time");
    int code = read_parts(curves, asked.kind, options);
    return code == EXIT_DONE ? read_members(curves, &asked, options) : code;
}

double
collective_curves_bytes(const struct collective_curves *curves, size_t size)
{
    return ldexp(curves->first_bytes, (int)size);
}

/* Row by row what one rank sends, `bytes` in all, the same of each sender. */
static void
fill_matrix(double *matrix, int64_t ranks, double skew, double bytes)
{
    double sum = 0;
    for (int64_t to = 0; to < ranks; to++)
        sum += pow((double)to + 1, -skew);
    for (int64_t to = 0; to < ranks; to++) {
        double part = bytes * pow((double)to + 1, -skew) / sum;
        for (int64_t from = 0; from < ranks; from++)
            matrix[from * ranks + to] = part;
    }
}

/* Of what goes to other nodes, the part that crosses where a token crosses once for all its experts
 * of a node (models/shard_lists.c has it of a plan). */
static bool
find_crossing(const struct collective_curves *curves, const struct rank_placement *placement,
              double *crossing_fraction, struct error_list *errors)
{
    const struct routed_tokens *routed = &curves->routed;
    const struct routing_groups any = {0, 0};
    if (routed->experts % placement->ranks != 0)
        return error_add(errors, ERROR_INFEASIBLE, "", "%lld ranks do not divide %lld experts",
                         (long long)placement->ranks, (long long)routed->experts);
    *crossing_fraction = routing_places_met(routed, any, placement->nodes) /
                         routing_places_met(routed, any, placement->ranks);
    return true;
}

static bool
price_curve(const struct collective_curves *curves, struct collective_curve *curve,
            struct arena *arena, struct error_list *errors)
{
    struct collective collective = curve->collective;
    struct collective_cost *costs = arena_alloc(arena, curves->size_count, sizeof *costs);
    double *matrix = NULL;
    if (!collective_place(curves->cluster, &collective, &curve->placement, errors))
        return false;
    int64_t ranks = curve->placement.ranks;
    if (collective.kind == COLLECTIVE_ALL_TO_ALL_V)
        collective.bytes_matrix = matrix =
            arena_alloc(arena, (size_t)(ranks * ranks), sizeof *matrix);
    if (curves->routed.experts > 0 &&
        !find_crossing(curves, &curve->placement, &collective.crossing_fraction, errors))
        return false;
    for (size_t i = 0; i < curves->size_count; i++) {
        collective.bytes = collective_curves_bytes(curves, i);
        if (matrix)
            fill_matrix(matrix, ranks, curves->skew, collective.bytes);
        if (!collective_cost(curves->cluster, &collective, &costs[i], errors))
            return false;
    }
    curve->costs = costs;
    return true;
}

bool
collective_curves_price(struct collective_curves *curves, struct arena *arena,
                        struct error_list *errors)
{
    for (size_t i = 0; i < curves->count; i++)
        if (!price_curve(curves, &curves->items[i], arena, errors))
            return false;
    return true;
}

void
collective_curves_add_measured(struct collective_curves *curves,
                               const struct measured_list *list, struct arena *arena)
{
    for (size_t c = 0; c < curves->count; c++) {
        struct collective_curve *curve = &curves->items[c];
        const struct measured **rows =
            arena_alloc(arena, list->count + 1, sizeof(const struct measured *));
        for (size_t i = 0; i < list->count; i++) {
            const struct measured *row = &list->items[i];
            if (row->is_collective && row->collective.kind == curve->collective.kind &&
                row->collective.ranks == curve->placement.ranks &&
                row->collective.nodes == curve->placement.nodes)
                rows[curve->measured_count++] = row;
        }
        curve->measured = rows;
    }
}

double
collective_bus_of_row(const struct measured *row)
{
    const struct collective *collective = &row->collective;
    return collective_bus_factor(collective->kind, collective->ranks) * collective->bytes /
           row->measured_s;
}
