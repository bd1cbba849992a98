/* Prices every value of every curve, and finds the measured kernels that lie on one. */
#include "sim/cli/kernel_sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/json.h"
#include "sim/cli/kernel_question.h"

/* The kernel of a curve at a value, as JSON. Faults name the option that set the key. */
static const struct json *
question_at(const struct kernel_sweep *sweep, const char *word, int64_t value,
            struct arena *arena, struct error_list *errors)
{
    const struct json *question = kernel_question_read(sweep->options, arena, errors);
    const char *key = sweep->sweep.key;
    const char *number = arena_format(arena, "%" PRId64, value);
    if (question == NULL)
        return NULL;
    if (word != NULL &&
        !json_set(question, sweep->series.key, word,
                  arena_format(arena, "--series %s=%s", sweep->series.key, word), errors))
        return NULL;
    if (!json_set(question, key, number, arena_format(arena, "--sweep %s=%s", key, number),
                  errors))
        return NULL;
    return question;
}

static bool
price_at(const struct kernel_sweep *sweep, const char *word, int64_t value,
         struct kernel_cost *cost, struct error_list *errors)
{
    struct arena *arena = command_arena();
    struct kernel kernel;
    const struct json *question = question_at(sweep, word, value, arena, errors);
    bool is_priced = question != NULL && kernel_question_price(sweep->device, question, arena,
                                                               &kernel, cost, errors);
    arena_free(arena);
    return is_priced;
}

static bool
price_curve(struct kernel_sweep *sweep, struct kernel_sweep_curve *curve, struct arena *arena,
            struct error_list *errors)
{
    const struct sweep *values = &sweep->sweep;
    const struct json *first =
        question_at(sweep, curve->word, values->values[0], arena, errors);
    if (first == NULL || !kernel_read(first, &curve->kernel, arena, errors))
        return false;
    curve->points = arena_alloc(arena, values->count, sizeof *curve->points);
    for (size_t i = 0; i < values->count; i++)
        if (!price_at(sweep, curve->word, values->values[i], &curve->points[i].cost, errors))
            return false;
    return true;
}

/* "gemm m=4096 layout=nt": the words' kernel without the keys that run. */
static const char *
describe_fixed(const struct kernel_sweep *sweep, const struct json *question,
               struct arena *arena)
{
    struct text text = text_new(arena);
    struct json_writer writer = json_writer_new(&text, false);
    const char *series_key = sweep->series.count > 0 ? sweep->series.key : "";
    const struct json *kind = json_member(question, "kernel");
    if (kind != NULL && json_kind(kind) == JSON_KIND_STRING)
        text_format(&text, "%s", json_as_string(kind));
    for (size_t i = 0; i < json_count(question); i++) {
        const char *key = json_key(question, i);
        const struct json *value = json_value_at(question, i);
        if (strcmp(key, "kernel") == 0 || strcmp(key, sweep->sweep.key) == 0 ||
            strcmp(key, series_key) == 0)
            continue;
        text_format(&text, " %s=", key);
        if (json_kind(value) == JSON_KIND_STRING)
            text_format(&text, "%s", json_as_string(value));
        else
            json_write_value(&writer, value);
    }
    return text.bytes != NULL ? text.bytes : "";
}

bool
kernel_sweep_price(struct kernel_sweep *sweep, struct arena *arena, struct error_list *errors)
{
    const struct json *question = kernel_question_read(sweep->options, arena, errors);
    if (question == NULL)
        return false;
    sweep->fixed = describe_fixed(sweep, question, arena);
    sweep->curve_count = sweep->series.count > 0 ? sweep->series.count : 1;
    sweep->curves = arena_alloc(arena, sweep->curve_count, sizeof *sweep->curves);
    for (size_t i = 0; i < sweep->curve_count; i++) {
        if (sweep->series.count > 0)
            sweep->curves[i].word = sweep->series.words[i];
        if (!price_curve(sweep, &sweep->curves[i], arena, errors))
            return false;
    }
    return true;
}

/* The canonical shape (validate/split.h) with the number behind " key=" taken out and told; NULL
 * when the shape has no such key. */
static const char *
shape_without(const struct kernel *kernel, const char *key, int64_t *value, struct arena *arena)
{
    struct text shape = text_new(arena);
    split_kernel_shape(kernel, &shape);
    const char *name = arena_format(arena, " %s=", key), *at = strstr(shape.bytes, name);
    char *rest;
    if (at == NULL)
        return NULL;
    at += strlen(name);
    double number = strtod(at, &rest); /* bytes stand there as reals, 1e+18 */
    *value = number < (double)INT64_MAX ? (int64_t)number : INT64_MAX;
    return arena_format(arena, "%.*s%s", (int)(at - shape.bytes), shape.bytes, rest);
}

/* The implementation that an attention runs by; "" of other kernels. */
static const char *
implementation_of(const struct kernel *kernel, const struct device *device)
{
    if (kernel->kind != KERNEL_ATTENTION)
        return "";
    if (kernel->attention.implementation != NULL)
        return kernel->attention.implementation;
    return device->attention_count > 0 ? device->attention[0].name : "";
}

