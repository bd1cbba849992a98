/* Operand sets larger than the last cache, their random values, and the run of one kernel.
 *
 * Cold operands: sets rotate, so that a set comes back only after more than the cache's bytes
 * of others were touched. Where that would take many sets, there are a few, and a sweep over a
 * cache's worth of other memory before each round makes them all cold. */
#include "validate/measure_cpu.h"

#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/text.h"
#include "sim/base/units.h"
#include "validate/cpu_bf16.h"
#include "validate/cpu_kernel.h"
#include "validate/cpu_threads.h"

enum {
    SWEPT_SETS = 16, /* small ones, which a sweep makes cold */
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
    int threads;
    union cpu_array *arrays; /* (sets, operand_count) */
    int64_t count;
    float *sweep; /* memory larger than the cache; NULL: the sets themselves are */
    int64_t sweep_reals;
    bool is_swept; /* once at least */
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

/* What follows "key : " in the first such line of /proc/cpuinfo; NULL where there is none. */
static const char *
cpu_info(const char *key, struct arena *arena)
{
    struct text text = text_new(arena);
    struct error_list errors = {0};
    const size_t limit_bytes = 16777216;
    const char *line = NULL;
    if (text_read_file(&text, "/proc/cpuinfo", limit_bytes, &errors))
        line = strstr(text.bytes, key);
    line = line != NULL ? strchr(line, ':') : NULL;
    if (line == NULL)
        return NULL;
    line += strspn(line, ": \t");
    return arena_format(arena, "%.*s", (int)strcspn(line, "\n"), line);
}

const char *
measure_cpu_device(int threads, struct arena *arena)
{
    const char *name = cpu_info("model name", arena);
    return arena_format(arena, "%s, %d thread%s", name != NULL ? name : "CPU", threads,
                        threads == 1 ? "" : "s");
}

static double
clock_hz(struct arena *arena)
{
    const double hz_per_megahertz = 1e6;
    const char *megahertz = cpu_info("cpu MHz", arena);
    return megahertz != NULL ? strtod(megahertz, NULL) * hz_per_megahertz : 0;
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

/* Two of each 64 bits. */
static void
fill_reals(float *reals, int64_t count, enum cpu_fill fill, uint64_t *state)
{
    float scale = fill == CPU_FILL_SIGNED ? 2 : 1, shift = fill == CPU_FILL_SIGNED ? 1 : 0;
    for (int64_t i = 0; i < count; i += 2) {
        uint64_t bits = next_random(state);
        reals[i] = unit_real(bits) * scale - shift;
        if (i + 1 < count)
            reals[i + 1] = unit_real(bits << 32) * scale - shift;
    }
}

static void
fill_halves(uint16_t *halves, int64_t count, uint64_t *state)
{
    for (int64_t i = 0; i < count; i++)
        halves[i] = cpu_bf16_round(unit_real(next_random(state)) * 2 - 1);
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
    case CPU_FILL_BF16:
        fill_halves(array.halves, 2 * count, state);
        break;
    case CPU_FILL_PERMUTATION:
        fill_permutation(array.indices, count, state);
        break;
    case CPU_FILL_INDEX:
        for (int64_t i = 0; i < count; i++)
            array.indices[i] = (int32_t)(next_random(state) % (uint64_t)operand->index_end);
        break;
    case CPU_FILL_ROOM:
        break;
    }
}

static float *
aligned_reals(struct arena *arena, double count)
{
    float *reals = arena_alloc(arena, (size_t)count + LINE_REALS, sizeof(float));
    return reals + (LINE_BYTES - (uintptr_t)reals % LINE_BYTES) % LINE_BYTES / sizeof(float);
}

/* One set: operands of the kernel with their first values; no room for a check. */
static void
new_set(const struct cpu_kernel *cpu, union cpu_array *arrays, uint64_t *state,
        struct arena *arena)
{
    for (int i = 0; i < cpu->operand_count; i++) {
        if (cpu->operands[i].fill == CPU_FILL_ROOM)
            continue;
        arrays[i].reals = aligned_reals(arena, cpu->operands[i].count);
        fill_operand(&cpu->operands[i], arrays[i], state);
    }
}

static void
add_room(const struct cpu_kernel *cpu, union cpu_array *arrays, struct arena *arena)
{
    for (int i = 0; i < cpu->operand_count; i++)
        if (cpu->operands[i].fill == CPU_FILL_ROOM)
            arrays[i].reals = aligned_reals(arena, cpu->operands[i].count);
}

/* Enough sets to be colder than the cache, or a few. */
static double
set_count(double set_bytes, const struct measure_cpu_options *options)
{
    double turns = (double)(options->effort.warmups + options->effort.repeats_max);
    double rotating = ceil(options->cache_bytes * CACHE_RATIO / set_bytes);
    return fmax(2, fmin(rotating, fmin(turns, SWEPT_SETS)));
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
    cpu_threads_run(cpu, sets->threads, sets->arrays + turn % sets->count * cpu->operand_count);
}

/* The error of one run on operands made for this alone. */
static double
checked_error(const struct cpu_kernel *cpu, int threads, uint64_t seed, struct arena *arena)
{
    union cpu_array before[CPU_OPERANDS_MAX], after[CPU_OPERANDS_MAX];
    uint64_t before_state = seed, after_state = seed;
    struct cpu_error error = {0};
    new_set(cpu, before, &before_state, arena);
    new_set(cpu, after, &after_state, arena);
    add_room(cpu, before, arena);
    cpu_threads_run(cpu, threads, after);
    cpu->check(&cpu->kernel, before, after, &error);
    return cpu_error_fraction(&error);
}

double
measure_cpu_sweep_bytes(const struct measure_cpu_options *options)
{
    return options->cache_bytes * CACHE_RATIO;
}

/* Sets that do not reach past the cache get memory to sweep. */
static void
add_sweep(struct operand_sets *sets, const struct measure_cpu_options *options,
          struct arena *arena)
{
    double reals = measure_cpu_sweep_bytes(options) / sizeof(float);
    if ((double)sets->count * cpu_kernel_bytes(sets->cpu) >= measure_cpu_sweep_bytes(options))
        return;
    sets->sweep = options->sweep ? options->sweep : aligned_reals(arena, reals);
    sets->sweep_reals = (int64_t)reals;
}

/* Nothing older stays cached. */
static void
sweep(volatile float *reals, int64_t count)
{
    for (int64_t i = 0; i < count; i += LINE_REALS)
        reals[i] = 1;
}

void
measure_cpu_sweep(void *context)
{
    const struct measure_cpu_options *options = context;
    sweep(options->sweep, (int64_t)(measure_cpu_sweep_bytes(options) / sizeof(float)));
}

/* Other memory of the cache's size, before each time that all sets go round. */
static void
prepare_turn(void *context, int64_t turn)
{
    struct operand_sets *sets = context;
    if (sets->sweep == NULL || (sets->is_swept && turn % sets->count != 0))
        return;
    sets->is_swept = true;
    sweep(sets->sweep, sets->sweep_reals);
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

static int
threads_of(const struct measure_cpu_options *options)
{
    return options->threads > 1 ? options->threads : 1;
}

/* With room for so many sets, and once run and compared in the scratch. */
static bool
find_right(struct cpu_kernel *cpu, double sets, const struct measure_cpu_options *options,
           struct measure_result *result, struct arena *scratch, struct error_list *errors)
{
    const double checked_sets = 2;
    double other_bytes = cpu_kernel_room_bytes(cpu) + measure_cpu_sweep_bytes(options);
    if (!check_memory((sets + checked_sets) * cpu_kernel_bytes(cpu) + other_bytes, options,
                      errors))
        return false;
    openblas_set_num_threads(threads_of(options));
    *result = (struct measure_result){0};
    result->error_fraction = checked_error(cpu, threads_of(options), options->seed, scratch);
    if (!(result->error_fraction <= ERROR_FRACTION_MAX))
        return error_add(errors, ERROR_INPUT, "", "wrong by %g of the reference, not timed",
                         result->error_fraction);
    return true;
}

bool
measure_cpu(const struct kernel *kernel, const struct measure_cpu_options *options,
            struct measure_result *result, struct arena *arena, struct error_list *errors)
{
    struct cpu_kernel cpu;
    if (!cpu_kernel_find(&cpu, kernel, errors))
        return false;
    double sets = set_count(cpu_kernel_bytes(&cpu), options);
    if (!find_right(&cpu, sets, options, result, arena, errors))
        return false;
    struct operand_sets rotating = new_sets(&cpu, (int64_t)sets, options->seed + 1, arena);
    result->operand_sets = rotating.count;
    add_sweep(&rotating, options, arena);
    rotating.threads = threads_of(options);
    /* Of one thread the time on its core, whoever else uses that. */
    struct measure_clock clock =
        rotating.threads > 1 ? measure_system_clock() : measure_core_clock();
    struct measure_work work = {.run = run_turn, .prepare = prepare_turn, .context = &rotating};
    result->times = measure_times_take(&work, &options->effort, &clock, arena);
    return true;
}

bool
measure_cpu_piece(const struct kernel *kernel, const struct measure_cpu_options *options,
                  struct measure_piece *piece, struct measure_result *result,
                  struct arena *arena, struct error_list *errors)
{
    struct cpu_kernel found;
    struct arena *scratch = arena_new_beside(arena);
    bool is_right = cpu_kernel_find(&found, kernel, errors) &&
                    find_right(&found, 1, options, result, scratch, errors);
    arena_free(scratch);
    if (!is_right)
        return false;
    const struct cpu_kernel *cpu = arena_copy(arena, &found, sizeof found);
    struct operand_sets one = new_sets(cpu, 1, options->seed + 1, arena);
    one.threads = threads_of(options);
    result->operand_sets = one.count;
    *piece = (struct measure_piece){
        .work = {.run = run_turn, .context = arena_copy(arena, &one, sizeof one)},
        .operand_bytes = cpu_kernel_bytes(cpu)};
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
    options->sweep = aligned_reals(arena, measure_cpu_sweep_bytes(options) / sizeof(float));
    return (struct measure_backend){
        .device = measure_cpu_device(threads_of(options), arena),
        .library = measure_cpu_library(arena),
        .clock_hz = clock_hz(arena),
        .context = options,
        .run_kernel = run_kernel,
    };
}
