/* stepcast sweep: one step for every combination of values, on all cores. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots/line_chart.h"
#include "sim/cli/parallel.h"
#include "sim/cli/run_options.h"
#include "sim/cli/sweep_point.h"

extern const struct command command_sweep;

/* Points are simulated so many at a time, then written in order: memory stays flat. */
enum { BLOCK_POINTS = 256 };

struct sweep_job {
    const struct options *options;
    struct arena *arena;
    struct sweep_space space;
    const struct run *base;
    struct sweep_row *rows; /* of the block; of a picture, of all points */
    size_t row_count;
    int threads;
    enum output_format format;
    enum sweep_quantity quantity;
    struct text file; /* what goes to -o FILE in the end */
    size_t done, left_out, refused;
};

static void
run_row(void *context, size_t index, int thread)
{
    struct sweep_job *job = context;
    struct arena *arena = arena_new_beside(job->arena);
    (void)thread;
    sweep_point_run(&job->space, job->base, &job->rows[index], arena);
    arena_free(arena);
}

static void
write_row(struct sweep_job *job, const struct sweep_row *row, struct text *out)
{
    job->done += row->status == SWEEP_DONE;
    job->left_out += row->status == SWEEP_LEFT_OUT;
    job->refused += row->status == SWEEP_INFEASIBLE || row->status == SWEEP_UNREADABLE;
    if (row->status == SWEEP_LEFT_OUT || command_draws(job->format))
        return;
    if (job->format == OUTPUT_JSON)
        sweep_row_write_json(row, out);
    else if (job->format == OUTPUT_CSV)
        sweep_row_write_csv(row, out);
    else
        sweep_row_print(&job->space, row, out);
}

/* To standard output at once, into a file at the end. */
static int
hand_over(struct sweep_job *job, const struct text *out)
{
    const char *path = options_text(job->options, "output");
    if (!*path || strcmp(path, "-") == 0)
        return command_print(out);
    text_append(&job->file, out->bytes ? out->bytes : "", out->length);
    return EXIT_DONE;
}

static bool
make_rows(struct sweep_job *job, size_t first, size_t count, struct arena *arena,
          struct error_list *errors)
{
    memset(job->rows, 0, count * sizeof *job->rows);
    for (size_t i = 0; i < count; i++)
        if (!sweep_space_settings(&job->space, first + i, job->base, &job->rows[i].settings,
                                  arena, errors))
            return false;
    return true;
}

static int
run_block(struct sweep_job *job, size_t first, size_t count)
{
    struct error_list errors = {0};
    bool is_drawn = command_draws(job->format);
    struct arena *arena = is_drawn ? job->arena : arena_new_beside(job->arena);
    struct text out = text_new(arena);
    int code = EXIT_DONE;
    if (make_rows(job, first, count, arena, &errors)) {
        struct parallel_work work = {run_row, job, count};
        parallel_run(&work, job->threads);
        for (size_t i = 0; i < count; i++)
            write_row(job, &job->rows[i], &out);
        code = hand_over(job, &out);
    } else {
        code = command_report(&errors);
    }
    if (!is_drawn)
        arena_free(arena);
    return code;
}

