/* Words, and numbers in the order given. */
#include "sim/cli/shown_ranks.h"

#include <string.h>

#include "models/step_passes.h"

int64_t
shown_ranks_simulated(const struct step *step, int64_t rank)
{
    uint32_t slot = lowered_slot(&step->lowered, rank);
    return task_graph_lane(step->lowered.graph, slot * STEP_LANE_COUNT).group;
}

static int64_t
world_of(const struct step *step)
{
    return step->lowered.program->placement.ranks;
}

struct shown_ranks
shown_ranks_slowest(const struct step *step, struct arena *arena)
{
    return (struct shown_ranks){
        .ranks = arena_copy(arena, &step->lowered.representative, sizeof(int64_t)), .count = 1};
}

static struct shown_ranks
one_of_each_stage(const struct step *step, struct arena *arena)
{
    const struct placement *placement = &step->lowered.program->placement;
    struct rank_place place = placement_at(placement, step->lowered.representative);
    size_t own = (size_t)place.pipeline;
    int64_t *ranks = arena_alloc(arena, (size_t)placement->pipeline, sizeof *ranks);
    for (place.pipeline = 0; place.pipeline < placement->pipeline; place.pipeline++)
        ranks[place.pipeline] = placement_rank(placement, &place);
    return (struct shown_ranks){ranks, (size_t)placement->pipeline, own};
}

static struct shown_ranks
all_simulated(const struct step *step, struct arena *arena)
{
    struct shown_ranks shown = {.count = (size_t)step->lowered.simulated_ranks};
    int64_t *ranks = arena_alloc(arena, shown.count, sizeof *ranks);
    for (size_t i = 0; i < shown.count; i++) {
        ranks[i] = task_graph_lane(step->lowered.graph, (uint32_t)i * STEP_LANE_COUNT).group;
        if (ranks[i] == step->lowered.representative)
            shown.own = i;
    }
    shown.ranks = ranks;
    return shown;
}

/* A number below `end`, and what follows it; -1 where there is none. */
static int64_t
read_number(const char **at, int64_t end)
{
    const char *first = *at;
    int64_t number = 0;
    for (; **at >= '0' && **at <= '9' && number < end; (*at)++)
        number = 10 * number + (**at - '0');
    return *at > first && number < end ? number : -1;
}

/* "5" or "0-3", and what follows. */
static bool
read_range(const char **at, int64_t end, int64_t range[2])
{
    range[0] = read_number(at, end);
    range[1] = range[0];
    if (**at == '-') {
        (*at)++;
        range[1] = read_number(at, end);
    }
    return range[0] >= 0 && range[1] >= range[0];
}

static bool
read_list(const char *text, const struct step *step, struct shown_ranks *shown,
          struct arena *arena)
{
    int64_t end = world_of(step), range[2];
    bool *is_there = arena_alloc(arena, (size_t)end, sizeof *is_there);
    int64_t *ranks = arena_alloc(arena, (size_t)end, sizeof *ranks);
    *shown = (struct shown_ranks){.ranks = ranks};
    for (const char *at = text; read_range(&at, end, range); at++) {
        for (int64_t rank = range[0]; rank <= range[1]; rank++) {
            if (is_there[rank])
                return false;
            is_there[rank] = true;
            ranks[shown->count++] = rank;
        }
        if (*at != ',')
            return *at == '\0';
    }
    return false;
}

bool
shown_ranks_read(const char *text, const struct step *step, struct shown_ranks *shown,
                 struct arena *arena)
{
    if (strcmp(text, "slowest") == 0)
        *shown = shown_ranks_slowest(step, arena);
    else if (strcmp(text, "stages") == 0)
        *shown = one_of_each_stage(step, arena);
    else if (strcmp(text, "all") == 0)
        *shown = all_simulated(step, arena);
    else
        return read_list(text, step, shown, arena);
    return true;
}

const char *
shown_ranks_name(const struct step *step, int64_t rank, struct arena *arena)
{
    int64_t gpus = step->run->inputs.cluster->gpus_per_node;
    int64_t simulated = shown_ranks_simulated(step, rank);
    const char *stage = "", *as = "";
    if (step->lowered.program->placement.pipeline > 1)
        stage =
            arena_format(arena, ", stage %lld",
                         (long long)step_slot_stage(step, lowered_slot(&step->lowered, rank)));
    if (simulated != rank)
        as = arena_format(arena, ", as rank %lld", (long long)simulated);
    return arena_format(arena, "rank %lld, node %lld, GPU %lld%s%s", (long long)rank,
                        (long long)(rank / gpus), (long long)(rank % gpus), stage, as);
}
