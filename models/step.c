/* A simulated step: where its time went (models/step_account.h), how sure that is, and what it is
 * worth. */
#include "models/step.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "models/memory_change.h"
#include "models/step_account.h"
#include "sim/base/units.h"
#include "sim/engine/engine.h"

/* Ten days: far below the clock's range, far above any step. */
static const double STEP_SECONDS_MAX = 864000;

/* Tasks of all simulated ranks: some 70 bytes each, 4.7 GB. */
enum { STEP_TASKS_MAX = 1 << 26 };

/* Of a normal distribution, so many standard deviations each way hold 90 %. */
static const double DEVIATIONS_OF_90_PERCENT = 1.6448536269514722;
const double STEP_INTERVAL_COVERAGE_FRACTION = 0.9;

static int64_t
rank_of(const struct step *step, uint32_t task)
{
    size_t count = 0;
    const uint32_t *lanes = task_graph_task_lanes(step->lowered.graph, task, &count);
    return task_graph_lane(step->lowered.graph, lanes[0]).group;
}

/* Lanes are laid out slot by slot, a slot for each rank or, folded, for each kind. */
const struct step_item *
step_item_of(const struct step *step, uint32_t task)
{
    const struct task *one = &task_graph_tasks(step->lowered.graph)[task];
    uint32_t lane = one->lane;
    size_t count = 0;
    if (lane & TASK_IS_JOINT)
        lane = task_graph_task_lanes(step->lowered.graph, task, &count)[0];
    return &lowered_kind(&step->lowered, lane / STEP_LANE_COUNT)->items[one->tag];
}

const struct step_work *
step_work_of(const struct step *step, uint32_t task)
{
    const struct step_item *item = step_item_of(step, task);
    return item->work ? item->work
                      : program_work(step->lowered.program, item, rank_of(step, task));
}

static int64_t
later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Relative errors of one kind of kernel or collective go the same way: their sizes add up. Kinds
 * are independent of each other: their squares add up. */
static size_t
sigma_group(const struct step_work *work)
{
    if (work->collective)
        return KERNEL_KIND_COUNT + (size_t)work->collective->kind;
    if (work->kernel)
        return (size_t)work->kernel->kind;
    if (work->spent_on == CLASS_HOST)
        return KERNEL_KIND_COUNT + COLLECTIVE_KIND_COUNT;
    return KERNEL_NEWTON_SCHULZ; /* a rank's matrices are one piece of work without a kernel */
}

/* What a piece of work that took so long, or its parts, add to their groups. */
static void
add_sigma(const struct step_work *work, double seconds_s, double *sums_s)
{
    if (!work->parts) {
        sums_s[sigma_group(work)] += work->relative_sigma * seconds_s;
        return;
    }
    double ratio = work->work_s > 0 ? seconds_s / work->work_s : 0;
    for (int64_t i = 0; i < work->part_count; i++)
        sums_s[sigma_group(work->parts[i])] +=
            work->parts[i]->relative_sigma * work->parts[i]->work_s * ratio;
}

/* The step moves with what lies on the chain of tasks that decides its end, and with that alone. */
static double
chain_sigma_s(const struct step *step, struct arena *arena)
{
    uint32_t *chain = arena_alloc_unset(arena, step->trace->count, sizeof *chain);
    size_t length = trace_critical_path(step->trace, chain, step->trace->count);
    double sums_s[SIGMA_GROUPS] = {0};
    for (size_t i = 0; i < length; i++) {
        const struct trace_entry *entry = &step->trace->entries[chain[i]];
        add_sigma(step_work_of(step, chain[i]),
                  units_s_from_ps(entry->end_ps - entry->start_ps), sums_s);
    }
    double variance = 0;
    for (size_t i = 0; i < SIGMA_GROUPS; i++)
        variance += sums_s[i] * sums_s[i];
    return sqrt(variance);
}

static void
count_cost(struct step *step, const struct step_work *work)
{
    if (!work->kernel_cost)
        return;
    step->class_flop[work->spent_on] += work->kernel_cost->flop;
    step->class_bytes[work->spent_on] += work->kernel_cost->hbm_bytes;
}

static void
count_kernel(void *context, const struct step_work *work)
{
    struct step *step = context;
    for (int64_t part = 0; part < work->part_count; part++)
        count_cost(step, work->parts[part]);
    count_cost(step, work);
}

static void
count_stretch(void *context, const struct step_stretch *stretch)
{
    struct step *step = context;
    step->class_ps[stretch->spent_on] += stretch->end_ps - stretch->start_ps;
}

/* The representative rank's time by class, and what its kernels compute and move. */
static void
count_all(struct step *step)
{
    const struct step_visitor visitor = {count_stretch, count_kernel, step};
    step_account(step, lowered_slot(&step->lowered, step->lowered.representative), &visitor);
}

const char *
step_part_key(enum step_part part)
{
    static const char *const keys[] = {"forward_backward", "gradient_reduction", "optimizer",
                                       "parameter_gather"};
    static_assert(sizeof keys / sizeof *keys == STEP_PART_COUNT, "a key for each part");
    return keys[part];
}

