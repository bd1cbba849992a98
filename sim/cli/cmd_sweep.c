/* stepcast sweep: one step for every combination of values, on all cores. */
#include <stdlib.h>
#include <string.h>

#include "sim/cli/picture.h"
#include "sim/cli/run_options.h"
#include "sim/cli/sweep_front.h"
#include "sim/cli/sweep_run.h"

extern const struct command command_sweep;

enum { TRIED_POINTS = 512 };

/* The first points, then some from all over: a slip in one field is not looked for in all. */
static size_t
tried_point(size_t turn, size_t points)
{
    return turn < TRIED_POINTS / 2 || points <= TRIED_POINTS ? turn
                                                             : turn * (points / TRIED_POINTS);
}

/* A field that no point can be read with is a slip, not a row: false after adding its fault. */
static bool
check_first(const struct sweep_job *job, struct error_list *errors)
{
    struct error_list first = {0};
    size_t points = sweep_space_count(&job->space);
    for (size_t turn = 0; turn < points && turn < TRIED_POINTS; turn++) {
        size_t point = tried_point(turn, points);
        struct error_list own = {0};
        struct run_settings settings = {0};
        struct arena *arena = arena_new_beside(job->arena);
        bool is_right =
            sweep_space_settings(&job->space, point, job->base, &settings, arena, &own) &&
            (run_again(job->base, &settings, arena, &own) ||
             own.items[0].kind == ERROR_INFEASIBLE);
        bool holds = false;
        if (is_right && own.count == 0)
            is_right =
                sweep_space_holds(&job->space, job->base, job->base, &holds, arena, &own);
        arena_free(arena);
        if (is_right)
            return true;
        if (first.count == 0)
            first = own;
    }
    *errors = first;
    return false;
}

/* Axes, links and conditions of the command line, after those of the file. */
static int
read_words(struct sweep_job *job)
{
    const struct options *options = job->options;
    const char *fault = NULL;
    for (size_t i = 0; i < options_text_count(options, "over"); i++)
        if (!sweep_space_add_axis(&job->space, options_text_at(options, "over", i), job->arena,
                                  &fault))
            return command_usage("sweep", "--over %s: %s", options_text_at(options, "over", i),
                                 fault);
    for (size_t i = 0; i < options_text_count(options, "link"); i++)
        if (!sweep_space_add_link(&job->space, options_text_at(options, "link", i), job->arena,
                                  &fault))
            return command_usage("sweep", "--link %s: %s", options_text_at(options, "link", i),
                                 fault);
    for (size_t i = 0; i < options_text_count(options, "where"); i++)
        sweep_space_add_condition(&job->space, options_text_at(options, "where", i),
                                  job->arena);
    return EXIT_DONE;
}

static bool
read_fraction(const struct options *options, const char *name, double *fraction)
{
    const char *word = options_text(options, name);
    char *end = NULL;
    if (!*word)
        return true;
    *fraction = strtod(word, &end);
    return *end == '\0' && *fraction >= 0 && *fraction <= 1;
}

static int
read_numbers(struct sweep_job *job)
{
    const char *show = options_text(job->options, "show");
    int code = run_options_jobs("sweep", job->options, &job->threads);
    if (code != EXIT_DONE)
        return code;
    if (!run_options_count(job->options, "samples", 1, SWEEP_SAMPLES_MAX, &job->space.samples))
        return command_usage("sweep", "--samples is '%s', wanted 1 to %d",
                             options_text(job->options, "samples"), SWEEP_SAMPLES_MAX);
    if (!run_options_count(job->options, "seed", 0, INT64_C(1000000000000000),
                           &job->space.seed))
        return command_usage("sweep", "--seed is '%s', wanted a whole number from 0 to 1e15",
                             options_text(job->options, "seed"));
    job->quantity = SWEEP_TOKENS_PER_S_PER_GPU;
    bool is_known = !*show || sweep_quantity_find(show, &job->quantity);
    if (!is_known || (int)job->quantity >= sweep_space_quantities(&job->space))
        return command_usage("sweep", "--show is '%s', wanted a column, such as %s", show,
                             sweep_quantity_key(SWEEP_MEMORY_BYTES));
    return EXIT_DONE;
}

/* What is asked of the model beside its step, and which points are marked. */
static int
read_inference(struct sweep_job *job)
{
    const struct options *options = job->options;
    struct sweep_space *space = &job->space;
    struct inference_request *request = &space->inference;
    const char *fault = NULL, *columns = options_text(options, "pareto");
    space->has_inference = space->has_inference || options_flag(options, "inference");
    request->batch = request->batch > 0 ? request->batch : 1;
    if (!run_options_count(options, "batch", 1, SWEEP_INFERENCE_MAX, &request->batch) ||
        !run_options_count(options, "prompt", 1, SWEEP_INFERENCE_MAX,
                           &request->prompt_tokens) ||
        !run_options_count(options, "context", 1, SWEEP_INFERENCE_MAX,
                           &request->context_tokens))
        return command_usage("sweep", "--batch, --prompt and --context want a whole number "
                                      "from 1");
    if (!read_fraction(options, "slack", &space->slack_fraction))
        return command_usage("sweep", "--slack is '%s', wanted a part from 0 to 1",
                             options_text(options, "slack"));
    if (*columns && !sweep_front_read(space, columns, job->arena, &fault))
        return command_usage("sweep", "--pareto is '%s': %s", columns, fault);
    return EXIT_DONE;
}

