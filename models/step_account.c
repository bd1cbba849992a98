/* One rank's compute lane walked from its start to the step's end. */
#include "models/step_account.h"

#include <stdlib.h>

#include "sim/base/units.h"

struct account {
    const struct step *step;
    const struct step_visitor *visitor;
    const struct rank_program *kind; /* that the slot runs */
    const struct task *tasks;
    uint32_t slot;
    uint32_t rank;
};

static int64_t
later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void
show(const struct account *account, int64_t start_ps, int64_t end_ps, enum step_class spent_on)
{
    const struct step_stretch stretch = {start_ps, end_ps, spent_on};
    if (start_ps < end_ps)
        account->visitor->visit(account->visitor->context, &stretch);
}

static const uint32_t *
lane_tasks(const struct account *account, enum step_lane lane, size_t *count)
{
    return trace_lane_tasks(account->step->trace,
                            account->slot * STEP_LANE_COUNT + (uint32_t)lane, count);
}

/* Whether the rank takes part in the task. */
static bool
is_own(const struct account *account, uint32_t task)
{
    const struct task_graph *graph = account->step->lowered.graph;
    size_t count = 0;
    const uint32_t *lanes = task_graph_task_lanes(graph, task, &count);
    for (size_t i = 0; i < count; i++)
        if (task_graph_lane(graph, lanes[i]).group == account->rank)
            return true;
    return false;
}

/* What waiting for that task counts as. */
static enum step_class
waiting_class(const struct account *account, uint32_t task)
{
    return is_own(account, task) ? step_work_of(account->step, task)->spent_on : CLASS_BUBBLE;
}

/* The gap [from, to] that ended when `task` ended, following releases backwards. */
static void
show_gap(const struct account *account, int64_t from, int64_t to, int32_t task)
{
    const struct trace_entry *entries = account->step->trace->entries;
    while (to > from && task != TASK_NONE) {
        int64_t begin = later(entries[task].start_ps, from);
        if (begin < to)
            show(account, begin, to, waiting_class(account, (uint32_t)task));
        to = begin < to ? begin : to;
        task = entries[task].released_by;
    }
    show(account, from, to, CLASS_BUBBLE);
}

/* Of the tasks that the rank takes part in, the one that ends last. */
static int32_t
last_own_task(const struct account *account)
{
    const struct trace_entry *entries = account->step->trace->entries;
    int32_t last = TASK_NONE;
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++) {
        size_t count = 0;
        const uint32_t *tasks = lane_tasks(account, (enum step_lane)lane, &count);
        if (count > 0 &&
            (last == TASK_NONE || entries[tasks[count - 1]].end_ps > entries[last].end_ps))
            last = (int32_t)tasks[count - 1];
    }
    return last;
}

/* Each part for its class; what rounding leaves, for that of the whole. */
static void
show_parts(const struct account *account, const struct step_work *work, int64_t start_ps,
           int64_t end_ps)
{
    int64_t whole_ps = end_ps - start_ps;
    for (int64_t i = 0; i < work->part_count; i++) {
        const struct step_work *part = work->parts[i];
        double share = work->work_s > 0 ? part->work_s / work->work_s : 0;
        int64_t part_ps = (int64_t)((double)whole_ps * share);
        int64_t until_ps = part_ps < end_ps - start_ps ? start_ps + part_ps : end_ps;
        show(account, start_ps, until_ps, part->spent_on);
        start_ps = until_ps;
    }
    show(account, start_ps, end_ps, work->spent_on);
}

/* Of a task of the compute lane, which is of the slot's own program. */
static const struct step_work *
kernel_work(const struct account *account, uint32_t task)
{
    return program_work(account->step->lowered.program,
                        &account->kind->items[account->tasks[task].tag], account->rank);
}

static void
show_kernel(const struct account *account, uint32_t task)
{
    const struct trace_entry *entry = &account->step->trace->entries[task];
    const struct step_work *work = kernel_work(account, task);
    int64_t alone_ps = account->tasks[task].delay_ps + units_ps_from_s(work->work_s);
    int64_t own_end_ps =
        entry->end_ps - entry->start_ps > alone_ps ? entry->start_ps + alone_ps : entry->end_ps;
    show_parts(account, work, entry->start_ps, own_end_ps);
    show(account, own_end_ps, entry->end_ps, CLASS_OVERLAP);
    if (account->visitor->kernel)
        account->visitor->kernel(account->visitor->context, work);
}

void
step_account(const struct step *step, uint32_t slot, const struct step_visitor *visitor)
{
    const struct trace *trace = step->trace;
    struct account account = {.step = step,
                              .visitor = visitor,
                              .kind = lowered_kind(&step->lowered, slot),
                              .tasks = task_graph_tasks(step->lowered.graph),
                              .slot = slot};
    account.rank = task_graph_lane(step->lowered.graph, slot * STEP_LANE_COUNT).group;
    size_t count = 0;
    const uint32_t *tasks = lane_tasks(&account, LANE_COMPUTE, &count);
    int64_t now_ps = 0;
    for (size_t i = 0; i < count; i++) {
        const struct trace_entry *entry = &trace->entries[tasks[i]];
        if (entry->start_ps > now_ps)
            show_gap(&account, now_ps, entry->start_ps, entry->released_by);
        show_kernel(&account, tasks[i]);
        now_ps = entry->end_ps;
    }
    int32_t last = last_own_task(&account);
    int64_t own_end_ps =
        last == TASK_NONE ? now_ps : later(now_ps, trace->entries[last].end_ps);
    show_gap(&account, now_ps, own_end_ps, last);
    show(&account, own_end_ps, trace->end_ps, CLASS_BUBBLE); /* others go on */
}

struct stretch_list {
    struct step_stretch *items;
    size_t count, capacity;
    struct arena *arena;
};

static void
keep(void *context, const struct step_stretch *stretch)
{
    struct stretch_list *list = context;
    list->items =
        arena_grow(list->arena, list->items, list->count, &list->capacity, sizeof *list->items);
    list->items[list->count++] = *stretch;
}

static int
compare_stretches(const void *a, const void *b)
{
    const struct step_stretch *one = a, *two = b;
    return (one->start_ps > two->start_ps) - (one->start_ps < two->start_ps);
}

const struct step_stretch *
step_account_list(const struct step *step, uint32_t slot, struct arena *arena, size_t *count)
{
    struct stretch_list list = {.arena = arena};
    const struct step_visitor visitor = {.visit = keep, .context = &list};
    step_account(step, slot, &visitor);
    *count = 0;
    if (list.count == 0)
        return NULL;
    qsort(list.items, list.count, sizeof *list.items, compare_stretches);
    for (size_t i = 1; i < list.count; i++) {
        if (list.items[i].spent_on == list.items[*count].spent_on)
            list.items[*count].end_ps = list.items[i].end_ps;
        else
            list.items[++*count] = list.items[i];
    }
    ++*count;
    return list.items;
}
