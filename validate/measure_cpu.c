/* Operand sets larger than the last cache, their random values, and the run of one kernel.
 *
 * Cold operands: sets rotate, so that a set comes back only after more than the cache's bytes
 * of others were touched. Where that would take more sets than there are turns, every turn has
 * a set of its own, and one sweep over a cache's worth of other memory before the first turn
 * makes them all cold. */
#include "validate/measure_cpu.h"

#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/text.h"
#include "sim/base/units.h"
#include "validate/cpu_kernel.h"

enum {
    LINE_REALS = 16, /* a cache line of fp32 */
    LINE_BYTES = 64,
};

/* fp32 results of random operands differ from fp64 by about 2^-24 sqrt(k) at most: 2e-6 for k =
 * 1,000, twice to three times that in practice at k = 10,000. A wrong kernel is off by 1. */
static const double ERROR_FRACTION_MAX = 2e-5;

static const double CACHE_RATIO =
    1.25; /* operands to cache: no set returns while it is cached */

struct operand_sets {
    const struct cpu_kernel *cpu;
    union cpu_array *arrays; /* (sets, operand_count) */
    int64_t count;
};

struct measure_cpu_options
measure_cpu_options_new(void)
{
    const double unknown_cache_bytes =
        64e6; /* when the system does not say: larger than most */
    double cache_bytes = (double)sysconf(_SC_LEVEL3_CACHE_SIZE);
    double memory_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return (struct measure_cpu_options){
        .effort = {.warmups = 2, .repeats_min = 5, .repeats_max = 200, .budget_s = 0.5},
        .cache_bytes = cache_bytes > 0 ? cache_bytes : unknown_cache_bytes,
        .memory_bytes = memory_bytes / 2,
        .seed = 1,
    };
}

const char *
measure_cpu_library(struct arena *arena)
{
    return arena_format(arena, "%s", openblas_get_config());
}

const char *
measure_cpu_device(struct arena *arena)
{
    struct text text = text_new(arena);
    struct error_list errors = {0};
    const size_t limit_bytes = 16777216;
    const char *name = NULL;
    if (text_read_file(&text, "/proc/cpuinfo", limit_bytes, &errors))
        name = strstr(text.bytes, "model name");
    name = name != NULL ? strchr(name, ':') : NULL;
    if (name == NULL)
        return "CPU, 1 thread";
    name += strspn(name, ": \t");
    return arena_format(arena, "%.*s, 1 thread", (int)strcspn(name, "\n"), name);
}

/* SplitMix64 (split.h): 64 random bits, the state going on by the golden ratio. */
static uint64_t
next_random(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

/* 24 bits as a real from 0 to 1 */
static float
unit_real(uint64_t bits)
{
    return (float)(bits >> 40) * 0x1p-24F;
}

static void
fill_reals(float *reals, int64_t count, enum cpu_fill fill, uint64_t *state)
{
    float scale = fill == CPU_FILL_SIGNED ? 2 : 1, shift = fill == CPU_FILL_SIGNED ? 1 : 0;
    for (int64_t i = 0; i < count; i++)
        reals[i] = unit_real(next_random(state)) * scale - shift;
}

/* Fisher and Yates's shuffle, Durstenfeld's form (CACM 1964, algorithm 235). */
static void
fill_permutation(int32_t *indices, int64_t count, uint64_t *state)
{
    for (int64_t i = 0; i < count; i++)
        indices[i] = (int32_t)i;
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t other = (int64_t)(next_random(state) % (uint64_t)(i + 1));
        int32_t kept = indices[i];
        indices[i] = indices[other];
        indices[other] = kept;
    }
}

static void
fill_operand(const struct cpu_operand *operand, union cpu_array array, uint64_t *state)
{
    int64_t count = (int64_t)operand->count;
    switch (operand->fill) {
    case CPU_FILL_ZERO:
        memset(array.reals, 0, (size_t)count * sizeof(float));
        break;
    case CPU_FILL_SIGNED:
    case CPU_FILL_POSITIVE:
        fill_reals(array.reals, count, operand->fill, state);
        break;
    case CPU_FILL_PERMUTATION:
        fill_permutation(array.indices, count, state);
        break;
    case CPU_FILL_INDEX:
        for (int64_t i = 0; i < count; i++)
            array.indices[i] = (int32_t)(next_random(state) % (uint64_t)operand->index_end);
        break;
    }
}

static float *
aligned_reals(struct arena *arena, double count)
{
    float *reals = arena_alloc(arena, (size_t)count + LINE_REALS, sizeof(float));
    return reals + (LINE_BYTES - (uintptr_t)reals % LINE_BYTES) % LINE_BYTES / sizeof(float);
}

