/* Prices from hw, as work that a program can hold: kernels, collectives, blocks. */
#include "models/pricing.h"

#include <math.h>

/* Some GPUs place all the work of a kernel before they place that of a collective. */
static double
kernel_hold_s(const struct cluster *cluster, const struct kernel_cost *cost)
{
    bool is_streaming = cost->bound == BOUND_HBM;
    return cost->seconds_s * (is_streaming ? cluster->fabric.streaming_hold_ratio
                                           : cluster->fabric.matrix_hold_ratio);
}

static double
kernel_weight(const struct cluster *cluster, const struct kernel_cost *cost)
{
    bool is_streaming = cost->bound == BOUND_HBM && cluster->fabric.streaming_weight > 0;
    return is_streaming ? cluster->fabric.streaming_weight : 1;
}

/* How much longer a kernel takes that has to leave channels a part c of the units: r rounds of
 * tiles become ceil(r / (1 - c)), so that products of two rounds take three. Other kernels lose c
 * alone. */
static double
ratio_beside_channels(const struct cluster *cluster, const struct kernel_cost *cost)
{
    double left = 1 - cluster->fabric.channel_fraction;
    if (cost->tiles == 0)
        return cost->compute_fraction / left;
    double rounds = (double)cost->tiles / (double)cluster->device->compute_units;
    double waves = (double)cost->waves;
    if (ceil(rounds) != waves) /* several tiles of a wave on a unit, or long ones split */
        rounds = waves;
    return ceil(rounds / left) / waves;
}

/* What a kernel uses of the compute that it shares with collectives: rates are linear in usages,
 * so that usage u by which it gets 1 / ratio of its rate beside a collective that uses s and whose
 * share has w times the weight of its own: u / ratio + s min(1, w / ratio) = 1. At most all. */
static double
kernel_compute_share(const struct cluster *cluster, const struct kernel_cost *cost)
{
    const struct fabric *fabric = &cluster->fabric;
    if (fabric->channel_fraction <= 0)
        return cost->compute_fraction;
    double used =
        cluster->nodes > 1 ? fabric->network_compute_fraction : fabric->node_compute_fraction;
    double ratio = ratio_beside_channels(cluster, cost);
    double weight = fabric->collective_weight / kernel_weight(cluster, cost);
    return fmin(1, ratio - used * fmin(ratio, weight));
}

const struct step_work *
pricing_kernel(const struct pricing *pricing, const char *name, enum step_class spent_on,
               const struct kernel *kernel)
{
    struct kernel_cost cost = {0};
    const struct device *device = pricing->inputs->cluster->device;
    if (!kernel_cost(device, kernel, &cost, pricing->errors))
        return NULL;
    double seconds_s = cost.seconds_s - cost.host_s; /* launches are a lane of their own */
    double speedup = mixed_load_kernel_speedup(device, kernel, &pricing->load);
    struct step_work work = {.name = name,
                             .spent_on = spent_on,
                             .work_s = seconds_s / speedup,
                             .hold_s = kernel_hold_s(pricing->inputs->cluster, &cost),
                             .relative_sigma = cost.relative_sigma,
                             .compute_fraction =
                                 kernel_compute_share(pricing->inputs->cluster, &cost),
                             .weight = kernel_weight(pricing->inputs->cluster, &cost),
                             .hbm_fraction = cost.hbm_fraction,
                             .kernel = arena_copy(pricing->arena, kernel, sizeof *kernel),
                             .kernel_cost = arena_copy(pricing->arena, &cost, sizeof cost)};
    return arena_copy(pricing->arena, &work, sizeof work);
}