/* A field that no point can be read with is a slip, not a row: false after adding its fault. */
static bool
check_first(const struct sweep_job *job, struct error_list *errors)
{
    struct error_list first = {0};
    for (size_t point = 0; point < sweep_space_count(&job->space); point++) {
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

static int
draw(struct sweep_job *job)
{
    struct error_list errors = {0};
    struct text out = text_new(job->arena);
    struct sweep_picture picture = {&job->space, job->base, job->rows, job->row_count,
                                    job->quantity};
    const struct line_chart *chart = sweep_picture_chart(&picture, job->arena, &errors);
    if (!chart)
        return command_report(&errors);
    struct canvas *canvas = canvas_new(job->arena, STYLE_FONTS);
    line_chart_draw(chart, &STYLE_PAGE_WEB, canvas);
    bool is_drawn = canvas_write(canvas, options_text(job->options, "output"), &out, &errors);
    canvas_free(canvas);
    return is_drawn ? command_output(job->options, &out) : command_report(&errors);
}

static int
finish(struct sweep_job *job)
{
    const char *path = options_text(job->options, "output");
    bool is_file = *path && strcmp(path, "-") != 0;
    if (job->refused > 0 || job->left_out > 0)
        fprintf(stderr,
                "stepcast sweep: %zu points, %zu cannot be run, %zu left out by --where\n",
                job->done + job->refused + job->left_out, job->refused, job->left_out);
    if (command_draws(job->format))
        return draw(job);
    return is_file ? command_output(job->options, &job->file) : EXIT_DONE;
}

static int
run_points(struct sweep_job *job)
{
    size_t count = sweep_space_count(&job->space);
    bool is_drawn = command_draws(job->format);
    size_t step = is_drawn || count < BLOCK_POINTS ? count : BLOCK_POINTS;
    struct text head = text_new(job->arena);
    job->file = text_new(job->arena);
    job->row_count = step;
    job->rows = arena_alloc(job->arena, step, sizeof *job->rows);
    if (job->format == OUTPUT_CSV)
        sweep_rows_csv_head(&job->space, &head);
    else if (job->format == OUTPUT_TEXT)
        sweep_rows_head(&job->space, &head);
    int code = hand_over(job, &head);
    for (size_t first = 0; first < count && code == EXIT_DONE; first += step)
        code = run_block(job, first, count - first < step ? count - first : step);
    return code == EXIT_DONE ? finish(job) : code;
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

/* A whole number from the least on; false when the option holds something else. */
static bool
read_count(const struct options *options, const char *name, int64_t least, int64_t most,
           int64_t *count)
{
    const char *word = options_text(options, name);
    char *end = NULL;
    if (!*word)
        return true;
    long long value = strtoll(word, &end, 10);
    *count = value;
    return *end == '\0' && value >= least && value <= most;
}

static int
read_numbers(struct sweep_job *job)
{
    int64_t threads = parallel_cores();
    const char *show = options_text(job->options, "show");
    if (!read_count(job->options, "jobs", 1, PARALLEL_THREADS_MAX, &threads))
        return command_usage("sweep", "--jobs is '%s', wanted 1 to %d",
                             options_text(job->options, "jobs"), PARALLEL_THREADS_MAX);
    if (!read_count(job->options, "samples", 1, SWEEP_SAMPLES_MAX, &job->space.samples))
        return command_usage("sweep", "--samples is '%s', wanted 1 to %d",
                             options_text(job->options, "samples"), SWEEP_SAMPLES_MAX);
    if (!read_count(job->options, "seed", 0, INT64_C(1000000000000000), &job->space.seed))
        return command_usage("sweep", "--seed is '%s', wanted a whole number from 0 to 1e15",
                             options_text(job->options, "seed"));
    job->threads = (int)threads;
    job->quantity = SWEEP_TOKENS_PER_S_PER_GPU;
    for (int i = 0; *show; i++) {
        if (i == SWEEP_QUANTITY_COUNT)
            return command_usage("sweep", "--show is '%s', wanted a column, such as %s", show,
                                 sweep_quantity_key(SWEEP_MEMORY_BYTES));
        job->quantity = (enum sweep_quantity)i;
        if (strcmp(show, sweep_quantity_key(job->quantity)) == 0)
            break;
    }
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
        .options = options, .arena = arena, .format = command_format(options)};
    struct error_list errors = {0};
    int code = read_base(&job);
    if (code == EXIT_DONE)
        code = read_words(&job);
    if (code == EXIT_DONE)
        code = read_numbers(&job);
    if (code != EXIT_DONE)
        return code;
    if (!sweep_space_check(&job.space, arena, &errors) || !check_first(&job, &errors))
        return command_report(&errors);
    return run_points(&job);
}

static const struct option_spec OPTIONS[] = {
    {"over", 0, OPTION_TEXTS, "FIELD=VALUES", "FROM:TO:STEP, FROM:TO (doubles) or a list"},
    {"link", 0, OPTION_TEXTS, "FIELD=FORMULA", "a field that follows from others"},
    {"where", 0, OPTION_TEXTS, "FORMULA", "leaves points out, such as active_ratio<1.02"},
    {"samples", 0, OPTION_TEXT, "N", "so many points of a Sobol sequence, not all"},
    {"seed", 0, OPTION_TEXT, "N", "of the samples (default 0)"},
    {"show", 0, OPTION_TEXT, "COLUMN", "in a picture (default tokens_per_s_per_gpu)"},
    {"jobs", 0, OPTION_TEXT, "N", "threads (default: as many as there are cores)"},
    RUN_FILE_OPTIONS,
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
