/* The same model, not trained but asked: prefill and decoding. */
#include "models/inference.h"

#include <math.h>
#include <string.h>

#include "models/pricing.h"

enum inference_phase { PHASE_PREFILL, PHASE_DECODE };

struct question {
    const struct step_inputs *inputs;
    const struct inference_request *request;
    struct arena *arena;
    struct error_list *errors;
};

/* Experts on tensor ranks: each rank sends its part of the tokens to theirs. */
static bool
splits_tokens(const struct workload *workload)
{
    return workload->arch->experts > 0 && workload->plan->tensor > 1;
}

static bool
check_split(const struct question *question, const char *name, int64_t count)
{
    int64_t tensor = question->inputs->workload.plan->tensor;
    int64_t nearest = (count + tensor - 1) / tensor * tensor;
    if (!splits_tokens(&question->inputs->workload) || count % tensor == 0)
        return true;
    return error_add(
        question->errors, ERROR_INFEASIBLE, "",
        "--%s: %lld is not a multiple of the %lld tensor ranks, whose experts share "
        "the tokens out, the nearest that is: %lld",
        name, (long long)count, (long long)tensor, (long long)nearest);
}

static bool
check(const struct question *question)
{
    const struct plan *plan = question->inputs->workload.plan;
    if (plan->pipeline > 1 || plan->context > 1)
        return error_add(
            question->errors, ERROR_INFEASIBLE, "",
            "inference with pipeline %lld and context %lld is not supported by this "
            "version, wanted 1 of both",
            (long long)plan->pipeline, (long long)plan->context);
    return check_split(question, "prompt", question->request->prompt_tokens) &&
           check_split(question, "batch", question->request->batch);
}

/* So many sequences of so many tokens. Whole sequences on every tensor rank, unless experts want
 * the tokens shared out. */
static struct shard
shard_for(const struct question *question, int64_t sequences, int64_t tokens)
{
    struct plan *plan =
        arena_copy(question->arena, question->inputs->workload.plan, sizeof *plan);
    struct arch *arch =
        arena_copy(question->arena, question->inputs->workload.arch, sizeof *arch);
    struct shard shard = {question->inputs->workload,
                          placement_of(plan, question->inputs->cluster)};
    plan->microbatch_sequences = sequences;
    plan->sequence_tokens = tokens;
    plan->fp8_recipe = FP8_NONE; /* a recipe of training: serving keeps the compute dtype */
    plan->is_sequence_parallel = splits_tokens(&question->inputs->workload);
    arch->mtp_layers = 0; /* what is predicted ahead is for training */
    shard.workload.plan = plan;
    shard.workload.arch = arch;
    return shard;
}

/* One token of each sequence: to all but attention they are as good as one sequence. */
static struct shard
shard_of_tokens(const struct question *question)
{
    return shard_for(question, 1, question->request->batch);
}

/* One query of each sequence against what is cached. */
static void
attend_to_cache(const struct question *question, enum block block, struct attention *attention)
{
    const struct arch *arch = question->inputs->workload.arch;
    int64_t cached = question->request->context_tokens;
    bool is_cut = block == BLOCK_WINDOW_ATTENTION && arch->window_tokens < cached;
    int64_t heads = arch->kv_heads / question->inputs->workload.plan->tensor;
    attention->batch = question->request->batch;
    attention->q_len = 1;
    attention->kv_len = is_cut ? arch->window_tokens : cached;
    attention->kv_heads = heads > 0 ? heads : 1; /* nobody copies the whole cache */
    attention->is_causal = false;
    attention->window = 0;
    if (arch->attention == ATTENTION_MLA) { /* the mean width of keys and of values */
        attention->kv_heads = 1;
        attention->head_dim = (2 * arch->kv_rank + arch->rotary_head_dim) / 2;
        attention->shared_dim = arch->kv_rank;
    }
}

/* A product for each head: of queries by the matrix that would make keys, or of outputs by the one
 * that would make values. */
static void
absorb(const struct question *question, bool is_query, struct operation *operation)
{
    const struct arch *arch = question->inputs->workload.arch;
    int64_t own = arch->head_dim - arch->rotary_head_dim, rank = arch->kv_rank;
    operation->name = is_query ? "mla_absorb_query" : "mla_absorb_value";
    operation->kernel.gemm =
        (struct gemm){.m = question->request->batch,
                      .n = is_query ? rank : arch_value_head_dim(arch),
                      .k = is_query ? own : rank,
                      .batch = arch->query_heads / question->inputs->workload.plan->tensor,
                      .layout = GEMM_NN};
}

