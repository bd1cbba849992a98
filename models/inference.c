/* The same model, not trained but asked: prefill and decoding. */
#include "models/inference.h"

#include <math.h>

#include "models/pricing.h"

enum inference_phase { PHASE_PREFILL, PHASE_DECODE };

struct question {
    const struct step_inputs *inputs;
    const struct inference_request *request;
    struct arena *arena;
    struct error_list *errors;
};

static bool
check(const struct question *question)
{
    const struct plan *plan = question->inputs->workload.plan;
    const struct arch *arch = question->inputs->workload.arch;
    if (plan->pipeline > 1 || plan->context > 1)
        return error_add(
            question->errors, ERROR_INFEASIBLE, "",
            "inference with pipeline %lld and context %lld is not supported by this "
            "version, wanted 1 of both",
            (long long)plan->pipeline, (long long)plan->context);
    if (arch->experts > 0 && plan->tensor > 1)
        return error_add(question->errors, ERROR_INFEASIBLE, "",
                         "inference of experts with tensor %lld is not supported by this "
                         "version, wanted tensor 1 and the experts over expert ranks",
                         (long long)plan->tensor);
    if (arch->attention == ATTENTION_MLA)
        return error_add(question->errors, ERROR_INFEASIBLE, "",
                         "decoding with latent attention is not supported by this version");
    return true;
}

/* So many tokens of each sequence. Whole sequences on every tensor rank: one token cannot be split.
 */
static struct shard
shard_for(const struct question *question, int64_t tokens)
{
    struct plan *plan =
        arena_copy(question->arena, question->inputs->workload.plan, sizeof *plan);
    struct arch *arch =
        arena_copy(question->arena, question->inputs->workload.arch, sizeof *arch);
    struct shard shard = {question->inputs->workload,
                          placement_of(plan, question->inputs->cluster)};
    plan->microbatch_sequences = question->request->batch;
    plan->sequence_tokens = tokens;
    plan->is_sequence_parallel = false;
    arch->mtp_layers = 0; /* what is predicted ahead is for training */
    shard.workload.plan = plan;
    shard.workload.arch = arch;
    return shard;
}

/* A step of the forward list as inference has it; false for one that it has not: the loss. */
static bool
adapt(const struct question *question, enum block block, enum inference_phase phase,
      struct shard_step *step)
{
    if (!step->operation)
        return block != BLOCK_HEAD;
    struct operation *operation =
        arena_copy(question->arena, step->operation, sizeof *operation);
    struct attention *attention = &operation->kernel.attention;
    bool is_product = operation->kernel.kind == KERNEL_GEMM;
    if (block == BLOCK_HEAD && operation->spent_on == CLASS_HEAD && !is_product)
        return false;
    if (operation->kernel.kind == KERNEL_ATTENTION && phase == PHASE_DECODE) {
        const struct arch *arch = question->inputs->workload.arch;
        int64_t cached = question->request->context_tokens;
        bool is_cut = block == BLOCK_WINDOW_ATTENTION && arch->window_tokens < cached;
        int64_t heads = arch->kv_heads / question->inputs->workload.plan->tensor;
        attention->kv_len = is_cut ? arch->window_tokens : cached;
        attention->kv_heads = heads > 0 ? heads : 1; /* nobody copies the whole cache */
        attention->is_causal = false;
        attention->window = 0;
    }
    step->operation = operation;
    return true;
}

static bool
add_block(const struct question *question, const struct shard *shard, enum block block,
          enum inference_phase phase, int64_t times, struct inference_pass *pass)
{
    const struct pricing pricing = {question->inputs, question->arena, question->errors, 1};
    struct shard_list list = shard_block(shard, block, 0, question->arena).forward;
    for (int64_t i = 0; i < list.count; i++) {
        struct shard_step step = list.steps[i];
        if (!adapt(question, block, phase, &step))
            continue;
        const struct step_work *work = pricing_step(&pricing, &shard->placement, &step);
        if (!work)
            return false;
        double seconds_s = (double)times * (work->delay_s + work->work_s);
        pass->device_s += seconds_s;
        pass->exchange_s += step.exchange ? seconds_s : 0;
        pass->host_s += (double)times * pricing_launches(&pricing, work)->delay_s;
    }
    return true;
}

static bool
find_pass(const struct question *question, enum inference_phase phase,
          struct inference_pass *pass)
{
    bool is_decode = phase == PHASE_DECODE;
    struct shard body = shard_for(question, is_decode ? 1 : question->request->prompt_tokens);
    struct shard last = shard_for(question, 1);
    const struct arch *arch = body.workload.arch;
    int64_t times[BLOCK_COUNT] = {[BLOCK_EMBEDDING] = 1, [BLOCK_HEAD] = 1};
    for (int64_t layer = 0; layer < arch->layers; layer++) {
        times[operators_attention_block(arch, layer)]++;
        times[operators_feed_forward_block(arch, layer)]++;
    }
    for (int block = 0; block < BLOCK_COUNT; block++) {
        const struct shard *shard = block == BLOCK_HEAD ? &last : &body;
        if (times[block] > 0 &&
            !add_block(question, shard, (enum block)block, phase, times[block], pass))
            return false;
    }
    pass->seconds_s = fmax(pass->device_s, pass->host_s);
    return true;
}

/* Keys and values of heads that are on several ranks are on each of them. */
static double
cache_bytes(const struct question *question)
{
    const struct workload *workload = &question->inputs->workload;
    int64_t tensor = workload->plan->tensor, heads = workload->arch->kv_heads;
    int64_t pieces = heads % tensor == 0 ? tensor : heads;
    double elements =
        (double)arch_kv_cache_elements(workload->arch, question->request->context_tokens);
    return dtype_bytes(workload->plan->compute_dtype) * elements *
           (double)question->request->batch / (double)pieces;
}

static void
find_memory(const struct question *question, struct inference *out)
{
    struct shard shard = shard_for(question, 1);
    const struct shard_tensors *tensors = shard_tensors(&shard, question->arena);
    const struct software *software = question->inputs->workload.software;
    double elements = 0;
    for (int64_t i = 0; i < tensors->dense.count; i++)
        elements += (double)tensor_elements(&tensors->dense.items[i]);
    for (int64_t i = 0; i < tensors->experts.count; i++)
        elements += (double)tensor_elements(&tensors->experts.items[i]);
    out->weight_bytes = dtype_bytes(shard.workload.plan->compute_dtype) * elements;
    out->cache_bytes = cache_bytes(question);
    out->peak_bytes =
        (out->weight_bytes + out->cache_bytes) * (1 + software->fragmentation_fraction) +
        software->runtime_bytes;
    out->capacity_bytes = question->inputs->cluster->device->hbm_bytes;
}

bool
inference_find(const struct step_inputs *inputs, const struct inference_request *request,
               struct inference *out, struct arena *arena, struct error_list *errors)
{
    struct question question = {inputs, request, arena, errors};
    *out = (struct inference){.weight_bytes = 0};
    if (!check(&question) || !find_pass(&question, PHASE_PREFILL, &out->prefill) ||
        !find_pass(&question, PHASE_DECODE, &out->decode))
        return false;
    find_memory(&question, out);
    return true;
}
