/* What a step keeps in a GPU's memory. */
#include "models/memory.h"

#include <math.h>
#include <string.h>

#include "models/fp8.h"

static double
larger(double a, double b)
{
    return a > b ? a : b;
}

/* What the memory of a stage is worked out from. */
struct ledger {
    const struct step_inputs *inputs;
    struct arena *arena;
    struct shard shard;
    struct shard_block blocks[BLOCK_COUNT]; /* of the ranks whose experts are busiest */
    const struct shard_tensors *tensors;    /* of each stage; where they are asked for */
    int64_t stage;
};

/* The place among the experts where most tokens go. */
static int64_t
busiest_place(const struct shard *shard, struct arena *arena)
{
    const struct plan *plan = shard->workload.plan;
    const struct arch *arch = shard->workload.arch;
    if (!plan->routing || shard->placement.expert == 1)
        return 0;
    struct routed_tokens routed = {plan_microbatch_tokens(plan), arch->experts_per_token,
                                   arch->experts};
    struct expert_loads loads = routing_loads(plan->routing, &routed, arena);
    return routing_busiest_rank(&loads, shard->placement.expert);
}

static struct ledger
ledger_new(const struct step_inputs *inputs, struct arena *arena)
{
    struct ledger ledger = {
        .inputs = inputs, .arena = arena, .shard = step_inputs_shard(inputs)};
    int64_t place = busiest_place(&ledger.shard, arena);
    for (int block = 0; block < BLOCK_COUNT; block++)
        ledger.blocks[block] = shard_block(&ledger.shard, (enum block)block, place, arena);
    return ledger;
}

static void
add_saved(struct memory_saved *saved, const struct shard_block *block)
{
    for (int i = 0; i < STEP_CLASS_COUNT; i++) {
        saved->bytes[i] += block->saved_bytes[i];
        saved->sum += block->saved_bytes[i];
    }
}

/* Full recomputation keeps the input of each block, that of every other product those that are not
 * made again; of chosen operators theirs. */
static void
add_layer_block(const struct ledger *ledger, struct memory_saved *saved,
                const struct shard_block *block, int64_t layer_of_chunk)
{
    const struct plan *plan = ledger->shard.workload.plan;
    struct shard_block kept = *block;
    if (plan_repeats_layer(plan, layer_of_chunk))
        kept = (struct shard_block){
            .saved_bytes = {[CLASS_NORM_RESIDUAL] = shard_stream_bytes(&ledger->shard)}};
    if (plan->recompute == RECOMPUTE_EVERY_OTHER_PRODUCT) {
        memcpy(kept.saved_bytes, block->product_bytes, sizeof kept.saved_bytes);
        if (block->saved_bytes[CLASS_ATTENTION_CORE] >
            0) /* the block that a layer begins with */
            kept.saved_bytes[CLASS_NORM_RESIDUAL] = shard_stream_bytes(&ledger->shard);
    }
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        if (plan->recompute != RECOMPUTE_FULL && plan->recompute_classes >> i & 1)
            kept.saved_bytes[i] = fmin(kept.saved_bytes[i], block->input_bytes[i]);
    add_saved(saved, &kept);
}

static struct memory_saved
saved_of(const struct ledger *ledger, int64_t chunk)
{
    const struct arch *arch = ledger->shard.workload.arch;
    struct shard_chunk held = shard_chunk(&ledger->shard, ledger->stage, chunk);
    struct memory_saved saved = {.sum = 0};
    for (int64_t i = 0; i < held.layers.count; i++) {
        int64_t layer = held.layers.first + i;
        const struct shard_block *blocks = ledger->blocks;
        add_layer_block(ledger, &saved, &blocks[operators_attention_block(arch, layer)], i);
        add_layer_block(ledger, &saved, &blocks[operators_feed_forward_block(arch, layer)], i);
    }
    if (held.has_embedding)
        add_saved(&saved, &ledger->blocks[BLOCK_EMBEDDING]);
    if (held.has_head)
        add_saved(&saved, &ledger->blocks[BLOCK_HEAD]);
    return saved;
}

struct memory_saved
memory_saved_of(const struct step_inputs *inputs, int64_t stage, int64_t chunk,
                struct arena *arena)
{
    struct ledger ledger = ledger_new(inputs, arena);
    ledger.stage = stage;
    return saved_of(&ledger, chunk);
}

