/* Prices of the optimizer's work on each rank's share: what ranks exchange, and which of them is
 * the slowest. */
#include "models/share_prices.h"

static int64_t
larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A stage, and the ranks that share its weights. */
struct sharing {
    const struct placement *placement;
    const struct shard_tensors *tensors;
    const int64_t *ranks; /* in order; the first once more behind the last */
    const int *pairs;     /* how each lies to the one before it: collective_pair; likewise */
    int64_t stage, count;
    int64_t gathered_experts; /* elements of experts that each gathers */
};

/* The index-th of those ranks, with its share. */
struct owner {
    const struct sharing *sharing;
    const struct optimizer_share *share;
    int64_t index;
};

/* Who has the pieces that border on the owner's, before them or after them. */
struct neighbour {
    int64_t rank, elements; /* that are exchanged with it */
    int pair;
};

static struct neighbour
neighbour_before(const struct owner *owner)
{
    int64_t before = owner->index > 0 ? owner->index - 1 : owner->sharing->count - 1;
    return (struct neighbour){owner->sharing->ranks[before],
                              owner->share->exchange_before_elements,
                              owner->sharing->pairs[owner->index]};
}

static struct neighbour
neighbour_after(const struct owner *owner)
{
    return (struct neighbour){owner->sharing->ranks[owner->index + 1],
                              owner->share->exchange_after_elements,
                              owner->sharing->pairs[owner->index + 1]};
}

/* To a neighbour that lies as the other does more elements take no less: of two such the one that
 * gets fewer need not be priced. */
static bool
is_surely_quicker(const struct neighbour sides[2], int side)
{
    return sides[0].pair == sides[1].pair && sides[0].elements > 0 && sides[1].elements > 0 &&
           side == (sides[1].elements <= sides[0].elements);
}

/* Pieces go to the neighbours on both sides at once; the slower side counts. */
static const struct step_work *
price_pieces(const struct pricing *pricing, const struct owner *owner)
{
    enum dtype dtype = pricing->inputs->workload.plan->compute_dtype;
    const struct neighbour sides[] = {neighbour_before(owner), neighbour_after(owner)};
    const struct step_work *slowest = NULL;
    for (int side = 0; side < 2; side++) {
        double elements = (double)sides[side].elements;
        struct collective collective = {.kind = COLLECTIVE_SEND_RECV,
                                        .dtype = dtype,
                                        .ranks = 2,
                                        .bytes = dtype_bytes(dtype) * elements,
                                        .from = owner->sharing->ranks[owner->index],
                                        .to = sides[side].rank};
        if (sides[side].elements == 0 || is_surely_quicker(sides, side))
            continue;
        const struct step_work *work = pricing_collective(
            pricing, "exchange_split_matrices", CLASS_OPTIMIZER_EXCHANGE, &collective);
        if (!work)
            return NULL;
        if (!slowest || work->delay_s + work->work_s > slowest->delay_s + slowest->work_s)
            slowest = work;
    }
    struct pricing_pass nothing = {.name = "exchange_split_matrices",
                                   .spent_on = CLASS_OPTIMIZER_EXCHANGE};
    return slowest ? slowest : pricing_pass(pricing, &nothing);
}

/* All matrices of the peers of this kind into a buffer on each of them; NULL without error where
 * there are none. */
static const struct step_work *
price_gather(const struct pricing *pricing, const struct owner *owner, enum peers peers,
             int64_t elements)
{
    enum dtype dtype = pricing->inputs->workload.plan->compute_dtype;
    const struct placement *placement = owner->sharing->placement;
    int64_t rank = owner->sharing->ranks[owner->index];
    struct collective collective = {.kind = COLLECTIVE_ALL_GATHER,
                                    .dtype = dtype,
                                    .group = placement_group(placement, peers, rank),
                                    .ranks = placement_group_ranks(placement, peers),
                                    .bytes = dtype_bytes(dtype) * (double)elements};
    struct pricing_pass nothing = {.name = "gather_matrices",
                                   .spent_on = CLASS_OPTIMIZER_EXCHANGE};
    if (elements == 0 || collective.ranks == 1)
        return pricing_pass(pricing, &nothing);
    return pricing_collective(pricing, "gather_matrices", CLASS_OPTIMIZER_EXCHANGE,
                              &collective);
}

