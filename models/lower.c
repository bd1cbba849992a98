/* From the program of a rank to the task graph of a step.
 *
 * Item by item: a task for each simulated rank, or one joint task for all. Each rank has its own
 * compute, HBM, link and NIC shares; kernels and collectives that run at once on a rank share
 * them. */
#include "models/lower.h"

#include <assert.h>

#include "sim/base/units.h"

enum rank_resource {
    SHARE_OF_COMPUTE,
    SHARE_OF_HBM,
    SHARE_OF_LINKS,
    SHARE_OF_NIC,
    RANK_RESOURCES
};

struct lowering {
    struct task_graph *graph;
    const struct program *program;
    struct arena *arena;
    const int64_t *ranks; /* the rank of each slot */
    uint32_t slots;
    uint32_t *first_task;           /* of each item: its task on slot 0 */
    uint32_t *lanes;                /* [slot * STEP_LANE_COUNT + lane] */
    const struct step_work **known; /* work whose demand was added already, and that demand */
    int32_t *demands;
    size_t known_count, known_capacity, demand_capacity;
    size_t last_known; /* the work found last: blocks repeat, so the next is likely behind it */
};

/* How a piece of work uses one rank's shares, with its resources counted from `first`. */
static size_t
list_usages(const struct step_work *work, uint32_t first, struct task_usage *usages)
{
    const double amounts[RANK_RESOURCES] = {[SHARE_OF_COMPUTE] = work->compute_fraction,
                                            [SHARE_OF_HBM] = work->hbm_fraction,
                                            [SHARE_OF_LINKS] = work->link_fraction,
                                            [SHARE_OF_NIC] = work->nic_fraction};
    size_t count = 0;
    for (uint32_t i = 0; i < RANK_RESOURCES; i++)
        if (amounts[i] > 0)
            usages[count++] = (struct task_usage){first + i, amounts[i]};
    return count;
}

/* Work runs at one second a second when alone. A joint task uses the shares of every slot. */
static int32_t
add_demand(struct lowering *lowering, const struct step_work *work, uint32_t slots)
{
    struct task_usage *usages =
        arena_alloc(lowering->arena, (size_t)slots * RANK_RESOURCES, sizeof *usages);
    size_t count = 0;
    for (uint32_t slot = 0; slot < slots; slot++)
        count += list_usages(work, slot * RANK_RESOURCES, usages + count);
    struct task_demand demand = {
        .top_rate_per_s = 1, .weight = 1, .usages = usages, .usage_count = count};
    return count == 0 ? TASK_NONE : task_graph_add_demand(lowering->graph, &demand);
}

/* The place of a piece of work among the known ones; known_count when it is new. */
static size_t
find_known(const struct lowering *lowering, const struct step_work *work)
{
    size_t next = lowering->last_known + 1;
    if (next < lowering->known_count && lowering->known[next] == work)
        return next;
    size_t i = 0;
    while (i < lowering->known_count && lowering->known[i] != work)
        i++;
    return i;
}

static int32_t
demand_of(struct lowering *lowering, const struct step_work *work, uint32_t slots)
{
    size_t place = find_known(lowering, work);
    lowering->last_known = place;
    if (place < lowering->known_count)
        return lowering->demands[place];
    lowering->known = arena_grow(lowering->arena, lowering->known, lowering->known_count,
                                 &lowering->known_capacity, sizeof(const struct step_work *));
    lowering->demands = arena_grow(lowering->arena, lowering->demands, lowering->known_count,
                                   &lowering->demand_capacity, sizeof *lowering->demands);
    lowering->known[place] = work;
    lowering->demands[place] = add_demand(lowering, work, slots);
    lowering->known_count++;
    return lowering->demands[place];
}

static struct task
make_task(struct lowering *lowering, size_t item, const struct step_work *work, uint32_t slot)
{
    uint32_t slots = lowering->program->items[item].is_joint ? lowering->slots : 1;
    return (struct task){.delay_ps = units_ps_from_s(work->delay_s),
                         .work = work->work_s,
                         .demand =
                             work->work_s > 0 ? demand_of(lowering, work, slots) : TASK_NONE,
                         .resource_base = slot * RANK_RESOURCES,
                         .tag = (uint32_t)item};
}

