/* Every number of the device's file (of the fabric's for a collective) is made one part in a
 * hundred larger, the file read and the work priced again: what moves the price is what it comes
 * from. No list of who reads what has to be kept true; numbers that stand behind a maximum or
 * minimum which another one decides do not show, and lists of tiles stay as they are. */
#include "models/provenance.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/base/real_text.h"

/* How far a number is moved: small, and far above rounding. */
static const double CHANGE_FRACTION = 0.01;

/* Moves of the price below this are rounding. */
static const double ELASTICITY_MINIMUM = 1e-9;

/* In struct run: objects go by the order of its paths. */
enum { CLUSTER_OBJECT = 2, DEVICE_OBJECT = 5 };

struct search {
    const struct run *run;
    const struct step_work *work;
    const struct json *file;    /* as the run read it */
    const struct json *changed; /* the same, one number changed at a time */
    struct provenance *out;
    struct provenance_number *numbers;
    size_t capacity;
    struct arena *arena;
};

struct formula {
    const char *file, *words;
};

static const struct formula PRODUCT = {
    "hw/gemm_cost.c",
    "launch + rounds of tiles over the compute units x filling and k steps of a tile, or bytes "
    "over caches and HBM, overlapped; the quickest of the device's tiles and splits of k"};
static const struct formula STREAM = {
    "hw/memory_cost.c", "launch + bytes over the bandwidth that a kernel of that size reaches"};
static const struct formula ROWS = {
    "hw/row_cost.c",
    "launch + the longer of rounds of rows x what a row takes, and bytes over HBM's bandwidth"};
static const struct formula EXCHANGE = {"hw/collective_cost.c",
                                        "launch + steps x hops + bytes over the slowest link "
                                        "or NIC; the algorithm and protocol that "
                                        "the library would choose"};

static struct formula
kernel_formula(enum kernel_kind kind)
{
    switch (kind) {
    case KERNEL_GEMM:
    case KERNEL_GROUPED_GEMM:
        return PRODUCT;
    case KERNEL_FUSED_MOE:
        return (struct formula){"hw/fused_moe_cost.c",
                                "launch + the root of the squares of what weights, rows and "
                                "products take"};
    case KERNEL_ATTENTION:
        return (struct formula){"hw/attention_cost.c",
                                "launch + the longer of rounds of walks over tiles of queries "
                                "and keys, and bytes over HBM's bandwidth"};
    case KERNEL_RMS_NORM:
    case KERNEL_SOFTMAX:
    case KERNEL_TOP_K:
    case KERNEL_CROSS_ENTROPY:
        return ROWS;
    case KERNEL_CONVOLUTION:
        return (struct formula){"hw/convolution_cost.c",
                                "launch + bytes over HBM's bandwidth or channels one by one; "
                                "a batch of products where groups have several channels"};
    case KERNEL_NEWTON_SCHULZ:
        return (struct formula){"hw/newton_schulz_cost.c",
                                "steps x three products, two of them symmetric, + the norm"};
    case KERNEL_ELEMENTWISE:
    case KERNEL_GATHER:
    case KERNEL_SCATTER_ADD:
    case KERNEL_TRANSPOSE:
    case KERNEL_ADAMW:
    case KERNEL_COPY:
    case KERNEL_KIND_COUNT:
        break;
    }
    return STREAM;
}

/* The work's price with the numbers of `root`. */
static bool
price(const struct search *search, const struct json *root, struct arena *arena,
      double *seconds_s, struct error_list *errors)
{
    const struct step_work *work = search->work;
    if (work->kernel) {
        struct kernel_cost cost = {0};
        const struct device *device = device_read(root, arena, errors);
        bool is_priced = device && kernel_cost(device, work->kernel, &cost, errors);
        *seconds_s = cost.seconds_s - cost.host_s;
        return is_priced;
    }
    struct collective_cost cost = {0};
    struct cluster cluster = *search->run->inputs.cluster;
    memset(&cluster.fabric, 0, sizeof cluster.fabric);
    bool is_priced = fabric_read(root, &cluster.fabric, errors) &&
                     collective_cost(&cluster, work->collective, &cost, errors);
    *seconds_s = cost.latency_s + cost.transfer_s;
    return is_priced;
}

static void
set_number(const struct json *root, const char *path, double value)
{
    char text[REAL_TEXT_MAX];
    struct error_list errors = {0};
    real_text_write(value, text);
    bool is_set = json_set(root, path, text, "a number moved", &errors);
    assert(is_set && "the path was found in the same file");
    (void)is_set;
}

/* The price's elasticity by that number, from what it costs with `after` in its place; false where
 * the file's reader refuses that. */
static bool
try_number(const struct search *search, const char *path, double before, double after,
           double *elasticity)
{
    struct arena *scratch = arena_new_beside(search->arena);
    struct error_list errors = {0};
    double seconds_s = 0;
    set_number(search->changed, path, after);
    bool is_priced = price(search, search->changed, scratch, &seconds_s, &errors);
    set_number(search->changed, path, before);
    arena_free(scratch);
    *elasticity = (seconds_s / search->out->price_s - 1) / (after / before - 1);
    return is_priced;
}

/* A little more; where that is out of bounds a little less; whole ones by one or more. */
static double
find_elasticity(const struct search *search, const char *path, double before)
{
    const double tries[] = {before * (1 + CHANGE_FRACTION), before * (1 - CHANGE_FRACTION),
                            fmax(before + 1, round(before * (1 + CHANGE_FRACTION))),
                            before - 1};
    double elasticity = 0;
    for (size_t i = 0; before != 0 && i < sizeof tries / sizeof *tries; i++)
        if (try_number(search, path, before, tries[i], &elasticity))
            return elasticity;
    return 0;
}

