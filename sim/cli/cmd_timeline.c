/* stepcast timeline: a step as a picture, or as a trace for Perfetto. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots/timeline_csv.h"
#include "sim/cli/chrome_trace.h"
#include "sim/cli/perfetto_trace.h"
#include "sim/cli/picture.h"
#include "sim/cli/run_options.h"
#include "sim/cli/step_picture.h"

static const double ZOOM_LEAST_S = 1e-6; /* shorter windows would show single kernels cut */

/* "end", "steady" or "0.41:0.44", seconds. */
static bool
read_zoom(const char *word, struct zoom *zoom)
{
    zoom->kind = ZOOM_WINDOW;
    if (!*word)
        zoom->kind = ZOOM_AUTO;
    if (strcmp(word, "end") == 0)
        zoom->kind = ZOOM_END;
    if (strcmp(word, "steady") == 0)
        zoom->kind = ZOOM_STEADY;
    if (zoom->kind != ZOOM_WINDOW)
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
draw(const struct step *step, struct zoom zoom, const struct shown_ranks *shown,
     const struct options *options, struct arena *arena)
{
    const struct timeline *timeline = step_picture(step, zoom, shown, arena);
    struct canvas *canvas = canvas_new(arena, STYLE_FONTS);
    struct text data = text_new(arena);
    timeline_draw(timeline, picture_page(options), canvas);
    if (picture_wants_data(options))
        timeline_csv(timeline, &data);
    return picture_output(options, canvas, &data);
}

/* A file until the first fault: then it is gone. */
struct trace_file {
    struct text_file *file;
    struct error_list errors;
};

static void
put(void *context, const char *bytes, size_t length)
{
    struct trace_file *out = context;
    if (out->file && !text_file_append(out->file, bytes, length, &out->errors))
        out->file = NULL;
}

/* Too long to be held: written as it is made. shown: NULL of a Perfetto trace, which shows all. */
static int
write_trace(const struct step *step, const struct shown_ranks *shown, const char *path,
            struct arena *arena)
{
    struct trace_file out = {.file = NULL};
    const struct trace_sink sink = {put, &out};
    out.file = text_file_open(path, arena, &out.errors);
    if (out.file && shown)
        chrome_trace_write(step, shown, &sink, arena);
    else if (out.file)
        perfetto_trace_write(step, &sink, arena);
    if (!out.file || !text_file_finish(out.file, &out.errors))
        return command_report(&out.errors);
    return EXIT_DONE;
}

static void
gather(void *context, const char *bytes, size_t length)
{
    text_append(context, bytes, length);
}

static int
print_trace(const struct step *step, const struct shown_ranks *shown, struct arena *arena)
{
    struct text out = text_new(arena);
    chrome_trace_write(step, shown, &(struct trace_sink){gather, &out}, arena);
    return command_print(&out);
}

/* What --show names: of a trace one rank of each stage if it names none, of a picture the slowest.
 * An exit code, after saying why not. */
static int
read_shown(const struct step *step, const struct options *options, struct shown_ranks *shown,
           struct arena *arena)
{
    const char *word = options_text(options, "show");
    bool is_picture = command_draws(command_format(options));
    if (*word && command_format(options) == OUTPUT_PFTRACE)
        return command_usage("timeline",
                             "--show is of pictures and .json: a .pftrace has every "
                             "rank that is simulated");
    if (!*word)
        word = is_picture ? "slowest" : "stages";
    if (!shown_ranks_read(word, step, shown, arena))
        return command_usage("timeline",
                             "--show is '%s', wanted slowest, stages, all or ranks, each once, "
                             "such as 0,8-11: there are 0 to %lld",
                             word, (long long)step->lowered.program->placement.ranks - 1);
    if (is_picture && shown->count > STEP_PICTURE_RANKS_MAX)
        return command_usage("timeline", "--show is '%s', %zu ranks: a picture has room for %d",
                             word, shown->count, STEP_PICTURE_RANKS_MAX);
    return EXIT_DONE;
}

/* Whether the window lies in the step. */
static bool
fits(const struct zoom *zoom, const struct step *step)
{
    return zoom->kind != ZOOM_WINDOW ||
           (zoom->to_s <= step->step_s && zoom->to_s - zoom->from_s >= ZOOM_LEAST_S);
}

static int
write_or_draw(const struct step *step, struct zoom zoom, const struct options *options,
              struct arena *arena)
{
    struct shown_ranks shown = {.count = 0};
    const char *path = options_text(options, "output");
    int exit_code = read_shown(step, options, &shown, arena);
    if (exit_code != EXIT_DONE)
        return exit_code;
    bool is_picture = command_draws(command_format(options));
    if (is_picture)
        exit_code = draw(step, zoom, &shown, options, arena);
    if (exit_code != EXIT_DONE || (is_picture && !command_wants_json(options)))
        return exit_code;
    if (command_format(options) == OUTPUT_PFTRACE)
        return write_trace(step, NULL, path, arena);
    if (!*path || strcmp(path, "-") == 0 || is_picture)
        return print_trace(step, &shown, arena);
    return write_trace(step, &shown, path, arena);
}

static int
run(const struct options *options, struct arena *arena)
{
    const char *word = options_text(options, "zoom");
    struct zoom zoom = {ZOOM_AUTO, 0, 0};
    if (!read_zoom(word, &zoom))
        return command_usage(
            "timeline",
            "--zoom is '%s', wanted end, steady or FROM:TO in seconds, such as 0.41:0.44",
            word);
    int exit_code = EXIT_BUG;
    const struct step *step = run_options_simulate("timeline", options, arena, &exit_code);
    if (!step)
        return exit_code;
    if (!fits(&zoom, step))
        return command_usage(
            "timeline",
            "--zoom is '%s', wanted a microsecond or more within the %.6f s of "
            "the step",
            word, step->step_s);
    return write_or_draw(step, zoom, options, arena);
}

static const struct option_spec OPTIONS[] = {
    RUN_OPTIONS,
    {"zoom", 0, OPTION_TEXT, "WINDOW",
     "what to enlarge: end, steady (two microbatches in the middle), FROM:TO in seconds"},
    {"show", 0, OPTION_TEXT, "RANKS",
     "whose lanes: slowest, stages (of each one, the default of a trace), all, or such as "
     "5,0-3"},
    PICTURE_OPTIONS,
    {"json", 0, OPTION_FLAG, NULL, "the Chrome trace, on standard output without -o"},
    {"output", 'o', OPTION_TEXT, "FILE",
     "picture (.svg .png .pdf), Chrome trace of the ranks shown (.json), Perfetto trace of all "
     "that are simulated (.pftrace)"},
};

const struct command command_timeline = {
    .name = "timeline",
    .summary = "draw one training step, or write it as a trace for Perfetto",
    .synopsis = "[RUN.json] -o FILE | --json",
    .example = "stepcast timeline configs/runs/zaya1-base-4k-1024.json -o step.svg",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_JSON | 1u << OUTPUT_SVG | 1u << OUTPUT_PDF | 1u << OUTPUT_PNG |
               1u << OUTPUT_PFTRACE,
    .run = run,
};