/* The part that an item's end belongs to. */
static enum step_part
part_of(const struct step_item *item)
{
    if (item->phase != PHASE_OPTIMIZER)
        return STEP_FORWARD_BACKWARD;
    if (!item->work && item->stage != SHARE_WIDEN)
        return item->stage == SHARE_NARROW || item->stage == SHARE_QUANTIZE
                   ? STEP_PARAMETER_GATHER
                   : STEP_OPTIMIZER;
    bool is_gather = item->work && item->work->spent_on == CLASS_PARAMETER_GATHER;
    bool is_norm = item->work && item->work->spent_on == CLASS_GRADIENT_NORM;
    if (is_norm)
        return STEP_OPTIMIZER;
    return is_gather ? STEP_PARAMETER_GATHER : STEP_GRADIENT_REDUCTION;
}

/* Of one rank's lane, from its end back to where no part can end later any more. A reduction beside
 * backward counts for what is behind it. */
static void
note_ends(const struct step *step, uint32_t lane, int64_t ends_ps[STEP_PART_COUNT])
{
    size_t count = 0;
    const uint32_t *tasks = trace_lane_tasks(step->trace, lane, &count);
    bool is_data = lane % STEP_LANE_COUNT == LANE_DATA;
    while (count-- > 0) {
        int64_t end_ps = step->trace->entries[tasks[count]].end_ps, earliest_ps = end_ps;
        for (int part = 0; part < STEP_PART_COUNT; part++)
            earliest_ps = ends_ps[part] < earliest_ps ? ends_ps[part] : earliest_ps;
        if (end_ps <= earliest_ps)
            break;
        enum step_part part = part_of(step_item_of(step, tasks[count]));
        if (part == STEP_FORWARD_BACKWARD && is_data)
            part = STEP_GRADIENT_REDUCTION;
        ends_ps[part] = later(ends_ps[part], end_ps);
    }
}

/* A part ends when the last rank ends it; one rank of each kind is looked at. What gathers weights
 * ends with the step; lanes of exchanges come first, since they have most parts. */
static void
count_parts(struct step *step)
{
    const struct lowered *lowered = &step->lowered;
    int64_t ends_ps[STEP_PART_COUNT] = {[STEP_PARAMETER_GATHER] = step->trace->end_ps};
    int64_t now_ps = 0;
    for (int64_t i = 0; i < lowered->program->kind_count; i++) {
        int64_t slot = lowered->is_all ? lowered->program->kinds[i].slowest_rank : i;
        for (uint32_t lane = STEP_LANE_COUNT; lane-- > 0;)
            note_ends(step, (uint32_t)slot * STEP_LANE_COUNT + lane, ends_ps);
    }
    for (int part = 0; part < STEP_PART_COUNT; part++) {
        int64_t end_ps = later(now_ps, ends_ps[part]);
        step->part_ps[part] = end_ps - now_ps;
        now_ps = end_ps;
    }
}

static void
count_communication(struct step *step)
{
    for (int lane = LANE_DATA; lane < STEP_LANE_COUNT; lane++) {
        size_t tasks = 0;
        const uint32_t *list = trace_lane_tasks(
            step->trace, lowered_lane(&step->lowered, (enum step_lane)lane), &tasks);
        for (size_t i = 0; i < tasks; i++)
            step->communication_ps +=
                step->trace->entries[list[i]].end_ps - step->trace->entries[list[i]].start_ps;
    }
}

static void
derive(struct step *step)
{
    const struct workload *workload = &step->run->inputs.workload;
    const struct cluster *cluster = step->run->inputs.cluster;
    double gpus = (double)cluster_gpus(cluster);
    double peak = cluster->device->peak_flop_per_s[workload->plan->compute_dtype];
    step->step_ps = step->trace->end_ps;
    step->step_s = units_s_from_ps(step->step_ps);
    step->low_s = fmax(0, step->step_s - DEVIATIONS_OF_90_PERCENT * step->sigma_s);
    step->high_s = step->step_s + DEVIATIONS_OF_90_PERCENT * step->sigma_s;
    step->tokens_per_s = (double)plan_step_tokens(workload->plan) / step->step_s;
    step->tokens_per_s_per_gpu = step->tokens_per_s / gpus;
    step->model_flop_per_s_per_gpu = step->flop.train * step->tokens_per_s_per_gpu;
    step->mfu = step->model_flop_per_s_per_gpu / peak;
    step->six_n_flop_per_s_per_gpu = step->flop.six_n_active * step->tokens_per_s_per_gpu;
    step->six_n_mfu = step->six_n_flop_per_s_per_gpu / peak;
}

int64_t
step_group_ps(const struct step *step, enum step_group group)
{
    int64_t sum_ps = 0;
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        if (step_class_group((enum step_class)i) == group)
            sum_ps += step->class_ps[i];
    return sum_ps;
}

