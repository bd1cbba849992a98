/* Which rank stands where: mixed-radix numbers along the plan's order of axes. */
#include "models/placement.h"

struct placement
placement_of(const struct plan *plan, const struct cluster *cluster)
{
    int64_t gpus = cluster_gpus(cluster);
    struct placement placement = {
        .ranks = gpus,
        .gpus_per_node = cluster->gpus_per_node,
        .tensor = plan->tensor,
        .context = plan->context,
        .data = gpus / (plan->tensor * plan->context * plan->pipeline),
        .pipeline = plan->pipeline,
        .expert_tensor = plan->expert_tensor,
        .expert = plan->expert,
        .expert_data = gpus / (plan->expert_tensor * plan->expert * plan->pipeline),
    };
    for (int i = 0; i < PLAN_AXIS_COUNT; i++)
        placement.order[i] = plan->order[i];
    int64_t data = placement.data * placement.context;
    placement.shard = plan->shard_ranks > 0 ? plan->shard_ranks : data;
    bool is_cut = placement.shard < data && placement.expert_data % placement.shard == 0;
    placement.expert_shard = is_cut ? placement.shard : placement.expert_data;
    return placement;
}

/* Degrees along the axes; an axis that a layout does not have is 1. */
struct degrees {
    int64_t of[PLAN_AXIS_COUNT];
};

static struct degrees
dense_degrees(const struct placement *placement)
{
    return (struct degrees){{[AXIS_TENSOR] = placement->tensor,
                             [AXIS_CONTEXT] = placement->context,
                             [AXIS_EXPERT] = 1,
                             [AXIS_DATA] = placement->data,
                             [AXIS_PIPELINE] = placement->pipeline}};
}

static struct degrees
expert_degrees(const struct placement *placement)
{
    return (struct degrees){{[AXIS_TENSOR] = placement->expert_tensor,
                             [AXIS_CONTEXT] = 1,
                             [AXIS_EXPERT] = placement->expert,
                             [AXIS_DATA] = placement->expert_data,
                             [AXIS_PIPELINE] = placement->pipeline}};
}

static struct degrees
digits_of(const struct placement *placement, const struct degrees *degrees, int64_t rank)
{
    struct degrees digits = {{0}};
    for (int i = 0; i < PLAN_AXIS_COUNT; i++) {
        enum plan_axis axis = placement->order[i];
        if (degrees->of[axis] == 1)
            continue; /* most are, and a division takes longer than all else here */
        digits.of[axis] = rank % degrees->of[axis];
        rank /= degrees->of[axis];
    }
    return digits;
}

static int64_t
number_of(const struct placement *placement, const struct degrees *degrees,
          const struct degrees *digits)
{
    int64_t rank = 0;
    for (int i = PLAN_AXIS_COUNT - 1; i >= 0; i--) {
        enum plan_axis axis = placement->order[i];
        rank = rank * degrees->of[axis] + digits->of[axis];
    }
    return rank;
}

struct rank_place
placement_at(const struct placement *placement, int64_t rank)
{
    struct degrees dense = dense_degrees(placement), experts = expert_degrees(placement);
    struct degrees a = digits_of(placement, &dense, rank);
    struct degrees b = digits_of(placement, &experts, rank);
    return (struct rank_place){.tensor = a.of[AXIS_TENSOR],
                               .context = a.of[AXIS_CONTEXT],
                               .data = a.of[AXIS_DATA],
                               .pipeline = a.of[AXIS_PIPELINE],
                               .expert_tensor = b.of[AXIS_TENSOR],
                               .expert = b.of[AXIS_EXPERT],
                               .expert_data = b.of[AXIS_DATA]};
}

int64_t
placement_rank(const struct placement *placement, const struct rank_place *place)
{
    struct degrees degrees = dense_degrees(placement);
    struct degrees digits = {{[AXIS_TENSOR] = place->tensor,
                              [AXIS_CONTEXT] = place->context,
                              [AXIS_DATA] = place->data,
                              [AXIS_PIPELINE] = place->pipeline}};
    return number_of(placement, &degrees, &digits);
}

