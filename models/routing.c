/* How many tokens each expert gets. */
#include "models/routing.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

enum {
    EXPERTS_MAX = 1 << 12,
    ROW_MULTIPLE_MAX = 1 << 12,
    EXPONENT_MAX = 10, /* the first of 16 experts gets 99.9 % */
    CAPACITY_FACTOR_MAX = 1 << 12,
};

static const char *const KIND_NAMES[] = {"uniform", "power_law", "histogram", NULL};

struct routing_reader {
    struct routing routing;
    const struct json *weights;
};

static const struct json_field FIELDS[] = {
    {"kind", JSON_FIELD_CHOICE, offsetof(struct routing_reader, routing.kind), 0, 0, 0,
     KIND_NAMES},
    {"exponent", JSON_FIELD_REAL, offsetof(struct routing_reader, routing.exponent),
     JSON_OPTIONAL, 0, EXPONENT_MAX, NULL},
    {"weights", JSON_FIELD_VALUE, offsetof(struct routing_reader, weights), JSON_OPTIONAL, 0, 0,
     NULL},
    {"seed", JSON_FIELD_INTEGER, offsetof(struct routing_reader, routing.seed), JSON_OPTIONAL,
     0, 1e9, NULL},
    {"row_multiple", JSON_FIELD_INTEGER, offsetof(struct routing_reader, routing.row_multiple),
     JSON_OPTIONAL, 1, ROW_MULTIPLE_MAX, NULL},
    {"capacity_factor", JSON_FIELD_REAL,
     offsetof(struct routing_reader, routing.capacity_factor), JSON_OPTIONAL, 0,
     CAPACITY_FACTOR_MAX, NULL},
    {"is_capacity_padded", JSON_FIELD_BOOL,
     offsetof(struct routing_reader, routing.is_capacity_padded), JSON_OPTIONAL, 0, 0, NULL},
    {"is_given", JSON_FIELD_BOOL, offsetof(struct routing_reader, routing.is_given),
     JSON_OPTIONAL, 0, 0, NULL},
};
static const struct json_object_type TYPE = {"a routing", FIELDS,
                                             sizeof FIELDS / sizeof *FIELDS, NULL};

static bool
is_number(const struct json *value)
{
    return json_kind(value) == JSON_KIND_INTEGER || json_kind(value) == JSON_KIND_REAL;
}

/* Weights of at least 0, not all 0. */
static bool
read_weights(const struct json *list, struct routing *routing, struct arena *arena,
             struct error_list *errors)
{
    size_t count = json_count(list);
    double sum = 0;
    if (json_kind(list) != JSON_KIND_ARRAY || count == 0 || count > EXPERTS_MAX)
        return json_fail(list, errors, "wanted a list of 1 to %d weights, one an expert",
                         EXPERTS_MAX);
    double *weights = arena_alloc(arena, count, sizeof *weights);
    for (size_t i = 0; i < count; i++) {
        const struct json *item = json_element(list, i);
        if (!is_number(item) || !(json_as_real(item) >= 0) || json_as_real(item) > 1e18)
            return json_fail(item, errors, "is not a weight, wanted a number of at least 0");
        weights[i] = json_as_real(item);
        sum += weights[i];
    }
    if (!(sum > 0))
        return json_fail(list, errors, "are all 0: no token would find an expert");
    routing->weights = weights;
    routing->weight_count = (int64_t)count;
    return true;
}

/* Options that the kind would not look at are slips. */
static bool
check_kind(const struct json *object, const struct routing_reader *reader,
           struct error_list *errors)
{
    enum routing_kind kind = reader->routing.kind;
    const struct json *exponent = json_member(object, "exponent");
    const struct json *padded = json_member(object, "is_capacity_padded");
    if (kind == ROUTING_POWER_LAW && !exponent)
        json_fail(object, errors, "lacks the key 'exponent' of a power law");
    if (kind != ROUTING_POWER_LAW && exponent)
        json_fail(exponent, errors, "is of kind power_law only, not %s", KIND_NAMES[kind]);
    if (kind == ROUTING_HISTOGRAM && !reader->weights)
        json_fail(object, errors, "lacks the key 'weights' of a histogram");
    if (kind != ROUTING_HISTOGRAM && reader->weights)
        json_fail(reader->weights, errors, "are of kind histogram only, not %s",
                  KIND_NAMES[kind]);
    if (reader->routing.is_capacity_padded && !(reader->routing.capacity_factor > 0))
        json_fail(padded, errors, "is true, but there is no 'capacity_factor' to pad to");
    return true;
}

