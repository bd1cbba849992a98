/* From the programs of the ranks to the task graph of a step.
 *
 * Each simulated rank is a slot with its own lanes and its own compute, HBM, link and NIC shares;
 * kernels and collectives that run at once on a rank share them. Slots lay out their items in turn:
 * each goes on until it comes to a collective whose other members are not there yet, or to a
 * transfer whose sender is not so far. The last to come lays out the one task of all members. */
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

enum { TURN_ITEMS = 4 }; /* of 1 to 64 the quickest: 1.4 s of processor time for 1,024 ranks */

struct slot {
    int64_t rank;  /* whose work it does */
    int64_t place; /* the rank that stands for its kind among peers */
    uint32_t first_lane, first_resource;
    const struct rank_program *program;
    int64_t next;    /* item to lay out */
    bool is_waiting; /* at a collective */
    uint32_t *tasks; /* of each item */
    struct crowd *crowds[PEERS_COUNT];
};

/* Slots that take part in collectives together. */
struct crowd {
    uint32_t *slots; /* their numbers */
    uint32_t count, come;
};

/* Work whose demand was added already, for one crowd or for single slots: a hash table. */
struct known_work {
    const struct step_work *work;
    const struct crowd *crowd;
    struct task task; /* whoever does it: without resource_base and tag */
};

