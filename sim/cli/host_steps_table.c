/* What was measured of this machine's training steps, as samples of an error table and as text. */
#include "sim/cli/host_steps.h"

#include <string.h>

#include "sim/base/units.h"

static void
add_sample(struct comparison *comparison, const struct error_sample *sample,
           struct arena *arena)
{
    if (!(sample->measured_s > 0))
        return;
    comparison->samples = arena_grow(arena, comparison->samples, comparison->count,
                                     &comparison->capacity, sizeof *comparison->samples);
    comparison->samples[comparison->count++] = *sample;
}

static double
time_at(const struct json *row, const char *key)
{
    const struct json *value = json_member(row, key);
    return value && json_kind(value) == JSON_KIND_REAL ? json_as_real(value) : 0;
}

static void
add_parts(struct comparison *comparison, const struct host_step *step, struct arena *arena)
{
    static const char *const sizes[] = {"passes", "reduction", "optimizer", "gather"};
    const struct step *predicted = step->predicted;
    struct error_sample sample = {.group = {.kind = "step", .dtype = "", .size = "all"},
                                  .part = SPLIT_HELD_OUT,
                                  .measured_s = step->quiet_s,
                                  .predicted_s = predicted->step_s,
                                  .relative_sigma = predicted->sigma_s / predicted->step_s,
                                  .shape = step->name};
    add_sample(comparison, &sample, arena);
    for (int part = 0; part < STEP_PART_COUNT; part++) {
        const char *key =
            arena_format(arena, "measured_%s_s", step_part_key((enum step_part)part));
        sample.group.size = sizes[part];
        sample.group.order = 1 + part;
        sample.measured_s = time_at(step->measured, key);
        sample.predicted_s = units_s_from_ps(predicted->part_ps[part]);
        add_sample(comparison, &sample, arena);
    }
}

/* All work of that name. */
static double
predicted_s(const struct step *step, const char *name)
{
    int64_t all_ps = 0;
    for (uint32_t task = 0; task < step->trace->count; task++) {
        const struct step_work *work = step_work_of(step, task);
        const struct trace_entry *entry = &step->trace->entries[task];
        if (work->name && strcmp(work->name, name) == 0)
            all_ps += entry->end_ps - entry->start_ps;
    }
    return units_s_from_ps(all_ps);
}

/* Short ones are a clock's look at itself. */
static const double KERNEL_LEAST_S = 100e-6;

static void
add_kernels(struct comparison *comparison, const struct host_step *step, struct arena *arena)
{
    const struct json *kernels = json_member(step->measured, "measured_kernels");
    for (size_t i = 0; kernels && i < json_count(kernels); i++) {
        const char *name = json_key(kernels, i);
        struct error_sample sample = {
            .group = {.kind = "step_kernel", .dtype = "", .size = "all", .order = 10},
            .part = SPLIT_HELD_OUT,
            .measured_s = time_at(json_value_at(kernels, i), "seconds_s"),
            .predicted_s = predicted_s(step->predicted, name),
            .relative_sigma = step->predicted->sigma_s / step->predicted->step_s,
            .shape = arena_format(arena, "%s of %s", name, step->name)};
        if (sample.measured_s >= KERNEL_LEAST_S && sample.predicted_s > 0)
            add_sample(comparison, &sample, arena);
    }
}

void
host_steps_compare(const struct host_steps *steps, struct comparison *comparison,
                   struct arena *arena)
{
    for (size_t i = 0; i < steps->count; i++) {
        add_parts(comparison, &steps->items[i], arena);
        add_kernels(comparison, &steps->items[i], arena);
    }
}

void
host_steps_print(const struct host_steps *steps, struct text *out)
{
    text_format(out, "%9s %9s %8s %9s %9s %5s  %s\n", "predicted", "measured", "error",
                "on core", "wall", "ranks", "step");
    for (size_t i = 0; i < steps->count; i++) {
        const struct host_step *step = &steps->items[i];
        text_format(out, "%9s %9s %+6.1f %% %9s %9s %5lld  %s\n",
                    units_format_s(step->predicted->step_s).text,
                    units_format_s(step->quiet_s).text,
                    100 * (step->predicted->step_s / step->quiet_s - 1),
                    units_format_s(step->core_s).text, units_format_s(step->wall_s).text,
                    (long long)step->ranks, step->name);
    }
    text_format(out,
                "median of the absolute errors %.1f %%; order: Kendall's tau %.2f of %zu%s\n",
                100 * steps->median_fraction, steps->tau, steps->count,
                steps->keeps_order ? "" : ", past its limit");
}

void
host_steps_write(const struct host_steps *steps, struct json_writer *writer)
{
    json_write_begin_object(writer);
    json_write_real_at(writer, "median_error_fraction", steps->median_fraction);
    json_write_real_at(writer, "kendall_tau", steps->tau);
    json_write_bool_at(writer, "keeps_order", steps->keeps_order);
    json_write_key(writer, "items");
    json_write_begin_array(writer);
    for (size_t i = 0; i < steps->count; i++) {
        json_write_begin_object(writer);
        json_write_string_at(writer, "name", steps->items[i].name);
        json_write_integer_at(writer, "ranks", steps->items[i].ranks);
        json_write_real_at(writer, "predicted_s", steps->items[i].predicted->step_s);
        json_write_real_at(writer, "measured_s", steps->items[i].quiet_s);
        json_write_real_at(writer, "measured_core_s", steps->items[i].core_s);
        json_write_real_at(writer, "measured_wall_s", steps->items[i].wall_s);
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
    json_write_end_object(writer);
}
