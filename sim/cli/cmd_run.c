/* stepcast run: how long one training step takes, where its time goes, whether it fits. */
#include "sim/cli/run_options.h"
#include "sim/cli/step_report.h"

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
        step_report_json(step, &out);
    else if (format == OUTPUT_CSV)
        step_report_csv(step, &out);
    else
        step_report_text(step, &out);
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