/* Whether two kernels of one kind agree in what their shape does not say. */
static bool
are_alike(const struct kernel *a, const struct kernel *b, const struct device *device)
{
    return a->kind == b->kind && a->dtype == b->dtype && a->direction == b->direction &&
           (a->kind != KERNEL_GEMM || a->gemm.layout == b->gemm.layout) &&
           strcmp(implementation_of(a, device), implementation_of(b, device)) == 0;
}

static void
keep_measured(struct kernel_sweep *sweep, struct kernel_sweep_curve *curve,
              const struct kernel_sweep_measured *measured, struct arena *arena)
{
    curve->measured = arena_grow(arena, curve->measured, curve->measured_count,
                                 &curve->measured_capacity, sizeof *curve->measured);
    curve->measured[curve->measured_count++] = *measured;
    for (size_t i = 0; i < sweep->sweep.count; i++) {
        if (sweep->sweep.values[i] != measured->at)
            continue;
        double sum_s = 0;
        size_t count = 0;
        for (size_t k = 0; k < curve->measured_count; k++)
            if (curve->measured[k].at == measured->at) {
                sum_s += curve->measured[k].measured_s;
                count++;
            }
        curve->points[i].measured_s = sum_s / (double)count;
    }
}

static bool
add_row(struct kernel_sweep *sweep, struct kernel_sweep_curve *curve,
        const struct measured *row, struct arena *arena, struct error_list *errors)
{
    struct kernel_sweep_measured measured = {.measured_s = row->measured_s};
    int64_t first;
    if (row->is_collective || !are_alike(&row->kernel, &curve->kernel, sweep->device))
        return true;
    const char *key = sweep->sweep.key;
    const char *shape = shape_without(&row->kernel, key, &measured.at, arena);
    const char *wanted = shape_without(&curve->kernel, key, &first, arena);
    const int64_t *values = sweep->sweep.values;
    if (shape == NULL || wanted == NULL || strcmp(shape, wanted) != 0 ||
        measured.at < values[0] || measured.at > values[sweep->sweep.count - 1])
        return true;
    measured.part =
        row->has_part ? row->part : split_part(measured_shape(row, arena), SPLIT_SEED_DEFAULT);
    if (!kernel_cost(sweep->device, &row->kernel, &measured.cost, errors))
        return false;
    keep_measured(sweep, curve, &measured, arena);
    return true;
}

bool
kernel_sweep_add_measured(struct kernel_sweep *sweep, const struct measured_list *list,
                          struct arena *arena, struct error_list *errors)
{
    for (size_t c = 0; c < sweep->curve_count; c++)
        for (size_t i = 0; i < list->count; i++)
            if (!add_row(sweep, &sweep->curves[c], &list->items[i], arena, errors))
                return false;
    return true;
}

bool
kernel_sweep_has_flop(const struct kernel_sweep *sweep)
{
    return sweep->curves[0].points[0].cost.flop > 0;
}

double
kernel_sweep_rate(const struct kernel_sweep *sweep, const struct kernel_cost *cost,
                  double seconds_s)
{
    return (kernel_sweep_has_flop(sweep) ? cost->flop : cost->hbm_bytes) / seconds_s;
}

size_t
kernel_sweep_measured_count(const struct kernel_sweep *sweep)
{
    size_t count = 0;
    for (size_t c = 0; c < sweep->curve_count; c++)
        count += sweep->curves[c].measured_count;
    return count;
}

double
kernel_sweep_mape_fraction(const struct kernel_sweep *sweep)
{
    double sum = 0;
    for (size_t c = 0; c < sweep->curve_count; c++)
        for (size_t i = 0; i < sweep->curves[c].measured_count; i++) {
            const struct kernel_sweep_measured *measured = &sweep->curves[c].measured[i];
            sum += fabs(measured->cost.seconds_s / measured->measured_s - 1);
        }
    size_t count = kernel_sweep_measured_count(sweep);
    return count > 0 ? sum / (double)count : 0;
}

/* Once more what was priced: it was readable then. */
static void
write_line(const struct kernel_sweep *sweep, const struct kernel_sweep_curve *curve, size_t i,
           struct text *out)
{
    struct error_list none = {0};
    struct arena *arena = command_arena();
    const struct json *question =
        question_at(sweep, curve->word, sweep->sweep.values[i], arena, &none);
    struct json_writer writer = json_writer_new(out, false);
    json_write_begin_object(&writer);
    for (size_t k = 0; k < json_count(question); k++) {
        json_write_key(&writer, json_key(question, k));
        json_write_value(&writer, json_value_at(question, k));
    }
    if (curve->points[i].measured_s > 0)
        json_write_real_at(&writer, "measured_s", curve->points[i].measured_s);
    kernel_question_write_cost(&writer, &curve->points[i].cost);
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
    arena_free(arena);
}

void
kernel_sweep_write_lines(const struct kernel_sweep *sweep, struct text *out)
{
    for (size_t c = 0; c < sweep->curve_count; c++)
        for (size_t i = 0; i < sweep->sweep.count; i++)
            write_line(sweep, &sweep->curves[c], i, out);
}