const struct routing *
routing_read(const struct json *object, struct arena *arena, struct error_list *errors)
{
    int faults_before = errors->count;
    struct routing_reader reader = {.routing.row_multiple = 1};
    if (!json_read_object(object, &TYPE, &reader, errors))
        return NULL;
    check_kind(object, &reader, errors);
    if (reader.weights)
        read_weights(reader.weights, &reader.routing, arena, errors);
    if (errors->count != faults_before)
        return NULL;
    return arena_copy(arena, &reader.routing, sizeof reader.routing);
}

bool
routing_check(const struct routing *routing, const struct json *object, int64_t experts,
              struct error_list *errors)
{
    const struct json *weights = json_member(object, "weights");
    if (experts == 0)
        return json_fail(object, errors, "there is nothing to route: the model has no experts");
    if (routing->kind == ROUTING_HISTOGRAM && routing->weight_count != experts)
        return json_fail(weights ? weights : object, errors,
                         "has %lld weights, wanted one for each of the %lld experts",
                         (long long)routing->weight_count, (long long)experts);
    return true;
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): the next of a sequence of 64-bit numbers. */
static uint64_t
next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

/* Fisher and Yates' shuffle. */
static void
shuffle(double *weights, int64_t count, int64_t seed)
{
    uint64_t state = (uint64_t)seed;
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = (int64_t)(next_random(&state) % (uint64_t)(i + 1));
        double kept = weights[i];
        weights[i] = weights[j];
        weights[j] = kept;
    }
}

static double *
popularity(const struct routing *routing, int64_t experts, struct arena *arena)
{
    double *weights = arena_alloc(arena, (size_t)experts, sizeof *weights);
    for (int64_t i = 0; i < experts; i++) {
        weights[i] = 1;
        if (routing->kind == ROUTING_POWER_LAW)
            weights[i] = pow((double)(i + 1), -routing->exponent);
        else if (routing->kind == ROUTING_HISTOGRAM)
            weights[i] = routing->weights[i];
    }
    if (routing->kind == ROUTING_POWER_LAW && routing->seed > 0)
        shuffle(weights, experts, routing->seed);
    return weights;
}

/* One step of scale_to_copies: fills every expert that would get more than each token once; whether
 * there was any. What it leaves raises the rate of the others. */
static bool
fill_popular(double *weights, const struct routed_tokens *routed, double *left, double *open)
{
    double limit = (double)routed->tokens, rate = *left / *open;
    bool has_filled = false;
    for (int64_t i = 0; i < routed->experts; i++)
        if (weights[i] >= 0 && weights[i] * rate > limit) {
            *open -= weights[i];
            *left -= limit;
            weights[i] = -1;
            has_filled = true;
        }
    return has_filled;
}

/* Weights become expected copies that add up to all of them; none is above one a token. Where the
 * experts with a weight are full, the others share the rest evenly. */
static void
scale_to_copies(double *weights, const struct routed_tokens *routed)
{
    double left = (double)routed->tokens * (double)routed->per_token, open = 0;
    int64_t full = 0;
    for (int64_t i = 0; i < routed->experts; i++)
        open += weights[i];
    bool has_limit = routed->per_token <= routed->experts;
    while (has_limit && open > 0 && fill_popular(weights, routed, &left, &open))
        continue;
    for (int64_t i = 0; i < routed->experts; i++)
        full += weights[i] < 0;
    for (int64_t i = 0; i < routed->experts; i++) {
        if (weights[i] < 0)
            weights[i] = (double)routed->tokens;
        else
            weights[i] =
                open > 0 ? weights[i] * left / open : left / (double)(routed->experts - full);
    }
}

/* Whole tokens: what is left over goes to the first experts, one each. */
static void
round_to_tokens(int64_t *rows, const double *copies, const struct routed_tokens *routed)
{
    int64_t left = routed->tokens * routed->per_token;
    int64_t limit = routed->per_token <= routed->experts ? routed->tokens : left;
    for (int64_t i = 0; i < routed->experts; i++) {
        rows[i] = (int64_t)copies[i];
        left -= rows[i];
    }
    for (int64_t i = 0; left > 0; i = (i + 1) % routed->experts)
        if (rows[i] < limit) {
            rows[i]++;
            left--;
        }
}

/* Multiples, at least one; what is left over, or lacks, goes to the most popular. False where that
 * would leave it less than nothing. */
static bool
round_to_multiples(int64_t *rows, const double *copies, const struct routed_tokens *routed,
                   int64_t multiple)
{
    int64_t left = routed->tokens * routed->per_token, top = 0;
    for (int64_t i = 0; i < routed->experts; i++) {
        int64_t whole = (int64_t)copies[i] / multiple * multiple;
        rows[i] = whole > multiple ? whole : multiple;
        left -= rows[i];
        top = copies[i] > copies[top] ? i : top;
    }
    rows[top] += left;
    return rows[top] >= 0;
}

/* Megatron-LM's moe_utils.get_capacity: of all copies, times the factor, an expert's part, rounded
 * up. */
