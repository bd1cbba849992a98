/* Widths near a width, simulated or priced again. */
#include "sim/cli/width_advice.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sim/cli/explain_operator.h"
#include "sim/cli/sweep_point.h"

const double WIDTH_BETTER_FRACTION = 0.001;

enum { POINTS_MAX = 512, GRANULE_MAX = 64 };

struct search_of_widths {
    const struct width_request *request;
    const struct explanation *explanation;
    const struct run *run;
    struct arena *arena;
    struct error_list *errors;
    int64_t *widths;
    struct width_point *points;
    size_t count, now; /* place of the width itself */
};

static bool
is_product(const struct step_work *work)
{
    return work->kernel &&
           (work->kernel->kind == KERNEL_GEMM || work->kernel->kind == KERNEL_GROUPED_GEMM);
}

static int64_t
choose_granule(int64_t width)
{
    int64_t granule = 1;
    while (2 * granule <= GRANULE_MAX && 2 * granule <= width / 16)
        granule *= 2;
    return granule;
}

/* The width itself, and multiples of the granule round it. */
static bool
list_widths(struct search_of_widths *search, int64_t width)
{
    const struct width_request *request = search->request;
    int64_t every = request->every > 0 ? request->every : choose_granule(width);
    double reach = request->within_fraction * (double)width;
    int64_t first = (int64_t)ceil(((double)width - reach) / (double)every) * every;
    int64_t last = (int64_t)floor(((double)width + reach) / (double)every) * every;
    int64_t least_every = (last - first) / POINTS_MAX + 1;
    if (least_every > every)
        return error_add(search->errors, ERROR_INPUT, "",
                         "more than %d widths from %lld to %lld, try fewer: --every %lld",
                         POINTS_MAX, (long long)first, (long long)last, (long long)least_every);
    search->widths = arena_alloc(search->arena, POINTS_MAX + 3, sizeof *search->widths);
    for (int64_t next = first > 0 ? first : every; next < width; next += every)
        search->widths[search->count++] = next;
    search->now = search->count;
    search->widths[search->count++] = width;
    for (int64_t next = (width / every + 1) * every; next <= last; next += every)
        search->widths[search->count++] = next;
    search->points = arena_alloc(search->arena, search->count, sizeof *search->points);
    return true;
}

/* ---- of a field ---- */

static void
take_row(struct width_point *point, const struct sweep_row *row, struct arena *arena)
{
    const double *values = row->values;
    point->parameters = values[SWEEP_PARAMETERS_COUNT];
    point->active_parameters = values[SWEEP_ACTIVE_PARAMETERS_COUNT];
    if (row->status != SWEEP_DONE) {
        point->reason = arena_format(arena, "%s", row->reason);
        return;
    }
    point->seconds_s = values[SWEEP_STEP_S];
    point->flop_per_s = values[SWEEP_MODEL_FLOP_PER_S_PER_GPU];
    point->mfu = values[SWEEP_MFU];
    point->memory_bytes = values[SWEEP_MEMORY_BYTES];
}

/* "model.expert_ffn=1984,2048,...", with the fields that follow. */
static bool
make_space(struct search_of_widths *search, struct sweep_space *space)
{
    const char *fault = NULL;
    struct text axis = text_new(search->arena);
    *space = search->request->space;
    text_format(&axis, "%s=", search->request->what);
    for (size_t i = 0; i < search->count; i++)
        text_format(&axis, "%s%" PRId64, i > 0 ? "," : "", search->widths[i]);
    if (!sweep_space_add_axis(space, axis.bytes, search->arena, &fault))
        return error_add(search->errors, ERROR_INPUT, search->request->what, "%s", fault);
    return sweep_space_check(space, search->arena, search->errors);
}

static bool
simulate_widths(struct search_of_widths *search, const struct sweep_space *space)
{
    struct arena *arena = arena_new_beside(search->arena);
    bool is_right = true;
    for (size_t i = 0; i < search->count && is_right; i++) {
        struct sweep_row row = {0};
        arena_clear(arena);
        is_right =
            sweep_space_settings(space, i, search->run, &row.settings, arena, search->errors);
        if (!is_right)
            break;
        sweep_point_run(space, search->run, &row, arena);
        search->points[i].width = search->widths[i];
        take_row(&search->points[i], &row, search->arena);
        if (i == search->now && row.status != SWEEP_DONE)
            is_right = error_add(search->errors, row.kind, "", "%.400s", row.reason);
    }
    arena_free(arena);
    return is_right;
}

/* A width next to this one that runs; SIZE_MAX: there is none. */
static size_t
find_neighbour(const struct search_of_widths *search)
{
    for (size_t by = 1; by < search->count; by++) {
        if (search->now + by < search->count && !search->points[search->now + by].reason)
            return search->now + by;
        if (by <= search->now && !search->points[search->now - by].reason)
            return search->now - by;
    }
    return SIZE_MAX;
}

static bool
is_same_shape(const struct kernel *a, const struct kernel *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == KERNEL_GEMM)
        return a->gemm.m == b->gemm.m && a->gemm.n == b->gemm.n && a->gemm.k == b->gemm.k &&
               a->gemm.batch == b->gemm.batch;
    const struct grouped_gemm *one = &a->grouped_gemm, *other = &b->grouped_gemm;
    return one->experts == other->experts && one->n == other->n && one->k == other->k &&
           memcmp(one->rows, other->rows, (size_t)one->experts * sizeof *one->rows) == 0;
}

