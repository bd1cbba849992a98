/* The lines of the table spread over data types, implementations and kinds. */
#include "validate/coefficient.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "hw/attention_cost.h"
#include "validate/coefficient_table.h"

static struct coefficient_group
group_of_kind(enum kernel_kind kind)
{
    return (struct coefficient_group){.kind = kind};
}

/* One line on its way into the list, once for each name of its span. */
struct spreading {
    struct device *device;
    struct arena *arena;
    struct coefficient_list *list;
};

static double *
double_at(void *base, size_t offset)
{
    return (double *)(void *)((char *)base + offset);
}

/* "streams.*.fixed_s" with the name in place of the star. */
static const char *
path_with(struct arena *arena, const char *path, const char *name)
{
    size_t before = strcspn(path, "*");
    return path[before] == '\0'
               ? path
               : arena_format(arena, "%.*s%s%s", (int)before, path, name, path + before + 1);
}

/* Whether the coefficient is a time or a rate, by its unit: "fixed_s", "step_s.*". */
static bool
has_seconds(const char *path)
{
    const char *unit = strstr(path, "_s");
    while (unit && unit[2] != '\0' && unit[2] != '.')
        unit = strstr(unit + 2, "_s");
    return unit != NULL;
}

/* A device of one unit is a core of a CPU. */
static bool
is_core(const struct device *device)
{
    return device->compute_units == 1;
}

/* The table's limits are of whole GPUs. A core's rates are a few hundredths of theirs, and a call
 * of a function takes the place of a launch. */
static void
widen_for_core(struct coefficient *coefficient, const struct coefficient_line *line)
{
    const double core_part = 1e-3, rate_least = 1e6; /* what hw/device.c reads */
    if (line->scale != LOGARITHMIC || !has_seconds(line->path))
        return;
    coefficient->least = fmax(line->least * core_part, line->least > 1 ? rate_least : 0);
    coefficient->least_reason = "a thousandth of the least of any GPU";
}

/* A rate or share of 0 is a unit that the device lacks. */
static void
add(const struct spreading *spreading, const struct coefficient_line *line, const char *name,
    double *value, struct coefficient_group group)
{
    if (line->scale == LOGARITHMIC && *value == 0)
        return;
    struct coefficient_list *list = spreading->list;
    list->items = arena_grow(spreading->arena, list->items, list->count, &list->capacity,
                             sizeof *list->items);
    struct coefficient *added = &list->items[list->count++];
    added->path = path_with(spreading->arena, line->path, name);
    added->value = value;
    added->group = group;
    added->kind = line->kind < KERNEL_KIND_COUNT ? line->kind : group.kind;
    added->is_logarithmic = line->scale == LOGARITHMIC;
    added->least = line->least;
    added->most = line->most;
    added->least_reason = line->least_reason;
    added->most_reason = line->most_reason;
    if (is_core(spreading->device))
        widen_for_core(added, line);
}

static void
add_dtypes(const struct spreading *spreading, const struct coefficient_line *line)
{
    double *values = double_at(spreading->device, line->offset);
    const double *peaks = spreading->device->peak_flop_per_s;
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (peaks[i] == 0)
            continue;
        struct coefficient_line of_dtype = *line;
        if (line->span == SPAN_RATE)
            of_dtype.most *= peaks[i];
        add(spreading, &of_dtype, dtype_name((enum dtype)i), &values[i],
            group_of_kind(line->kind));
    }
}

static const char *
pass_name(struct arena *arena, int64_t implementation, int direction)
{
    return arena_format(arena, "%lld.%s", (long long)implementation,
                        direction == DIRECTION_FORWARD ? "forward" : "backward");
}

static void
add_passes(const struct spreading *spreading, const struct coefficient_line *line)
{
    struct device *device = spreading->device;
    for (int64_t i = 0; i < device->attention_count; i++)
        for (int direction = 0; direction < 2; direction++)
            add(spreading, line, pass_name(spreading->arena, i, direction),
                double_at(&device->attention[i].passes[direction], line->offset),
                (struct coefficient_group){line->kind, i, (enum direction)direction});
}

/* "rms_norm_backward". */
static const char *
stream_name(struct arena *arena, enum kernel_kind kind, int direction)
{
    const char *name = kernel_kind_name(kind);
    return direction == DIRECTION_FORWARD ? name : arena_format(arena, "%s_backward", name);
}

