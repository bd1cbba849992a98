/* One function a block, in the order of the forward pass. Shapes are those of the published
 * checkpoints: modeling_zaya.py of github Zyphra/transformers (branch zaya), and
 * modeling_llama.py, modeling_mixtral.py, modeling_qwen3_moe.py, modeling_olmoe.py,
 * modeling_gpt_oss.py of huggingface/transformers; modeling_deepseek.py beside DeepSeek-V3's
 * checkpoint. */
#include "models/tensors.h"

#include <assert.h>

enum { OUTSIDE_LAYERS = -1 };

struct walk {
    const struct arch *arch;
    void (*take)(void *context, const struct tensor *tensor);
    void *context;
    int64_t layer;
    bool is_prediction;
};

/* Where a vector stands in published counts. */
enum counting { LEFT_OUT, COUNTED };

static void
take(const struct walk *walk, struct tensor tensor)
{
    tensor.layer = walk->layer;
    tensor.is_prediction = walk->is_prediction;
    tensor.is_counted = tensor.is_counted && !walk->is_prediction;
    walk->take(walk->context, &tensor);
}

static void
matrix(const struct walk *walk, enum tensor_part part, const char *name, int64_t rows,
       int64_t columns)
{
    take(walk, (struct tensor){.name = name,
                               .part = part,
                               .rows = rows,
                               .columns = columns,
                               .copies = 1,
                               .is_matrix = true,
                               .is_counted = true});
}

static void
vector(const struct walk *walk, enum tensor_part part, const char *name, int64_t length,
       enum counting counting)
{
    take(walk, (struct tensor){.name = name,
                               .part = part,
                               .rows = length,
                               .columns = 1,
                               .copies = 1,
                               .is_counted = counting == COUNTED});
}

static void
bias_if(bool has_bias, const struct walk *walk, const char *name, int64_t length)
{
    if (has_bias)
        vector(walk, PART_ATTENTION, name, length, LEFT_OUT);
}

/* A table of one row a word: looked up, or multiplied by as the head. */
static void
word_table(const struct walk *walk, enum tensor_part part, const char *name)
{
    take(walk, (struct tensor){.name = name,
                               .part = part,
                               .rows = walk->arch->vocab,
                               .columns = walk->arch->hidden,
                               .copies = 1,
                               .is_counted = true});
}

/* Before each norm: what the block before gave is scaled and shifted, and so is the residual
 * that it is added to, of which there is none yet before the first block. */
struct junction {
    const char *input_scale, *input_bias, *residual_scale, *residual_bias, *norm;
};

static void
add_junction(const struct walk *walk, const struct junction *names, bool has_residual)
{
    int64_t hidden = walk->arch->hidden;
    if (walk->arch->has_residual_scaling) {
        vector(walk, PART_NORM, names->input_scale, hidden, LEFT_OUT);
        vector(walk, PART_NORM, names->input_bias, hidden, LEFT_OUT);
    }
    if (walk->arch->has_residual_scaling && has_residual) {
        vector(walk, PART_NORM, names->residual_scale, hidden, LEFT_OUT);
        vector(walk, PART_NORM, names->residual_bias, hidden, LEFT_OUT);
    }
    vector(walk, PART_NORM, names->norm, hidden, LEFT_OUT);
}

static void
add_query_key_norm(const struct walk *walk)
{
    const struct arch *arch = walk->arch;
    bool is_whole = arch->is_query_key_norm_whole;
    if (!arch->has_query_key_norm)
        return;
    vector(walk, PART_ATTENTION, "layer.attention.query_norm",
           is_whole ? arch_query_width(arch) : arch->head_dim, LEFT_OUT);
    vector(walk, PART_ATTENTION, "layer.attention.key_norm",
           is_whole ? arch_kv_width(arch) : arch->head_dim, LEFT_OUT);
}

static void
add_output_projection(const struct walk *walk)
{
    const struct arch *arch = walk->arch;
    matrix(walk, PART_ATTENTION, "layer.attention.output", arch->hidden,
           arch_output_width(arch));
    bias_if(arch->has_attention_bias, walk, "layer.attention.output_bias", arch->hidden);
}

static void
add_gqa(const struct walk *walk)
{
    const struct arch *arch = walk->arch;
    int64_t query_width = arch_query_width(arch), kv_width = arch_kv_width(arch);
    matrix(walk, PART_ATTENTION, "layer.attention.query", query_width, arch->hidden);
    bias_if(arch->has_attention_bias, walk, "layer.attention.query_bias", query_width);
    matrix(walk, PART_ATTENTION, "layer.attention.key", kv_width, arch->hidden);
    bias_if(arch->has_attention_bias, walk, "layer.attention.key_bias", kv_width);
    matrix(walk, PART_ATTENTION, "layer.attention.value", kv_width, arch->hidden);
    bias_if(arch->has_attention_bias, walk, "layer.attention.value_bias", kv_width);
    add_query_key_norm(walk);
    bias_if(arch->has_attention_sinks, walk, "layer.attention.sinks", arch->query_heads);
    add_output_projection(walk);
}