/* Dense matrices and experts, one gather behind the other. */
static const struct step_work *
price_gathers(const struct pricing *pricing, const struct owner *owner)
{
    int64_t dense = owner->share->gathered_elements - owner->sharing->gathered_experts;
    const struct step_work *first = price_gather(pricing, owner, PEERS_SHARD, dense);
    const struct step_work *second =
        price_gather(pricing, owner, PEERS_EXPERT_SHARD, owner->sharing->gathered_experts);
    if (!first || !second)
        return NULL;
    bool is_first_longer = first->work_s > second->work_s;
    struct step_work both = is_first_longer ? *first : *second;
    both.delay_s = first->delay_s + second->delay_s;
    both.work_s = first->work_s + second->work_s;
    return arena_copy(pricing->arena, &both, sizeof both);
}

static const struct step_work *
price_exchange(const struct pricing *pricing, const struct owner *owner)
{
    if (owner->share->gathered_elements > 0)
        return price_gathers(pricing, owner);
    return price_pieces(pricing, owner);
}

/* Whether owners before it on the stage, with as much to do, have exchanged no less with ranks that
 * lie so. */
static bool
is_behind_others(struct priced_share *known, const struct owner *owner)
{
    struct neighbour before = neighbour_before(owner), after = neighbour_after(owner);
    int64_t *most = known->most_elements;
    for (int pair = 0; pair < COLLECTIVE_PAIRS && known->stage != owner->sharing->stage; pair++)
        most[pair] = -1;
    known->stage = owner->sharing->stage;
    if (before.elements <= most[before.pair] && after.elements <= most[after.pair])
        return true;
    most[before.pair] = larger(most[before.pair], before.elements);
    most[after.pair] = larger(most[after.pair], after.elements);
    return false;
}

/* How long a rank is busy with its share behind the gradient norm, where all ranks start together;
 * AdamW runs beside the exchange. */
static double
busy_s(const struct share_work *own)
{
    double exchange_s = own->exchange->delay_s + own->exchange->work_s;
    double beside_s = own->works[SHARE_ADAMW]->work_s;
    return own->works[SHARE_MOMENTUM]->work_s +
           (exchange_s > beside_s ? exchange_s : beside_s) +
           own->works[SHARE_NEWTON_SCHULZ]->work_s + own->works[SHARE_UPDATE]->work_s;
}

/* Of dense weights and of experts together. */
static struct optimizer_share
join(const struct optimizer_share *a, const struct optimizer_share *b, struct arena *arena)
{
    struct optimizer_share sum = *a;
    int sizes = a->matrix_sizes + b->matrix_sizes;
    struct optimizer_matrices *matrices =
        arena_alloc_unset(arena, (size_t)sizes, sizeof *matrices);
    sum.adamw_parameters += b->adamw_parameters;
    sum.muon_parameters += b->muon_parameters;
    sum.fp8_parameters += b->fp8_parameters;
    sum.tensors += b->tensors;
    for (int i = 0; i < sizes; i++)
        matrices[i] = i < a->matrix_sizes ? a->matrices[i] : b->matrices[i - a->matrix_sizes];
    sum.matrices = matrices;
    sum.matrix_sizes = sizes;
    sum.exchange_before_elements += b->exchange_before_elements;
    sum.exchange_after_elements += b->exchange_after_elements;
    sum.gathered_elements += b->gathered_elements;
    sum.owners_max = larger(a->owners_max, b->owners_max);
    return sum;
}

/* The rank of that stage which is the index-th among its data ranks. */
static int64_t
data_rank(const struct placement *placement, int64_t stage, int64_t index)
{
    struct rank_place place = {.pipeline = stage};
    place.data = index / placement->context;
    place.context = index % placement->context;
    return placement_rank(placement, &place);
}

static void
list_ranks(const struct pricing *pricing, struct sharing *sharing)
{
    size_t count = (size_t)sharing->count;
    int64_t *ranks = arena_alloc_unset(pricing->arena, count + 1, sizeof *ranks);
    int *pairs = arena_alloc_unset(pricing->arena, count + 1, sizeof *pairs);
    for (size_t i = 0; i < count; i++)
        ranks[i] = data_rank(sharing->placement, sharing->stage, (int64_t)i);
    ranks[count] = ranks[0];
    for (size_t i = 1; i <= count; i++)
        pairs[i] = collective_pair(pricing->inputs->cluster, ranks[i - 1], ranks[i]);
    pairs[0] = pairs[count];
    sharing->ranks = ranks;
    sharing->pairs = pairs;
}