static int
read_shard(struct sweep_job *job)
{
    int code = run_options_shard("sweep", job->options, &job->slice);
    if (code != EXIT_DONE)
        return code;
    if (job->slice.count > 0 && (command_draws(job->format) || job->space.front_count > 0))
        return command_usage("sweep",
                             "--shard has not all points that %s needs: give each "
                             "shard a --store, merge them, then ask for it",
                             command_draws(job->format) ? "a picture" : "--pareto");
    return EXIT_DONE;
}

/* The file is a sweep if it says over what, else a run. */
static int
read_base(struct sweep_job *job)
{
    int code = EXIT_BUG;
    struct error_list errors = {0};
    const char *path = options_word(job->options, 0);
    const struct json *object = path ? json_read_file(job->arena, path, &errors) : NULL;
    if (path && !object)
        return command_report(&errors);
    if (!object || json_kind(object) != JSON_KIND_OBJECT || !json_at(object, "over")) {
        job->base = run_options_read("sweep", job->options, job->arena, &code);
        return job->base ? EXIT_DONE : code;
    }
    struct run_settings settings = {0};
    const char *run_file = NULL;
    if (!sweep_space_read(&job->space, object, &settings, &run_file, job->arena, &errors))
        return command_report(&errors);
    job->base = run_options_read_file("sweep", job->options,
                                      &(struct run_options_file){run_file, settings},
                                      job->arena, &code);
    return job->base ? EXIT_DONE : code;
}

static int
run(const struct options *options, struct arena *arena)
{
    struct sweep_job job = {
        .options = options,
        .arena = arena,
        .format = command_format(options),
        .rows_format = command_wants_json(options) ? OUTPUT_JSON : command_format(options),
        .is_quiet = options_flag(options, "quiet")};
    struct error_list errors = {0};
    int code = read_base(&job);
    if (code == EXIT_DONE)
        code = read_words(&job);
    if (code == EXIT_DONE)
        code = read_inference(&job);
    if (code == EXIT_DONE)
        code = read_numbers(&job);
    if (code == EXIT_DONE)
        code = read_shard(&job);
    if (code != EXIT_DONE)
        return code;
    if (!sweep_space_check(&job.space, arena, &errors) || !check_first(&job, &errors))
        return command_report(&errors);
    return sweep_run(&job);
}

static const struct option_spec OPTIONS[] = {
    {"over", 0, OPTION_TEXTS, "FIELD=VALUES", "FROM:TO:STEP, FROM:TO (doubles) or a list"},
    {"link", 0, OPTION_TEXTS, "FIELD=FORMULA", "a field that follows from others"},
    {"where", 0, OPTION_TEXTS, "FORMULA", "leaves points out, such as active_ratio<1.02"},
    {"samples", 0, OPTION_TEXT, "N", "so many points of a Sobol sequence, not all"},
    {"seed", 0, OPTION_TEXT, "N", "of the samples (default 0)"},
    {"inference", 0, OPTION_FLAG, NULL, "ask the model too: prefill, decoding, memory"},
    {"batch", 0, OPTION_TEXT, "N", "sequences asked at once (default 1)"},
    {"prompt", 0, OPTION_TEXT, "TOKENS", "of each, the plan's sequence unless given"},
    {"context", 0, OPTION_TEXT, "TOKENS", "cached of each while decoding, the prompt's"},
    {"pareto", 0, OPTION_TEXT, "COLUMN,...", "mark the points that none beats in all of these"},
    {"slack", 0, OPTION_TEXT, "FRACTION", "that counts as equal for --pareto (default 0)"},
    {"show", 0, OPTION_TEXT, "COLUMN", "in a picture (default tokens_per_s_per_gpu)"},
    MANY_RUNS_OPTIONS,
    RUN_FILE_OPTIONS,
    PICTURE_OPTIONS,
    {"json", 0, OPTION_FLAG, NULL, "one JSON object a line"},
    {"output", 'o', OPTION_TEXT, "FILE", "write there; .json .csv .svg .png .pdf"},
};

const struct command command_sweep = {
    .name = "sweep",
    .summary = "predict one step for every combination of values",
    .synopsis = "SWEEP.json | RUN.json --over FIELD=VALUES...",
    .example = "stepcast sweep configs/runs/zaya1-base-4k-1024.json "
               "--over plan.microbatch_sequences=1,2,4 --over plan.recompute=none,full",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON | 1u << OUTPUT_CSV | 1u << OUTPUT_SVG |
               1u << OUTPUT_PDF | 1u << OUTPUT_PNG,
    .run = run,
};