static void
convolution(const struct walk *walk, const char *name, int64_t channels, int64_t columns)
{
    take(walk, (struct tensor){.name = name,
                               .part = PART_ATTENTION,
                               .rows = channels,
                               .columns = columns,
                               .copies = 1,
                               .is_counted = true});
}

/* Queries and keys of all heads pass both convolutions together: one channel to itself along
 * the sequence, then the channels of one head among themselves. */
static void
add_convolutions(const struct walk *walk)
{
    const struct arch *arch = walk->arch;
    int64_t channels = arch_query_width(arch) + arch_kv_width(arch);
    convolution(walk, "layer.attention.sequence_convolution", channels, arch->sequence_taps);
    vector(walk, PART_ATTENTION, "layer.attention.sequence_convolution_bias", channels,
           LEFT_OUT);
    convolution(walk, "layer.attention.channel_convolution", channels,
                arch->head_dim * arch->channel_taps);
    vector(walk, PART_ATTENTION, "layer.attention.channel_convolution_bias", channels,
           LEFT_OUT);
}

/* Half of the value channels come from this token, half from the token before. */
static void
add_cca(const struct walk *walk)
{
    const struct arch *arch = walk->arch;
    int64_t query_width = arch_query_width(arch), kv_width = arch_kv_width(arch);
    bool has_bias = arch->has_attention_bias;
    matrix(walk, PART_ATTENTION, "layer.attention.query", query_width, arch->hidden);
    bias_if(has_bias, walk, "layer.attention.query_bias", query_width);
    matrix(walk, PART_ATTENTION, "layer.attention.key", kv_width, arch->hidden);
    bias_if(has_bias, walk, "layer.attention.key_bias", kv_width);
    add_convolutions(walk);
    matrix(walk, PART_ATTENTION, "layer.attention.value_now", kv_width / 2, arch->hidden);
    bias_if(has_bias, walk, "layer.attention.value_now_bias", kv_width / 2);
    matrix(walk, PART_ATTENTION, "layer.attention.value_before", kv_width / 2, arch->hidden);
    bias_if(has_bias, walk, "layer.attention.value_before_bias", kv_width / 2);
    vector(walk, PART_ATTENTION, "layer.attention.key_temperature", arch->kv_heads, COUNTED);
    add_output_projection(walk);
}

/* Down to the rank, a norm, up to all heads; or up at once where there is no rank. */
static void
add_mla_query(const struct walk *walk)
{
    const struct arch *arch = walk->arch;
    int64_t width = arch_query_width(arch);
    if (arch->query_rank == 0) {
        matrix(walk, PART_ATTENTION, "layer.attention.query", width, arch->hidden);
        return;
    }
    matrix(walk, PART_ATTENTION, "layer.attention.query_down", arch->query_rank, arch->hidden);
    bias_if(arch->has_attention_bias, walk, "layer.attention.query_down_bias",
            arch->query_rank);
    vector(walk, PART_ATTENTION, "layer.attention.query_norm", arch->query_rank, LEFT_OUT);
    matrix(walk, PART_ATTENTION, "layer.attention.query_up", width, arch->query_rank);
}

/* The one turning key of all heads is made beside the compressed keys and values. */
static void
add_mla(const struct walk *walk)
{
    const struct arch *arch = walk->arch;
    int64_t down = arch->kv_rank + arch->rotary_head_dim;
    int64_t head = arch->head_dim - arch->rotary_head_dim + arch_value_head_dim(arch);
    add_mla_query(walk);
    matrix(walk, PART_ATTENTION, "layer.attention.key_value_down", down, arch->hidden);
    bias_if(arch->has_attention_bias, walk, "layer.attention.key_value_down_bias", down);
    vector(walk, PART_ATTENTION, "layer.attention.key_value_norm", arch->kv_rank, LEFT_OUT);
    matrix(walk, PART_ATTENTION, "layer.attention.key_value_up", arch->query_heads * head,
           arch->kv_rank);
    add_output_projection(walk);
}

static void
add_linear_router(const struct walk *walk)
{
    const struct arch *arch = walk->arch;
    matrix(walk, PART_ROUTER, "layer.router.output", arch_router_classes(arch), arch->hidden);
    if (arch->has_router_bias)
        vector(walk, PART_ROUTER, "layer.router.output_bias", arch_router_classes(arch),
               LEFT_OUT);
    if (arch->has_balancing_bias)
        vector(walk, PART_ROUTER, "layer.router.balancing_bias", arch_router_classes(arch),
               LEFT_OUT);
}

