/* Measured pairs of kernels and collectives, priced and sorted for an error table. */
#include "sim/cli/validate_overlap.h"

#include <math.h>

#include "models/overlap.h"
#include "validate/overlap_list.h"

static const char *
pair_shape(const struct measured_overlap *row, struct arena *arena)
{
    struct text shape = text_new(arena);
    split_kernel_shape(&row->pair.kernel, &shape);
    text_format(&shape, " beside ");
    split_collective_shape(&row->pair.collective, &shape);
    return shape.bytes;
}

static void
add_sample(struct comparison *comparison, struct error_sample sample, struct arena *arena)
{
    comparison->samples = arena_grow(arena, comparison->samples, comparison->count,
                                     &comparison->capacity, sizeof *comparison->samples);
    comparison->samples[comparison->count++] = sample;
}

static bool
add_pair(struct validate_outcome *outcome, const struct measured_overlap *row,
         struct arena *arena, struct error_list *errors)
{
    const struct cluster *cluster = outcome->basis.cluster;
    struct error_list faults = {0};
    struct overlap_times times;
    if (!overlap_find(cluster, &row->pair, &times, arena, &faults))
        return error_add(errors, faults.items[0].kind,
                         arena_format(arena, "%s:%d", row->list, row->line), "%s",
                         faults.items[0].what);
    struct error_sample sample = {.part = row->part,
                                  .measured_s = row->kernels_s,
                                  .predicted_s = times.kernels_s,
                                  .relative_sigma = cluster->fabric.overlap_relative_sigma,
                                  .shape = pair_shape(row, arena)};
    sample.group = (struct error_group){"kernels", "", "all", 0, false};
    if (row->kernels_s > 0)
        add_sample(&outcome->comparison, sample, arena);
    sample.group = (struct error_group){"both", "", "all", 2, false};
    sample.measured_s = row->both_s;
    sample.predicted_s = fmax(times.kernels_s, times.collectives_s);
    if (row->both_s > 0)
        add_sample(&outcome->comparison, sample, arena);
    if (row->collectives_s == 0)
        return true;
    sample.group = (struct error_group){"collectives", "", "all", 1, false};
    sample.measured_s = row->collectives_s;
    sample.predicted_s = times.collectives_s;
    add_sample(&outcome->comparison, sample, arena);
    return true;
}

bool
validate_add_overlaps(struct validate_outcome *outcome, struct arena *arena,
                      struct error_list *errors)
{
    struct overlap_list list = {0};
    const struct suite_table *asked = outcome->asked;
    if (asked->overlap_count > 0 && !outcome->basis.cluster)
        return error_add(errors, ERROR_INPUT, asked->overlaps[0],
                         "kernels beside collectives, but no cluster was given");
    for (size_t i = 0; i < asked->overlap_count; i++)
        if (!overlap_list_read(&list, asked->overlaps[i], arena, errors))
            return false;
    bool is_whole = true;
    for (size_t i = 0; i < list.count; i++)
        if (!add_pair(outcome, &list.items[i], arena, errors))
            is_whole = false;
    return is_whole;
}