/* A forward keeps its chunk's activations, the pass with the weights' gradients lets them go. */
static struct memory_course
course_of(const struct ledger *ledger)
{
    const struct plan *plan = ledger->shard.workload.plan;
    struct schedule_shape shape = schedule_shape(plan, ledger->inputs->cluster);
    struct schedule schedule = schedule_of(&shape, ledger->stage, ledger->arena);
    struct memory_moment *moments =
        arena_alloc(ledger->arena, (size_t)schedule.count, sizeof *moments);
    double *saved = arena_alloc(ledger->arena, (size_t)shape.chunks, sizeof *saved), now = 0;
    for (int64_t chunk = 0; chunk < shape.chunks; chunk++)
        saved[chunk] = saved_of(ledger, chunk).sum;
    for (int64_t i = 0; i < schedule.count; i++) {
        const struct schedule_step *step = &schedule.steps[i];
        if (step->pass == PASS_FORWARD)
            now += saved[step->chunk];
        moments[i] = (struct memory_moment){*step, now};
        if (step->pass == PASS_BACKWARD || step->pass == PASS_WEIGHT_GRADIENT)
            now -= saved[step->chunk];
    }
    return (struct memory_course){moments, schedule.count};
}

struct memory_course
memory_course(const struct step_inputs *inputs, int64_t stage, struct arena *arena)
{
    struct ledger ledger = ledger_new(inputs, arena);
    ledger.stage = stage;
    return course_of(&ledger);
}

/* X, its product B X, A = X X^T and A A: (m, n) twice and (m, m) twice, in the compute dtype. */
static double
newton_schulz_bytes(const struct optimizer_share *share, double element_bytes)
{
    double bytes = 0;
    for (int i = 0; i < share->matrix_sizes; i++) {
        double rows = (double)share->matrices[i].rows,
               columns = (double)share->matrices[i].columns;
        double m = rows < columns ? rows : columns;
        bytes = larger(bytes, element_bytes * 2 * (rows * columns + m * m));
    }
    return bytes;
}

/* The largest needs of any of these shares. Gradients of a narrower dtype are widened for the
 * optimizer, a share at a time. */
struct share_needs {
    double state, pieces, workspace;
};

static struct share_needs
needs_of(const struct ledger *ledger, const struct tensor_list *tensors, int64_t ranks)
{
    const struct plan *plan = ledger->shard.workload.plan;
    double element_bytes = dtype_bytes(plan->compute_dtype);
    double widened = plan->gradient_dtype == DTYPE_FP32 ? 0 : dtype_bytes(DTYPE_FP32);
    const struct optimizer_share *shares =
        optimizer_shares(tensors, plan, ranks, ledger->arena);
    struct share_needs most = {0};
    for (int64_t i = 0; i < ranks && tensors->count > 0; i++) {
        const struct optimizer_share *share = &shares[i];
        double parameters = (double)(share->adamw_parameters + share->muon_parameters);
        most.state = larger(most.state, optimizer_state_bytes(share) + widened * parameters);
        most.pieces =
            larger(most.pieces, element_bytes * (double)optimizer_buffer_elements(share));
        most.workspace = larger(most.workspace, newton_schulz_bytes(share, element_bytes));
    }
    return most;
}

/* Of models whose weights are frozen: those of one of the two lists, beside what is trained. */
struct weights {
    const struct tensor_list *trained, *frozen;
    int64_t ranks; /* that share them */
};

/* A list of weights that a rank has. */
struct held {
    const struct tensor_list *tensors;
    bool is_own; /* the model's, which fp8 is for; else of adapters */
};

struct amount {
    double elements, bytes;
};

/* In the dtype that products find it in, and what a step keeps of it turned round. */
static struct amount
amount_of(const struct ledger *ledger, const struct tensor *tensor, bool is_own)
{
    const struct plan *plan = ledger->shard.workload.plan;
    double element_bytes = dtype_bytes(plan->compute_dtype);
    double elements = (double)tensor_elements(tensor);
    if (is_own && plan->fp8_recipe != FP8_NONE && fp8_takes_tensor(tensor)) {
        struct fp8_setting fp8 = fp8_setting_of(plan, ledger->shard.workload.software);
        element_bytes = fp8.has_narrow_weights ? dtype_bytes(DTYPE_FP8) : element_bytes;
        element_bytes += fp8_cast_weight_once(&fp8).write;
    }
    return (struct amount){elements, element_bytes * elements};
}

static struct amount
count_held(const struct ledger *ledger, const struct held *held)
{
    struct amount sum = {0, 0};
    for (int64_t i = 0; i < held->tensors->count; i++) {
        struct amount one = amount_of(ledger, &held->tensors->items[i], held->is_own);
        sum.elements += one.elements;
        sum.bytes += one.bytes;
    }
    return sum;
}

