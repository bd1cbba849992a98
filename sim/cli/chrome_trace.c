/* A step as a Chrome trace.
 *
 * What readers insist on (each found in the source of the reader named): a space behind the colon
 * of "rank" (HTA finds it by a regular expression), collectives named nccl.. and no other kernel so
 * (HTA, TraceLens), streams from 1 (HTA takes 0 for the host), slices of a thread that nest
 * (Perfetto), one profiler step (HTA then needs no launch events), only metadata that Perfetto
 * knows. */
#include "sim/cli/chrome_trace.h"

#include <inttypes.h>

#include "models/step_account.h"
#include "models/step_passes.h"
#include "sim/base/json_writer.h"
#include "sim/cli/version.h"

/* Threads in the order in which they are shown; a lane's thread is its stream. */
enum { THREAD_HOST = 1, THREAD_ACCOUNT = 2, THREAD_COMPUTE = 7, THREAD_DATA = 21 };
/* The streams of the other communicators follow that of the data ranks. */

static const int64_t PS_PER_NS = 1000;

static int
thread_of(enum step_lane lane)
{
    if (lane == LANE_HOST)
        return THREAD_HOST;
    return lane == LANE_COMPUTE ? THREAD_COMPUTE : THREAD_DATA + (int)lane - LANE_DATA;
}

struct tracer {
    const struct step *step;
    struct text *out;
    struct json_writer writer;
    int64_t correlation; /* numbers the kernels */
    int64_t sequence;    /* numbers the collectives */
};

/* Both ends are rounded to nanoseconds, so neighbours stay neighbours. */
static int64_t
ns_of(int64_t ps)
{
    return (ps + PS_PER_NS / 2) / PS_PER_NS;
}

static void
write_us_at(struct tracer *tracer, const char *key, int64_t ns)
{
    json_write_key(&tracer->writer, key);
    tracer->writer.has_key = false;
    text_format(tracer->out, "%" PRId64 ".%03" PRId64, ns / 1000, ns % 1000);
}

static void
begin_event(struct tracer *tracer, const char *phase, const char *name, int thread)
{
    struct json_writer *writer = &tracer->writer;
    json_write_begin_object(writer);
    json_write_string_at(writer, "ph", phase);
    json_write_string_at(writer, "name", name);
    json_write_integer_at(writer, "pid", tracer->step->lowered.representative);
    json_write_integer_at(writer, "tid", thread);
}

static void
end_event(struct tracer *tracer)
{
    json_write_end_object(&tracer->writer); /* arguments */
    json_write_end_object(&tracer->writer);
}

static void
begin_slice(struct tracer *tracer, const char *category, const char *name, int thread)
{
    begin_event(tracer, "X", name, thread);
    json_write_string_at(&tracer->writer, "cat", category);
}

static void
write_span(struct tracer *tracer, int64_t start_ps, int64_t end_ps)
{
    write_us_at(tracer, "ts", ns_of(start_ps));
    write_us_at(tracer, "dur", ns_of(end_ps) - ns_of(start_ps));
    json_write_key(&tracer->writer, "args");
    json_write_begin_object(&tracer->writer);
}

static void
write_name(struct tracer *tracer, const char *what, int thread, const char *name)
{
    begin_event(tracer, "M", what, thread);
    write_us_at(tracer, "ts", 0);
    json_write_key(&tracer->writer, "args");
    json_write_begin_object(&tracer->writer);
    json_write_string_at(&tracer->writer, "name", name);
    end_event(tracer);
}

static void
write_sort_index(struct tracer *tracer, const char *what, int thread)
{
    begin_event(tracer, "M", what, thread);
    write_us_at(tracer, "ts", 0);
    json_write_key(&tracer->writer, "args");
    json_write_begin_object(&tracer->writer);
    json_write_integer_at(&tracer->writer, "sort_index", thread);
    end_event(tracer);
}

static void
write_names(struct tracer *tracer)
{
    const struct cluster *cluster = tracer->step->run->inputs.cluster;
    int64_t rank = tracer->step->lowered.representative;
    struct text name = text_new(tracer->out->arena);
    text_format(&name, "rank %" PRId64 "  node %" PRId64 " gpu %" PRId64, rank,
                rank / cluster->gpus_per_node, rank % cluster->gpus_per_node);
    write_name(tracer, "process_name", 0, name.bytes);
    write_sort_index(tracer, "process_sort_index", 0);
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++) {
        int thread = thread_of((enum step_lane)lane);
        size_t count = 0;
        trace_lane_tasks(tracer->step->trace,
                         lowered_lane(&tracer->step->lowered, (enum step_lane)lane), &count);
        if (count == 0)
            continue;
        write_name(tracer, "thread_name", thread, step_lane_name((enum step_lane)lane));
        write_sort_index(tracer, "thread_sort_index", thread);
    }
}

