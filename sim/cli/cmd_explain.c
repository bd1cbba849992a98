/* stepcast explain: why a step takes that long, and what would change it. */
#include "sim/cli/explain_report.h"
#include "sim/cli/run_options.h"

static int
run(const struct options *options, struct arena *arena)
{
    int exit_code = EXIT_BUG;
    const struct run *read = run_options_read("explain", options, arena, &exit_code);
    if (!read)
        return exit_code;
    struct error_list errors = {0};
    const struct step *step = step_simulate(read, RANKS_FOLDED, arena, &errors);
    if (!step)
        return command_report(&errors);
    struct explain_report report = {.explanation = explain_step(step, arena)};
    report.what_if_count = what_if_all(step, report.what_ifs, arena);
    struct text out = text_new(arena);
    if (command_format(options) == OUTPUT_JSON)
        explain_report_json(&report, &out);
    else
        explain_report_text(&report, &out);
    return command_output(options, &out);
}

static const struct option_spec OPTIONS[] = {
    RUN_FILE_OPTIONS,
    {"json", 0, OPTION_FLAG, NULL, "the answer as JSON"},
    {"output", 'o', OPTION_TEXT, "FILE", "write there; .json chooses the format"},
};

const struct command command_explain = {
    .name = "explain",
    .summary = "why a step takes that long: causes, longest operators, what-ifs",
    .synopsis = "[RUN.json]",
    .example = "stepcast explain configs/runs/zaya1-base-4k-1024.json",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON,
    .run = run,
};