struct lowering {
    struct task_graph *graph;
    const struct program *program;
    struct arena *arena;
    struct slot *slots;
    uint32_t slot_count;
    bool is_all; /* slot i is rank i; else kind i */
    struct known_work *known;
    size_t known_count, known_size; /* a power of two */
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

/* Work runs at one second a second when alone. A joint task uses the shares of every member. */
static int32_t
add_demand(struct lowering *lowering, const struct step_work *work, const struct crowd *crowd)
{
    uint32_t slots = crowd ? crowd->count : 1;
    struct task_usage *usages =
        arena_alloc(lowering->arena, (size_t)slots * RANK_RESOURCES, sizeof *usages);
    size_t count = 0;
    for (uint32_t i = 0; i < slots; i++)
        count +=
            list_usages(work, crowd ? crowd->slots[i] * RANK_RESOURCES : 0, usages + count);
    struct task_demand demand = {.top_rate_per_s = 1,
                                 .weight = work->weight > 0 ? work->weight : 1,
                                 .usages = usages,
                                 .usage_count = count};
    if (count == 0)
        return TASK_NONE;
    int32_t added = task_graph_add_demand(lowering->graph, &demand);
    if (work->hold_s > 0)
        task_graph_set_hold(lowering->graph, added, units_ps_from_s(work->hold_s));
    return added;
}

/* The place of work in the table, or the free one where it belongs. Arena blocks are aligned: the
 * low bits of an address say nothing. */
static struct known_work *
find_known(const struct lowering *lowering, const struct step_work *work,
           const struct crowd *crowd)
{
    uint64_t key = ((uint64_t)(uintptr_t)work >> 4) ^ ((uint64_t)(uintptr_t)crowd << 7);
    size_t place = (size_t)(key * 0x9E3779B97F4A7C15u >> 32) & (lowering->known_size - 1);
    while (lowering->known[place].work &&
           (lowering->known[place].work != work || lowering->known[place].crowd != crowd))
        place = (place + 1) & (lowering->known_size - 1);
    return &lowering->known[place];
}

static void
grow_known(struct lowering *lowering)
{
    struct known_work *old = lowering->known;
    size_t old_size = lowering->known_size;
    lowering->known_size = old_size == 0 ? 1024 : 2 * old_size;
    lowering->known = arena_alloc(lowering->arena, lowering->known_size, sizeof *old);
    for (size_t i = 0; i < old_size; i++)
        if (old[i].work)
            *find_known(lowering, old[i].work, old[i].crowd) = old[i];
}

static const struct task *
add_known(struct lowering *lowering, const struct step_work *work, const struct crowd *crowd)
{
    if (2 * ++lowering->known_count > lowering->known_size)
        grow_known(lowering);
    struct known_work *known = find_known(lowering, work, crowd);
    int32_t demand = work->work_s > 0 ? add_demand(lowering, work, crowd) : TASK_NONE;
    *known = (struct known_work){.work = work,
                                 .crowd = crowd,
                                 .task = {.delay_ps = units_ps_from_s(work->delay_s),
                                          .work = work->work_s,
                                          .demand = demand}};
    return &known->task;
}

static const struct task *
task_of(struct lowering *lowering, const struct step_work *work, const struct crowd *crowd)
{
    const struct known_work *known = find_known(lowering, work, crowd);
    return known->work ? &known->task : add_known(lowering, work, crowd);
}

/* Whether the slot's next item waits for that task. */
static bool
waits_for(const struct slot *slot, uint32_t task)
{
    const struct step_item *item = &slot->program->items[slot->next];
    for (int i = 0; i < STEP_WAITS_MAX && item->after[i] != STEP_NONE; i++)
        if (slot->tasks[item->after[i]] == task)
            return true;
    return false;
}

/* The task waits for the tasks of what the slot's next item waits for; for one that the member
 * before has named already only once. */
static void
add_waits(struct lowering *lowering, const struct slot *slot, const struct slot *before,
          uint32_t task)
{
    const struct step_item *item = &slot->program->items[slot->next];
    for (int i = 0; i < STEP_WAITS_MAX && item->after[i] != STEP_NONE; i++) {
        uint32_t earlier = slot->tasks[item->after[i]];
        if (!before || !waits_for(before, earlier))
            task_graph_add_dependency(lowering->graph, earlier, task);
    }
}

/* Adds the slot's next item, and what comes behind it before `end` and waits for its lane alone. */
static void
add_run(struct lowering *lowering, struct slot *slot, int64_t end)
{
    const struct step_item *item = &slot->program->items[slot->next];
    uint32_t first = (uint32_t)slot->next,
             added = (uint32_t)task_graph_task_count(lowering->graph);
    struct task *tasks = task_graph_room(lowering->graph, (size_t)(end - slot->next));
    size_t count = 0;
    do {
        const struct step_work *work = program_work(lowering->program, item, slot->rank);
        struct task *task = &tasks[count];
        *task = *task_of(lowering, work, NULL);
        task->resource_base = slot->first_resource;
        task->tag = first + (uint32_t)count;
        task->lane = slot->first_lane + item->lane;
        slot->tasks[task->tag] = added + (uint32_t)count;
        count++;
        item++;
    } while (slot->next + (int64_t)count < end && !item->is_joint &&
             item->from_stage == STEP_NONE && item->after[0] == STEP_NONE);
    (void)task_graph_add_written(lowering->graph, count);
    add_waits(lowering, slot, NULL, added);
    slot->next += (int64_t)count;
}

/* All members are there: the work of the slowest of them. */
static void
add_joint_item(struct lowering *lowering, const struct crowd *crowd)
{
    uint32_t *lanes = arena_alloc(lowering->arena, crowd->count, sizeof *lanes);
    const struct step_work *slowest = NULL;
    for (uint32_t i = 0; i < crowd->count; i++) {
        const struct slot *slot = &lowering->slots[crowd->slots[i]];
        const struct step_item *item = &slot->program->items[slot->next];
        lanes[i] = slot->first_lane + item->lane;
        if (!slowest ||
            item->work->delay_s + item->work->work_s > slowest->delay_s + slowest->work_s)
            slowest = item->work;
    }
    assert(slowest && "a crowd has members");
    struct task task = *task_of(lowering, slowest, crowd);
    task.tag = (uint32_t)lowering->slots[crowd->slots[0]].next;
    uint32_t added = task_graph_add_joint_task(lowering->graph, &task, lanes, crowd->count);
    for (uint32_t i = 0; i < crowd->count; i++)
        add_waits(lowering, &lowering->slots[crowd->slots[i]],
                  i > 0 ? &lowering->slots[crowd->slots[i - 1]] : NULL, added);
    for (uint32_t i = 0; i < crowd->count; i++) {
        struct slot *slot = &lowering->slots[crowd->slots[i]];
        slot->tasks[slot->next++] = added;
        slot->is_waiting = false;
    }
}

/* The slot that sends: of the stage that the item names, else where this one is. */
static const struct slot *
find_sender(const struct lowering *lowering, const struct slot *slot, int64_t stage)
{
    const struct program *program = lowering->program;
    if (!lowering->is_all)
        return &lowering->slots[stage * program->expert_places + slot->program->expert_place];
    struct rank_place place = placement_at(&program->placement, slot->rank);
    place.pipeline = stage;
    return &lowering->slots[placement_rank(&program->placement, &place)];
}

/* What another stage has made comes over its links and this one's: of the links, each direction is
 * its own, and the receiver's stands for both. */
static bool
add_transfer(struct lowering *lowering, struct slot *slot)
{
    const struct step_item *item = &slot->program->items[slot->next];
    const struct slot *sender = find_sender(lowering, slot, item->from_stage);
    if (sender->next <= item->from_item)
        return false;
    uint32_t made = sender->tasks[item->from_item];
    add_run(lowering, slot, slot->next + 1);
    task_graph_add_dependency(lowering->graph, made, slot->tasks[slot->next - 1]);
    return true;
}

/* Lays out so many of the slot's items, or as far as it can. */
static void
advance(struct lowering *lowering, struct slot *slot, int64_t turn)
{
    int64_t end =
        turn < slot->program->count - slot->next ? slot->next + turn : slot->program->count;
    while (slot->next < end && !slot->is_waiting) {
        const struct step_item *item = &slot->program->items[slot->next];
        if (item->is_joint) {
            struct crowd *crowd = slot->crowds[item->peers];
            slot->is_waiting = true;
            if (++crowd->come < crowd->count)
                return;
            crowd->come = 0;
            add_joint_item(lowering, crowd);
        } else if (item->from_stage != STEP_NONE) {
            if (!add_transfer(lowering, slot))
                break;
        } else {
            add_run(lowering, slot, end);
        }
    }
}

/* Ranks run the same items at about the same time. In short turns what the engine reads at about
 * the same time lies together: a thousand ranks one behind the other have it in as many pages. */
static void
lay_out(struct lowering *lowering)
{
    int64_t left = 0, left_before = 0, turn = lowering->is_all ? TURN_ITEMS : INT64_MAX;
    do {
        left_before = left;
        left = 0;
        for (uint32_t i = 0; i < lowering->slot_count; i++) {
            struct slot *slot = &lowering->slots[i];
            advance(lowering, slot, turn);
            left += slot->program->count - slot->next;
        }
        assert((left == 0 || left != left_before) && "programs that wait for each other");
    } while (left > 0);
}

static void
add_slot(struct lowering *lowering, uint32_t number, const struct rank_program *kind,
         int64_t rank)
{
    struct slot *slot = &lowering->slots[number];
    *slot = (struct slot){.rank = rank,
                          .place = rank,
                          .first_lane = number * STEP_LANE_COUNT,
                          .first_resource = number * RANK_RESOURCES,
                          .program = kind};
    slot->tasks = arena_alloc(lowering->arena, (size_t)kind->count, sizeof *slot->tasks);
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++)
        task_graph_add_lane(lowering->graph, step_lane_name((enum step_lane)lane),
                            (uint32_t)rank);
    for (int lane = LANE_DATA; lane < STEP_LANE_COUNT; lane++)
        task_graph_put_behind(lowering->graph, slot->first_lane + (uint32_t)lane,
                              slot->first_lane + LANE_COMPUTE);
    static const char *const names[] = {"compute", "hbm", "links", "nic"};
    static_assert(sizeof names / sizeof *names == RANK_RESOURCES, "a name for each resource");
    for (int i = 0; i < RANK_RESOURCES; i++)
        task_graph_add_resource(lowering->graph, names[i], 1);
}