/* Published counts of ZAYA1 include norm and biases here, but not the averaging scale. */
static void
add_mlp_router(const struct walk *walk)
{
    const struct arch *arch = walk->arch;
    int64_t width = arch->router_hidden, classes = arch_router_classes(arch);
    matrix(walk, PART_ROUTER, "layer.router.down", width, arch->hidden);
    vector(walk, PART_ROUTER, "layer.router.down_bias", width, COUNTED);
    if (arch->has_router_average && walk->layer > 0)
        vector(walk, PART_ROUTER, "layer.router.average_scale", width, LEFT_OUT);
    vector(walk, PART_ROUTER, "layer.router.norm", width, COUNTED);
    matrix(walk, PART_ROUTER, "layer.router.first", width, width);
    vector(walk, PART_ROUTER, "layer.router.first_bias", width, COUNTED);
    matrix(walk, PART_ROUTER, "layer.router.second", width, width);
    vector(walk, PART_ROUTER, "layer.router.second_bias", width, COUNTED);
    matrix(walk, PART_ROUTER, "layer.router.output", classes, width);
    vector(walk, PART_ROUTER, "layer.router.balancing_bias", classes, COUNTED);
}

struct ffn {
    enum tensor_part part;
    int64_t width, copies;
    bool is_plain; /* up alone */
    const char *gate_up, *gate_up_bias, *down, *down_bias;
};

static void
add_ffn(const struct walk *walk, const struct ffn *ffn)
{
    const struct arch *arch = walk->arch;
    struct tensor weight = {
        .part = ffn->part, .copies = ffn->copies, .is_matrix = true, .is_counted = true};
    struct tensor bias = {.part = ffn->part, .columns = 1, .copies = ffn->copies};
    weight.name = ffn->gate_up;
    bias.name = ffn->gate_up_bias;
    weight.rows = bias.rows = (ffn->is_plain ? 1 : 2) * ffn->width;
    weight.columns = arch->hidden;
    take(walk, weight);
    if (arch->has_ffn_bias)
        take(walk, bias);
    weight.name = ffn->down;
    bias.name = ffn->down_bias;
    weight.rows = bias.rows = arch->hidden;
    weight.columns = ffn->width;
    take(walk, weight);
    if (arch->has_ffn_bias)
        take(walk, bias);
}

static void
add_feed_forward(const struct walk *walk)
{
    const struct arch *arch = walk->arch;
    struct ffn dense = {.part = PART_DENSE_FFN,
                        .width = arch->dense_ffn,
                        .copies = 1,
                        .is_plain = arch->is_ffn_plain,
                        .gate_up = "layer.ffn.gate_up",
                        .gate_up_bias = "layer.ffn.gate_up_bias",
                        .down = "layer.ffn.down",
                        .down_bias = "layer.ffn.down_bias"};
    struct ffn experts = {.part = PART_EXPERT,
                          .width = arch->expert_ffn,
                          .copies = arch->experts,
                          .gate_up = "layer.experts.gate_up",
                          .gate_up_bias = "layer.experts.gate_up_bias",
                          .down = "layer.experts.down",
                          .down_bias = "layer.experts.down_bias"};
    struct ffn shared = {.part = PART_SHARED_EXPERT,
                         .width = arch->shared_ffn,
                         .copies = 1,
                         .gate_up = "layer.shared_experts.gate_up",
                         .gate_up_bias = "layer.shared_experts.gate_up_bias",
                         .down = "layer.shared_experts.down",
                         .down_bias = "layer.shared_experts.down_bias"};
    bool has_experts =
        arch_has_experts(arch, walk->layer) || (walk->is_prediction && arch->experts > 0);
    if (!has_experts) {
        add_ffn(walk, &dense);
        return;
    }
    if (arch->router == ROUTER_MLP)
        add_mlp_router(walk);
    else
        add_linear_router(walk);
    add_ffn(walk, &experts);
    if (arch->shared_ffn > 0)
        add_ffn(walk, &shared);
}

static void
add_attention(const struct walk *walk)
{
    switch (walk->arch->attention) {
    case ATTENTION_GQA:
        add_gqa(walk);
        break;
    case ATTENTION_CCA:
        add_cca(walk);
        break;
    case ATTENTION_MLA:
        add_mla(walk);
        break;
    }
}

static void
add_layer(const struct walk *walk)
{
    static const struct junction before_attention = {
        "layer.attention.input_scale", "layer.attention.input_bias",
        "layer.attention.residual_scale", "layer.attention.residual_bias",
        "layer.attention.norm"};
    static const struct junction before_ffn = {"layer.ffn.input_scale", "layer.ffn.input_bias",
                                               "layer.ffn.residual_scale",
                                               "layer.ffn.residual_bias", "layer.ffn.norm"};
    add_junction(walk, &before_attention, walk->layer > 0);
    add_attention(walk);
    add_junction(walk, &before_ffn, true);
    add_feed_forward(walk);
}

