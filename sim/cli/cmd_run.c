/* stepcast run: how long one training step takes, where its time goes, whether it fits. */
#include "sim/base/json_writer.h"
#include "sim/base/units.h"
#include "sim/cli/run_options.h"

static void
write_breakdown(struct json_writer *writer, const struct step *step)
{
    json_write_key(writer, "breakdown");
    json_write_begin_object(writer);
    struct text key = text_new(writer->out->arena);
    for (int i = 0; i < STEP_CLASS_COUNT; i++) {
        key.length = 0;
        text_format(&key, "%s_s", step_class_key((enum step_class)i));
        json_write_real_at(writer, key.bytes, units_s_from_ps(step->class_ps[i]));
    }
    json_write_end_object(writer);
}

static void
write_memory(struct json_writer *writer, const struct memory *memory)
{
    struct memory_class classes[MEMORY_CLASS_COUNT];
    memory_classes(memory, classes);
    json_write_key(writer, "memory_bytes");
    json_write_begin_object(writer);
    json_write_real_at(writer, "peak", memory->peak);
    json_write_real_at(writer, "capacity", memory->capacity);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++)
        json_write_real_at(writer, classes[i].name, classes[i].bytes);
    json_write_end_object(writer);
}

static void
write_inputs(struct json_writer *writer, const struct step *step)
{
    const struct step_inputs *inputs = &step->run->inputs;
    const struct plan *plan = inputs->workload.plan;
    json_write_key(writer, "inputs");
    json_write_begin_object(writer);
    json_write_string_at(writer, "run", step->run->name);
    json_write_string_at(writer, "model", inputs->workload.arch->name);
    json_write_string_at(writer, "cluster", inputs->cluster->name);
    json_write_string_at(writer, "plan", plan->name);
    json_write_string_at(writer, "software", inputs->workload.software->name);
    json_write_string_at(writer, "device", inputs->cluster->device->name);
    json_write_integer_at(writer, "gpus", cluster_gpus(inputs->cluster));
    json_write_integer_at(writer, "step_tokens", plan_step_tokens(plan));
    json_write_integer_at(writer, "microbatches", plan_microbatches(plan, inputs->cluster));
    json_write_end_object(writer);
}

static void
write_flop(struct json_writer *writer, const struct step *step)
{
    json_write_key(writer, "flop_per_token");
    json_write_begin_object(writer);
    json_write_real_at(writer, "train", step->flop.train);
    json_write_real_at(writer, "forward", step->flop.forward);
    json_write_real_at(writer, "six_n_active", step->flop.six_n_active);
    json_write_string_at(writer, "convention",
                         "matrix products, convolutions and causal attention, head included; "
                         "backward twice forward");
    json_write_end_object(writer);
}

static void
write_simulation(struct json_writer *writer, const struct step *step)
{
    json_write_key(writer, "simulation");
    json_write_begin_object(writer);
    json_write_integer_at(writer, "simulated_ranks", step->lowered.simulated_ranks);
    json_write_integer_at(writer, "representative_rank", step->lowered.representative);
    json_write_integer_at(writer, "tasks", (int64_t)step->trace->count);
    json_write_integer_at(writer, "events", (int64_t)step->trace->event_count);
    json_write_integer_at(writer, "solves", (int64_t)step->trace->solve_count);
    json_write_end_object(writer);
}

/* What the prediction does not cover; empty for most runs. */
static bool
has_far_owners(const struct step *step)
{
    return step->lowered.program->owners_max > 2;
}

static const char FAR_OWNERS[] =
    "a matrix of the optimizer lies on more than two ranks: ZAYA1's exchange between two "
    "neighbours does not cover that, pieces from all its ranks are counted";

static void
write_warnings(struct json_writer *writer, const struct step *step)
{
    json_write_key(writer, "warnings");
    json_write_begin_array(writer);
    if (has_far_owners(step))
        json_write_string(writer, FAR_OWNERS);
    json_write_end_array(writer);
}

static void
write_json(struct text *out, const struct step *step)
{
    struct json_writer writer = json_writer_new(out, true);
    json_write_begin_object(&writer);
    json_write_integer_at(&writer, "schema_version", 1);
    write_inputs(&writer, step);
    json_write_real_at(&writer, "step_s", step->step_s);
    json_write_key(&writer, "interval");
    json_write_begin_object(&writer);
    json_write_real_at(&writer, "low_s", step->low_s);
    json_write_real_at(&writer, "high_s", step->high_s);
    json_write_real_at(&writer, "coverage_fraction", 0.9);
    json_write_end_object(&writer);
    json_write_real_at(&writer, "tokens_per_s", step->tokens_per_s);
    json_write_real_at(&writer, "tokens_per_s_per_gpu", step->tokens_per_s_per_gpu);
    json_write_real_at(&writer, "model_flop_per_s_per_gpu", step->model_flop_per_s_per_gpu);
    json_write_real_at(&writer, "mfu", step->mfu);
    json_write_real_at(&writer, "six_n_flop_per_s_per_gpu", step->six_n_flop_per_s_per_gpu);
    json_write_real_at(&writer, "six_n_mfu", step->six_n_mfu);
    write_flop(&writer, step);
    write_breakdown(&writer, step);
    json_write_real_at(&writer, "communication_s", units_s_from_ps(step->communication_ps));
    write_memory(&writer, &step->memory);
    write_simulation(&writer, step);
    write_warnings(&writer, step);
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
}

