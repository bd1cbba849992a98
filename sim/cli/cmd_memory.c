/* stepcast memory: what each GPU keeps, by class and by stage, when it keeps most, and whether it
 * fits. */
#include "models/altered.h"
#include "models/memory_change.h"
#include "plots/chart_csv.h"
#include "sim/base/json_writer.h"
#include "sim/base/units.h"
#include "sim/cli/memory_picture.h"
#include "sim/cli/picture.h"
#include "sim/cli/run_options.h"

/* What is printed, worked out once. */
struct answer {
    const struct run *run;
    const struct memory *stages;
    int64_t stage_count;
    const struct memory *most; /* the stage that needs most */
    struct memory_change changes[MEMORY_CHANGES_MAX];
    int change_count;
};

static bool
fits(const struct answer *answer)
{
    return answer->most->peak <= answer->most->capacity;
}

static const char *
pass_name(enum pass_kind pass)
{
    static const char *const names[] = {"forward", "backward", "input gradient",
                                        "weight gradient"};
    return names[pass];
}

static void
print_head(struct text *out, const struct answer *answer)
{
    const struct memory *most = answer->most;
    const struct step_inputs *inputs = &answer->run->inputs;
    text_format(out, "%s\n\n", answer->run->name);
    text_format(out, "peak per GPU  %s of the %s of a %s: %s\n",
                units_format_bytes(most->peak).text, units_format_bytes(most->capacity).text,
                inputs->cluster->device->name, fits(answer) ? "fits" : "does not fit");
    text_format(out, "when          %s of microbatch %lld", pass_name(most->moment.pass),
                (long long)most->moment.microbatch + 1);
    if (answer->stage_count > 1)
        text_format(out, " on stage %lld", (long long)most->stage);
    bool is_of_chunks = plan_chunks(inputs->workload.plan) > 1;
    text_format(out, ", activations of %lld %s%s kept\n\n", (long long)most->kept_passes,
                is_of_chunks ? "chunk pass" : "microbatch", most->kept_passes == 1 ? "" : "es");
}

enum { COLUMNS = 8 };

/* Classes are rows, stages [begin, end) columns. */
static void
print_columns(struct text *out, const struct answer *answer, int64_t begin, int64_t end)
{
    struct memory_class classes[MEMORY_CLASS_COUNT];
    text_format(out, "%-16s", "stage");
    for (int64_t stage = begin; stage < end; stage++)
        text_format(out, "%10lld", (long long)stage);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) {
        memory_classes(&answer->stages[0], classes);
        text_format(out, "\n%-16s", classes[i].name);
        for (int64_t stage = begin; stage < end; stage++) {
            memory_classes(&answer->stages[stage], classes);
            text_format(out, "%10s", units_format_bytes(classes[i].bytes).text);
        }
    }
    text_format(out, "\n%-16s", "peak");
    for (int64_t stage = begin; stage < end; stage++)
        text_format(out, "%10s", units_format_bytes(answer->stages[stage].peak).text);
    text_format(out, "\n");
}

static void
print_stages(struct text *out, const struct answer *answer)
{
    for (int64_t begin = 0; begin < answer->stage_count; begin += COLUMNS) {
        int64_t end = begin + COLUMNS;
        text_format(out, "%s", begin > 0 ? "\n" : "");
        print_columns(out, answer, begin,
                      end < answer->stage_count ? end : answer->stage_count);
    }
}

/* Of one forward of the stage's first chunk, the most first. */
static void
print_activations(struct text *out, const struct answer *answer)
{
    struct memory_saved saved =
        memory_saved_of(&answer->run->inputs, answer->most->stage, 0, out->arena);
    text_format(out, "\nactivations of one microbatch, by the operator that keeps them\n");
    for (;;) {
        int next = 0;
        for (int i = 1; i < STEP_CLASS_COUNT; i++)
            if (saved.bytes[i] > saved.bytes[next])
                next = i;
        if (saved.bytes[next] <= 0)
            break;
        text_format(out, "  %-34s %9s %8s\n", step_class_label((enum step_class)next),
                    units_format_bytes(saved.bytes[next]).text,
                    units_format_fraction(saved.bytes[next] / saved.sum).text);
        saved.bytes[next] = 0;
    }
}

static void
print_changes(struct text *out, const struct answer *answer)
{
    text_format(out, "\nwith one change\n");
    for (int i = 0; i < answer->change_count; i++)
        text_format(
            out, "  %9s  %-14s%s\n", units_format_bytes(answer->changes[i].peak_bytes).text,
            answer->changes[i].fits ? "fits" : "does not fit", answer->changes[i].settings);
}

static void
write_memory(struct json_writer *writer, const struct memory *memory)
{
    struct memory_class classes[MEMORY_CLASS_COUNT];
    memory_classes(memory, classes);
    json_write_real_at(writer, "peak", memory->peak);
    json_write_real_at(writer, "capacity", memory->capacity);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++)
        json_write_real_at(writer, classes[i].name, classes[i].bytes);
}

static void
write_moment(struct json_writer *writer, const struct memory *memory)
{
    json_write_key(writer, "peak_moment");
    json_write_begin_object(writer);
    json_write_string_at(writer, "pass", pass_name(memory->moment.pass));
    json_write_integer_at(writer, "microbatch", memory->moment.microbatch);
    json_write_integer_at(writer, "chunk", memory->moment.chunk);
    json_write_integer_at(writer, "kept_passes", memory->kept_passes);
    json_write_end_object(writer);
}