/* Norms of the hidden state and of the next token's embedding, side by side through one product, a
 * layer, a norm; embedding and head are the model's own. */
static void
add_prediction(const struct walk *walk)
{
    int64_t hidden = walk->arch->hidden;
    vector(walk, PART_NORM, "prediction.embedding_norm", hidden, LEFT_OUT);
    vector(walk, PART_NORM, "prediction.hidden_norm", hidden, LEFT_OUT);
    matrix(walk, PART_DENSE_FFN, "prediction.join", hidden, 2 * hidden);
    add_layer(walk);
    vector(walk, PART_NORM, "prediction.norm", hidden, LEFT_OUT);
}

/* The tensors of a layer, to be shown again for those that have the same. */
enum { LAYER_TENSORS_MAX = 64 };
struct layer_tensors {
    struct tensor items[LAYER_TENSORS_MAX];
    int count;
};

static void
keep(void *context, const struct tensor *tensor)
{
    struct layer_tensors *layer = context;
    assert(layer->count < LAYER_TENSORS_MAX && "a layer of more tensors than any has");
    layer->items[layer->count++] = *tensor;
}

/* Whether a layer has the tensors of the one before it: the first has no residual yet. */
static bool
is_like_last(const struct arch *arch, int64_t layer)
{
    return layer > 1 && arch_has_experts(arch, layer) == arch_has_experts(arch, layer - 1);
}

static void
visit_layers(const struct arch *arch, void (*take_one)(void *, const struct tensor *),
             void *context)
{
    struct layer_tensors last;
    struct walk walk = {arch, keep, &last, 0, false};
    for (; walk.layer < arch->layers; walk.layer++) {
        if (!is_like_last(arch, walk.layer)) {
            last.count = 0;
            add_layer(&walk);
        }
        for (int i = 0; i < last.count; i++) {
            last.items[i].layer = walk.layer;
            take_one(context, &last.items[i]);
        }
    }
}

void
tensors_visit(const struct arch *arch, void (*take_one)(void *, const struct tensor *),
              void *context)
{
    static const struct junction before_head = {"final.input_scale", "final.input_bias",
                                                "final.residual_scale", "final.residual_bias",
                                                "final.norm"};
    struct walk walk = {arch, take_one, context, OUTSIDE_LAYERS, false};
    word_table(&walk, PART_EMBEDDING, "embedding");
    visit_layers(arch, take_one, context);
    walk.is_prediction = true;
    for (int64_t module = 0; module < arch->mtp_layers; module++)
        add_prediction(&walk);
    walk.is_prediction = false;
    add_junction(&walk, &before_head, true);
    if (!arch->is_embedding_tied)
        word_table(&walk, PART_HEAD, "head");
}

static void
count_up(void *context, const struct tensor *tensor)
{
    (void)tensor;
    ++*(size_t *)context;
}

struct filled_list {
    struct tensor *items;
    int64_t count;
};

static void
append(void *context, const struct tensor *tensor)
{
    struct filled_list *list = context;
    list->items[list->count++] = *tensor;
}

struct tensor_list
tensors_of(const struct arch *arch, struct arena *arena)
{
    size_t count = 0;
    tensors_visit(arch, count_up, &count);
    struct filled_list list = {arena_alloc_unset(arena, count, sizeof *list.items), 0};
    tensors_visit(arch, append, &list);
    return (struct tensor_list){list.items, list.count};
}

struct counting_walk {
    const struct arch *arch;
    struct parameter_counts counts;
};

static void
count_one(void *context, const struct tensor *tensor)
{
    struct counting_walk *walk = context;
    struct parameter_counts *counts = &walk->counts;
    int64_t all = tensor_elements(tensor);
    int64_t active = tensor->part == PART_EXPERT
                         ? tensor->rows * tensor->columns * walk->arch->experts_per_token
                         : all;
    bool is_embedding = tensor->part == PART_EMBEDDING || tensor->part == PART_HEAD;
    counts->every += all;
    counts->prediction += tensor->is_prediction ? all : 0;
    counts->every_of[tensor->part] += all;
    counts->active_of[tensor->part] += active;
    if (is_embedding)
        counts->embedding += all;
    else if (tensor->is_counted) {
        counts->nonembedding_total += all;
        counts->nonembedding_active += active;
    }
}

struct parameter_counts
tensors_count(const struct arch *arch, const struct tensor_list *tensors)
{
    struct counting_walk walk = {.arch = arch};
    for (int64_t i = 0; i < tensors->count; i++)
        count_one(&walk, &tensors->items[i]);
    return walk.counts;
}

struct parameter_counts
tensors_count_of(const struct arch *arch)
{
    struct counting_walk walk = {.arch = arch};
    tensors_visit(arch, count_one, &walk);
    return walk.counts;
}
