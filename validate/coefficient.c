/* The table of coefficients, and its lines spread over data types, implementations and kinds. */
#include "validate/coefficient.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "hw/attention_cost.h"

/* Over what one line of the table is repeated; its name stands for "*" in the path. */
enum span {
    SPAN_NONE,
    SPAN_CORE,      /* the same, of a core of a CPU alone */
    SPAN_DTYPE,     /* a double a data type */
    SPAN_RATE,      /* the same; `most` is a part of the datasheet's peak */
    SPAN_PASS,      /* of struct device_attention_pass: "0.forward" */
    SPAN_STREAM,    /* of struct device_stream: "rms_norm" */
    SPAN_OPERATION, /* of struct device_element_rate: "gelu" */
};

enum scale { LINEAR, LOGARITHMIC };

struct line {
    const char *path;
    enum span span;
    size_t offset;         /* in struct device, or in the struct of the span */
    enum kernel_kind kind; /* whose kernels tell it; of a stream its own */
    enum scale scale;
    double least, most;
    const char *least_reason, *most_reason;
};

#define IN_DEVICE(member) offsetof(struct device, member)
#define IN_PASS(member)   offsetof(struct device_attention_pass, member)
#define IN_STREAM(member) offsetof(struct device_stream, member)

static const char LAUNCH[] = "no launch was seen under half a microsecond";
static const char LAUNCH_LONG[] = "a launch of more is the host's time, not the device's";
static const char NO_TIME[] = "no work takes negative time";
static const char ONE_TILE[] = "more than the whole of a small product takes";
static const char HOST_CALL[] = "the host's part of a call stays under a millisecond";
static const char MEMORY_SLOW[] = "a hundredth of the slowest memory of a training GPU";
static const char MEMORY_QUICK[] =
    "8 TB/s, the quickest memory of one device (AMD Instinct MI355X data sheet)";
static const char CACHE_SLOW[] = "no cache is slower than HBM";
static const char CACHE_QUICK[] = "128 bytes a clock of 2.5 GHz to each of 312 units";
static const char SMALL_PART[] = "a kernel that reaches less is another kernel";
static const char WHOLE[] = "no kernel beats the device's own bandwidth";
static const char ONE_LOAD[] = "less than a load from the nearest cache";
static const char ONE_ROW[] = "longer than the widest row takes";
static const char ONE_INSTRUCTION[] = "one instruction an element";
static const char PEAK[] = "the datasheet's peak";
static const char EXPONENTIALS_SLOW[] = "one exponential a unit in eight clocks";
static const char EXPONENTIALS_QUICK[] =
    "128 a clock of 2.5 GHz and unit, four times as many as NVIDIA's and AMD's units take";