static void
print_inputs(struct text *out, const struct step *step)
{
    const struct step_inputs *inputs = &step->run->inputs;
    const struct plan *plan = inputs->workload.plan;
    const struct cluster *cluster = inputs->cluster;
    text_format(out, "%s\n\n", step->run->name);
    text_format(out, "  model     %s: %s parameters, %s of them active beside the embedding\n",
                inputs->workload.arch->name,
                units_format_count((double)step->parameters.every).text,
                units_format_count((double)step->parameters.nonembedding_active).text);
    text_format(out, "  cluster   %s: %lld x %lld %s\n", cluster->name,
                (long long)cluster->nodes, (long long)cluster->gpus_per_node,
                cluster->device->name);
    text_format(
        out,
        "  plan      %s: data parallel %lld, ZeRO-%lld, %lld microbatches of %lld x %lld "
        "tokens\n",
        plan->name, (long long)plan_data_degree(plan, cluster), (long long)plan->zero_stage,
        (long long)plan_microbatches(plan, cluster), (long long)plan->microbatch_sequences,
        (long long)plan->sequence_tokens);
    text_format(out, "  software  %s\n\n", inputs->workload.software->name);
}

static void
print_answer(struct text *out, const struct step *step)
{
    const struct device *device = step->run->inputs.cluster->device;
    enum dtype dtype = step->run->inputs.workload.plan->compute_dtype;
    text_format(
        out, "step time    %s  (90 %% interval %s to %s), %s tokens a step\n",
        units_format_s(step->step_s).text, units_format_s(step->low_s).text,
        units_format_s(step->high_s).text,
        units_format_count((double)plan_step_tokens(step->run->inputs.workload.plan)).text);
    text_format(out, "throughput   %s tokens/s, %s tokens/s per GPU\n",
                units_format_count(step->tokens_per_s).text,
                units_format_count(step->tokens_per_s_per_gpu).text);
    text_format(out, "model FLOP   %s a token: %s per GPU, %s of the %s peak of %s (MFU)\n",
                units_format_flop(step->flop.train).text,
                units_format_flop_per_s(step->model_flop_per_s_per_gpu).text,
                units_format_fraction(step->mfu).text, dtype_name(dtype), device->name);
    text_format(out, "             (products and causal attention, head included, x 3)\n");
    text_format(out,
                "6 N active   %s a token: %s per GPU, %s (leaves out head and attention)\n\n",
                units_format_flop(step->flop.six_n_active).text,
                units_format_flop_per_s(step->six_n_flop_per_s_per_gpu).text,
                units_format_fraction(step->six_n_mfu).text);
}

/* Classes by the time they take, largest first; those that take none are left out. */
static void
print_breakdown(struct text *out, const struct step *step)
{
    bool is_printed[STEP_CLASS_COUNT] = {false};
    text_format(out, "where the step goes\n");
    for (int row = 0; row < STEP_CLASS_COUNT; row++) {
        int largest = -1;
        for (int i = 0; i < STEP_CLASS_COUNT; i++)
            if (!is_printed[i] && (largest < 0 || step->class_ps[i] > step->class_ps[largest]))
                largest = i;
        is_printed[largest] = true;
        if (step->class_ps[largest] == 0)
            continue;
        double seconds_s = units_s_from_ps(step->class_ps[largest]);
        text_format(out, "  %-30s %10s %8s\n", step_class_label((enum step_class)largest),
                    units_format_s(seconds_s).text,
                    units_format_fraction(seconds_s / step->step_s).text);
    }
    text_format(out, "  collectives in all, hidden or not: %s\n\n",
                units_format_s(units_s_from_ps(step->communication_ps)).text);
}

static void
print_memory(struct text *out, const struct memory *memory)
{
    struct memory_class classes[MEMORY_CLASS_COUNT];
    memory_classes(memory, classes);
    text_format(out, "memory per GPU: %s of %s\n", units_format_bytes(memory->peak).text,
                units_format_bytes(memory->capacity).text);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++)
        text_format(out, "  %-30s %10s %8s\n", classes[i].name,
                    units_format_bytes(classes[i].bytes).text,
                    units_format_fraction(classes[i].bytes / memory->capacity).text);
}

/* The breakdown, a class a row. */
static void
write_csv(struct text *out, const struct step *step)
{
    text_format(out, "class,time_s\n");
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        text_format(out, "%s,%.12f\n", step_class_key((enum step_class)i),
                    units_s_from_ps(step->class_ps[i]));
}

static void
print_text(struct text *out, const struct step *step)
{
    print_inputs(out, step);
    print_answer(out, step);
    print_breakdown(out, step);
    print_memory(out, &step->memory);
    if (has_far_owners(step))
        text_format(out, "\nwarning: %s\n", FAR_OWNERS);
}

static int
run(const struct options *options, struct arena *arena)
{
    int exit_code = EXIT_BUG;
    const struct step *step = run_options_simulate("run", options, arena, &exit_code);
    if (!step)
        return exit_code;
    struct text out = text_new(arena);
    enum output_format format = command_format(options);
    if (format == OUTPUT_JSON)
        write_json(&out, step);
    else if (format == OUTPUT_CSV)
        write_csv(&out, step);
    else
        print_text(&out, step);
    return command_output(options, &out);
}

static const struct option_spec OPTIONS[] = {
    RUN_OPTIONS,
    {"json", 0, OPTION_FLAG, NULL, "the answer as JSON"},
    {"output", 'o', OPTION_TEXT, "FILE", "write there; .json or .csv choose the format"},
};

const struct command command_run = {
    .name = "run",
    .summary = "predict one training step: time, breakdown, memory",
    .synopsis = "[RUN.json]",
    .example =
        "stepcast run configs/runs/zaya1-base-4k-1024.json --set plan.microbatch_sequences=1",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON | 1u << OUTPUT_CSV,
    .run = run,
};