/* One set: operands of the kernel with their first values. */
static void
new_set(const struct cpu_kernel *cpu, union cpu_array *arrays, uint64_t *state,
        struct arena *arena)
{
    for (int i = 0; i < cpu->operand_count; i++) {
        arrays[i].reals = aligned_reals(arena, cpu->operands[i].count);
        fill_operand(&cpu->operands[i], arrays[i], state);
    }
}

/* Enough sets to be colder than the cache, at most one for every turn, at least two. */
static double
set_count(double set_bytes, const struct measure_cpu_options *options)
{
    double turns = (double)(options->effort.warmups + options->effort.repeats_max);
    double rotating = ceil(options->cache_bytes * CACHE_RATIO / set_bytes);
    return fmax(2, fmin(rotating, turns));
}

static struct operand_sets
new_sets(const struct cpu_kernel *cpu, int64_t count, uint64_t seed, struct arena *arena)
{
    struct operand_sets sets = {.cpu = cpu, .count = count};
    uint64_t state = seed;
    sets.arrays = arena_alloc(arena, (size_t)(count * cpu->operand_count), sizeof *sets.arrays);
    for (int64_t i = 0; i < count; i++)
        new_set(cpu, sets.arrays + i * cpu->operand_count, &state, arena);
    return sets;
}

static void
run_turn(void *context, int64_t turn)
{
    const struct operand_sets *sets = context;
    const struct cpu_kernel *cpu = sets->cpu;
    cpu->run(&cpu->kernel, sets->arrays + turn % sets->count * cpu->operand_count);
}

/* The error of one run on operands made for this alone. */
static double
checked_error(const struct cpu_kernel *cpu, uint64_t seed, struct arena *arena)
{
    union cpu_array before[CPU_OPERANDS_MAX], after[CPU_OPERANDS_MAX];
    uint64_t before_state = seed, after_state = seed;
    struct cpu_error error = {0};
    new_set(cpu, before, &before_state, arena);
    new_set(cpu, after, &after_state, arena);
    cpu->run(&cpu->kernel, after);
    cpu->check(&cpu->kernel, before, after, &error);
    return cpu_error_fraction(&error);
}

/* Writes over other memory of the cache's size, so that nothing older stays cached. */
static void
sweep_cache(double cache_bytes, struct arena *arena)
{
    double count = cache_bytes * CACHE_RATIO / sizeof(float);
    volatile float *reals = aligned_reals(arena, count);
    for (size_t i = 0; i < (size_t)count; i += LINE_REALS)
        reals[i] = 1;
}

static bool
check_memory(double needed_bytes, const struct measure_cpu_options *options,
             struct error_list *errors)
{
    if (needed_bytes <= options->memory_bytes)
        return true;
    return error_add(errors, ERROR_INPUT, "", "its operands take %s, more than %s",
                     units_format_bytes(needed_bytes).text,
                     units_format_bytes(options->memory_bytes).text);
}

bool
measure_cpu(const struct kernel *kernel, const struct measure_cpu_options *options,
            struct measure_result *result, struct arena *arena, struct error_list *errors)
{
    struct cpu_kernel cpu;
    if (!cpu_kernel_find(&cpu, kernel, errors))
        return false;
    double set_bytes = cpu_kernel_bytes(&cpu), sets = set_count(set_bytes, options);
    double sweep_bytes = options->cache_bytes * CACHE_RATIO;
    if (!check_memory((sets + 2) * set_bytes + sweep_bytes, options, errors))
        return false;
    openblas_set_num_threads(1);
    *result = (struct measure_result){0};
    result->error_fraction = checked_error(&cpu, options->seed, arena);
    if (!(result->error_fraction <= ERROR_FRACTION_MAX))
        return error_add(errors, ERROR_INPUT, "", "wrong by %g of the reference, not timed",
                         result->error_fraction);
    struct operand_sets rotating = new_sets(&cpu, (int64_t)sets, options->seed + 1, arena);
    result->operand_sets = rotating.count;
    sweep_cache(options->cache_bytes, arena);
    struct measure_clock clock = measure_system_clock();
    struct measure_work work = {.run = run_turn, .context = &rotating};
    result->times = measure_times_take(&work, &options->effort, &clock, arena);
    return true;
}

static bool
run_kernel(void *context, const struct kernel *kernel, struct measure_result *result,
           struct arena *arena, struct error_list *errors)
{
    const struct measure_cpu_options *options = context;
    return measure_cpu(kernel, options, result, arena, errors);
}

struct measure_backend
measure_cpu_backend(struct measure_cpu_options *options, struct arena *arena)
{
    return (struct measure_backend){
        .device = measure_cpu_device(arena),
        .library = measure_cpu_library(arena),
        .context = options,
        .run_kernel = run_kernel,
    };
}