/* `leaf` is a number, or an object with the number as its value and its source. */
static void
note_number(struct search *search, const char *path, const struct json *leaf)
{
    const struct json *value = json_at(leaf, "value"), *source = json_at(leaf, "source");
    const struct json *number = value ? value : leaf;
    const char *full = value ? arena_format(search->arena, "%s.value", path) : path;
    double elasticity = find_elasticity(search, full, json_as_real(number));
    if (fabs(elasticity) < ELASTICITY_MINIMUM)
        return;
    search->numbers = arena_grow(search->arena, search->numbers, (size_t)search->out->count,
                                 &search->capacity, sizeof *search->numbers);
    search->numbers[search->out->count++] = (struct provenance_number){
        path, json_where(leaf), source ? json_as_string(source) : NULL, json_as_real(number),
        elasticity};
}

static bool
is_number(const struct json *value)
{
    return value &&
           (json_kind(value) == JSON_KIND_INTEGER || json_kind(value) == JSON_KIND_REAL);
}

/* Values that are still to be looked into, the next one last. */
struct visits {
    struct visit {
        const struct json *value;
        const char *path;
    } * items;
    size_t count, capacity;
};

static void
add_parts(struct visits *visits, const struct visit *whole, struct arena *arena)
{
    bool is_list = json_kind(whole->value) == JSON_KIND_ARRAY;
    const char *dot = *whole->path ? "." : "";
    for (size_t i = 0; i < json_count(whole->value); i++) {
        struct visit part = {
            is_list ? json_element(whole->value, i) : json_value_at(whole->value, i),
            is_list
                ? arena_format(arena, "%s%s%zu", whole->path, dot, i)
                : arena_format(arena, "%s%s%s", whole->path, dot, json_key(whole->value, i))};
        visits->items = arena_grow(arena, visits->items, visits->count, &visits->capacity,
                                   sizeof *visits->items);
        visits->items[visits->count++] = part;
    }
}

/* Numbers with a source and without one; the record of a calibration prices nothing. */
static void
look_through(struct search *search)
{
    struct visits visits = {0};
    add_parts(&visits, &(struct visit){search->file, ""}, search->arena);
    while (visits.count > 0) {
        struct visit visit = visits.items[--visits.count];
        const struct json *value = json_at(visit.value, "value");
        if (is_number(visit.value) || is_number(value))
            note_number(search, visit.path, visit.value);
        else if (!value && strcmp(visit.path, "calibration") != 0)
            add_parts(&visits, &visit, search->arena);
    }
}

/* The same document once more, with what the run's settings have changed in it. */
static const struct json *
read_again(const struct search *search, const char *part, struct error_list *errors)
{
    const struct json *again = json_read_again(search->arena, search->file, errors);
    const struct run_settings *settings = &search->run->settings;
    for (size_t i = 0; again && i < settings->count; i++) {
        const char *text = settings->texts[i], *equals = strchr(text, '=');
        size_t length = strlen(part);
        if (strncmp(text, part, length) != 0)
            continue;
        const char *path = arena_format(search->arena, "%.*s",
                                        (int)(equals - text - (int)length), text + length);
        if (!json_set(again, path, equals + 1, text, errors))
            return NULL;
    }
    return again;
}

/* The device's file, or the cluster's fabric: a file of its own, or part of the cluster's. */
static bool
find_file(struct search *search, struct error_list *errors)
{
    const struct run *run = search->run;
    const struct json *cluster = run->objects[CLUSTER_OBJECT];
    if (search->work->kernel) {
        search->file = run->objects[DEVICE_OBJECT];
        search->changed = read_again(search, "device.", errors);
        return search->changed != NULL;
    }
    const struct json *fabric = json_at(cluster, "fabric");
    if (json_kind(fabric) == JSON_KIND_OBJECT)
        return error_add(errors, ERROR_INPUT, json_where(fabric),
                         "wanted the fabric in a file of its own");
    const char *path =
        path_beside(json_file_name(fabric), json_as_string(fabric), search->arena);
    search->file = search->changed = json_read_file(search->arena, path, errors);
    if (search->file)
        search->changed = json_read_again(search->arena, search->file, errors);
    return search->changed != NULL;
}

/* What moves the price most first; of equals the path decides. */
static int
compare_numbers(const void *a, const void *b)
{
    const struct provenance_number *left = a, *right = b;
    if (fabs(left->elasticity) != fabs(right->elasticity))
        return fabs(left->elasticity) > fabs(right->elasticity) ? -1 : 1;
    return strcmp(left->path, right->path);
}

bool
provenance_of(const struct run *run, const struct step_work *work, struct provenance *out,
              struct arena *arena, struct error_list *errors)
{
    *out = (struct provenance){0};
    struct search search = {.run = run, .work = work, .out = out, .arena = arena};
    if (!work->kernel && !work->collective)
        return error_add(errors, ERROR_INPUT, "",
                         "%s is no single kernel or collective: it has no one price",
                         work->name);
    struct formula formula = work->kernel ? kernel_formula(work->kernel->kind) : EXCHANGE;
    out->formula = formula.file;
    out->words = formula.words;
    if (!find_file(&search, errors) ||
        !price(&search, search.changed, arena, &out->price_s, errors))
        return false;
    if (out->price_s > 0) /* free work comes from nothing */
        look_through(&search);
    if (search.numbers)
        qsort(search.numbers, (size_t)out->count, sizeof *search.numbers, compare_numbers);
    out->numbers = search.numbers;
    return true;
}