static void
add_streams(const struct spreading *spreading, const struct coefficient_line *line)
{
    for (int i = 0; i < KERNEL_KIND_COUNT; i++)
        for (int direction = 0; direction < 2; direction++) {
            struct device_stream *stream = &spreading->device->streams[i][direction];
            if (stream->bandwidth_fraction > 0)
                add(spreading, line,
                    stream_name(spreading->arena, (enum kernel_kind)i, direction),
                    double_at(stream, line->offset),
                    (struct coefficient_group){.kind = (enum kernel_kind)i,
                                               .direction = (enum direction)direction});
        }
}

/* A name that a path cannot say is fitted by nobody. */
static void
add_operations(const struct spreading *spreading, const struct coefficient_line *line)
{
    struct device *device = spreading->device;
    for (int64_t i = 0; i < device->element_rate_count; i++) {
        const char *op = device->element_rates[i].op;
        if (*op != '\0' && strchr(op, '.') == NULL)
            add(spreading, line, op, double_at(&device->element_rates[i], line->offset),
                group_of_kind(line->kind));
    }
}

static void
add_machines(const struct spreading *spreading, const struct coefficient_line *line)
{
    struct device_gemm *gemm = &spreading->device->gemm;
    for (int64_t i = 0; i < gemm->machine_count; i++)
        if (strchr(gemm->machines[i].measured_in, '.') == NULL)
            add(spreading, line, gemm->machines[i].measured_in,
                double_at(&gemm->machines[i], line->offset), group_of_kind(line->kind));
}

static void
add_line(const struct spreading *spreading, const struct coefficient_line *line)
{
    switch (line->span) {
    case SPAN_CORE:
    case SPAN_NONE:
        if (line->span == SPAN_NONE || is_core(spreading->device))
            add(spreading, line, "", double_at(spreading->device, line->offset),
                group_of_kind(line->kind));
        break;
    case SPAN_DTYPE:
    case SPAN_RATE:
        add_dtypes(spreading, line);
        break;
    case SPAN_PASS:
        add_passes(spreading, line);
        break;
    case SPAN_STREAM:
        add_streams(spreading, line);
        break;
    case SPAN_OPERATION:
        add_operations(spreading, line);
        break;
    case SPAN_MACHINE:
        add_machines(spreading, line);
        break;
    }
}

/* Members of one group side by side, the groups by first appearance. */
static void
sort_by_group(struct coefficient_list *list, struct arena *arena)
{
    struct coefficient *sorted = arena_alloc(arena, list->count, sizeof *sorted);
    bool *is_taken = arena_alloc(arena, list->count, sizeof *is_taken);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        for (size_t j = i; j < list->count && !is_taken[i]; j++) {
            if (!coefficient_group_is(&list->items[i].group, &list->items[j].group))
                continue;
            sorted[count++] = list->items[j];
            is_taken[j] = j > i;
        }
    }
    list->items = sorted;
}

struct coefficient_list
coefficient_list_of(struct device *device, struct arena *arena)
{
    struct coefficient_list list = {0};
    struct spreading spreading = {device, arena, &list};
    for (size_t i = 0; i < coefficient_line_count; i++)
        add_line(&spreading, &coefficient_lines[i]);
    sort_by_group(&list, arena);
    return list;
}

bool
coefficient_list_check(const struct coefficient_list *list, const struct json *file,
                       struct error_list *errors)
{
    bool is_right = true;
    for (size_t i = 0; i < list->count; i++) {
        const struct coefficient *coefficient = &list->items[i];
        double value = *coefficient->value;
        const struct json *at = json_at(file, coefficient->path);
        if (value < coefficient->least)
            is_right = json_fail(at, errors, "%g, wanted at least %g: %s", value,
                                 coefficient->least, coefficient->least_reason);
        if (value > coefficient->most)
            is_right = json_fail(at, errors, "%g, wanted at most %g: %s", value,
                                 coefficient->most, coefficient->most_reason);
    }
    return is_right;
}

bool
coefficient_group_is(const struct coefficient_group *a, const struct coefficient_group *b)
{
    return a->kind == b->kind && a->implementation == b->implementation &&
           a->direction == b->direction;
}

