/* stepcast model show: what a model file says: sizes, parameters, FLOP of a token, cache. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "models/arch_flop.h"
#include "models/tensors.h"
#include "sim/base/json_writer.h"
#include "sim/base/units.h"
#include "sim/cli/command.h"

enum {
    SEQUENCE_DEFAULT = 4096, /* or what the model was made for, where that is less */
    SEQUENCE_MAX = 1 << 30,
    CACHE_BYTES_PER_ELEMENT = 2, /* bf16 */
    CELL_MAX = 32,
};

struct model {
    const struct arch *arch;
    struct parameter_counts parameters;
    struct token_flop flop;
    int64_t sequence_tokens;
    double cache_bytes;
};

static const char *const PART_KEYS[TENSOR_PART_COUNT] = {
    "embedding",      "attention", "router", "experts",
    "shared_experts", "dense_ffn", "norms",  "head"};
static const char *const PART_LABELS[TENSOR_PART_COUNT] = {"embedding",
                                                           "attention",
                                                           "router",
                                                           "experts",
                                                           "shared experts",
                                                           "dense feed-forward",
                                                           "norms, residual scales",
                                                           "head"};

struct flop_row {
    const char *key, *label;
    double flop;
};
enum { FLOP_ROW_COUNT = 9 };

static void
flop_rows(const struct model *model, struct flop_row *rows)
{
    const struct token_flop *flop = &model->flop;
    bool is_dense = model->arch->experts == 0;
    const struct flop_row all[FLOP_ROW_COUNT] = {
        {"attention_projections", "attention projections", flop->attention_projections},
        {"convolutions", "convolutions", flop->convolutions},
        {"attention_core", "attention itself", flop->attention_core},
        {"router", "router", flop->router},
        {"experts", is_dense ? "dense feed-forward" : "experts", flop->experts},
        {"shared_experts", "shared experts", flop->shared_experts},
        {"dense_layers", "dense layers", flop->dense_layers},
        {"head", "head", flop->head},
        {"prediction", "multi-token prediction", flop->prediction},
    };
    memcpy(rows, all, sizeof all);
}

static const char *
attention_name(const struct arch *arch)
{
    if (arch->attention == ATTENTION_CCA)
        return "cca";
    if (arch->attention == ATTENTION_MLA)
        return "mla";
    return arch->query_heads == arch->kv_heads ? "mha" : "gqa";
}

static void
write_sizes(struct json_writer *writer, const struct arch *arch)
{
    json_write_string_at(writer, "name", arch->name);
    json_write_string_at(writer, "model_type", arch->model_type);
    json_write_integer_at(writer, "layers", arch->layers);
    json_write_integer_at(writer, "hidden", arch->hidden);
    json_write_integer_at(writer, "vocab", arch->vocab);
    json_write_integer_at(writer, "context_tokens_max", arch->context_max);
    json_write_bool_at(writer, "is_embedding_tied", arch->is_embedding_tied);
    json_write_string_at(writer, "attention", attention_name(arch));
    json_write_integer_at(writer, "query_heads", arch->query_heads);
    json_write_integer_at(writer, "kv_heads", arch->kv_heads);
    json_write_integer_at(writer, "head_dim", arch->head_dim);
    json_write_integer_at(writer, "value_head_dim", arch_value_head_dim(arch));
    json_write_integer_at(writer, "query_rank", arch->query_rank);
    json_write_integer_at(writer, "kv_rank", arch->kv_rank);
    json_write_integer_at(writer, "rotary_head_dim", arch->rotary_head_dim);
    json_write_integer_at(writer, "window_tokens", arch->window_tokens);
    json_write_integer_at(writer, "experts", arch->experts);
    json_write_integer_at(writer, "experts_per_token", arch->experts_per_token);
    json_write_integer_at(writer, "expert_ffn", arch->expert_ffn);
    json_write_integer_at(writer, "shared_ffn", arch->shared_ffn);
    json_write_integer_at(writer, "dense_ffn", arch->dense_ffn);
    json_write_integer_at(writer, "dense_layers",
                          arch->experts > 0 ? arch->dense_layers : arch->layers);
    json_write_integer_at(writer, "mtp_layers", arch->mtp_layers);
}