/* The order is that of the fits: memory first, as all others stand on it. */
static const struct line lines[] = {
    {"memory.hbm_read_bytes_per_s", SPAN_NONE, IN_DEVICE(memory.hbm_read_bytes_per_s),
     KERNEL_ELEMENTWISE, LOGARITHMIC, 1e10, 8e12, MEMORY_SLOW, MEMORY_QUICK},
    {"memory.hbm_write_bytes_per_s", SPAN_NONE, IN_DEVICE(memory.hbm_write_bytes_per_s),
     KERNEL_ELEMENTWISE, LOGARITHMIC, 1e10, 8e12, MEMORY_SLOW, MEMORY_QUICK},
    {"memory.mixed_fraction", SPAN_NONE, IN_DEVICE(memory.mixed_fraction), KERNEL_ELEMENTWISE,
     LINEAR, 0.5, 1.5, "turning the bus round costs less than a transfer",
     "reads and writes use the same wires"},
    {"memory.latency_s", SPAN_NONE, IN_DEVICE(memory.latency_s), KERNEL_ELEMENTWISE, LINEAR, 0,
     3e-6, NO_TIME, "several times the slowest pointer chase through HBM"},
    {"element_rates_per_s.*", SPAN_OPERATION,
     offsetof(struct device_element_rate, elements_per_s), KERNEL_ELEMENTWISE, LOGARITHMIC,
     1e10, 1e14, "a hundred instructions an element", ONE_INSTRUCTION},
    {"gemm.sustained_flop_per_s.*", SPAN_RATE, IN_DEVICE(gemm.sustained_flop_per_s),
     KERNEL_GEMM, LOGARITHMIC, 1e12, 1, "slower than any matrix unit", PEAK},
    {"gemm.launch_s", SPAN_NONE, IN_DEVICE(gemm.launch_s), KERNEL_GEMM, LOGARITHMIC, 5e-7, 2e-5,
     LAUNCH, LAUNCH_LONG},
    {"gemm.tile_s", SPAN_NONE, IN_DEVICE(gemm.tile_s), KERNEL_GEMM, LINEAR, 0, 2e-5, NO_TIME,
     ONE_TILE},
    {"gemm.boost_flop_per_s.*", SPAN_RATE, IN_DEVICE(gemm.boost_flop_per_s), KERNEL_GEMM,
     LOGARITHMIC, 1e12, 1, "slower than any matrix unit", PEAK},
    {"gemm.split_s", SPAN_NONE, IN_DEVICE(gemm.split_s), KERNEL_GEMM, LINEAR, 0, 5e-5, NO_TIME,
     ONE_TILE},
    {"gemm.stream_k_s.*", SPAN_DTYPE, IN_DEVICE(gemm.stream_k_s), KERNEL_GEMM, LOGARITHMIC,
     1e-8, 5e-5, NO_TIME, ONE_TILE},
    {"memory.l2_bytes_per_s", SPAN_NONE, IN_DEVICE(memory.l2_bytes_per_s), KERNEL_GEMM,
     LOGARITHMIC, 1e12, 1e14, CACHE_SLOW, CACHE_QUICK},
    {"memory.unit_bytes_per_s", SPAN_CORE, IN_DEVICE(memory.unit_bytes_per_s), KERNEL_GEMM,
     LOGARITHMIC, 1e12, 1e14, CACHE_SLOW, CACHE_QUICK},
    {"gemm.overlap_exponent", SPAN_NONE, IN_DEVICE(gemm.overlap_exponent), KERNEL_GEMM,
     LOGARITHMIC, 1, 50, "no overlap at all", "perfect overlap within 2 %"},
    {"gemm.exposed_fraction", SPAN_NONE, IN_DEVICE(gemm.exposed_fraction), KERNEL_GEMM, LINEAR,
     0, 1, NO_TIME, "no overlap at all"},
    {"gemm.drift_rounds", SPAN_NONE, IN_DEVICE(gemm.drift_rounds), KERNEL_GEMM, LOGARITHMIC,
     0.1, 1e4, "units are even in the second round", "units keep step for ever"},
    {"gemm.hbm_ramp_s", SPAN_NONE, IN_DEVICE(gemm.hbm_ramp_s), KERNEL_GEMM, LINEAR, 0, 2e-5,
     NO_TIME, ONE_TILE},
    {"gemm.store_bytes_per_s", SPAN_NONE, IN_DEVICE(gemm.store_bytes_per_s), KERNEL_GEMM,
     LOGARITHMIC, 5e9, 3e11, "no unit stores slower than a CPU's core", CACHE_QUICK},
    {"gemm.unaligned_fraction", SPAN_NONE, IN_DEVICE(gemm.unaligned_fraction), KERNEL_GEMM,
     LINEAR, 0, 1, NO_TIME, "a row within lines touches at most twice as many"},
    {"gemm.power_exponent", SPAN_NONE, IN_DEVICE(gemm.power_exponent), KERNEL_GEMM, LOGARITHMIC,
     1, 50, "a sum", "a hard limit within 2 %"},
    {"gemm.step_s.*", SPAN_DTYPE, IN_DEVICE(gemm.step_s), KERNEL_GEMM, LINEAR, 0, 2e-6, NO_TIME,
     "longer than a step of the largest tile computes"},
    {"gemm.grouped_launch_s", SPAN_NONE, IN_DEVICE(gemm.grouped_launch_s), KERNEL_GROUPED_GEMM,
     LINEAR, 0, 5e-5, NO_TIME, LAUNCH_LONG},
    {"gemm.grouped_hbm_fraction", SPAN_NONE, IN_DEVICE(gemm.grouped_hbm_fraction),
     KERNEL_GROUPED_GEMM, LINEAR, 0.05, 1, SMALL_PART, WHOLE},
    {"gemm.grouped_fraction", SPAN_NONE, IN_DEVICE(gemm.grouped_fraction), KERNEL_GROUPED_GEMM,
     LINEAR, 0.05, 1, SMALL_PART, "grouped products are not quicker than alone"},
    {"gemm.grouped_switch_s", SPAN_NONE, IN_DEVICE(gemm.grouped_switch_s), KERNEL_GROUPED_GEMM,
     LINEAR, 0, 2e-5, NO_TIME, ONE_TILE},
    {"gemm.moe_launch_s", SPAN_NONE, IN_DEVICE(gemm.moe_launch_s), KERNEL_FUSED_MOE,
     LOGARITHMIC, 5e-7, 1e-4, LAUNCH, LAUNCH_LONG},
    {"gemm.moe_row_bytes_per_s", SPAN_NONE, IN_DEVICE(gemm.moe_row_bytes_per_s),
     KERNEL_FUSED_MOE, LOGARITHMIC, 1e10, 1e14, MEMORY_SLOW, CACHE_QUICK},
    {"gemm.moe_fraction", SPAN_NONE, IN_DEVICE(gemm.moe_fraction), KERNEL_FUSED_MOE, LINEAR,
     0.05, 1, SMALL_PART, "a fused kernel's products are not quicker than alone"},
    {"attention.*.rate_fraction", SPAN_PASS, IN_PASS(rate_fraction), KERNEL_ATTENTION, LINEAR,
     0.05, 1, SMALL_PART, PEAK},
    {"attention.*.fixed_s", SPAN_PASS, IN_PASS(fixed_s), KERNEL_ATTENTION, LOGARITHMIC, 5e-7,
     1e-3, LAUNCH, HOST_CALL},
    {"attention.*.walk_s", SPAN_PASS, IN_PASS(walk_s), KERNEL_ATTENTION, LINEAR, 0, 5e-5,
     NO_TIME, "longer than a small attention takes"},
    {"attention.*.mask_s", SPAN_PASS, IN_PASS(mask_s), KERNEL_ATTENTION, LINEAR, 0, 5e-5,
     NO_TIME, "longer than a small attention takes"},
    {"attention.*.end_fraction", SPAN_PASS, IN_PASS(end_fraction), KERNEL_ATTENTION, LINEAR, 0,
     1, "units may end together", "no list of tasks ends later (Graham, 1969)"},
    {"attention.*.lone_fraction", SPAN_PASS, IN_PASS(lone_fraction), KERNEL_ATTENTION, LINEAR,
     0.2, 1, "a walk hides most of its own latencies", "no unit is quicker half empty"},
    {"attention.*.split_s", SPAN_PASS, IN_PASS(split_s), KERNEL_ATTENTION, LINEAR, 0, 5e-5,
     NO_TIME, LAUNCH_LONG},
    {"attention.*.isolated_call_s", SPAN_PASS, IN_PASS(isolated_call_s), KERNEL_ATTENTION,
     LINEAR, 0, 1e-3, NO_TIME, HOST_CALL},
    {"attention.*.exponential_per_s", SPAN_PASS, IN_PASS(exponential_per_s), KERNEL_ATTENTION,
     LOGARITHMIC, 1e11, 1e14, EXPONENTIALS_SLOW, EXPONENTIALS_QUICK},
    {"streams.*.bandwidth_fraction", SPAN_STREAM, IN_STREAM(bandwidth_fraction),
     KERNEL_KIND_COUNT, LOGARITHMIC, 0.01, 1, SMALL_PART, WHOLE},
    {"streams.*.fixed_s", SPAN_STREAM, IN_STREAM(fixed_s), KERNEL_KIND_COUNT, LOGARITHMIC, 5e-7,
     1e-3, LAUNCH, HOST_CALL},
    {"streams.*.row_s", SPAN_STREAM, IN_STREAM(row_s), KERNEL_KIND_COUNT, LOGARITHMIC, 1e-8,
     1e-4, ONE_LOAD, ONE_ROW},
    {"streams.*.element_s", SPAN_STREAM, IN_STREAM(element_s), KERNEL_KIND_COUNT, LOGARITHMIC,
     1e-12, 1e-7, ONE_LOAD, ONE_ROW},
    {"streams.*.wide_element_s", SPAN_STREAM, IN_STREAM(wide_element_s), KERNEL_KIND_COUNT,
     LOGARITHMIC, 1e-12, 1e-7, ONE_LOAD, ONE_ROW},
    {"streams.*.sum_row_s", SPAN_STREAM, IN_STREAM(sum_row_s), KERNEL_KIND_COUNT, LOGARITHMIC,
     1e-12, 1e-6, ONE_LOAD, ONE_ROW},
    {"streams.*.lone_fraction", SPAN_STREAM, IN_STREAM(lone_fraction), KERNEL_KIND_COUNT,
     LOGARITHMIC, 0.1, 1, SMALL_PART, "no unit is quicker with fewer workgroups"},
    {"streams.*.isolated_call_s", SPAN_STREAM, IN_STREAM(isolated_call_s), KERNEL_KIND_COUNT,
     LOGARITHMIC, 1e-6, 1e-3, LAUNCH, HOST_CALL},
    {"streams.*.elements_per_s", SPAN_STREAM, IN_STREAM(elements_per_s), KERNEL_KIND_COUNT,
     LOGARITHMIC, 1e8, 1e14, "a unit takes an element in a thousand clocks", ONE_INSTRUCTION},
    {"streams.*.wide_elements_per_s", SPAN_STREAM, IN_STREAM(wide_elements_per_s),
     KERNEL_KIND_COUNT, LOGARITHMIC, 1e8, 1e14, "a unit takes an element in a thousand clocks",
     ONE_INSTRUCTION},
    {"host_bytes_per_s", SPAN_NONE, IN_DEVICE(host_bytes_per_s), KERNEL_COPY, LOGARITHMIC, 1e9,
     1e12, "slower than PCIe 1.0 x4", "NVLink-C2C's 900 GB/s (NVIDIA GH200 data sheet)"},
};

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
widen_for_core(struct coefficient *coefficient, const struct line *line)
{
    const double core_part = 1e-3, rate_least = 1e6; /* what hw/device.c reads */
    if (line->scale != LOGARITHMIC || !has_seconds(line->path))
        return;
    coefficient->least = fmax(line->least * core_part, line->least > 1 ? rate_least : 0);
    coefficient->least_reason = "a thousandth of the least of any GPU";
}

/* A rate or share of 0 is a unit that the device lacks. */
static void
add(const struct spreading *spreading, const struct line *line, const char *name, double *value,
    struct coefficient_group group)
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
add_dtypes(const struct spreading *spreading, const struct line *line)
{
    double *values = double_at(spreading->device, line->offset);
    const double *peaks = spreading->device->peak_flop_per_s;
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (peaks[i] == 0)
            continue;
        struct line of_dtype = *line;
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
add_passes(const struct spreading *spreading, const struct line *line)
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
add_streams(const struct spreading *spreading, const struct line *line)
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
add_operations(const struct spreading *spreading, const struct line *line)
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
add_line(const struct spreading *spreading, const struct line *line)
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
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        add_line(&spreading, &lines[i]);
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
    const struct device_attention *how =
        attention_implementation(device, kernel->attention.implementation);
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
