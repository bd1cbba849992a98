/* Who exchanges what with whom in a training step: the world split along each degree. */
#include "validate/training_groups.h"

int
training_group_color(const struct training_shape *shape, enum training_group kind, int rank)
{
    const struct training_place place = training_shape_part(shape, rank).place;
    int64_t of_stage = shape->data * shape->tensor, within = 0, parts = 1;
    switch ((int)kind) {
    case TRAINING_COPIES_STAGE:
        break;
    case TRAINING_COPIES_DATA:
        within = place.tensor;
        parts = shape->tensor;
        break;
    case TRAINING_COPIES_EXPERTS:
        within = place.expert;
        parts = shape->expert;
        break;
    case TRAINING_GROUP_TENSOR:
        within = place.data;
        parts = shape->data;
        break;
    case TRAINING_GROUP_EXPERT:
        within = place.expert_data;
        parts = of_stage / shape->expert;
        break;
    }
    return (int)(place.stage * parts + within);
}

enum { PEERS_MAX = 64 };

static uint64_t
bit_of(const struct process_group *world, int rank)
{
    return world->size <= PEERS_MAX ? (uint64_t)1 << rank : 0;
}

static uint64_t
peers_of(const struct training_shape *shape, enum training_group kind,
         const struct process_group *world)
{
    int color = training_group_color(shape, kind, world->rank);
    uint64_t peers = 0;
    for (int rank = 0; rank < world->size; rank++)
        if (training_group_color(shape, kind, rank) == color)
            peers |= bit_of(world, rank);
    return peers;
}

uint64_t
training_groups_pair(const struct training_groups *groups, int neighbour)
{
    return bit_of(groups->world, groups->world->rank) | bit_of(groups->world, neighbour);
}

struct training_groups
training_groups_of(const struct training_shape *shape, const struct process_group *world,
                   const struct process_group *const *made)
{
    const struct training_place place = training_shape_part(shape, world->rank).place;
    int of_stage = (int)(shape->data * shape->tensor);
    struct training_groups groups = {.world = world, .before = -1, .behind = -1};
    for (int kind = 0; kind < TRAINING_GROUP_COUNT; kind++) {
        groups.of[kind] = made[kind];
        groups.peers[kind] = peers_of(shape, (enum training_group)kind, world);
    }
    if (place.stage > 0)
        groups.before = world->rank - of_stage;
    if (place.stage < shape->pipeline - 1)
        groups.behind = world->rank + of_stage;
    return groups;
}

struct training_groups
training_groups_new(const struct training_shape *shape, const struct process_group *world,
                    struct arena *arena)
{
    const struct process_group *groups[TRAINING_GROUP_COUNT];
    for (int kind = 0; kind < TRAINING_GROUP_COUNT; kind++)
        groups[kind] = process_group_split(
            world, training_group_color(shape, (enum training_group)kind, world->rank), arena);
    return training_groups_of(shape, world, groups);
}