static void
write_parts(struct json_writer *writer, const char *key, const int64_t *of_part)
{
    json_write_key(writer, key);
    json_write_begin_object(writer);
    for (int part = 0; part < TENSOR_PART_COUNT; part++)
        json_write_integer_at(writer, PART_KEYS[part], of_part[part]);
    json_write_end_object(writer);
}

static void
write_parameters(struct json_writer *writer, const struct parameter_counts *counts)
{
    json_write_key(writer, "parameters");
    json_write_begin_object(writer);
    json_write_integer_at(writer, "embedding", counts->embedding);
    json_write_integer_at(writer, "nonembedding_total", counts->nonembedding_total);
    json_write_integer_at(writer, "nonembedding_active", counts->nonembedding_active);
    json_write_integer_at(writer, "every", counts->every);
    json_write_integer_at(writer, "prediction", counts->prediction);
    write_parts(writer, "every_by_part", counts->every_of);
    write_parts(writer, "active_by_part", counts->active_of);
    json_write_end_object(writer);
}

static void
write_flop(struct json_writer *writer, const struct model *model)
{
    struct flop_row rows[FLOP_ROW_COUNT];
    flop_rows(model, rows);
    json_write_key(writer, "flop_per_token");
    json_write_begin_object(writer);
    for (int i = 0; i < FLOP_ROW_COUNT; i++)
        json_write_real_at(writer, rows[i].key, rows[i].flop);
    json_write_real_at(writer, "forward", model->flop.forward);
    json_write_real_at(writer, "train", model->flop.train);
    json_write_real_at(writer, "six_n_active", model->flop.six_n_active);
    json_write_real_at(writer, "forward_full_mask", model->flop.forward_full_mask);
    json_write_real_at(writer, "train_full_mask", model->flop.train_full_mask);
    json_write_string_at(writer, "convention",
                         "matrix products, convolutions and causal attention, head included; "
                         "backward twice forward");
    json_write_end_object(writer);
}

static void
write_json(struct text *out, const struct model *model)
{
    struct json_writer writer = json_writer_new(out, true);
    json_write_begin_object(&writer);
    json_write_integer_at(&writer, "schema_version", 1);
    write_sizes(&writer, model->arch);
    write_parameters(&writer, &model->parameters);
    json_write_integer_at(&writer, "sequence_tokens", model->sequence_tokens);
    write_flop(&writer, model);
    json_write_real_at(&writer, "kv_cache_bytes", model->cache_bytes);
    json_write_real_at(&writer, "kv_cache_bytes_per_token",
                       model->cache_bytes / (double)model->sequence_tokens);
    json_write_key(&writer, "config"); /* a model file of our own form */
    arch_write(&writer, model->arch);
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
}

struct cell {
    char text[CELL_MAX];
};

/* 8302418680 as people read it: "8,302,418,680". */
static struct cell
grouped(int64_t value)
{
    struct cell cell = {{0}};
    int at = CELL_MAX - 1;
    for (int digits = 0; digits == 0 || value > 0; digits++, value /= 10) {
        if (digits > 0 && digits % 3 == 0)
            cell.text[--at] = ',';
        cell.text[--at] = (char)('0' + value % 10);
    }
    memmove(cell.text, cell.text + at, (size_t)(CELL_MAX - at));
    return cell;
}

static void
print_size(struct text *out, const char *label, int64_t value, const char *remark)
{
    text_format(out, "  %-14s %9s%s%s\n", label, grouped(value).text, remark[0] ? "  " : "",
                remark);
}

static void
print_heads(struct text *out, const struct arch *arch)
{
    const char *name =
        arch->attention == ATTENTION_CCA
            ? "compressed convolutional (CCA)"
            : (arch->query_heads == arch->kv_heads ? "multi-head" : "grouped-query");
    text_format(out, "  %-14s %s: %lld query, %lld key-value heads, %lld wide\n", "attention",
                name, (long long)arch->query_heads, (long long)arch->kv_heads,
                (long long)arch->head_dim);
}

static void
print_latent(struct text *out, const struct arch *arch)
{
    text_format(out, "  %-14s multi-head latent (MLA): %lld heads, %lld wide, values %lld\n",
                "attention", (long long)arch->query_heads, (long long)arch->head_dim,
                (long long)arch_value_head_dim(arch));
    text_format(out, "  %-14s ", "");
    if (arch->query_rank > 0)
        text_format(out, "queries of rank %s, ", grouped(arch->query_rank).text);
    text_format(out, "keys and values of rank %s and %lld that turn\n",
                grouped(arch->kv_rank).text, (long long)arch->rotary_head_dim);
}