static void
write_profiler_step(struct tracer *tracer)
{
    begin_slice(tracer, "user_annotation", "ProfilerStep#1", THREAD_HOST);
    write_span(tracer, 0, tracer->step->step_ps);
    json_write_integer_at(&tracer->writer, "External id", 0);
    end_event(tracer);
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

static const char *
torch_dtype(enum dtype dtype)
{
    static const char *const names[] = {
        [DTYPE_FP64] = "Double",   [DTYPE_FP32] = "Float", [DTYPE_TF32] = "Float",
        [DTYPE_BF16] = "BFloat16", [DTYPE_FP16] = "Half",  [DTYPE_FP8] = "Float8_e4m3fnuz",
        [DTYPE_INT8] = "Char",
    };
    return names[dtype];
}

/* Kineto cuts long lists of ranks. */
enum { RANKS_LISTED_MAX = 30 };

/* "[0, 1, ..]": the ranks that take part; of a send, both ends. */
static const char *
list_ranks(struct tracer *tracer, const struct collective *collective)
{
    struct text list = text_new(tracer->out->arena);
    if (collective->kind == COLLECTIVE_SEND_RECV) {
        text_format(&list, "[%" PRId64 ", %" PRId64 "]", collective->from, collective->to);
        return list.bytes;
    }
    for (int64_t rank = 0; rank < collective->ranks && rank < RANKS_LISTED_MAX; rank++)
        text_format(&list, "%s%" PRId64, rank == 0 ? "[" : ", ",
                    rank_group_at(&collective->group, rank));
    text_format(&list, collective->ranks > RANKS_LISTED_MAX ? ", ...]" : "]");
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

/* In and out count elements of one rank's buffers. */
static void
write_collective_arguments(struct tracer *tracer, const struct step_item *item,
                           const struct collective *collective)
{
    struct json_writer *writer = &tracer->writer;
    int64_t whole = (int64_t)(collective->bytes / dtype_bytes(collective->dtype));
    int64_t piece = whole / collective->ranks;
    bool is_gather = collective->kind == COLLECTIVE_ALL_GATHER;
    bool is_scatter = collective->kind == COLLECTIVE_REDUCE_SCATTER;
    json_write_string_at(writer, "Collective name", collective_name(collective->kind));
    json_write_integer_at(writer, "In msg nelems", is_gather ? piece : whole);
    json_write_integer_at(writer, "Out msg nelems", is_scatter ? piece : whole);
    json_write_integer_at(writer, "Group size", collective->ranks);
    json_write_string_at(writer, "dtype", torch_dtype(collective->dtype));
    json_write_string_at(writer, "In split size", "[]");
    json_write_string_at(writer, "Out split size", "[]");
    json_write_string_at(writer, "Process Group Name",
                         arena_format(writer->out->arena, "%d", group_number(item)));
    json_write_string_at(writer, "Process Group Description", group_names[group_number(item)]);
    json_write_string_at(writer, "Process Group Ranks", list_ranks(tracer, collective));
    json_write_integer_at(writer, "Seq", tracer->sequence++);
}

static void
write_cost_arguments(struct tracer *tracer, const struct step_item *item,
                     const struct step_work *work)
{
    struct json_writer *writer = &tracer->writer;
    if (work->collective) {
        write_collective_arguments(tracer, item, work->collective);
        json_write_string_at(writer, "algorithm", work->collective_cost->algorithm);
        json_write_string_at(writer, "bound", work->collective_cost->bound);
    }
    if (work->kernel_cost) {
        json_write_real_at(writer, "flop", work->kernel_cost->flop);
        json_write_real_at(writer, "bytes", work->kernel_cost->hbm_bytes);
        json_write_string_at(writer, "bound", kernel_bound_name(work->kernel_cost->bound));
    }
    json_write_real_at(writer, "alone_s", work->delay_s + work->work_s);
    json_write_real_at(writer, "relative_sigma", work->relative_sigma);
}

/* RCCL's kernel for every collective has one name; which it was stands in the arguments. */
static const char *
kernel_name(const struct step_work *work)
{
    return work->collective ? "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"
                            : work->name;
}

static void
write_kernel(struct tracer *tracer, uint32_t task)
{
    const struct step_item *item = step_item_of(tracer->step, task);
    const struct step_work *work = step_work_of(tracer->step, task);
    const struct trace_entry *entry = &tracer->step->trace->entries[task];
    bool is_host = item->lane == LANE_HOST;
    struct json_writer *writer = &tracer->writer;
    begin_slice(tracer, is_host ? "cpu_op" : "kernel", kernel_name(work),
                thread_of(item->lane));
    write_span(tracer, entry->start_ps, entry->end_ps);
    json_write_integer_at(writer, "External id", ++tracer->correlation);
    if (!is_host) {
        json_write_integer_at(writer, "device", 0);
        json_write_integer_at(writer, "stream", thread_of(item->lane));
        json_write_integer_at(writer, "correlation", tracer->correlation);
        write_cost_arguments(tracer, item, work);
    }
    json_write_string_at(writer, "phase", step_phase_name(item->phase));
    if (!work->collective) /* of a collective only what is exposed counts for its class */
        json_write_string_at(writer, "class", step_class_key(work->spent_on));
    if (item->layer >= 0)
        json_write_integer_at(writer, "layer", item->layer);
    if (item->microbatch >= 0)
        json_write_integer_at(writer, "microbatch", item->microbatch);
    end_event(tracer);
}

static void
write_lane(struct tracer *tracer, enum step_lane lane)
{
    const struct trace *trace = tracer->step->trace;
    size_t count = 0;
    const uint32_t *tasks =
        trace_lane_tasks(trace, lowered_lane(&tracer->step->lowered, lane), &count);
    for (size_t i = 0; i < count; i++)
        if (trace->entries[tasks[i]].end_ps > trace->entries[tasks[i]].start_ps)
            write_kernel(tracer, tasks[i]);
}

/* What each moment counts for in the breakdown, to the picosecond. */
static void
write_account(struct tracer *tracer)
{
    const struct lowered *lowered = &tracer->step->lowered;
    size_t count = 0;
    const struct step_stretch *list =
        step_account_list(tracer->step, lowered_slot(lowered, lowered->representative),
                          tracer->out->arena, &count);
    write_name(tracer, "thread_name", THREAD_ACCOUNT, "account");
    write_sort_index(tracer, "thread_sort_index", THREAD_ACCOUNT);
    for (size_t i = 0; i < count; i++) {
        begin_slice(tracer, "user_annotation", step_class_key(list[i].spent_on),
                    THREAD_ACCOUNT);
        write_span(tracer, list[i].start_ps, list[i].end_ps);
        json_write_integer_at(&tracer->writer, "duration_ps",
                              list[i].end_ps - list[i].start_ps);
        end_event(tracer);
    }
}

/* As counters: what stays in memory through the step, and activations as they come and go. */
static void
write_memory(struct tracer *tracer)
{
    const struct lowered *lowered = &tracer->step->lowered;
    struct step_memory memory = step_memory(
        tracer->step, lowered_slot(lowered, lowered->representative), tracer->out->arena);
    double others = memory.kept_bytes - memory.memory.weights - memory.memory.gradients -
                    memory.memory.optimizer;
    for (size_t i = 0; i < memory.count; i++) {
        begin_event(tracer, "C", "HBM", 0);
        write_us_at(tracer, "ts", ns_of(memory.moments[i].at_ps));
        json_write_key(&tracer->writer, "args");
        json_write_begin_object(&tracer->writer);
        json_write_real_at(&tracer->writer, "weights", memory.memory.weights);
        json_write_real_at(&tracer->writer, "gradients", memory.memory.gradients);
        json_write_real_at(&tracer->writer, "optimizer", memory.memory.optimizer);
        json_write_real_at(&tracer->writer, "activations", memory.moments[i].activations_bytes);
        json_write_real_at(&tracer->writer, "others", others);
        end_event(tracer);
    }
}

static void
write_header(struct tracer *tracer)
{
    struct json_writer *writer = &tracer->writer;
    const struct cluster *cluster = tracer->step->run->inputs.cluster;
    json_write_integer_at(writer, "schemaVersion", 1);
    json_write_key(writer, "deviceProperties");
    json_write_begin_array(writer);
    json_write_begin_object(writer);
    json_write_integer_at(writer, "id", 0);
    json_write_string_at(writer, "name", cluster->device->description);
    json_write_bool_at(writer, "predicted", true);
    json_write_end_object(writer);
    json_write_end_array(writer);
    json_write_key(writer, "distributedInfo");
    json_write_begin_object(writer);
    json_write_string_at(writer, "backend", "nccl");
    json_write_integer_at(writer, "rank", tracer->step->lowered.representative);
    json_write_integer_at(writer, "world_size", cluster_gpus(cluster));
    json_write_end_object(writer);
    json_write_string_at(writer, "displayTimeUnit", "ms");
    json_write_integer_at(writer, "baseTimeNanoseconds", 0);
    json_write_string_at(writer, "traceName", tracer->step->run->name);
    json_write_key(writer, "simulator");
    json_write_begin_object(writer);
    json_write_string_at(writer, "name", "stepcast");
    json_write_string_at(writer, "version", STEPCAST_VERSION);
    json_write_end_object(writer);
}

void
chrome_trace_write(const struct step *step, struct text *out)
{
    struct tracer tracer = {.step = step, .out = out, .writer = json_writer_new(out, false)};
    json_write_begin_object(&tracer.writer);
    write_header(&tracer);
    json_write_key(&tracer.writer, "traceEvents");
    json_write_begin_array(&tracer.writer);
    write_names(&tracer);
    write_profiler_step(&tracer);
    write_account(&tracer);
    write_memory(&tracer);
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++)
        write_lane(&tracer, (enum step_lane)lane);
    json_write_end_array(&tracer.writer);
    json_write_end_object(&tracer.writer);
    text_append(out, "\n", 1);
}
