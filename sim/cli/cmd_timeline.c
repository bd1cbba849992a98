/* stepcast timeline: a step as a picture, or as a trace for Perfetto. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/chrome_trace.h"
#include "sim/cli/run_options.h"
#include "sim/cli/step_picture.h"

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

static bool
has_ending(const char *file, const char *ending)
{
    const char *dot = strrchr(file, '.');
    return dot && strcmp(dot, ending) == 0;
}

static bool
is_known_ending(const char *file)
{
    return has_ending(file, ".json") || has_ending(file, ".svg") || has_ending(file, ".pdf") ||
           has_ending(file, ".png");
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
    const char *file = options_text(options, "output");
    struct zoom_window zoom = {0, 0};
    if (!is_known_ending(file))
        return command_usage("timeline",
                             "wanted -o FILE ending in .svg, .png, .pdf (a picture) "
                             "or .json (a Chrome trace)");
    if (!read_zoom(options_text(options, "zoom"), &zoom))
        return command_usage("timeline",
                             "--zoom is '%s', wanted FROM:TO in seconds, such as "
                             "0.41:0.44",
                             options_text(options, "zoom"));
    int exit_code = EXIT_BUG;
    const struct step *step = run_options_simulate("timeline", options, arena, &exit_code);
    if (!step)
        return exit_code;
    if (!has_ending(file, ".json"))
        return draw(step, zoom, options, arena);
    struct text out = text_new(arena);
    chrome_trace_write(step, &out);
    return command_output(options, &out);
}

static const struct option_spec OPTIONS[] = {
    RUN_OPTIONS,
    {"zoom", 0, OPTION_TEXT, "FROM:TO", "seconds to enlarge (default: the end of the step)"},
    {"output", 'o', OPTION_TEXT, "FILE", "picture (.svg .png .pdf) or trace (.json)"},
};

const struct command command_timeline = {
    .name = "timeline",
    .summary = "draw one training step, or write it as a Chrome trace",
    .synopsis = "[RUN.json] -o FILE",
    .example = "stepcast timeline configs/runs/zaya1-base-4k-1024.json -o step.svg",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .run = run,
};
