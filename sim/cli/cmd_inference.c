/* stepcast inference: the model asked instead of trained: a prompt, a token, and what is cached. */
#include "models/inference.h"

#include <stdlib.h>

#include "sim/base/json_writer.h"
#include "sim/base/units.h"
#include "sim/cli/run_options.h"

/* Far above any real batch or context: catches slips. */
enum { COUNT_MAX = 1 << 24 };

static bool
read_count(const struct options *options, const char *name, int64_t *count)
{
    const char *text = options_text(options, name);
    char *end = NULL;
    if (!*text)
        return true;
    *count = strtoll(text, &end, 10);
    return *end == '\0' && *count >= 1 && *count <= COUNT_MAX;
}

static void
print_pass(struct text *out, const char *label, const struct inference_pass *pass,
           double tokens)
{
    text_format(out, "%s %9s   %s tokens/s; device %s (%s of it exchanges), host %s\n", label,
                units_format_s(pass->seconds_s).text,
                units_format_count(tokens / pass->seconds_s).text,
                units_format_s(pass->device_s).text, units_format_s(pass->exchange_s).text,
                units_format_s(pass->host_s).text);
}

static void
print_text(struct text *out, const struct run *run, const struct inference_request *request,
           const struct inference *answer)
{
    double batch = (double)request->batch;
    bool fits = answer->peak_bytes <= answer->capacity_bytes;
    text_format(out, "%s, %lld sequences\n\n", run->inputs.workload.arch->name,
                (long long)request->batch);
    print_pass(out, "prefill", &answer->prefill, batch * (double)request->prompt_tokens);
    print_pass(out, "decode ", &answer->decode, batch);
    text_format(out, "\nweights per GPU   %s\n", units_format_bytes(answer->weight_bytes).text);
    text_format(out, "cache per GPU     %s at %lld tokens a sequence\n",
                units_format_bytes(answer->cache_bytes).text,
                (long long)request->context_tokens);
    text_format(
        out, "in all            %s of %s: %s\n", units_format_bytes(answer->peak_bytes).text,
        units_format_bytes(answer->capacity_bytes).text, fits ? "fits" : "does not fit");
}

static void
write_pass(struct json_writer *writer, const char *key, const struct inference_pass *pass)
{
    json_write_key(writer, key);
    json_write_begin_object(writer);
    json_write_real_at(writer, "total_s", pass->seconds_s);
    json_write_real_at(writer, "device_s", pass->device_s);
    json_write_real_at(writer, "exchange_s", pass->exchange_s);
    json_write_real_at(writer, "host_s", pass->host_s);
    json_write_end_object(writer);
}

static void
write_json(struct text *out, const struct run *run, const struct inference_request *request,
           const struct inference *answer)
{
    struct json_writer writer = json_writer_new(out, true);
    double batch = (double)request->batch;
    json_write_begin_object(&writer);
    json_write_string_at(&writer, "model", run->inputs.workload.arch->name);
    json_write_integer_at(&writer, "batch", request->batch);
    json_write_integer_at(&writer, "prompt_tokens", request->prompt_tokens);
    json_write_integer_at(&writer, "context_tokens", request->context_tokens);
    write_pass(&writer, "prefill", &answer->prefill);
    write_pass(&writer, "decode", &answer->decode);
    json_write_real_at(&writer, "decode_tokens_per_s", batch / answer->decode.seconds_s);
    json_write_key(&writer, "memory_bytes");
    json_write_begin_object(&writer);
    json_write_real_at(&writer, "peak", answer->peak_bytes);
    json_write_real_at(&writer, "capacity", answer->capacity_bytes);
    json_write_real_at(&writer, "weights", answer->weight_bytes);
    json_write_real_at(&writer, "cache", answer->cache_bytes);
    json_write_end_object(&writer);
    json_write_end_object(&writer);
    text_format(out, "\n");
}

static int
run_inference(const struct options *options, struct arena *arena)
{
    struct inference_request request = {.batch = 1, .prompt_tokens = 0, .context_tokens = 0};
    if (!read_count(options, "batch", &request.batch) ||
        !read_count(options, "prompt", &request.prompt_tokens) ||
        !read_count(options, "context", &request.context_tokens))
        return command_usage("inference", "--batch, --prompt and --context want a whole number "
                                          "from 1");
    int exit_code = EXIT_BUG;
    const struct run *run = run_options_read("inference", options, arena, &exit_code);
    if (!run)
        return exit_code;
    int64_t sequence = run->inputs.workload.plan->sequence_tokens;
    if (request.prompt_tokens == 0)
        request.prompt_tokens = sequence;
    if (request.context_tokens == 0)
        request.context_tokens = request.prompt_tokens;
    struct error_list errors = {0};
    struct inference answer;
    if (!inference_find(&run->inputs, &request, &answer, arena, &errors))
        return command_report(&errors);
    struct text out = text_new(arena);
    if (command_format(options) == OUTPUT_JSON)
        write_json(&out, run, &request, &answer);
    else
        print_text(&out, run, &request, &answer);
    int code = command_output(options, &out);
    bool fits = answer.peak_bytes <= answer.capacity_bytes;
    return code == EXIT_DONE && !fits ? EXIT_INFEASIBLE : code;
}

static const struct option_spec OPTIONS[] = {
    RUN_FILE_OPTIONS,
    {"batch", 0, OPTION_TEXT, "N", "sequences at once, 1 unless given"},
    {"prompt", 0, OPTION_TEXT, "TOKENS", "of each, the plan's sequence unless given"},
    {"context", 0, OPTION_TEXT, "TOKENS", "cached of each while decoding, the prompt's"},
    {"json", 0, OPTION_FLAG, NULL, "the answer as JSON"},
    {"output", 'o', OPTION_TEXT, "FILE", "write there; .json chooses JSON"},
};

extern const struct command command_inference;
const struct command command_inference = {
    .name = "inference",
    .summary = "the model asked: time of a prompt and of a token, and its cache",
    .synopsis = "[RUN.json]",
    .example =
        "stepcast inference configs/runs/zaya1-base-4k-1024.json --batch 32 --context 4096",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON,
    .run = run_inference,
};