static bool
is_named(const struct operation *operation, const char *name)
{
    return strcmp(operation->name, name) == 0;
}

/* Whether inference has no such kernel: the loss, and where keys are not expanded what would lay
 * them out. */
static bool
is_left_out(const struct operation *operation, enum block block, bool absorbs)
{
    bool is_product = operation->kernel.kind == KERNEL_GEMM;
    bool is_of_keys = is_named(operation, "mla_join_key") || is_named(operation, "pad_values");
    return (block == BLOCK_HEAD && operation->spent_on == CLASS_HEAD && !is_product) ||
           (absorbs && is_of_keys);
}

/* What inference has in place of the first step, one of the forward list: none, it, or two. */
static int
adapt(const struct question *question, enum block block, enum inference_phase phase,
      struct shard_step steps[2])
{
    const struct operation *given = steps[0].operation;
    bool absorbs =
        phase == PHASE_DECODE && question->inputs->workload.arch->attention == ATTENTION_MLA;
    if (!given)
        return block != BLOCK_HEAD;
    if (is_left_out(given, block, absorbs))
        return 0;
    bool is_up = absorbs && is_named(given, "mla_key_value_up");
    for (int i = 0; i < 1 + is_up; i++) {
        struct operation *operation = arena_copy(question->arena, given, sizeof *operation);
        if (operation->kernel.kind == KERNEL_ATTENTION && phase == PHASE_DECODE)
            attend_to_cache(question, block, &operation->kernel.attention);
        if (is_up)
            absorb(question, i == 0, operation);
        steps[i] = (struct shard_step){.operation = operation};
    }
    return 1 + is_up;
}

static bool
add_step(const struct question *question, const struct shard *shard,
         const struct shard_step *step, int64_t times, struct inference_pass *pass)
{
    const struct pricing pricing = {
        question->inputs, question->arena, question->errors, {1, 1}};
    const struct step_work *work = pricing_step(&pricing, &shard->placement, step);
    if (!work)
        return false;
    double seconds_s = (double)times * (work->delay_s + work->work_s);
    pass->device_s += seconds_s;
    pass->exchange_s += step->exchange ? seconds_s : 0;
    pass->host_s += (double)times * pricing_launches(&pricing, work)->delay_s;
    return true;
}

static bool
add_block(const struct question *question, const struct shard *shard, enum block block,
          enum inference_phase phase, int64_t times, struct inference_pass *pass)
{
    struct shard_list list = shard_block(shard, block, 0, question->arena).forward;
    for (int64_t i = 0; i < list.count; i++) {
        struct shard_step steps[2] = {list.steps[i]};
        int count = adapt(question, block, phase, steps);
        for (int j = 0; j < count; j++)
            if (!add_step(question, shard, &steps[j], times, pass))
                return false;
    }
    return true;
}

static bool
find_pass(const struct question *question, enum inference_phase phase,
          struct inference_pass *pass)
{
    bool is_decode = phase == PHASE_DECODE;
    struct shard last = shard_of_tokens(question), body = last;
    if (!is_decode)
        body = shard_for(question, question->request->batch, question->request->prompt_tokens);
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

/* Keys and values of heads that are on several ranks are on each of them; so are latent ones. */
static double
cache_bytes(const struct question *question)
{
    const struct workload *workload = &question->inputs->workload;
    int64_t tensor = workload->plan->tensor, heads = workload->arch->kv_heads;
    int64_t pieces = heads % tensor == 0 ? tensor : heads;
    if (workload->arch->attention == ATTENTION_MLA)
        pieces = 1; /* all heads read the same */
    double elements =
        (double)arch_kv_cache_elements(workload->arch, question->request->context_tokens);
    return dtype_bytes(workload->plan->compute_dtype) * elements *
           (double)question->request->batch / (double)pieces;
}

static void
find_memory(const struct question *question, struct inference *out)
{
    struct shard shard = shard_of_tokens(question);
    const struct shard_tensors *tensors = shard_tensors(&shard, question->arena);
    const struct software *software = question->inputs->workload.software;
    const struct tensor_list lists[] = {tensors->dense, tensors->experts, tensors->frozen_dense,
                                        tensors->frozen_experts};
    double elements = 0;
    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++)
        for (int64_t i = 0; i < lists[list].count; i++)
            elements += (double)tensor_elements(&lists[list].items[i]);
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
