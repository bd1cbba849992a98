/* stepcast explain: why a step takes that long, what would change it, where a price comes from. */
#include "sim/cli/explain_operator.h"
#include "sim/cli/explain_report.h"
#include "sim/cli/run_options.h"

static int
explain_all(const struct options *options, const struct explanation *explanation,
            struct arena *arena)
{
    struct explain_report report = {.explanation = *explanation};
    report.what_if_count = what_if_all(explanation->step, report.what_ifs, arena);
    struct text out = text_new(arena);
    if (command_format(options) == OUTPUT_JSON)
        explain_report_json(&report, &out);
    else
        explain_report_text(&report, &out);
    return command_output(options, &out);
}

static int
explain_one(const struct options *options, const struct explanation *explanation,
            struct arena *arena)
{
    const char *wanted = options_text(options, "kernel");
    struct explain_origin origin = {.explanation = explanation,
                                    .found = explain_operator_find(explanation, wanted)};
    if (!origin.found)
        return command_usage("explain",
                             "--kernel is '%.60s', wanted a name or a number from 1 to %lld of "
                             "the operators on the chain",
                             wanted, (long long)explanation->operator_count);
    struct error_list errors = {0};
    if (!provenance_of(explanation->step->run, origin.found->work, &origin.provenance, arena,
                       &errors))
        return command_report(&errors);
    struct text out = text_new(arena);
    if (command_format(options) == OUTPUT_JSON)
        explain_operator_json(&origin, &out);
    else
        explain_operator_text(&origin, &out);
    return command_output(options, &out);
}

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
    struct explanation explanation = explain_step(step, arena);
    return options_text_count(options, "kernel") > 0
               ? explain_one(options, &explanation, arena)
               : explain_all(options, &explanation, arena);
}

static const struct option_spec OPTIONS[] = {
    RUN_FILE_OPTIONS,
    {"kernel", 0, OPTION_TEXT, "WHICH",
     "where the price of one kernel or collective comes from: its name, or its number in the "
     "table"},
    {"json", 0, OPTION_FLAG, NULL, "the answer as JSON"},
    {"output", 'o', OPTION_TEXT, "FILE", "write there; .json chooses the format"},
};

const struct command command_explain = {
    .name = "explain",
    .summary = "why a step takes that long: causes, longest operators, what-ifs",
    .synopsis = "[RUN.json] [--kernel WHICH]",
    .example = "stepcast explain configs/runs/zaya1-base-4k-1024.json",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON,
    .run = run,
};