/* Stages between the ends have no part in what the ends do. */
static bool
has_part(const struct slot *slot, const struct placement *placement, enum peers peers)
{
    int64_t stage = slot->program->stage;
    return peers != PEERS_ENDS || stage == 0 || stage == placement->pipeline - 1;
}

/* Slots by the lowest rank of their group: those with the same one meet. `of_rank` has room for
 * every rank and is as it was afterwards, empty. */
static void
add_crowds(struct lowering *lowering, enum peers peers, struct crowd **of_rank)
{
    const struct placement *placement = &lowering->program->placement;
    for (uint32_t i = 0; i < lowering->slot_count; i++) {
        if (!has_part(&lowering->slots[i], placement, peers))
            continue;
        int64_t first = placement_first(placement, peers, lowering->slots[i].place);
        if (!of_rank[first])
            of_rank[first] = arena_alloc(lowering->arena, 1, sizeof **of_rank);
        lowering->slots[i].crowds[peers] = of_rank[first];
        of_rank[first]->count++;
    }
    for (uint32_t i = 0; i < lowering->slot_count; i++) {
        struct crowd *crowd = lowering->slots[i].crowds[peers];
        if (!crowd)
            continue;
        if (!crowd->slots)
            crowd->slots = arena_alloc(lowering->arena, crowd->count, sizeof *crowd->slots);
        crowd->slots[crowd->come++] = i;
    }
    for (uint32_t i = 0; i < lowering->slot_count; i++) {
        if (!lowering->slots[i].crowds[peers])
            continue;
        lowering->slots[i].crowds[peers]->come = 0;
        of_rank[placement_first(placement, peers, lowering->slots[i].place)] = NULL;
    }
}