/* Against the model's width, as arXiv 2510.04476 counts. */
static void
print_compression(struct text *out, const struct arch *arch)
{
    bool is_latent = arch->attention == ATTENTION_MLA;
    double width = (double)arch->hidden;
    double queries = (double)(is_latent ? arch->query_rank : arch_query_width(arch));
    double keys = (double)(is_latent ? arch->kv_rank : arch_kv_width(arch));
    text_format(out, "  %-14s ", "compressed");
    if (queries > 0 && queries < width)
        text_format(out, "queries %.3g times, ", width / queries);
    text_format(out, "keys and values %.3g times\n", width / keys);
}

static void
print_attention(struct text *out, const struct arch *arch)
{
    if (arch->attention == ATTENTION_MLA)
        print_latent(out, arch);
    else
        print_heads(out, arch);
    if ((arch->attention == ATTENTION_MLA ? arch->kv_rank : arch_kv_width(arch)) < arch->hidden)
        print_compression(out, arch);
    if (arch->window != WINDOW_NONE)
        text_format(out, "  %-14s %lld tokens, %s\n", "window", (long long)arch->window_tokens,
                    arch->window == WINDOW_EVEN ? "every second layer" : "all layers");
}

static void
print_feed_forward(struct text *out, const struct arch *arch)
{
    if (arch->experts == 0) {
        print_size(out, "feed-forward", arch->dense_ffn, "wide, gated");
        return;
    }
    text_format(out, "  %-14s %lld, of which a token visits %lld; each %s wide, gated\n",
                "experts", (long long)arch->experts, (long long)arch->experts_per_token,
                grouped(arch->expert_ffn).text);
    if (arch->shared_ffn > 0)
        text_format(out, "  %-14s %s wide together, visited by every token\n", "shared experts",
                    grouped(arch->shared_ffn).text);
    if (arch->dense_layers > 0)
        text_format(out, "  %-14s the first %lld, instead of experts: %s wide, gated\n",
                    "dense layers", (long long)arch->dense_layers,
                    grouped(arch->dense_ffn).text);
    if (arch->mtp_layers > 0)
        text_format(out, "  %-14s %lld more token%s, by a layer and the head each\n",
                    "prediction", (long long)arch->mtp_layers,
                    arch->mtp_layers == 1 ? "" : "s");
    if (arch->router_groups > 0)
        text_format(out, "  %-14s from %lld of %lld groups of experts for each token\n",
                    "router", (long long)arch->router_groups_per_token,
                    (long long)arch->router_groups);
    if (arch->router == ROUTER_MLP)
        text_format(out, "  %-14s MLP, %s wide%s\n", "router",
                    grouped(arch->router_hidden).text,
                    arch->has_skip_route ? "; a token may skip the experts" : "");
}

static void
print_sizes(struct text *out, const struct arch *arch)
{
    text_format(out, "%s (%s)\n\n", arch->name, arch->model_type);
    print_size(out, "layers", arch->layers, "");
    print_size(out, "hidden", arch->hidden, "");
    print_size(out, "vocabulary", arch->vocab,
               arch->is_embedding_tied ? "the head shares the embedding's weights" : "");
    if (arch->context_max > 0)
        print_size(out, "context", arch->context_max, "tokens");
    print_attention(out, arch);
    print_feed_forward(out, arch);
}

static void
print_count(struct text *out, const char *label, int64_t all, int64_t active)
{
    text_format(out, "  %-24s %19s %9s %9s\n", label, grouped(all).text,
                units_format_count((double)all).text, units_format_count((double)active).text);
}

static void
print_parameters(struct text *out, const struct parameter_counts *counts)
{
    int64_t active = 0;
    text_format(out, "\n%-26s %19s %9s %9s\n", "parameters", "", "", "active");
    for (int part = 0; part < TENSOR_PART_COUNT; part++) {
        active += counts->active_of[part];
        if (counts->every_of[part] > 0)
            print_count(out, PART_LABELS[part], counts->every_of[part],
                        counts->active_of[part]);
    }
    print_count(out, "every one", counts->every, active);
    if (counts->prediction > 0)
        text_format(out, "  of which multi-token prediction has %s of its own\n",
                    grouped(counts->prediction).text);
    text_format(out, "  as model cards count, without norms and biases:\n");
    print_count(out, "embedding and head", counts->embedding, counts->embedding);
    print_count(out, "all else", counts->nonembedding_total, counts->nonembedding_active);
}

