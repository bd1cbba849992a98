/* stepcast report: a page about one predicted step, for people who were not there. */
#include "sim/cli/report.h"
#include "sim/cli/run_options.h"
#include "sim/cli/step_report.h"

static int
run(const struct options *options, struct arena *arena)
{
    int exit_code = EXIT_BUG;
    const struct step *step = run_options_simulate("report", options, arena, &exit_code);
    if (!step)
        return exit_code;
    struct text out = text_new(arena);
    if (command_format(options) == OUTPUT_JSON)
        step_report_json(step, &out);
    else
        report_write(step, &out, arena);
    return command_output(options, &out);
}

static const struct option_spec OPTIONS[] = {
    RUN_OPTIONS,
    {"json", 0, OPTION_FLAG, NULL, "the step's numbers alone, as `stepcast run --json`"},
    {"output", 'o', OPTION_TEXT, "FILE.html", "write there; on standard output without"},
};

extern const struct command command_report_page;
const struct command command_report_page = {
    .name = "report",
    .summary = "one page of HTML about a step: numbers, timeline, causes, sources",
    .synopsis = "[RUN.json] -o FILE.html",
    .example = "stepcast report configs/runs/zaya1-base-4k-1024.json -o report.html",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_HTML | 1u << OUTPUT_JSON,
    .run = run,
};
