/* Names and counts as PyTorch's profiler (Kineto) writes them for a kernel of NCCL or RCCL. */
#include "sim/cli/chrome_collective.h"

int64_t
chrome_collective_sender(const struct step *step, int64_t rank, const struct step_item *item)
{
    const struct placement *placement = &step->lowered.program->placement;
    struct rank_place place = placement_at(placement, rank);
    place.pipeline = item->from_stage;
    return placement_rank(placement, &place);
}

/* What Kineto calls a collective, and a dtype. */
static const char *
collective_name(enum collective_kind kind)
{
    static const char *const names[] = {
        [COLLECTIVE_ALL_REDUCE] = "allreduce",
        [COLLECTIVE_REDUCE_SCATTER] = "_reduce_scatter_base",
        [COLLECTIVE_ALL_GATHER] = "_allgather_base",
        [COLLECTIVE_BROADCAST] = "broadcast",
        [COLLECTIVE_ALL_TO_ALL] = "all_to_all",
        [COLLECTIVE_SEND_RECV] = "send",
        [COLLECTIVE_ALL_TO_ALL_V] = "all_to_allv",
    };
    return names[kind];
}

/* TraceLens has no size for fp8: as bytes it is also how PyTorch sends it. */
static const char *
torch_dtype(enum dtype dtype)
{
    static const char *const names[] = {
        [DTYPE_FP64] = "Double",   [DTYPE_FP32] = "Float", [DTYPE_TF32] = "Float",
        [DTYPE_BF16] = "BFloat16", [DTYPE_FP16] = "Half",  [DTYPE_FP8] = "Byte",
        [DTYPE_INT8] = "Byte",
    };
    return names[dtype];
}

/* Kineto cuts long lists of ranks. */
enum { RANKS_LISTED_MAX = 30 };

/* "[0, 1, ..]". */
static const char *
list_ranks(struct arena *arena, const struct rank_group *group)
{
    struct text list = text_new(arena);
    int64_t count = rank_group_count(group);
    for (int64_t i = 0; i < count && i < RANKS_LISTED_MAX; i++)
        text_format(&list, "%s%lld", i == 0 ? "[" : ", ", (long long)rank_group_at(group, i));
    text_format(&list, count > RANKS_LISTED_MAX ? ", ...]" : "]");
    return list.bytes;
}

/* Groups by their peers; behind them pairs of ranks. */
static const char *const group_names[] = {
    [PEERS_DATA] = "DATA_PARALLEL_GROUP",
    [PEERS_TENSOR] = "TENSOR_MODEL_PARALLEL_GROUP",
    [PEERS_CONTEXT] = "CONTEXT_PARALLEL_GROUP",
    [PEERS_EXPERT] = "EXPERT_MODEL_PARALLEL_GROUP",
    [PEERS_EXPERT_TENSOR] = "EXPERT_TENSOR_PARALLEL_GROUP",
    [PEERS_EXPERT_DATA] = "EXPERT_DATA_PARALLEL_GROUP",
    [PEERS_SHARD] = "DATA_PARALLEL_GROUP",
    [PEERS_REPLICAS] = "INTER_DISTRIBUTED_OPTIMIZER_INSTANCE_GROUP",
    [PEERS_EXPERT_SHARD] = "EXPERT_DATA_PARALLEL_GROUP",
    [PEERS_EXPERT_REPLICAS] = "INTER_DISTRIBUTED_OPTIMIZER_INSTANCE_GROUP_EXPERT",
    [PEERS_ENDS] = "EMBEDDING_GROUP",
    [PEERS_ALL] = "WORLD",
    [PEERS_COUNT] = "OPTIMIZER_NEIGHBOURS",
    [PEERS_COUNT + 1] = "PIPELINE_MODEL_PARALLEL_GROUP",
};

static int
group_number(const struct step_item *item)
{
    if (item->is_joint)
        return (int)item->peers;
    return item->from_stage != STEP_NONE ? PEERS_COUNT + 1 : PEERS_COUNT;
}

/* Of a transfer both ends; of what is no group's the ends that it was priced for. */
static void
find_pair(const struct chrome_collective *of, int64_t pair[2])
{
    bool is_transfer = of->item->from_stage != STEP_NONE;
    pair[0] = is_transfer ? chrome_collective_sender(of->step, of->rank, of->item)
                          : of->collective->from;
    pair[1] = is_transfer ? of->rank : of->collective->to;
    rank_list_sort(pair, 2);
}

/* Who takes part, and by what name: the kind of group and its lowest rank, which no other group of
 * that kind has; of pairs both. */
static void
write_group(const struct chrome_collective *of, struct json_writer *writer, struct arena *arena)
{
    const struct placement *placement = &of->step->lowered.program->placement;
    int number = group_number(of->item);
    int64_t pair[2];
    struct rank_group group = {.size = 2, .list = pair};
    const char *name = NULL;
    if (of->item->is_joint) {
        enum peers peers = of->item->peers;
        group = placement_group(placement, peers, of->rank);
        name = arena_format(arena, "%d.%lld", number,
                            (long long)placement_first(placement, peers, of->rank));
    } else {
        find_pair(of, pair);
        name =
            arena_format(arena, "%d.%lld.%lld", number, (long long)pair[0], (long long)pair[1]);
    }
    json_write_string_at(writer, "Process Group Name", name);
    json_write_string_at(writer, "Process Group Description", group_names[number]);
    json_write_string_at(writer, "Process Group Ranks", list_ranks(arena, &group));
}

/* In and out count elements of one rank's buffers. */
void
chrome_collective_write(const struct chrome_collective *of, struct json_writer *writer,
                        struct arena *arena)
{
    const struct collective *collective = of->collective;
    int64_t whole = (int64_t)(collective->bytes / dtype_bytes(collective->dtype));
    int64_t piece = whole / collective->ranks;
    bool is_gather = collective->kind == COLLECTIVE_ALL_GATHER;
    bool is_scatter = collective->kind == COLLECTIVE_REDUCE_SCATTER;
    bool is_received = of->item->from_stage != STEP_NONE;
    json_write_string_at(writer, "Collective name",
                         is_received ? "recv" : collective_name(collective->kind));
    json_write_integer_at(writer, "In msg nelems", is_gather ? piece : whole);
    json_write_integer_at(writer, "Out msg nelems", is_scatter ? piece : whole);
    json_write_integer_at(writer, "Group size", collective->ranks);
    json_write_string_at(writer, "dtype", torch_dtype(collective->dtype));
    json_write_string_at(writer, "In split size", "[]");
    json_write_string_at(writer, "Out split size", "[]");
    write_group(of, writer, arena);
}