static void
print_flop(struct text *out, const struct model *model)
{
    struct flop_row rows[FLOP_ROW_COUNT];
    flop_rows(model, rows);
    text_format(out, "\nFLOP of a token, forward, in a sequence of %s\n",
                grouped(model->sequence_tokens).text);
    for (int i = 0; i < FLOP_ROW_COUNT; i++)
        if (rows[i].flop > 0)
            text_format(out, "  %-24s %19s %9s\n", rows[i].label,
                        units_format_flop(rows[i].flop).text,
                        units_format_fraction(rows[i].flop / model->flop.forward).text);
    text_format(out, "  %-24s %19s\n", "forward", units_format_flop(model->flop.forward).text);
    text_format(out, "  %-24s %19s  forward, and twice that backward\n", "training",
                units_format_flop(model->flop.train).text);
    text_format(out, "  %-24s %19s  were what the mask hides counted too\n",
                "training, full mask", units_format_flop(model->flop.train_full_mask).text);
    text_format(out, "  %-24s %19s  6 x active: knows neither head nor attention\n", "6 N",
                units_format_flop(model->flop.six_n_active).text);
}

static void
print_cache(struct text *out, const struct model *model)
{
    double tokens = (double)model->sequence_tokens;
    text_format(out, "\nkey-value cache, bf16: %s a token, %s a sequence of %s\n",
                units_format_bytes(model->cache_bytes / tokens).text,
                units_format_bytes(model->cache_bytes).text,
                grouped(model->sequence_tokens).text);
}

static bool
read_sequence(const char *text, int64_t *out)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < 1 || value > SEQUENCE_MAX)
        return false;
    *out = value;
    return true;
}

static struct model
measure(const struct arch *arch, int64_t sequence_tokens)
{
    bool is_short = arch->context_max > 0 && arch->context_max < SEQUENCE_DEFAULT;
    int64_t shorter = is_short ? arch->context_max : SEQUENCE_DEFAULT;
    struct model model = {.arch = arch, .parameters = tensors_count_of(arch)};
    model.sequence_tokens = sequence_tokens > 0 ? sequence_tokens : shorter;
    model.flop = arch_flop(arch, model.sequence_tokens);
    model.cache_bytes = (double)CACHE_BYTES_PER_ELEMENT *
                        (double)arch_kv_cache_elements(arch, model.sequence_tokens);
    return model;
}

static int
show(const struct options *options, struct arena *arena)
{
    struct error_list errors = {0};
    const char *length = options_text(options, "sequence");
    int64_t sequence_tokens = 0;
    if (length && length[0] && !read_sequence(length, &sequence_tokens))
        return command_usage("model show", "--sequence is '%.40s', wanted 1 to %d tokens",
                             length, SEQUENCE_MAX);
    const struct json *config = json_read_file(arena, options_word(options, 0), &errors);
    const struct arch *arch = config ? arch_read(config, arena, &errors) : NULL;
    if (!arch)
        return command_report(&errors);
    struct model model = measure(arch, sequence_tokens);
    struct text out = text_new(arena);
    if (command_format(options) == OUTPUT_JSON) {
        write_json(&out, &model);
    } else {
        print_sizes(&out, model.arch);
        print_parameters(&out, &model.parameters);
        print_flop(&out, &model);
        print_cache(&out, &model);
    }
    return command_output(options, &out);
}

static const struct option_spec OPTIONS[] = {
    {"sequence", 0, OPTION_TEXT, "TOKENS",
     "length of a sequence (4096, or the model's if less)"},
    {"json", 0, OPTION_FLAG, NULL, "the answer as JSON"},
    {"output", 'o', OPTION_TEXT, "FILE", "write there; .json asks for JSON"},
};

const struct command command_model_show = {
    .name = "model show",
    .summary = "a model's sizes, parameters, FLOP per token and cache",
    .synopsis = "CONFIG.json",
    .example = "stepcast model show configs/models/zaya1-base.json",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 1,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON,
    .run = show,
};