static void
add_slots(struct lowering *lowering)
{
    bool is_all = lowering->is_all;
    const struct program *program = lowering->program;
    for (uint32_t i = 0; i < lowering->slot_count; i++) {
        const struct rank_program *kind =
            is_all ? program_kind(program, i) : &program->kinds[i];
        add_slot(lowering, i, kind, is_all ? (int64_t)i : kind->slowest_rank);
        lowering->slots[i].place = is_all ? (int64_t)i : kind->rank;
    }
    struct crowd **of_rank =
        arena_alloc(lowering->arena, (size_t)program->placement.ranks, sizeof *of_rank);
    for (int peers = 0; peers < PEERS_COUNT; peers++)
        add_crowds(lowering, (enum peers)peers, of_rank);
}

int64_t
lower_task_count(const struct program *program, enum program_ranks ranks)
{
    int64_t tasks = 0;
    for (int64_t i = 0; i < program->kind_count; i++)
        tasks += program->kinds[i].count *
                 (ranks == RANKS_ALL ? program->ranks / program->kind_count : 1);
    return tasks;
}

struct lowered
lower_step(const struct program *program, enum program_ranks ranks, struct arena *arena)
{
    assert((ranks == RANKS_FOLDED || program->is_all) && "a program of all ranks");
    size_t tasks = (size_t)lower_task_count(program, ranks);
    struct lowering lowering = {
        .graph = task_graph_new(arena, tasks),
        .program = program,
        .arena = arena,
        .is_all = ranks == RANKS_ALL,
        .slot_count = (uint32_t)(ranks == RANKS_ALL ? program->ranks : program->kind_count),
    };
    lowering.slots = arena_alloc(arena, lowering.slot_count, sizeof *lowering.slots);
    grow_known(&lowering);
    add_slots(&lowering);
    lay_out(&lowering);
    return (struct lowered){lowering.graph, program, lowering.slot_count, lowering.is_all,
                            program->kinds[program->slowest_kind].slowest_rank};
}

uint32_t
lowered_slot(const struct lowered *lowered, int64_t rank)
{
    const struct program *program = lowered->program;
    return (uint32_t)(lowered->is_all ? rank : program_kind(program, rank) - program->kinds);
}

const struct rank_program *
lowered_kind(const struct lowered *lowered, int64_t slot)
{
    const struct program *program = lowered->program;
    return lowered->is_all ? program_kind(program, slot) : &program->kinds[slot];
}

uint32_t
lowered_lane(const struct lowered *lowered, enum step_lane lane)
{
    return lowered_slot(lowered, lowered->representative) * STEP_LANE_COUNT + (uint32_t)lane;
}
