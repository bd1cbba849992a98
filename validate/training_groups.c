/* Who exchanges what with whom in a training step: the world split along each degree. */
#include "validate/training_groups.h"

/* Those of the stage that agree in `place`. */
static const struct process_group *
within_stage(const struct process_group *world, int64_t stage, int64_t place, int64_t places,
             struct arena *arena)
{
    return process_group_split(world, (int)(stage * places + place), arena);
}

enum { PEERS_MAX = 64 };

static uint64_t
bit_of(const struct process_group *world, int rank)
{
    return world->size <= PEERS_MAX ? (uint64_t)1 << rank : 0;
}

/* A bit for each member: every one tells its own. */
static uint64_t
peers_of(const struct process_group *world, const struct process_group *group,
         struct arena *arena)
{
    uint64_t own = bit_of(world, world->rank), all = 0;
    uint64_t *each = arena_alloc(arena, (size_t)group->size, sizeof *each);
    process_all_gather(group, &own, each, sizeof own);
    for (int i = 0; i < group->size; i++)
        all |= each[i];
    return all;
}

uint64_t
training_groups_pair(const struct training_groups *groups, int neighbour)
{
    return bit_of(groups->world, groups->world->rank) | bit_of(groups->world, neighbour);
}

struct training_groups
training_groups_new(const struct training_shape *shape, const struct process_group *world,
                    struct arena *arena)
{
    struct training_part part = training_shape_part(shape, world->rank);
    const struct training_place *place = &part.place;
    int64_t of_stage = shape->data * shape->tensor;
    struct training_groups groups = {.world = world, .before = -1, .behind = -1};
    groups.tensor = within_stage(world, place->stage, place->data, shape->data, arena);
    groups.expert =
        within_stage(world, place->stage, place->expert_data, of_stage / shape->expert, arena);
    groups.copies[TRAINING_COPIES_STAGE] = within_stage(world, place->stage, 0, 1, arena);
    groups.copies[TRAINING_COPIES_DATA] =
        within_stage(world, place->stage, place->tensor, shape->tensor, arena);
    groups.copies[TRAINING_COPIES_EXPERTS] =
        within_stage(world, place->stage, place->expert, shape->expert, arena);
    groups.tensor_peers = peers_of(world, groups.tensor, arena);
    groups.expert_peers = peers_of(world, groups.expert, arena);
    for (int i = 0; i < TRAINING_COPIES_COUNT; i++)
        groups.copies_peers[i] = peers_of(world, groups.copies[i], arena);
    if (place->stage > 0)
        groups.before = world->rank - (int)of_stage;
    if (place->stage < shape->pipeline - 1)
        groups.behind = world->rank + (int)of_stage;
    return groups;
}

struct training_groups
training_groups_of_copies(int rank, int size, struct arena *arena)
{
    const struct process_group whole = {.rank = rank, .size = size}, single = {.size = 1};
    const struct process_group *world = arena_copy(arena, &whole, sizeof whole);
    const struct process_group *alone = arena_copy(arena, &single, sizeof single);
    return (struct training_groups){.world = world,
                                    .tensor = alone,
                                    .expert = alone,
                                    .copies = {world, world, world},
                                    .before = -1,
                                    .behind = -1};
}