/* Activations during each pass of the schedule, in order. */
static void
write_course(struct json_writer *writer, const struct answer *answer, int64_t stage)
{
    struct memory_course course =
        memory_course(&answer->run->inputs, stage, writer->out->arena);
    json_write_key(writer, "activations_over_passes");
    json_write_begin_array(writer);
    for (int64_t i = 0; i < course.count; i++)
        json_write_real(writer, course.moments[i].activations);
    json_write_end_array(writer);
}

static void
write_stage(struct json_writer *writer, const struct answer *answer, int64_t stage)
{
    struct memory_saved saved =
        memory_saved_of(&answer->run->inputs, stage, 0, writer->out->arena);
    json_write_begin_object(writer);
    json_write_integer_at(writer, "stage", stage);
    json_write_key(writer, "memory_bytes");
    json_write_begin_object(writer);
    write_memory(writer, &answer->stages[stage]);
    json_write_end_object(writer);
    write_moment(writer, &answer->stages[stage]);
    json_write_key(writer, "activations_of_a_pass_bytes");
    json_write_begin_object(writer);
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        if (saved.bytes[i] > 0)
            json_write_real_at(writer, step_class_key((enum step_class)i), saved.bytes[i]);
    json_write_end_object(writer);
    write_course(writer, answer, stage);
    json_write_end_object(writer);
}

static void
write_changes(struct json_writer *writer, const struct answer *answer)
{
    json_write_key(writer, "changes");
    json_write_begin_array(writer);
    for (int i = 0; i < answer->change_count; i++) {
        json_write_begin_object(writer);
        json_write_string_at(writer, "settings", answer->changes[i].settings);
        json_write_real_at(writer, "peak_bytes", answer->changes[i].peak_bytes);
        json_write_bool_at(writer, "fits", answer->changes[i].fits);
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}

static void
write_json(struct text *out, const struct answer *answer)
{
    struct json_writer writer = json_writer_new(out, true);
    json_write_begin_object(&writer);
    json_write_string_at(&writer, "run", answer->run->name);
    json_write_bool_at(&writer, "fits", fits(answer));
    json_write_key(&writer, "memory_bytes");
    json_write_begin_object(&writer);
    write_memory(&writer, answer->most);
    json_write_end_object(&writer);
    json_write_integer_at(&writer, "peak_stage", answer->most->stage);
    json_write_key(&writer, "stages");
    json_write_begin_array(&writer);
    for (int64_t stage = 0; stage < answer->stage_count; stage++)
        write_stage(&writer, answer, stage);
    json_write_end_array(&writer);
    write_changes(&writer, answer);
    json_write_end_object(&writer);
    text_format(out, "\n");
}

static struct answer
answer_of(const struct run *run, struct arena *arena)
{
    struct answer answer = {.run = run,
                            .stages = memory_of_stages(&run->inputs, arena),
                            .stage_count = run->inputs.workload.plan->pipeline};
    answer.most = &answer.stages[0];
    for (int64_t stage = 1; stage < answer.stage_count; stage++)
        if (answer.stages[stage].peak > answer.most->peak)
            answer.most = &answer.stages[stage];
    answer.change_count = memory_changes(run, answer.changes, arena);
    return answer;
}

/* A step that does not fit is drawn too: as if a GPU had memory enough, over its limit. */
static int
draw(const struct options *options, const struct run *run, struct arena *arena)
{
    struct error_list errors = {0};
    struct altered *altered = altered_new(run, arena);
    altered_lift_memory(altered);
    const struct step *step = step_simulate(&altered->run, RANKS_FOLDED, arena, &errors);
    if (!step)
        return command_report(&errors);
    const struct area_chart *chart =
        memory_picture(step, run->inputs.cluster->device->hbm_bytes, arena);
    struct canvas *canvas = canvas_new(arena, STYLE_FONTS);
    struct text data = text_new(arena);
    area_chart_draw(chart, picture_page(options), canvas);
    if (picture_wants_data(options))
        area_chart_csv(chart, &data);
    return picture_output(options, canvas, &data);
}

static int
write_answer(const struct options *options, const struct answer *answer, struct arena *arena)
{
    struct text out = text_new(arena);
    if (command_draws(command_format(options))) {
        int code = draw(options, answer->run, arena);
        if (code != EXIT_DONE || !command_wants_json(options))
            return code;
    }
    if (command_wants_json(options)) {
        write_json(&out, answer);
    } else {
        print_head(&out, answer);
        print_stages(&out, answer);
        print_activations(&out, answer);
        print_changes(&out, answer);
    }
    return command_output(options, &out);
}

static int
run_memory(const struct options *options, struct arena *arena)
{
    int exit_code = EXIT_BUG;
    const struct run *run = run_options_read("memory", options, arena, &exit_code);
    if (!run)
        return exit_code;
    struct answer answer = answer_of(run, arena);
    int code = write_answer(options, &answer, arena);
    return code == EXIT_DONE && !fits(&answer) ? EXIT_INFEASIBLE : code;
}

static const struct option_spec OPTIONS[] = {
    RUN_FILE_OPTIONS,
    PICTURE_OPTIONS,
    {"json", 0, OPTION_FLAG, NULL, "the answer as JSON"},
    {"output", 'o', OPTION_TEXT, "FILE", "write there; .json .svg .png .pdf"},
};

extern const struct command command_memory;
const struct command command_memory = {
    .name = "memory",
    .summary = "what each GPU keeps, by class and stage, and whether it fits",
    .synopsis = "[RUN.json]",
    .example = "stepcast memory configs/runs/zaya1-base-4k-1024.json --set plan.pipeline=4",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON | 1u << OUTPUT_SVG | 1u << OUTPUT_PDF |
               1u << OUTPUT_PNG,
    .run = run_memory,
};