const struct step_work *
pricing_collective(const struct pricing *pricing, const char *name, enum step_class spent_on,
                   const struct collective *collective)
{
    struct collective_cost cost = {0};
    if (!collective_cost(pricing->inputs->cluster, collective, &cost, pricing->errors))
        return NULL;
    struct step_work work = {
        .name = name,
        .spent_on = spent_on,
        .delay_s = cost.latency_s,
        .work_s = cost.transfer_s,
        .weight = pricing->inputs->cluster->fabric.collective_weight,
        .relative_sigma = cost.relative_sigma,
        .compute_fraction = cost.compute_fraction,
        .hbm_fraction = cost.hbm_fraction,
        .link_fraction = cost.link_fraction,
        .nic_fraction = cost.nic_fraction,
        .collective = arena_copy(pricing->arena, collective, sizeof *collective),
        .collective_cost = arena_copy(pricing->arena, &cost, sizeof cost),
    };
    return arena_copy(pricing->arena, &work, sizeof work);
}

const struct step_work *
pricing_host(const struct pricing *pricing, int64_t launches)
{
    const struct software *software = pricing->inputs->workload.software;
    struct step_work work = {.name = "launches",
                             .spent_on = CLASS_HOST,
                             .delay_s = (double)launches * software->host_launch_s,
                             .relative_sigma = software->host_launch_relative_sigma};
    return arena_copy(pricing->arena, &work, sizeof work);
}

const struct step_work *
pricing_pass(const struct pricing *pricing, const struct pricing_pass *pass)
{
    struct kernel kernel = {.kind = KERNEL_ELEMENTWISE,
                            .dtype = DTYPE_FP32,
                            .elementwise = {.op = pass->op ? pass->op : pass->name,
                                            .elements = pass->elements,
                                            .read_bytes = pass->read * (double)pass->elements,
                                            .write_bytes = pass->write * (double)pass->elements,
                                            .launches = pass->launches}};
    struct step_work nothing = {.name = pass->name, .spent_on = pass->spent_on};
    if (pass->elements == 0)
        return arena_copy(pricing->arena, &nothing, sizeof nothing);
    return pricing_kernel(pricing, pass->name, pass->spent_on, &kernel);
}

static enum step_lane
lane_of(enum peers peers)
{
    switch (peers) {
    case PEERS_TENSOR:
        return LANE_TENSOR;
    case PEERS_CONTEXT:
        return LANE_CONTEXT;
    case PEERS_EXPERT:
    case PEERS_EXPERT_TENSOR:
        return LANE_EXPERT;
    case PEERS_DATA:
    case PEERS_EXPERT_DATA:
    case PEERS_SHARD:
    case PEERS_REPLICAS:
    case PEERS_EXPERT_SHARD:
    case PEERS_EXPERT_REPLICAS:
    case PEERS_ENDS:
    case PEERS_ALL:
    case PEERS_COUNT:
        break;
    }
    return LANE_DATA;
}

static const struct step_work *
price_exchange(const struct pricing *pricing, const struct placement *placement,
               const struct shard_exchange *exchange)
{
    struct collective collective = {.kind = exchange->kind,
                                    .dtype = exchange->dtype,
                                    .group = placement_group(placement, exchange->peers, 0),
                                    .bytes = exchange->bytes,
                                    .crossing_fraction = exchange->crossing_fraction};
    collective.ranks = placement_group_ranks(placement, exchange->peers);
    if (exchange->kind == COLLECTIVE_SEND_RECV) { /* each to the next of the group */
        collective.from = rank_group_at(&collective.group, 0);
        collective.to = rank_group_at(&collective.group, 1);
        collective.group = (struct rank_group){.size = 0};
        collective.ranks = 2;
    }
    return pricing_collective(pricing, exchange->name, exchange->spent_on, &collective);
}

const struct step_work *
pricing_step(const struct pricing *pricing, const struct placement *placement,
             const struct shard_step *step)
{
    const struct operation *operation = step->operation;
    if (step->exchange)
        return price_exchange(pricing, placement, step->exchange);
    return pricing_kernel(pricing, operation->name, operation->spent_on, &operation->kernel);
}

static bool
price_step(const struct pricing *pricing, const struct placement *placement,
           const struct shard_step *step, struct priced_step *out)
{
    out->lane = step->exchange ? lane_of(step->exchange->peers) : LANE_COMPUTE;
    out->peers = step->exchange ? step->exchange->peers : PEERS_TENSOR;
    out->work = pricing_step(pricing, placement, step);
    return out->work != NULL;
}