/* The largest layer, or what stands outside of the layers: what ZeRO-3 gathers at once. */
static struct amount
largest_unit(const struct ledger *ledger, const struct held *held)
{
    struct amount largest = {0, 0}, unit = {0, 0};
    for (int64_t i = 0; i < held->tensors->count; i++) {
        const struct tensor *tensor = &held->tensors->items[i];
        struct amount one = amount_of(ledger, tensor, held->is_own);
        if (i > 0 && (tensor->layer != held->tensors->items[i - 1].layer || tensor->layer < 0))
            unit = (struct amount){0, 0};
        unit.elements += one.elements;
        unit.bytes += one.bytes;
        largest.elements = larger(largest.elements, unit.elements);
        largest.bytes = larger(largest.bytes, unit.bytes);
    }
    return largest;
}

/* What stays with a rank where so many ranks share a list, and `units` of its largest units are
 * whole at once. */
static struct amount
shared_held(const struct ledger *ledger, const struct held *held, int64_t ranks, int units)
{
    struct amount all = count_held(ledger, held), unit = largest_unit(ledger, held);
    double share = 1 / (double)ranks;
    return (struct amount){fmin(all.elements, all.elements * share + units * unit.elements),
                           fmin(all.bytes, all.bytes * share + units * unit.bytes)};
}

static void
add_weights(const struct ledger *ledger, const struct weights *weights, struct memory *memory)
{
    const struct plan *plan = ledger->shard.workload.plan;
    double gradient_bytes = dtype_bytes(plan->gradient_dtype);
    int gathered = plan->overlaps_parameter_gather ? 2 : 1;
    struct share_needs needs = needs_of(ledger, weights->trained, weights->ranks);
    const struct held lists[] = {{weights->trained, plan->adapters == NULL},
                                 {weights->frozen, true}};
    for (int i = 0; i < 2; i++)
        memory->weights += plan->zero_stage < 3
                               ? count_held(ledger, &lists[i]).bytes
                               : shared_held(ledger, &lists[i], weights->ranks, gathered).bytes;
    memory->gradients +=
        gradient_bytes * (plan->zero_stage < 2
                              ? count_held(ledger, &lists[0]).elements
                              : shared_held(ledger, &lists[0], weights->ranks, 1).elements);
    memory->optimizer += needs.state;
    memory->communication += needs.pieces;
    memory->workspace = larger(memory->workspace, needs.workspace);
}

/* Whether the last layer of a chunk, whose backward comes first, runs again. */
static bool
repeats_last_layer(const struct ledger *ledger)
{
    bool repeats = false;
    for (int64_t chunk = 0; chunk < plan_chunks(ledger->shard.workload.plan); chunk++) {
        int64_t layers = shard_chunk(&ledger->shard, ledger->stage, chunk).layers.count;
        repeats = repeats || plan_repeats_layer(ledger->shard.workload.plan, layers - 1);
    }
    return repeats;
}

/* The fullest moment of the schedule. A block that is run again is there in full meanwhile; of a
 * chunk whose last layers keep all, those have gone by then. */
static void
add_activations(const struct ledger *ledger, struct memory *memory)
{
    struct memory_course course = course_of(ledger);
    double repeated = 0;
    int64_t kept = 0;
    for (int block = 0; block < BLOCK_COUNT; block++)
        if (operators_is_of_layer((enum block)block) && repeats_last_layer(ledger))
            repeated = larger(repeated, shard_saved_bytes(&ledger->blocks[block]));
    for (int64_t i = 0; i < course.count; i++) {
        const struct memory_moment *moment = &course.moments[i];
        kept += moment->step.pass == PASS_FORWARD;
        if (moment->activations > memory->activations) {
            memory->activations = moment->activations;
            memory->moment = moment->step;
            memory->kept_passes = kept;
        }
        kept -= moment->step.pass == PASS_BACKWARD || moment->step.pass == PASS_WEIGHT_GRADIENT;
    }
    memory->activations += repeated;
}

static bool
holds_head(const struct ledger *ledger)
{
    for (int64_t chunk = 0; chunk < plan_chunks(ledger->shard.workload.plan); chunk++)
        if (shard_chunk(&ledger->shard, ledger->stage, chunk).has_head)
            return true;
    return false;
}

