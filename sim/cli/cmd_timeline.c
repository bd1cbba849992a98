/* stepcast timeline: a step as a picture, or as a trace for Perfetto. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/chrome_trace.h"
#include "sim/cli/run_options.h"
#include "sim/cli/step_picture.h"

static const double ZOOM_LEAST_S = 1e-6; /* shorter windows would show single kernels cut */

/* "0.41:0.44", seconds. */
static bool
read_zoom(const char *word, struct zoom_window *zoom)
{
    if (!*word)
        return true;
    char *end = NULL;
    zoom->from_s = strtod(word, &end);
    if (end == word || *end != ':')
        return false;
    const char *second = end + 1;
    zoom->to_s = strtod(second, &end);
    return end != second && *end == '\0' && zoom->from_s >= 0 && zoom->to_s > zoom->from_s &&
           zoom->to_s < 1e6;
}

static int
draw(const struct step *step, struct zoom_window zoom, const struct options *options,
     struct arena *arena)
{
    struct error_list errors = {0};
    struct text out = text_new(arena);
    struct canvas *canvas = canvas_new(arena, STYLE_FONTS);
    timeline_draw(step_picture(step, zoom, arena), &STYLE_PAGE_WEB, canvas);
    bool is_drawn = canvas_write(canvas, options_text(options, "output"), &out, &errors);
    canvas_free(canvas);
    return is_drawn ? command_output(options, &out) : command_report(&errors);
}

static int
run(const struct options *options, struct arena *arena)
{
    const char *word = options_text(options, "zoom");
    struct zoom_window zoom = {0, 0};
    if (!read_zoom(word, &zoom))
        return command_usage(
            "timeline", "--zoom is '%s', wanted FROM:TO in seconds, such as 0.41:0.44", word);
    int exit_code = EXIT_BUG;
    const struct step *step = run_options_simulate("timeline", options, arena, &exit_code);
    if (!step)
        return exit_code;
    if (zoom.to_s > step->step_s || (*word && zoom.to_s - zoom.from_s < ZOOM_LEAST_S))
        return command_usage(
            "timeline",
            "--zoom is '%s', wanted a microsecond or more within the %.6f s of "
            "the step",
            word, step->step_s);
    if (command_format(options) != OUTPUT_JSON)
        return draw(step, zoom, options, arena);
    struct text out = text_new(arena);
    chrome_trace_write(step, &out);
    return command_output(options, &out);
}

static const struct option_spec OPTIONS[] = {
    RUN_OPTIONS,
    {"zoom", 0, OPTION_TEXT, "FROM:TO", "seconds to enlarge (default: the end of the step)"},
    {"json", 0, OPTION_FLAG, NULL, "the trace, on standard output without -o"},
    {"output", 'o', OPTION_TEXT, "FILE", "picture (.svg .png .pdf) or trace (.json)"},
};

const struct command command_timeline = {
    .name = "timeline",
    .summary = "draw one training step, or write it as a Chrome trace",
    .synopsis = "[RUN.json] -o FILE | --json",
    .example = "stepcast timeline configs/runs/zaya1-base-4k-1024.json -o step.svg",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_JSON | 1u << OUTPUT_SVG | 1u << OUTPUT_PDF | 1u << OUTPUT_PNG,
    .run = run,
};
