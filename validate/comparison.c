/* Prices measured rows and sorts them into groups. */
#include "validate/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/collective.h"
#include "hw/kernel_cost.h"
#include "sim/base/json_writer.h"

/* Places of a group in its table: kinds as the vocabulary lists them, forward before backward,
 * dtype by dtype, "all" before its three size classes; then collectives; sums over kinds last.
 */
enum {
    ORDER_PER_DTYPE = 4,
    ORDER_PER_DIRECTION = ORDER_PER_DTYPE * DTYPE_COUNT,
    ORDER_PER_KIND = ORDER_PER_DIRECTION * 2,
    ORDER_COLLECTIVES = ORDER_PER_KIND * KERNEL_KIND_COUNT,
    ORDER_SUMS = ORDER_COLLECTIVES + COLLECTIVE_KIND_COUNT,
};

static const double LARGE_COLLECTIVE_BYTES =
    1048576; /* from here on design.md's target holds */

/* One row on its way into the samples. */
struct priced {
    struct error_sample sample;
    struct arena *arena;
    struct comparison *comparison;
};

static void
add_under(const struct priced *priced, struct error_group group)
{
    struct comparison *comparison = priced->comparison;
    comparison->samples = arena_grow(priced->arena, comparison->samples, comparison->count,
                                     &comparison->capacity, sizeof *comparison->samples);
    comparison->samples[comparison->count] = priced->sample;
    comparison->samples[comparison->count++].group = group;
}

static bool
has_size_classes(enum kernel_kind kind)
{
    return kind == KERNEL_GEMM || kind == KERNEL_GROUPED_GEMM || kind == KERNEL_FUSED_MOE ||
           kind == KERNEL_ATTENTION;
}

static bool
is_memory_bound(enum kernel_kind kind)
{
    return !has_size_classes(kind) && kind != KERNEL_CONVOLUTION &&
           kind != KERNEL_NEWTON_SCHULZ;
}

static struct error_group
size_class(const struct priced *priced, const struct comparison_basis *basis,
           struct error_group group)
{
    if (priced->sample.measured_s >= basis->large_s) {
        group.size = arena_format(priced->arena, "over %g us", basis->large_s * 1e6);
        group.order += 1;
    } else if (priced->sample.measured_s > basis->small_s) {
        group.size = arena_format(priced->arena, "%g to %g us", basis->small_s * 1e6,
                                  basis->large_s * 1e6);
        group.order += 2;
    } else {
        group.size = arena_format(priced->arena, "under %g us", basis->small_s * 1e6);
        group.order += 3;
    }
    return group;
}

static void
sort_kernel(const struct priced *priced, const struct kernel *kernel,
            const struct comparison_basis *basis)
{
    bool is_backward = kernel->direction == DIRECTION_BACKWARD;
    struct error_group group = {
        .kind = arena_format(priced->arena, "%s%s", kernel_kind_name(kernel->kind),
                             is_backward ? "_backward" : ""),
        .dtype = kernel->kind == KERNEL_COPY ? "" : dtype_name(kernel->dtype),
        .size = "all",
        .order = ORDER_PER_KIND * (int)kernel->kind + ORDER_PER_DIRECTION * is_backward +
                 ORDER_PER_DTYPE * (int)kernel->dtype,
    };
    add_under(priced, group);
    if (has_size_classes(kernel->kind))
        add_under(priced, size_class(priced, basis, group));
    if (is_memory_bound(kernel->kind))
        add_under(priced, (struct error_group){"memory_bound", "", "all", ORDER_SUMS, true});
}

static void
sort_collective(const struct priced *priced, const struct collective *collective)
{
    add_under(priced, (struct error_group){collective_kind_name(collective->kind),
                                           dtype_name(collective->dtype), "all",
                                           ORDER_COLLECTIVES + (int)collective->kind, false});
    bool is_large = collective->bytes >= LARGE_COLLECTIVE_BYTES;
    add_under(priced,
              (struct error_group){"collective", "", is_large ? "from 1 MiB" : "under 1 MiB",
                                   ORDER_SUMS + (is_large ? 1 : 2), true});
}

static bool
price_kernel(struct priced *priced, const struct measured *row,
             const struct comparison_basis *basis, struct error_list *errors)
{
    struct kernel_cost cost;
    if (basis->device == NULL)
        return error_add(errors, ERROR_INPUT, "", "a kernel, but no device was given");
    if (!kernel_cost(basis->device, &row->kernel, &cost, errors))
        return false;
    priced->sample.predicted_s = measured_predicted_s(row, &cost);
    priced->sample.relative_sigma = cost.relative_sigma;
    sort_kernel(priced, &row->kernel, basis);
    return true;
}

