/* A step as JSON and as CSV. */
#include <math.h>

#include "sim/base/json_writer.h"
#include "sim/base/units.h"
#include "sim/cli/step_report.h"
#include "sim/cli/version.h"

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

/* How long each part of the step runs, one behind the other. */
static void
write_parts(struct json_writer *writer, const struct step *step)
{
    struct text key = text_new(writer->out->arena);
    json_write_key(writer, "parts");
    json_write_begin_object(writer);
    for (int i = 0; i < STEP_PART_COUNT; i++) {
        key.length = 0;
        text_format(&key, "%s_s", step_part_key((enum step_part)i));
        json_write_real_at(writer, key.bytes, units_s_from_ps(step->part_ps[i]));
    }
    json_write_end_object(writer);
}

/* What a class achieves while it runs: FLOP/s of what it computes, bytes/s of HBM. */
static void
write_rates(struct json_writer *writer, const struct step *step)
{
    json_write_key(writer, "achieved");
    json_write_begin_object(writer);
    for (int i = 0; i < STEP_CLASS_COUNT; i++) {
        double seconds_s = units_s_from_ps(step->class_ps[i]);
        if (seconds_s <= 0 || step->class_bytes[i] <= 0)
            continue;
        json_write_key(writer, step_class_key((enum step_class)i));
        json_write_begin_object(writer);
        json_write_real_at(writer, "flop_per_s", step->class_flop[i] / seconds_s);
        json_write_real_at(writer, "hbm_bytes_per_s", step->class_bytes[i] / seconds_s);
        json_write_end_object(writer);
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
write_tool(struct json_writer *writer)
{
    json_write_key(writer, "tool");
    json_write_begin_object(writer);
    json_write_string_at(writer, "name", "stepcast");
    json_write_string_at(writer, "version", STEPCAST_VERSION);
    json_write_end_object(writer);
}

static void
write_files(struct json_writer *writer, const struct run *run)
{
    static const char *const keys[RUN_FILES] = {"run",  "model",    "cluster",
                                                "plan", "software", "device"};
    json_write_key(writer, "files");
    json_write_begin_object(writer);
    for (int i = 0; i < RUN_FILES; i++)
        json_write_string_at(writer, keys[i], run->paths[i]);
    json_write_end_object(writer);
    json_write_key(writer, "changes");
    json_write_begin_array(writer);
    for (size_t i = 0; i < run->change_count; i++)
        json_write_string(writer, run->changes[i]);
    json_write_end_array(writer);
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
    write_files(writer, step->run);
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
                         step->adapter_parameters > 0
                             ? "matrix products, convolutions and causal attention, head "
                               "included; backward twice forward, of frozen weights once"
                             : "matrix products, convolutions and causal attention, head "
                               "included; backward twice forward");
    if (step->adapter_parameters > 0)
        json_write_integer_at(writer, "adapter_parameters", step->adapter_parameters);
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

static void
write_warnings(struct json_writer *writer, const struct step *step)
{
    json_write_key(writer, "warnings");
    json_write_begin_array(writer);
    for (int i = 0; i < step->warning_count; i++)
        json_write_string(writer, step->warnings[i]);
    json_write_end_array(writer);
}

void
step_report_json(const struct step *step, struct text *out)
{
    struct json_writer writer = json_writer_new(out, true);
    json_write_begin_object(&writer);
    json_write_integer_at(&writer, "schema_version", 1);
    write_tool(&writer);
    write_inputs(&writer, step);
    json_write_real_at(&writer, "step_s", step->step_s);
    json_write_key(&writer, "interval");
    json_write_begin_object(&writer);
    json_write_real_at(&writer, "low_s", step->low_s);
    json_write_real_at(&writer, "high_s", step->high_s);
    json_write_real_at(&writer, "coverage_fraction", STEP_INTERVAL_COVERAGE_FRACTION);
    json_write_end_object(&writer);
    json_write_real_at(&writer, "tokens_per_s", step->tokens_per_s);
    json_write_real_at(&writer, "tokens_per_s_per_gpu", step->tokens_per_s_per_gpu);
    json_write_real_at(&writer, "model_flop_per_s_per_gpu", step->model_flop_per_s_per_gpu);
    json_write_real_at(&writer, "mfu", step->mfu);
    json_write_real_at(&writer, "six_n_flop_per_s_per_gpu", step->six_n_flop_per_s_per_gpu);
    json_write_real_at(&writer, "six_n_mfu", step->six_n_mfu);
    write_flop(&writer, step);
    write_breakdown(&writer, step);
    write_parts(&writer, step);
    write_rates(&writer, step);
    json_write_real_at(&writer, "communication_s", units_s_from_ps(step->communication_ps));
    write_memory(&writer, &step->memory);
    write_simulation(&writer, step);
    write_warnings(&writer, step);
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
}

void
step_report_csv(const struct step *step, struct text *out)
{
    text_format(out, "class,time_s\n");
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        text_format(out, "%s,%.12f\n", step_class_key((enum step_class)i),
                    units_s_from_ps(step->class_ps[i]));
}