/* The axes along which the members of a group differ. */
static unsigned
group_axes(enum peers peers)
{
    static const unsigned axes[PEERS_COUNT] = {
        [PEERS_TENSOR] = 1u << AXIS_TENSOR,
        [PEERS_CONTEXT] = 1u << AXIS_CONTEXT,
        [PEERS_DATA] = 1u << AXIS_DATA | 1u << AXIS_CONTEXT,
        [PEERS_EXPERT] = 1u << AXIS_EXPERT,
        [PEERS_EXPERT_TENSOR] = 1u << AXIS_TENSOR,
        [PEERS_EXPERT_DATA] = 1u << AXIS_DATA,
        [PEERS_SHARD] = 1u << AXIS_DATA | 1u << AXIS_CONTEXT,
        [PEERS_REPLICAS] = 1u << AXIS_DATA | 1u << AXIS_CONTEXT,
        [PEERS_EXPERT_SHARD] = 1u << AXIS_DATA,
        [PEERS_EXPERT_REPLICAS] = 1u << AXIS_DATA,
        [PEERS_ENDS] = 1u << AXIS_PIPELINE,
        [PEERS_ALL] = (1u << PLAN_AXIS_COUNT) - 1,
    };
    return axes[peers];
}

static bool
is_of_experts(enum peers peers)
{
    return peers == PEERS_EXPERT || peers == PEERS_EXPERT_TENSOR ||
           peers == PEERS_EXPERT_DATA || peers == PEERS_EXPERT_SHARD ||
           peers == PEERS_EXPERT_REPLICAS;
}

/* The lowest rank of all that differ along the group's axes only. */
static int64_t
first_of_axes(const struct placement *placement, enum peers peers, int64_t rank)
{
    struct degrees degrees =
        is_of_experts(peers) ? expert_degrees(placement) : dense_degrees(placement);
    struct degrees digits = digits_of(placement, &degrees, rank);
    for (int axis = 0; axis < PLAN_AXIS_COUNT; axis++)
        if (group_axes(peers) & 1u << axis)
            digits.of[axis] = 0;
    return number_of(placement, &degrees, &digits);
}

/* Axes that follow each other in the plan's order are one row; a second such run makes rows of
 * it. No group here has a third. */
static struct rank_group
rows_of(const struct placement *placement, const struct degrees *degrees, unsigned axes)
{
    struct rank_group group = {.size = 1, .stride = 1, .rows = 1, .row_stride = 0};
    int64_t stride = 1;
    bool is_row_open = true;
    for (int i = 0; i < PLAN_AXIS_COUNT; i++) {
        enum plan_axis axis = placement->order[i];
        int64_t degree = degrees->of[axis];
        if (degree == 1)
            continue;
        if (!(axes & 1u << axis)) {
            is_row_open = group.size == 1;
        } else if (is_row_open) {
            group.stride = group.size == 1 ? stride : group.stride;
            group.size *= degree;
        } else {
            group.row_stride = group.rows == 1 ? stride : group.row_stride;
            group.rows *= degree;
        }
        stride *= degree;
    }
    return group;
}

/* Data ranks are cut into shards that follow each other: of a row of them, `shard` neighbours, or
 * those at the same place of each shard. */
static void
cut_row(struct rank_group *row, int64_t shard, int64_t rank, bool is_replicas)
{
    int64_t place = (rank - row->first) / row->stride;
    bool is_whole = shard == rank_group_count(row);
    if (is_whole && is_replicas) {
        *row = (struct rank_group){.first = rank, .size = 1, .stride = 1, .rows = 1};
    } else if (is_whole) {
        return;
    } else if (is_replicas) {
        row->first += place % shard * row->stride;
        row->size /= shard;
        row->stride *= shard;
    } else {
        row->first += place / shard * shard * row->stride;
        row->size = shard;
    }
}

struct rank_group
placement_group(const struct placement *placement, enum peers peers, int64_t rank)
{
    struct degrees degrees =
        is_of_experts(peers) ? expert_degrees(placement) : dense_degrees(placement);
    struct rank_group group = rows_of(placement, &degrees, group_axes(peers));
    group.first = first_of_axes(placement, peers, rank);
    if (peers == PEERS_ENDS && group.size > 1) { /* only the outermost of the row */
        group.stride *= group.size - 1;
        group.size = 2;
    }
    if (peers == PEERS_SHARD || peers == PEERS_REPLICAS)
        cut_row(&group, placement->shard, rank, peers == PEERS_REPLICAS);
    if (peers == PEERS_EXPERT_SHARD || peers == PEERS_EXPERT_REPLICAS)
        cut_row(&group, placement->expert_shard, rank, peers == PEERS_EXPERT_REPLICAS);
    return group;
}

int64_t
placement_group_ranks(const struct placement *placement, enum peers peers)
{
    struct rank_group group = placement_group(placement, peers, 0);
    return rank_group_count(&group);
}

int64_t
placement_first(const struct placement *placement, enum peers peers, int64_t rank)
{
    return placement_group(placement, peers, rank).first;
}