static const struct optimizer_share *
stage_shares(const struct pricing *pricing, struct sharing *sharing)
{
    struct arena *arena = pricing->arena;
    const struct placement *placement = sharing->placement;
    const struct plan *plan = pricing->inputs->workload.plan;
    const struct optimizer_share *dense =
        optimizer_shares(&sharing->tensors->dense, plan, placement->shard, arena);
    bool is_one_list = sharing->tensors->experts.count == 0;
    if (is_one_list && placement->shard == sharing->count)
        return dense;
    const struct optimizer_share *experts =
        optimizer_shares(&sharing->tensors->experts, plan, placement->expert_shard, arena);
    struct optimizer_share *both =
        arena_alloc_unset(arena, (size_t)sharing->count, sizeof *both);
    sharing->gathered_experts = experts->gathered_elements;
    for (int64_t i = 0; i < sharing->count; i++) {
        int64_t place =
            placement_at(placement, sharing->ranks[i]).expert_data % placement->expert_shard;
        both[i] = join(&dense[i % placement->shard], &experts[place], arena);
    }
    return both;
}

/* Of each kind of rank of the stage the lowest of those that take longest. */
static void
find_slowest(const struct program *program, const struct sharing *sharing,
             struct rank_program *kinds, struct arena *arena)
{
    const struct share_work *works = &program->shares[sharing->stage * program->data_ranks];
    struct rank_program *first = &kinds[sharing->stage * program->expert_places];
    double *longest_s = arena_alloc(arena, (size_t)program->expert_places, sizeof *longest_s);
    for (int64_t i = 0; i < program->expert_places; i++) {
        struct rank_place place = placement_at(sharing->placement, first[i].slowest_rank);
        longest_s[i] = busy_s(&works[place.data * sharing->placement->context + place.context]);
    }
    for (int64_t i = 0; i < sharing->count; i++) {
        int64_t rank = sharing->ranks[i];
        int64_t kind = program->expert_places == 1
                           ? 0
                           : program_kind(program, rank) - program->kinds -
                                 sharing->stage * program->expert_places;
        double own_s = works[i].exchange ? busy_s(&works[i]) : 0;
        if (own_s > longest_s[kind]) {
            longest_s[kind] = own_s;
            first[kind].slowest_rank = rank;
        }
    }
}

/* Folded, of ranks of one kind the exchanges are priced that may be the longest. */
static bool
price_stage(const struct pricing *pricing, struct share_prices *prices, struct sharing *sharing,
            struct program *program)
{
    struct share_work *works = &program->shares[sharing->stage * program->data_ranks];
    const struct optimizer_share *shares = stage_shares(pricing, sharing);
    bool is_all =
        program->is_all || program->expert_places > 1 || shares->gathered_elements > 0;
    for (int64_t i = 0; i < sharing->count; i++) {
        struct owner owner = {sharing, &shares[i], i};
        struct priced_share *known = share_prices_find(prices, pricing, owner.share);
        if (!known)
            return false;
        works[i].works = known->works;
        program->owners_max = larger(program->owners_max, shares[i].owners_max);
        if (!is_all && is_behind_others(known, &owner))
            continue;
        works[i].exchange = price_exchange(pricing, &owner);
        if (!works[i].exchange)
            return false;
    }
    return true;
}

bool
pricing_shares(const struct pricing *pricing, const struct shard_tensors *tensors,
               struct program *program, struct rank_program *kinds)
{
    const struct placement *placement = &program->placement;
    struct share_prices *prices = share_prices_new(pricing->arena);
    program->data_ranks = placement->data * placement->context;
    program->shares =
        arena_alloc(pricing->arena, (size_t)(placement->pipeline * program->data_ranks),
                    sizeof *program->shares);
    for (int64_t stage = 0; stage < placement->pipeline; stage++) {
        struct sharing sharing = {.placement = placement,
                                  .tensors = &tensors[stage],
                                  .stage = stage,
                                  .count = program->data_ranks};
        list_ranks(pricing, &sharing);
        if (!price_stage(pricing, prices, &sharing, program))
            return false;
        find_slowest(program, &sharing, kinds, pricing->arena);
    }
    return true;
}