/* A list of a block with its prices, before it is cut into passes. */
struct priced_source {
    struct shard_list list;
    struct priced_step *prices; /* of each step */
    bool *runs_again;           /* of each step, before its backward */
};

static bool
price_source(const struct pricing *pricing, const struct placement *placement,
             struct priced_source *source)
{
    source->prices =
        arena_alloc(pricing->arena, (size_t)source->list.count, sizeof *source->prices);
    for (int64_t i = 0; i < source->list.count; i++)
        if (!price_step(pricing, placement, &source->list.steps[i], &source->prices[i]))
            return false;
    return true;
}

/* Casts run again with the product behind them. */
static void
mark_casts(struct priced_source *source)
{
    for (int64_t i = source->list.count - 2; i >= 0; i--) {
        const struct operation *operation = source->list.steps[i].operation;
        if (operation && operation->spent_on == CLASS_QUANTIZATION)
            source->runs_again[i] = source->runs_again[i + 1];
    }
}

/* Of the classes that run again; or of all but attention and every other product. */
static void
mark_repeated(const struct pricing *pricing, struct priced_source *source, bool is_layer)
{
    const struct plan *plan = pricing->inputs->workload.plan;
    bool is_alternating = plan->recompute == RECOMPUTE_EVERY_OTHER_PRODUCT;
    int64_t products = 0;
    source->runs_again =
        arena_alloc(pricing->arena, (size_t)source->list.count, sizeof *source->runs_again);
    for (int64_t i = 0; i < source->list.count; i++) {
        const struct operation *operation = source->list.steps[i].operation;
        bool is_product = operation && shard_is_product(&operation->kernel);
        bool is_kept = is_product ? ++products % 2 == 1
                                  : operation && operation->kernel.kind == KERNEL_ATTENTION;
        if (is_layer && operation)
            source->runs_again[i] =
                is_alternating ? !is_kept : plan->recompute_classes >> operation->spent_on & 1;
    }
    mark_casts(source);
}

/* Which steps of a list a pass takes. */
enum selection { SELECT_ALL, SELECT_REPEATED, SELECT_INPUT_GRADIENTS, SELECT_WEIGHT_GRADIENTS };

static bool
is_selected(const struct priced_source *source, int64_t index, enum selection selection)
{
    const struct shard_step *step = &source->list.steps[index];
    switch (selection) {
    case SELECT_ALL:
        return true;
    case SELECT_REPEATED:
        return source->runs_again[index];
    case SELECT_INPUT_GRADIENTS:
        return !step->is_weight_gradient;
    case SELECT_WEIGHT_GRADIENTS:
        return step->is_weight_gradient;
    }
    return false;
}

static int64_t
launches_of(const struct step_work *work)
{
    bool is_pass = work->kernel && work->kernel->kind == KERNEL_ELEMENTWISE;
    return is_pass ? work->kernel->elementwise.launches : 1;
}

const struct step_work *
pricing_launches(const struct pricing *pricing, const struct step_work *work)
{
    return pricing_host(pricing, launches_of(work));
}

/* A pass that is being put together. */
struct pass_writer {
    struct priced_step *steps;
    int64_t count, launches;
};

/* Steps [begin, end) of a source that are selected. An exchange is waited for by the first
 * selected step that is not beside it. */
static void
take_steps(struct pass_writer *writer, const struct priced_source *source, int64_t begin,
           int64_t end, enum selection selection)
{
    for (int64_t i = begin; i < end; i++) {
        const struct shard_step *step = &source->list.steps[i];
        if (!is_selected(source, i, selection))
            continue;
        int64_t needed_at = writer->count + 1;
        for (int64_t j = i + 1; j <= i + step->beside && j < end; j++)
            needed_at += is_selected(source, j, selection);
        writer->launches += launches_of(source->prices[i].work);
        writer->steps[writer->count] = source->prices[i];
        writer->steps[writer->count++].needed_at = needed_at;
    }
}

/* Where backward comes to the first class of which something runs again. */
static int64_t
find_repeated(const struct priced_source *source)
{
    int64_t i = 0;
    while (i < source->list.count && !source->runs_again[i])
        i++;
    return i;
}