static void
keep_to_capacity(int64_t *rows, struct expert_loads *loads, const struct routing *routing)
{
    double even = (double)loads->copies / (double)loads->experts;
    int64_t capacity = (int64_t)ceil(even * routing->capacity_factor);
    for (int64_t i = 0; i < loads->experts; i++) {
        int64_t over = rows[i] > capacity ? rows[i] - capacity : 0;
        loads->dropped += over;
        rows[i] = routing->is_capacity_padded ? capacity : rows[i] - over;
    }
    loads->copies -= loads->dropped;
}

struct expert_loads
routing_loads(const struct routing *routing, const struct routed_tokens *routed,
              struct arena *arena)
{
    static const struct routing uniform = {.kind = ROUTING_UNIFORM, .row_multiple = 1};
    int64_t *rows = arena_alloc(arena, (size_t)routed->experts, sizeof *rows);
    if (!routing)
        routing = &uniform;
    double *copies = popularity(routing, routed->experts, arena);
    scale_to_copies(copies, routed);
    if (routing->row_multiple <= 1 ||
        !round_to_multiples(rows, copies, routed, routing->row_multiple))
        round_to_tokens(rows, copies, routed);
    struct expert_loads loads = {rows, routed->experts, routed->tokens * routed->per_token, 0};
    if (routing->capacity_factor > 0)
        keep_to_capacity(rows, &loads, routing);
    return loads;
}

int64_t
routing_rank_rows(const struct expert_loads *loads, int64_t ranks, int64_t rank)
{
    int64_t own = loads->experts / ranks, sum = 0;
    assert(own * ranks == loads->experts && rank < ranks);
    for (int64_t i = rank * own; i < (rank + 1) * own; i++)
        sum += loads->rows[i];
    return sum;
}

int64_t
routing_busiest_rank(const struct expert_loads *loads, int64_t ranks)
{
    int64_t busiest = 0;
    for (int64_t rank = 1; rank < ranks; rank++)
        if (routing_rank_rows(loads, ranks, rank) > routing_rank_rows(loads, ranks, busiest))
            busiest = rank;
    return busiest;
}

double
routing_imbalance(const struct expert_loads *loads, int64_t ranks)
{
    int64_t all = 0;
    for (int64_t i = 0; i < loads->experts; i++)
        all += loads->rows[i];
    int64_t most = routing_rank_rows(loads, ranks, routing_busiest_rank(loads, ranks));
    return all > 0 ? (double)most * (double)ranks / (double)all : 1;
}

/* That k chosen of n are none of m among them: C(n - m, k) / C(n, k). */
static double
none_chosen(double n, double m, int64_t k)
{
    double chance = 1;
    for (int64_t i = 0; i < k; i++)
        chance *= fmax(0, n - m - (double)i) / (n - (double)i);
    return chance;
}

/* That of `own` groups among `all`, `hit` are chosen when `chosen` are, each as likely:
 * C(own, hit) C(all - own, chosen - hit) / C(all, chosen). */
static double
groups_hit(int64_t own, int64_t hit, struct routing_groups groups)
{
    double chance = 1;
    if (groups.chosen - hit > groups.all - own || hit > groups.chosen)
        return 0;
    for (int64_t i = 0; i < hit; i++)
        chance *=
            (double)((own - i) * (groups.chosen - i)) / (double)((i + 1) * (groups.all - i));
    for (int64_t i = 0; i < groups.chosen - hit; i++)
        chance *= (double)(groups.all - own - i) / (double)(groups.all - hit - i);
    return chance;
}

double
routing_places_met(const struct routed_tokens *routed, struct routing_groups groups,
                   int64_t places)
{
    if (groups.all == 0)
        groups = (struct routing_groups){1, 1};
    int64_t own = groups.all > places ? groups.all / places : 1; /* groups of a place */
    double of_group = (double)routed->experts / (double)groups.all;
    double eligible = of_group * (double)groups.chosen, missed = 0;
    double held = (double)routed->experts / (double)places / (double)own; /* of each of them */
    for (int64_t hit = 0; hit <= own; hit++)
        missed += groups_hit(own, hit, groups) *
                  none_chosen(eligible, held * (double)hit, routed->per_token);
    return (double)places * (1 - missed);
}

const double *
routing_matrix(const struct expert_loads *loads, int64_t ranks, double bytes_per_row,
               struct arena *arena)
{
    double *bytes = arena_alloc(arena, (size_t)(ranks * ranks), sizeof *bytes);
    for (int64_t receiver = 0; receiver < ranks; receiver++) {
        double rows = (double)routing_rank_rows(loads, ranks, receiver);
        for (int64_t sender = 0; sender < ranks; sender++)
            bytes[sender * ranks + receiver] = bytes_per_row * rows;
    }
    return bytes;
}