static void
add_product(struct width_advice *advice, const struct explain_operator *found,
            const struct device *device, struct arena *arena)
{
    if (advice->product_count < WIDTH_PRODUCTS_MAX)
        advice->products[advice->product_count++] = (struct width_product){
            found, sizing_waves(found->work->kernel_cost, device, arena)};
}

/* Products whose shape is another at a neighbouring width. */
static bool
find_products(const struct search_of_widths *search, const struct sweep_space *space,
              struct width_advice *advice)
{
    struct arena *arena = search->arena;
    struct run_settings settings = {0};
    size_t neighbour = find_neighbour(search);
    if (neighbour == SIZE_MAX)
        return true;
    if (!sweep_space_settings(space, neighbour, search->run, &settings, arena, search->errors))
        return false;
    const struct run *run = run_again(search->run, &settings, arena, search->errors);
    const struct step *step =
        run ? step_simulate(run, RANKS_FOLDED, arena, search->errors) : NULL;
    if (!step)
        return false;
    struct explanation other = explain_step(step, arena);
    for (int64_t i = 0; i < search->explanation->operator_count; i++) {
        const struct explain_operator *one = &search->explanation->operators[i];
        const struct explain_operator *same = explain_operator_find(&other, one->work->name);
        if (is_product(one->work) && same && is_product(same->work) &&
            !is_same_shape(one->work->kernel, same->work->kernel))
            add_product(advice, one, search->run->inputs.cluster->device, arena);
    }
    return true;
}

static bool
advise_field(struct search_of_widths *search, struct width_advice *advice)
{
    struct sweep_space space;
    double width = 0;
    if (!run_number(search->run, search->request->what, &width) || width < 1 ||
        fabs(width - round(width)) > 0)
        return error_add(search->errors, ERROR_INPUT, search->request->what,
                         "is no whole number of the run, nor a product of its step");
    advice->is_field = true;
    advice->rule_count = sizing_rules(search->explanation, advice->rules, search->arena);
    return list_widths(search, (int64_t)width) && make_space(search, &space) &&
           simulate_widths(search, &space) && find_products(search, &space, advice);
}

/* ---- of a product ---- */

static bool
price_width(const struct search_of_widths *search, const struct explain_operator *found,
            struct width_point *point)
{
    struct kernel kernel = *found->work->kernel;
    struct kernel_cost cost = {0};
    bool is_grouped = kernel.kind == KERNEL_GROUPED_GEMM;
    *(is_grouped ? &kernel.grouped_gemm.n : &kernel.gemm.n) = point->width;
    if (!kernel_cost(search->run->inputs.cluster->device, &kernel, &cost, search->errors))
        return false;
    point->seconds_s = cost.seconds_s - cost.host_s;
    point->flop_per_s = cost.flop / point->seconds_s;
    point->parameters = is_grouped
                            ? (double)kernel.grouped_gemm.experts *
                                  (double)kernel.grouped_gemm.n * (double)kernel.grouped_gemm.k
                            : (double)kernel.gemm.n * (double)kernel.gemm.k;
    return true;
}

static bool
advise_product(struct search_of_widths *search, const struct explain_operator *found,
               struct width_advice *advice)
{
    const struct kernel *kernel = found->work->kernel;
    bool is_grouped = kernel->kind == KERNEL_GROUPED_GEMM;
    add_product(advice, found, search->run->inputs.cluster->device, search->arena);
    if (!list_widths(search, is_grouped ? kernel->grouped_gemm.n : kernel->gemm.n))
        return false;
    for (size_t i = 0; i < search->count; i++) {
        search->points[i].width = search->widths[i];
        if (!price_width(search, found, &search->points[i]))
            return false;
    }
    return true;
}

/* The nearest on each side, and the best of all. */
static void
choose(const struct search_of_widths *search, struct width_advice *advice)
{
    double least = search->points[search->now].flop_per_s * (1 + WIDTH_BETTER_FRACTION);
    advice->points = search->points;
    advice->count = search->count;
    advice->now = advice->best = &search->points[search->now];
    for (size_t i = 0; i < search->count; i++) {
        const struct width_point *point = &search->points[i];
        if (point->reason || point->flop_per_s < least)
            continue;
        if (i < search->now)
            advice->down = point;
        else if (!advice->up)
            advice->up = point;
        if (point->flop_per_s > advice->best->flop_per_s)
            advice->best = point;
    }
}

bool
width_advise(const struct width_request *request, const struct explanation *explanation,
             struct width_advice *advice, struct arena *arena, struct error_list *errors)
{
    struct search_of_widths search = {.request = request,
                                      .explanation = explanation,
                                      .run = explanation->step->run,
                                      .arena = arena,
                                      .errors = errors};
    *advice = (struct width_advice){.request = request, .explanation = explanation};
    const struct explain_operator *found =
        strchr(request->what, '.') && strncmp(request->what, "model.", strlen("model.")) == 0
            ? NULL
            : explain_operator_find(explanation, request->what);
    bool is_done = found && is_product(found->work) ? advise_product(&search, found, advice)
                                                    : advise_field(&search, advice);
    if (!is_done)
        return false;
    assert(search.now < search.count && "the width itself is among those tried");
    choose(&search, advice);
    return true;
}