static void
add_joint_item(struct lowering *lowering, size_t item)
{
    const struct step_item *from = &lowering->program->items[item];
    struct task task = make_task(lowering, item, from->work, 0);
    uint32_t *lanes = arena_alloc(lowering->arena, lowering->slots, sizeof *lanes);
    for (uint32_t slot = 0; slot < lowering->slots; slot++)
        lanes[slot] = lowering->lanes[slot * STEP_LANE_COUNT + from->lane];
    lowering->first_task[item] =
        task_graph_add_joint_task(lowering->graph, &task, lanes, lowering->slots);
}

static void
add_item(struct lowering *lowering, size_t item)
{
    const struct step_item *from = &lowering->program->items[item];
    if (from->is_joint) {
        add_joint_item(lowering, item);
        return;
    }
    for (uint32_t slot = 0; slot < lowering->slots; slot++) {
        const struct step_work *work =
            program_work(lowering->program, from, lowering->ranks[slot]);
        struct task task = make_task(lowering, item, work, slot);
        uint32_t lane = lowering->lanes[slot * STEP_LANE_COUNT + from->lane];
        uint32_t added = task_graph_add_task(lowering->graph, &task, lane);
        if (slot == 0)
            lowering->first_task[item] = added;
    }
}

/* An item's tasks wait for the earlier item's tasks on the same slot; one of them being joint, for
 * the one task or with the one task. */
static void
add_waits(struct lowering *lowering, size_t item, int32_t earlier)
{
    if (earlier < 0)
        return;
    bool is_joint = lowering->program->items[item].is_joint;
    bool is_earlier_joint = lowering->program->items[earlier].is_joint;
    uint32_t waits = is_joint && is_earlier_joint ? 1 : lowering->slots;
    for (uint32_t i = 0; i < waits; i++)
        task_graph_add_dependency(lowering->graph,
                                  lowering->first_task[earlier] + (is_earlier_joint ? 0 : i),
                                  lowering->first_task[item] + (is_joint ? 0 : i));
}

static void
add_rank(struct lowering *lowering, uint32_t slot)
{
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++)
        lowering->lanes[slot * STEP_LANE_COUNT + (uint32_t)lane] =
            task_graph_add_lane(lowering->graph, step_lane_name((enum step_lane)lane),
                                (uint32_t)lowering->ranks[slot]);
    static const char *const names[] = {"compute", "hbm", "links", "nic"};
    static_assert(sizeof names / sizeof *names == RANK_RESOURCES, "a name for each resource");
    for (int i = 0; i < RANK_RESOURCES; i++)
        task_graph_add_resource(lowering->graph, names[i], 1);
}

static const int64_t *
choose_ranks(const struct program *program, enum lower_ranks ranks, struct arena *arena,
             uint32_t *count)
{
    *count = ranks == RANKS_ALL ? (uint32_t)program->ranks : 1;
    int64_t *chosen = arena_alloc(arena, *count, sizeof *chosen);
    for (uint32_t i = 0; i < *count; i++)
        chosen[i] = ranks == RANKS_ALL ? (int64_t)i : program->slowest_rank;
    return chosen;
}

struct lowered
lower_step(const struct program *program, enum lower_ranks ranks, struct arena *arena)
{
    uint32_t slots = 0;
    const int64_t *chosen = choose_ranks(program, ranks, arena, &slots);
    size_t items = (size_t)program->count;
    struct lowering lowering = {
        .graph = task_graph_new(arena, items * slots),
        .program = program,
        .arena = arena,
        .ranks = chosen,
        .slots = slots,
        .first_task = arena_alloc(arena, items, sizeof *lowering.first_task),
        .lanes = arena_alloc(arena, (size_t)slots * STEP_LANE_COUNT, sizeof *lowering.lanes),
    };
    for (uint32_t slot = 0; slot < slots; slot++)
        add_rank(&lowering, slot);
    for (size_t item = 0; item < items; item++) {
        add_item(&lowering, item);
        add_waits(&lowering, item, program->items[item].after[0]);
        add_waits(&lowering, item, program->items[item].after[1]);
    }
    return (struct lowered){lowering.graph, program, slots, program->slowest_rank};
}

uint32_t
lowered_lane(const struct lowered *lowered, enum step_lane lane)
{
    bool is_folded = lowered->simulated_ranks == 1;
    uint32_t slot = is_folded ? 0 : (uint32_t)lowered->representative;
    return slot * STEP_LANE_COUNT + (uint32_t)lane;
}