static bool
price_collective(struct priced *priced, const struct collective *collective,
                 const struct comparison_basis *basis, struct error_list *errors)
{
    struct collective_cost cost;
    if (basis->cluster == NULL)
        return error_add(errors, ERROR_INPUT, "", "a collective, but no cluster was given");
    if (!collective_cost(basis->cluster, collective, &cost, errors))
        return false;
    priced->sample.predicted_s = cost.latency_s + cost.transfer_s;
    priced->sample.relative_sigma = cost.relative_sigma;
    sort_collective(priced, collective);
    return true;
}

/* Cost models do not know in which list their question stood: say it for them. */
static bool
add_at_row(struct error_list *errors, const struct measured *row,
           const struct error_list *row_errors)
{
    char where[sizeof row_errors->items[0].where];
    (void)snprintf(where, sizeof where, "%s:%d", row->list, row->line);
    for (int i = 0; i < error_list_kept(row_errors); i++)
        error_add(errors, row_errors->items[i].kind, where, "%s", row_errors->items[i].what);
    return false;
}

static bool
compare_row(struct comparison *comparison, const struct measured *row,
            const struct comparison_basis *basis, struct arena *arena,
            struct error_list *errors)
{
    const char *shape = measured_shape(row, arena);
    struct priced priced = {
        .sample = {.part = row->has_part ? row->part : split_part(shape, basis->seed),
                   .measured_s = row->measured_s,
                   .shape = shape},
        .arena = arena,
        .comparison = comparison,
    };
    struct error_list row_errors = {0};
    bool is_priced = row->is_collective
                         ? price_collective(&priced, &row->collective, basis, &row_errors)
                         : price_kernel(&priced, row, basis, &row_errors);
    return is_priced || add_at_row(errors, row, &row_errors);
}

bool
comparison_add(struct comparison *comparison, const struct measured_list *list,
               const struct comparison_basis *basis, struct arena *arena,
               struct error_list *errors)
{
    bool is_whole = true;
    for (size_t i = 0; i < list->count; i++)
        if (!compare_row(comparison, &list->items[i], basis, arena, errors))
            is_whole = false;
    return is_whole;
}

/* ---- Measured twice */

/* A row by what it asks; in the order of that and, of equal ones, of lines. */
struct asked {
    const char *question;
    const struct measured *row;
};

static const char *
question_of(const struct measured *row, struct arena *arena)
{
    struct text text = text_new(arena);
    struct json_writer writer = json_writer_new(&text, false);
    if (row->is_collective)
        text_format(&text, "%s %s", measured_shape(row, arena),
                    dtype_name(row->collective.dtype));
    else
        kernel_write(&row->kernel, &writer);
    return text.bytes;
}

static int
compare_asked(const void *a, const void *b)
{
    const struct asked *left = a, *right = b;
    int order = strcmp(left->question, right->question);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

static struct asked *
by_question(const struct measured_list *list, struct arena *arena)
{
    struct asked *asked = arena_alloc(arena, list->count, sizeof *asked);
    for (size_t i = 0; i < list->count; i++)
        asked[i] = (struct asked){question_of(&list->items[i], arena), &list->items[i]};
    qsort(asked, list->count, sizeof *asked, compare_asked);
    return asked;
}

/* The first that asked so; NULL when none did. */
static const struct measured *
first_of(const struct asked *asked, size_t count, const char *question)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(asked[middle].question, question) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && strcmp(asked[low].question, question) == 0 ? asked[low].row : NULL;
}

static void
sort_row(const struct priced *priced, const struct measured *row,
         const struct comparison_basis *basis)
{
    if (row->is_collective)
        sort_collective(priced, &row->collective);
    else
        sort_kernel(priced, &row->kernel, basis);
}

bool
comparison_add_again(struct comparison *comparison, const struct measured_list *list,
                     const struct measured_list *again, const struct comparison_basis *basis,
                     struct arena *arena, struct error_list *errors)
{
    const struct asked *asked = by_question(list, arena);
    struct error_list fault = {0};
    bool is_whole = true;
    (void)error_add(&fault, ERROR_INPUT, "", "it was not measured before");
    for (size_t i = 0; i < again->count; i++) {
        const struct measured *row = &again->items[i];
        const struct measured *twin = first_of(asked, list->count, question_of(row, arena));
        if (twin == NULL) {
            is_whole = add_at_row(errors, row, &fault);
            continue;
        }
        const struct priced priced = {.sample = {.part = SPLIT_HELD_OUT,
                                                 .measured_s = twin->measured_s,
                                                 .predicted_s = row->measured_s,
                                                 .shape = measured_shape(row, arena)},
                                      .arena = arena,
                                      .comparison = comparison};
        sort_row(&priced, row, basis);
    }
    return is_whole;
}