/* What the hungriest operator of the stage takes while it runs. */
static double
transient_bytes(const struct ledger *ledger)
{
    bool is_first = ledger->stage == 0;
    double bytes = 0;
    for (int block = 0; block < BLOCK_COUNT; block++) {
        bool is_held = operators_is_of_layer((enum block)block) ||
                       (block == BLOCK_EMBEDDING ? is_first : holds_head(ledger));
        if (is_held)
            bytes = larger(bytes, ledger->blocks[block].transient_bytes);
    }
    return bytes;
}

/* What goes out to the experts' ranks and what comes in, at once. */
static double
all_to_all_bytes(const struct ledger *ledger)
{
    const struct shard_block *block = &ledger->blocks[BLOCK_FEED_FORWARD];
    double bytes = 0;
    for (int64_t i = 0; i < block->forward.count; i++) {
        const struct shard_exchange *exchange = block->forward.steps[i].exchange;
        if (exchange && exchange->kind == COLLECTIVE_ALL_TO_ALL)
            bytes = larger(bytes, 2 * exchange->bytes);
    }
    return bytes;
}

/* What goes to other stages and comes from them: of one microbatch each way, or all of a step. */
static double
transfer_bytes(const struct ledger *ledger)
{
    const struct plan *plan = ledger->shard.workload.plan;
    struct schedule_shape shape = schedule_shape(plan, ledger->inputs->cluster);
    double stream = shard_stream_bytes(&ledger->shard), bytes = 0;
    for (int64_t chunk = 0; chunk < shape.chunks; chunk++) {
        struct schedule_place here = {ledger->stage, chunk}, other;
        int neighbours = (schedule_next(&shape, here, &other) && other.stage != here.stage) +
                         (schedule_previous(&shape, here, &other) && other.stage != here.stage);
        double sent = plan->keeps_sent_tensors ? (double)shape.microbatches : 1;
        bytes += neighbours * stream * (sent + 1);
    }
    return bytes;
}

static struct memory
memory_of_stage(const struct ledger *ledger)
{
    const struct software *software = ledger->shard.workload.software;
    const struct placement *placement = &ledger->shard.placement;
    struct shard_tensors tensors = ledger->tensors[ledger->stage];
    struct memory memory = {.runtime = software->runtime_bytes,
                            .capacity = ledger->inputs->cluster->device->hbm_bytes,
                            .stage = ledger->stage,
                            .communication = all_to_all_bytes(ledger) + transfer_bytes(ledger)};
    struct weights dense = {&tensors.dense, &tensors.frozen_dense, placement->shard};
    struct weights experts = {&tensors.experts, &tensors.frozen_experts,
                              placement->expert_shard};
    add_weights(ledger, &dense, &memory);
    add_weights(ledger, &experts, &memory);
    add_activations(ledger, &memory);
    memory.workspace = larger(memory.workspace, transient_bytes(ledger));
    double allocated = memory.weights + memory.gradients + memory.optimizer +
                       memory.activations + memory.communication + memory.workspace;
    memory.fragmentation = floor(software->fragmentation_fraction * allocated);
    memory.peak = allocated + memory.fragmentation + memory.runtime;
    return memory;
}

const struct memory *
memory_of_stages(const struct step_inputs *inputs, struct arena *arena)
{
    struct ledger ledger = ledger_new(inputs, arena);
    int64_t stages = inputs->workload.plan->pipeline;
    struct memory *memories = arena_alloc(arena, (size_t)stages, sizeof *memories);
    ledger.tensors = shard_tensors(&ledger.shard, arena);
    for (ledger.stage = 0; ledger.stage < stages; ledger.stage++)
        memories[ledger.stage] = memory_of_stage(&ledger);
    return memories;
}

struct memory
memory_of(const struct step_inputs *inputs, struct arena *arena)
{
    const struct memory *stages = memory_of_stages(inputs, arena), *most = stages;
    for (int64_t stage = 1; stage < inputs->workload.plan->pipeline; stage++)
        if (stages[stage].peak > most->peak)
            most = &stages[stage];
    return *most;
}

void
memory_classes(const struct memory *memory, struct memory_class classes[MEMORY_CLASS_COUNT])
{
    const struct memory_class all[MEMORY_CLASS_COUNT] = {
        {"weights", memory->weights},
        {"gradients", memory->gradients},
        {"optimizer", memory->optimizer},
        {"activations", memory->activations},
        {"communication", memory->communication},
        {"workspace", memory->workspace},
        {"runtime", memory->runtime},
        {"fragmentation", memory->fragmentation},
    };
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++)
        classes[i] = all[i];
}