static void
add_warnings(struct step *step)
{
    if (step->lowered.program->owners_max > 2)
        step->warnings[step->warning_count++] =
            "a matrix of the optimizer lies on more than two ranks: ZAYA1's exchange between "
            "neighbours does not cover that, pieces from all its ranks are counted";
    if (!step->run->inputs.cluster->device->is_fitted)
        step->warnings[step->warning_count++] = "the device is described by its data sheet: "
                                                "nothing of it was fitted to measurements";
}

/* The first change of the plan that fits; "" where none does. */
static const char *
find_fitting_change(const struct step *step, struct arena *arena)
{
    struct memory_change changes[MEMORY_CHANGES_MAX];
    int count = memory_changes(step->run, changes, arena);
    for (int i = 0; i < count; i++)
        if (changes[i].fits)
            return arena_format(arena, "; %s would need %s", changes[i].settings,
                                units_format_bytes(changes[i].peak_bytes).text);
    return "";
}

/* The class that needs most, as what to look at first, and a change that helps. */
static bool
check_memory(const struct step *step, struct arena *arena, struct error_list *errors)
{
    const struct memory *memory = &step->memory;
    if (memory->peak <= memory->capacity)
        return true;
    struct memory_class classes[MEMORY_CLASS_COUNT];
    memory_classes(memory, classes);
    const struct memory_class *most = &classes[0];
    for (int i = 1; i < MEMORY_CLASS_COUNT; i++)
        if (classes[i].bytes > most->bytes)
            most = &classes[i];
    return error_add(errors, ERROR_INFEASIBLE, json_file_name(step->run->plan_object),
                     "does not fit: needs %s of the %s of a %s, most of it %s (%s)%s",
                     units_format_bytes(memory->peak).text,
                     units_format_bytes(memory->capacity).text,
                     step->run->inputs.cluster->device->name, most->name,
                     units_format_bytes(most->bytes).text, find_fitting_change(step, arena));
}

/* The time of all kinds' items one after the other, of its own share each kind's slowest rank's: no
 * step takes longer, since what shares a resource gets all of it between them. */
static double
serial_s(const struct program *program)
{
    double sum_s = 0;
    for (int64_t i = 0; i < program->kind_count; i++) {
        const struct rank_program *kind = &program->kinds[i];
        sum_s += kind->passes_s;
        for (int64_t j = kind->optimizer; j < kind->count; j++) {
            const struct step_work *work =
                program_work(program, &kind->items[j], kind->slowest_rank);
            sum_s += work->delay_s + work->work_s;
        }
    }
    return sum_s;
}

/* A step that the engine's clock (106 days) or a machine's memory could not hold. */
static bool
check_size(const struct step *step, const struct program *program, enum program_ranks ranks,
           struct error_list *errors)
{
    const char *file = json_file_name(step->run->plan_object);
    int64_t tasks = lower_task_count(program, ranks);
    if (!(serial_s(program) < STEP_SECONDS_MAX))
        return error_add(errors, ERROR_INFEASIBLE, file,
                         "the step would take more than %.0f days, no clock goes so far",
                         STEP_SECONDS_MAX / 86400);
    if (tasks > STEP_TASKS_MAX)
        return error_add(errors, ERROR_INFEASIBLE, file,
                         "%lld tasks of %lld ranks are more than the %d that can be simulated; "
                         "--ranks folded needs fewer",
                         (long long)tasks, (long long)program->ranks, STEP_TASKS_MAX);
    return true;
}

const struct step *
step_simulate(const struct run *run, enum program_ranks ranks, struct arena *arena,
              struct error_list *errors)
{
    struct memory memory = memory_of(&run->inputs, arena);
    return step_simulate_within(run, &memory, ranks, arena, errors);
}

const struct step *
step_simulate_within(const struct run *run, const struct memory *memory,
                     enum program_ranks ranks, struct arena *arena, struct error_list *errors)
{
    const struct workload *workload = &run->inputs.workload;
    struct step *step = arena_alloc(arena, 1, sizeof *step);
    step->run = run;
    step->memory = *memory;
    if (!check_memory(step, arena, errors))
        return NULL;
    const struct program *program = program_of(&run->inputs, ranks, arena, errors);
    if (!program || !check_size(step, program, ranks, errors))
        return NULL;
    step->flop = arch_flop(workload->arch, workload->plan->sequence_tokens);
    step->parameters = tensors_count(workload->arch, run->inputs.tensors);
    if (workload->plan->adapters) {
        step->adapter_parameters = operators_adapter_parameters(workload, arena);
        step->flop = adapters_flop(&step->flop, (double)step->adapter_parameters);
    }
    step->lowered = lower_step(program, ranks, arena);
    step->trace = engine_run(step->lowered.graph, arena);
    count_all(step);
    count_parts(step);
    step->sigma_s = chain_sigma_s(step, arena);
    count_communication(step);
    derive(step);
    step->heading = run_heading(run, arena);
    add_warnings(step);
    return step;
}