/* With full recomputation a layer's block runs forward again before its backward; of chosen
 * operators those run again before the first backward of one of them. */
static void
write_backward(struct pass_writer *writer, const struct priced_source sources[2],
               enum recompute_kind recompute, enum selection selection)
{
    const struct priced_source *forward = &sources[0], *backward = &sources[1];
    int64_t begin = recompute == RECOMPUTE_EVERY_OTHER_PRODUCT ? 0 : find_repeated(backward);
    int64_t end = backward->list.count;
    if (recompute == RECOMPUTE_FULL)
        take_steps(writer, forward, 0, forward->list.count, SELECT_ALL);
    take_steps(writer, backward, 0, begin, selection);
    if (recompute != RECOMPUTE_FULL && begin < end)
        take_steps(writer, forward, 0, forward->list.count, SELECT_REPEATED);
    take_steps(writer, backward, begin, end, selection);
}

static struct priced_list
write_pass(const struct pricing *pricing, const struct priced_source sources[2],
           enum pass_kind pass, enum recompute_kind recompute)
{
    size_t room = (size_t)(sources[0].list.count + sources[1].list.count);
    struct pass_writer writer = {arena_alloc(pricing->arena, room, sizeof *writer.steps), 0, 0};
    switch (pass) {
    case PASS_FORWARD:
        take_steps(&writer, &sources[0], 0, sources[0].list.count, SELECT_ALL);
        break;
    case PASS_BACKWARD:
        write_backward(&writer, sources, recompute, SELECT_ALL);
        break;
    case PASS_INPUT_GRADIENT:
        write_backward(&writer, sources, recompute, SELECT_INPUT_GRADIENTS);
        break;
    case PASS_WEIGHT_GRADIENT:
        take_steps(&writer, &sources[1], 0, sources[1].list.count, SELECT_WEIGHT_GRADIENTS);
        break;
    }
    return (struct priced_list){writer.steps, writer.count,
                                pricing_host(pricing, writer.launches)};
}

/* Both lists of a block with their prices: what plans share that differ in what runs again. */
struct priced_lists {
    struct priced_source sources[2];
    bool is_layer;
};

const struct priced_lists *
pricing_lists(const struct pricing *pricing, const struct shard *shard, enum block block,
              int64_t expert_place)
{
    struct shard_block split = shard_block(shard, block, expert_place, pricing->arena);
    struct priced_lists *lists = arena_alloc(pricing->arena, 1, sizeof *lists);
    lists->sources[0].list = split.forward;
    lists->sources[1].list = split.backward;
    lists->is_layer = operators_is_of_layer(block);
    for (int i = 0; i < 2; i++)
        if (!price_source(pricing, &shard->placement, &lists->sources[i]))
            return NULL;
    return lists;
}

const struct priced_block *
pricing_passes(const struct pricing *pricing, const struct priced_lists *lists)
{
    struct priced_source sources[2] = {lists->sources[0], lists->sources[1]};
    struct priced_block *out = arena_alloc(pricing->arena, 1, sizeof *out);
    const struct plan *plan = pricing->inputs->workload.plan;
    enum recompute_kind recompute = lists->is_layer ? plan->recompute : RECOMPUTE_NONE;
    for (int i = 0; i < 2; i++)
        mark_repeated(pricing, &sources[i], lists->is_layer);
    for (int pass = 0; pass < PASS_KINDS; pass++) {
        out->passes[pass] = out->kept[pass] =
            write_pass(pricing, sources, (enum pass_kind)pass, recompute);
        if (plan->recompute_layers > 0 && recompute == RECOMPUTE_FULL)
            out->kept[pass] =
                write_pass(pricing, sources, (enum pass_kind)pass, RECOMPUTE_NONE);
    }
    return out;
}

const struct priced_block *
pricing_block(const struct pricing *pricing, const struct shard *shard, enum block block,
              int64_t expert_place)
{
    const struct priced_lists *lists = pricing_lists(pricing, shard, block, expert_place);
    return lists ? pricing_passes(pricing, lists) : NULL;
}