struct coefficient_group
coefficient_group_of(const struct device *device, const struct kernel *kernel)
{
    if (kernel->kind != KERNEL_ATTENTION) {
        struct coefficient_group group = group_of_kind(kernel->kind);
        if (device->streams[kernel->kind][kernel->direction].bandwidth_fraction > 0)
            group.direction = kernel->direction;
        return group;
    }
    const struct device_attention *how = attention_runs_on(device, &kernel->attention);
    return (struct coefficient_group){KERNEL_ATTENTION, how - device->attention,
                                      kernel->direction};
}

const char *
coefficient_group_name(const struct coefficient_group *group, const struct device *device,
                       struct arena *arena)
{
    if (group->kind == KERNEL_GEMM)
        return "gemm and grouped_gemm";
    if (group->kind != KERNEL_ATTENTION)
        return stream_name(arena, group->kind, (int)group->direction);
    return arena_format(arena, "attention %s %s", device->attention[group->implementation].name,
                        group->direction == DIRECTION_FORWARD ? "forward" : "backward");
}

static void
add_sigma(struct coefficient_sigma_list *list, struct arena *arena,
          struct coefficient_sigma sigma)
{
    list->items =
        arena_grow(arena, list->items, list->count, &list->capacity, sizeof *list->items);
    list->items[list->count++] = sigma;
}

/* Classes as hw/gemm_cost.c takes them: by predicted time, 10 and 100 microseconds. */
static void
add_gemm_sigmas(struct coefficient_sigma_list *list, struct device *device, struct arena *arena)
{
    const double short_s = 10e-6, long_s = 100e-6;
    struct coefficient_sigma sigma = {.group = {.kind = KERNEL_GEMM}};
    sigma.path = "gemm.relative_sigma_short";
    sigma.value = &device->gemm.relative_sigma_short;
    sigma.up_to_s = short_s;
    add_sigma(list, arena, sigma);
    sigma.path = "gemm.relative_sigma_medium";
    sigma.value = &device->gemm.relative_sigma_medium;
    sigma.above_s = short_s;
    sigma.up_to_s = long_s;
    add_sigma(list, arena, sigma);
    sigma.path = "gemm.relative_sigma_long";
    sigma.value = &device->gemm.relative_sigma_long;
    sigma.above_s = long_s;
    sigma.up_to_s = INFINITY;
    add_sigma(list, arena, sigma);
}

static void
add_stream_sigmas(struct coefficient_sigma_list *list, struct device *device,
                  struct arena *arena)
{
    for (int i = 0; i < KERNEL_KIND_COUNT; i++)
        for (int direction = 0; direction < 2; direction++) {
            struct device_stream *stream = &device->streams[i][direction];
            if (stream->bandwidth_fraction == 0)
                continue;
            const char *name = stream_name(arena, (enum kernel_kind)i, direction);
            add_sigma(list, arena,
                      (struct coefficient_sigma){
                          .path = path_with(arena, "streams.*.relative_sigma", name),
                          .value = &stream->relative_sigma,
                          .group = {.kind = (enum kernel_kind)i,
                                    .direction = (enum direction)direction},
                          .up_to_s = INFINITY});
        }
}

struct coefficient_sigma_list
coefficient_sigma_list_of(struct device *device, struct arena *arena)
{
    struct coefficient_sigma_list list = {0};
    add_gemm_sigmas(&list, device, arena);
    add_sigma(&list, arena,
              (struct coefficient_sigma){.path = "gemm.moe_relative_sigma",
                                         .value = &device->gemm.moe_relative_sigma,
                                         .group = {.kind = KERNEL_FUSED_MOE},
                                         .up_to_s = INFINITY});
    for (int64_t i = 0; i < device->attention_count; i++)
        for (int direction = 0; direction < 2; direction++)
            add_sigma(&list, arena,
                      (struct coefficient_sigma){
                          .path = arena_format(arena, "attention.%s.relative_sigma",
                                               pass_name(arena, i, direction)),
                          .value = &device->attention[i].passes[direction].relative_sigma,
                          .group = {KERNEL_ATTENTION, i, (enum direction)direction},
                          .up_to_s = INFINITY});
    add_stream_sigmas(&list, device, arena);
    return list;
}

bool
coefficient_sigma_covers(const struct coefficient_sigma *sigma,
                         const struct coefficient_group *group, double predicted_s)
{
    return coefficient_group_is(&sigma->group, group) && predicted_s > sigma->above_s &&
           predicted_s <= sigma->up_to_s;
}
