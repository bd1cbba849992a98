/* stepcast explain: why a step takes that long, what would change it, where a price comes from. */
#include <stdlib.h>

#include "plots/chart_csv.h"
#include "sim/cli/explain_operator.h"
#include "sim/cli/explain_picture.h"
#include "sim/cli/explain_report.h"
#include "sim/cli/picture.h"
#include "sim/cli/run_options.h"
#include "sim/cli/width_advice.h"

/* How far to each side of a width others are tried, unless it is said. */
static const double WIDTH_WITHIN_FRACTION = 0.25;

static int
explain_all(const struct options *options, const struct explanation *explanation,
            struct arena *arena)
{
    struct explain_report report = {.explanation = *explanation};
    report.what_if_count = what_if_all(explanation->step, report.what_ifs, arena);
    struct text out = text_new(arena);
    if (command_wants_json(options))
        explain_report_json(&report, &out);
    else
        explain_report_text(&report, &out);
    return command_output(options, &out);
}

static int
draw_roofline(const struct options *options, const struct step *step, struct arena *arena)
{
    struct canvas *canvas = canvas_new(arena, STYLE_FONTS);
    struct text data = text_new(arena);
    const struct scatter_chart *chart = explain_roofline(step, arena);
    scatter_chart_draw(chart, picture_page(options), canvas);
    if (picture_wants_data(options))
        scatter_chart_csv(chart, &data);
    return picture_output(options, canvas, &data);
}

static int
draw_tornado(const struct options *options, const struct step *step, struct arena *arena)
{
    struct error_list errors = {0};
    struct sensitivity items[SENSITIVITY_COUNT];
    if (!sensitivity_all(step, items, arena, &errors))
        return command_report(&errors);
    struct canvas *canvas = canvas_new(arena, STYLE_FONTS);
    struct text data = text_new(arena);
    const struct tornado_chart *chart = explain_tornado(step, items, arena);
    tornado_chart_draw(chart, picture_page(options), canvas);
    if (picture_wants_data(options))
        tornado_chart_csv(chart, &data);
    return picture_output(options, canvas, &data);
}

static int
explain_one(const struct options *options, const struct explanation *explanation,
            struct arena *arena)
{
    const char *wanted = options_text(options, "kernel");
    struct explain_origin origin = {
        .explanation = explanation,
        .found = explain_operator_find_anywhere(explanation, wanted, arena)};
    const char *nearest = explain_operator_nearest(explanation, wanted, arena);
    if (!origin.found && nearest)
        return command_usage("explain", "--kernel is '%.60s', did you mean '%s'?", wanted,
                             nearest);
    if (!origin.found)
        return command_usage(
            "explain",
            "--kernel is '%.60s', wanted the name of a kernel or collective of "
            "the step, or a number from 1 to %lld of those on the chain",
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

/* A whole number from 1, a part from 0 to 1: false where the option holds something else. */
static bool
read_width_numbers(const struct options *options, struct width_request *request)
{
    const char *every = options_text(options, "every"),
               *within = options_text(options, "within");
    char *end = NULL;
    request->within_fraction = WIDTH_WITHIN_FRACTION;
    if (*every) {
        request->every = strtoll(every, &end, 10);
        if (*end || request->every < 1)
            return false;
    }
    if (*within) {
        request->within_fraction = strtod(within, &end);
        if (*end || !(request->within_fraction >= 0 && request->within_fraction <= 1))
            return false;
    }
    return true;
}

static int
explain_width(const struct options *options, const struct explanation *explanation,
              struct arena *arena)
{
    struct width_request request = {.what = options_text(options, "width")};
    struct width_advice advice;
    struct error_list errors = {0};
    const char *fault = NULL;
    if (!read_width_numbers(options, &request))
        return command_usage("explain", "--every wants a whole number from 1, --within a part "
                                        "from 0 to 1");
    for (size_t i = 0; i < options_text_count(options, "link"); i++)
        if (!sweep_space_add_link(&request.space, options_text_at(options, "link", i), arena,
                                  &fault))
            return command_usage("explain", "--link %s: %s",
                                 options_text_at(options, "link", i), fault);
    if (!width_advise(&request, explanation, &advice, arena, &errors))
        return command_report(&errors);
    struct text out = text_new(arena);
    if (command_format(options) == OUTPUT_JSON)
        width_advice_json(&advice, &out);
    else
        width_advice_text(&advice, &out);
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
    bool is_one = options_text_count(options, "kernel") > 0;
    bool is_width = options_text_count(options, "width") > 0;
    bool is_drawn = command_draws(command_format(options));
    bool is_roofline = options_flag(options, "roofline");
    if (is_roofline && !is_drawn)
        return command_usage("explain",
                             "--roofline is a picture: give -o FILE.svg, .png or .pdf");
    if ((is_one || is_width) && is_drawn)
        return command_usage("explain", "--%s is answered in words, wanted no picture",
                             is_one ? "kernel" : "width");
    if (is_drawn) {
        int code = is_roofline ? draw_roofline(options, step, arena)
                               : draw_tornado(options, step, arena);
        if (code != EXIT_DONE || !command_wants_json(options))
            return code;
    }
    struct explanation explanation = explain_step(step, arena);
    if (is_width)
        return explain_width(options, &explanation, arena);
    return is_one ? explain_one(options, &explanation, arena)
                  : explain_all(options, &explanation, arena);
}

static const struct option_spec OPTIONS[] = {
    RUN_FILE_OPTIONS,
    {"kernel", 0, OPTION_TEXT, "WHICH",
     "where the price of one kernel or collective comes from: its name, or its number in the "
     "table"},
    {"width", 0, OPTION_TEXT, "WHICH",
     "a field, such as model.expert_ffn, or a product: why so quick, and better ones near it"},
    {"link", 0, OPTION_TEXTS, "FIELD=FORMULA", "of --width: a field that follows from it"},
    {"every", 0, OPTION_TEXT, "N", "of --width: from width to width (default up to 64)"},
    {"within", 0, OPTION_TEXT, "PART", "of --width: how far to each side (default 0.25)"},
    {"roofline", 0, OPTION_FLAG, NULL, "draw FLOP/s over FLOP a byte, not what moves the step"},
    PICTURE_OPTIONS,
    {"json", 0, OPTION_FLAG, NULL, "the answer as JSON"},
    {"output", 'o', OPTION_TEXT, "FILE", "write there; .json .svg .png .pdf"},
};

const struct command command_explain = {
    .name = "explain",
    .summary = "why a step takes that long: causes, longest operators, what-ifs",
    .synopsis = "[RUN.json] [--kernel WHICH | --width WHICH]",
    .example = "stepcast explain configs/runs/zaya1-base-4k-1024.json",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON | 1u << OUTPUT_SVG | 1u << OUTPUT_PDF |
               1u << OUTPUT_PNG,
    .run = run,
};
