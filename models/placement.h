/* Which rank stands where: the degrees of a plan laid out over the GPUs of a cluster.
 *
 * The same GPUs are laid out twice, as Megatron-Core does (parallel_state.py, RankGenerator;
 * arXiv 2504.14960): attention and everything dense by tensor, context, data and pipeline; the
 * experts by expert-tensor, expert, expert-data and pipeline. Ranks are numbered along the axes
 * of the plan's order, the first changing fastest. Only the pipeline must agree between the two.
 */
#ifndef MODELS_PLACEMENT_H
#define MODELS_PLACEMENT_H

#include "hw/rank_group.h"
#include "models/plan.h"

/* Who takes part in a collective with a rank. */
enum peers {
    PEERS_TENSOR,        /* share a layer's dense products */
    PEERS_CONTEXT,       /* share a sequence */
    PEERS_DATA,          /* hold the same dense weights: data x context */
    PEERS_EXPERT,        /* share the experts of a layer */
    PEERS_EXPERT_TENSOR, /* share each expert's products */
    PEERS_EXPERT_DATA,   /* hold the same experts */
    PEERS_SHARD,         /* of PEERS_DATA: hold one copy of what is sharded between them */
    PEERS_REPLICAS,      /* of PEERS_DATA: hold the same shard of it */
    PEERS_EXPERT_SHARD,  /* the same of PEERS_EXPERT_DATA */
    PEERS_EXPERT_REPLICAS,
    PEERS_ENDS, /* first and last stage: the two copies of a tied embedding */
    PEERS_ALL,
    PEERS_COUNT
} __attribute__((packed));

struct placement {
    int64_t ranks, gpus_per_node;
    int64_t tensor, context, data, pipeline;
    int64_t expert_tensor, expert, expert_data;
    int64_t shard,
        expert_shard; /* data ranks (expert-data ranks) that a shard is spread over */
    enum plan_axis order[PLAN_AXIS_COUNT];
};

/* Where a rank stands on each axis of both layouts. */
struct rank_place {
    int64_t tensor, context, data, pipeline;
    int64_t expert_tensor, expert, expert_data;
};

/* The plan has been checked against the cluster. */
struct placement placement_of(const struct plan *plan, const struct cluster *cluster);

struct rank_place placement_at(const struct placement *placement, int64_t rank);
/* The rank at that place of the dense layout. */
int64_t placement_rank(const struct placement *placement, const struct rank_place *place);

/* The rank, the others that take part with it, and how they lie. */
struct rank_group placement_group(const struct placement *placement, enum peers peers,
                                  int64_t rank);
int64_t placement_group_ranks(const struct placement *placement, enum peers peers);

/* The lowest rank of that group: equal for all its members. */
int64_t placement_first(const struct placement *placement, enum peers peers, int64_t rank);

#endif
