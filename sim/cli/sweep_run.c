/* Blocks of points: settings made in order, questions answered in any, rows written in order. */
#include "sim/cli/sweep_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/cli/interrupt.h"
#include "sim/cli/parallel.h"
#include "sim/cli/picture.h"
#include "sim/cli/progress.h"
#include "sim/cli/run_options.h"
#include "sim/cli/sweep_front.h"

/* Enough that nobody waits long for the last of a block, of however many hands. */
enum { BLOCK_POINTS = 256, BLOCK_POINTS_OF_ONE = 32 };

/* What comes back of a point: all of its row but the settings. */
struct point_answer {
    enum sweep_status status;
    enum error_kind kind;
    double values[SWEEP_QUANTITY_COUNT];
    char reason[SWEEP_REASON_MAX];
};

struct sweep_block {
    const struct sweep_job *job;
    struct crew crew;
    struct known_points known_points;
    struct progress progress;
    struct text_file *file; /* NULL: standard output */
    int code;         /* of standard output, whose faults are reported where they happen */
    struct text head; /* goes before the first row, and is then empty */
    struct error_list errors;
    struct sweep_row *rows;   /* of the block; of a picture or a front, of all points */
    struct run_key *row_keys; /* "" where there is none */
    bool *is_taken;
    size_t first, count; /* which points */
    size_t known, done, left_out, refused, written;
};

/* Settings one behind the other, each with the 0 behind it. */
static void
append_settings(struct text *text, const struct run_settings *settings)
{
    for (size_t i = 0; i < settings->count; i++)
        text_append(text, settings->texts[i], strlen(settings->texts[i]) + 1);
}

static void
answer_point(const void *setup, const struct text *question, struct text *answer)
{
    const struct sweep_job *job = setup;
    struct arena *arena = answer->arena;
    struct sweep_row row = {0};
    struct point_answer out;
    size_t most = job->space.axis_count + job->space.link_count;
    const char **texts = arena_alloc(arena, most, sizeof *texts);
    for (size_t at = 0; at < question->length; at += strlen(question->bytes + at) + 1)
        texts[row.settings.count++] = question->bytes + at;
    row.settings.texts = texts;
    sweep_point_run(&job->space, job->base, &row, arena);
    for (int i = sweep_space_quantities(&job->space); i < SWEEP_QUANTITY_COUNT; i++)
        row.values[i] = (double)NAN;
    memset(&out, 0, sizeof out);
    out.status = row.status;
    out.kind = row.kind;
    memcpy(out.values, row.values, sizeof out.values);
    memcpy(out.reason, row.reason, sizeof out.reason);
    text_append(answer, (const char *)&out, sizeof out);
}

/* What is asked beside the step. */
static void
append_inference(struct text *text, const struct sweep_space *space)
{
    const struct inference_request *asked = &space->inference;
    if (space->has_inference)
        text_format(text, "inference %lld %lld %lld", (long long)asked->batch,
                    (long long)asked->prompt_tokens, (long long)asked->context_tokens);
}

/* The key of a point, and whether it may be looked up: what --where leaves out may not, and what
 * cannot be run is asked again, so that it says why in today's words. */
static bool
find_key(const struct sweep_block *block, const struct sweep_row *row, struct run_key *key,
         struct arena *arena)
{
    const struct sweep_job *job = block->job;
    struct error_list errors = {0};
    bool holds = false;
    const struct run *run = run_again(job->base, &row->settings, arena, &errors);
    if (run && !sweep_space_holds(&job->space, run, job->base, &holds, arena, &errors))
        return false;
    struct text question = text_new(arena);
    append_inference(&question, &job->space);
    return known_points_key(&block->known_points, run, &row->settings, &question, key) && holds;
}

static bool
ask_point(void *context, size_t index, int thread, struct text *question)
{
    struct sweep_block *block = context;
    struct sweep_row *row = &block->rows[index];
    struct store *store = block->known_points.store;
    struct run_key *key = &block->row_keys[index];
    if (store && find_key(block, row, key, question->arena) &&
        store_find(store, thread, key->digits, row))
        return false;
    append_settings(question, &row->settings);
    return true;
}

static bool
keep_point(struct sweep_block *block, size_t index)
{
    const struct sweep_row *row = &block->rows[index];
    const struct run_key *key = &block->row_keys[index];
    if (!block->known_points.store || !*key->digits || row->status == SWEEP_LEFT_OUT)
        return true;
    return known_points_keep(&block->known_points, key, &row->settings, row, &block->errors);
}

static bool
take_point(void *context, size_t index, const struct text *answer)
{
    struct sweep_block *block = context;
    struct sweep_row *row = &block->rows[index];
    block->is_taken[index] = true;
    block->known += answer == NULL;
    block->done++;
    progress_show(&block->progress, block->done, block->known);
    if (!answer)
        return true;
    struct point_answer in;
    memcpy(&in, answer->bytes, sizeof in);
    row->status = in.status;
    row->kind = in.kind;
    memcpy(row->values, in.values, sizeof row->values);
    memcpy(row->reason, in.reason, sizeof row->reason);
    return keep_point(block, index);
}

/* The shard and the point stand before what a row says else, for `stepcast merge`. */
static void
write_row(struct sweep_block *block, size_t index, struct text *out)
{
    const struct sweep_job *job = block->job;
    const struct slice *slice = &job->slice;
    const struct sweep_row *row = &block->rows[index];
    size_t point = slice_point(slice, block->first + index);
    block->written++;
    block->left_out += row->status == SWEEP_LEFT_OUT;
    block->refused += row->status == SWEEP_INFEASIBLE || row->status == SWEEP_UNREADABLE;
    if (row->status == SWEEP_LEFT_OUT || command_draws(job->rows_format))
        return;
    if (job->rows_format == OUTPUT_JSON && slice->count > 0) {
        struct text object = text_new(out->arena);
        sweep_row_write_json(&job->space, row, &object);
        text_format(out, "{\"shard\": \"%zu/%zu\", \"point\": %zu, %s", slice->index + 1,
                    slice->count, point, object.bytes + 1);
    } else if (job->rows_format == OUTPUT_JSON) {
        sweep_row_write_json(&job->space, row, out);
    } else if (job->rows_format == OUTPUT_CSV) {
        if (slice->count > 0)
            text_format(out, "%zu,", point);
        sweep_row_write_csv(&job->space, row, out);
    } else {
        sweep_row_print(&job->space, row, out);
    }
}

static bool
hand_over(struct sweep_block *block, const struct text *out)
{
    if (out->length == 0)
        return true;
    if (block->file)
        return text_file_append(block->file, out->bytes, out->length, &block->errors);
    progress_hide(&block->progress);
    block->code = command_print(out);
    return block->code == EXIT_DONE;
}

static void
make_head(struct sweep_block *block)
{
    const struct sweep_job *job = block->job;
    struct text *head = &block->head;
    *head = text_new(job->arena);
    if (job->rows_format == OUTPUT_CSV && job->slice.count > 0)
        text_format(head, "shard %zu/%zu,", job->slice.index + 1, job->slice.count);
    if (job->rows_format == OUTPUT_CSV)
        sweep_rows_csv_head(&job->space, head);
    else if (job->rows_format == OUTPUT_TEXT)
        sweep_rows_head(&job->space, head);
}

static bool
write_head(struct sweep_block *block)
{
    struct text head = block->head;
    block->head.length = 0;
    return hand_over(block, &head);
}

static bool
make_rows(struct sweep_block *block, struct arena *arena)
{
    const struct sweep_job *job = block->job;
    memset(block->rows, 0, block->count * sizeof *block->rows);
    memset(block->row_keys, 0, block->count * sizeof *block->row_keys);
    memset(block->is_taken, 0, block->count * sizeof *block->is_taken);
    for (size_t i = 0; i < block->count; i++)
        if (!sweep_space_settings(&job->space, slice_point(&job->slice, block->first + i),
                                  job->base, &block->rows[i].settings, arena, &block->errors))
            return false;
    return true;
}

/* Whether nothing can be said before the last point is there: a picture, a front. */
static bool
is_held(const struct sweep_job *job)
{
    return command_draws(job->format) || job->space.front_count > 0;
}

/* Of a block that was stopped, the rows before the first that is missing. */
static bool
write_block(struct sweep_block *block, struct arena *arena)
{
    struct text out = text_new(arena);
    if (block->job->space.front_count > 0)
        sweep_front_mark(&block->job->space, block->rows, block->count, arena);
    for (size_t i = 0; i < block->count && block->is_taken[i]; i++)
        write_row(block, i, &out);
    return (out.length == 0 || write_head(block)) && hand_over(block, &out);
}

/* False when the sweep ends here. */
static bool
run_block(struct sweep_block *block, struct arena *arena)
{
    const struct crew_work work = {
        .count = block->count, .context = block, .ask = ask_point, .take = take_point};
    if (!make_rows(block, arena))
        return false;
    bool is_whole = crew_run(&block->crew, &work);
    bool is_told = (is_whole || !is_held(block->job)) && block->errors.count == 0;
    return (!is_told || write_block(block, arena)) && is_whole;
}

static void
run_blocks(struct sweep_block *block, size_t points)
{
    const struct sweep_job *job = block->job;
    size_t step = (size_t)job->threads * BLOCK_POINTS_OF_ONE;
    bool is_going = true;
    step = step < BLOCK_POINTS ? BLOCK_POINTS : step;
    step = is_held(job) || points < step ? points : step;
    block->rows = arena_alloc(job->arena, step + 1, sizeof *block->rows);
    block->row_keys = arena_alloc(job->arena, step + 1, sizeof *block->row_keys);
    block->is_taken = arena_alloc(job->arena, step + 1, sizeof *block->is_taken);
    for (; block->first < points && is_going; block->first += block->count) {
        struct arena *arena = is_held(job) ? job->arena : arena_new_beside(job->arena);
        block->count = points - block->first < step ? points - block->first : step;
        is_going = run_block(block, arena);
        if (!is_held(job))
            arena_free(arena);
    }
    if (block->known_points.store)
        store_flush(block->known_points.store, &block->errors);
    progress_hide(&block->progress);
}

static int
draw(const struct sweep_block *block)
{
    const struct sweep_job *job = block->job;
    struct error_list errors = {0};
    struct sweep_picture picture = {&job->space, job->base, block->rows, block->count,
                                    job->quantity};
    const struct line_chart *chart = sweep_picture_chart(&picture, job->arena, &errors);
    return chart ? picture_line_chart(job->options, chart, job->arena)
                 : command_report(&errors);
}

/* Says where the rows are that there are; the signal that stopped it then ends the program. */
static int
stop(struct sweep_block *block, size_t points)
{
    const char *part = block->file ? text_file_leave(block->file, &block->errors) : NULL;
    fprintf(stderr, "stepcast sweep: stopped after %zu of %zu points%s%s%s\n", block->done,
            points, part ? "; rows so far are in " : "", part ? part : "",
            block->known_points.store ? "; the same command goes on from the store" : "");
    command_report(&block->errors);
    return EXIT_CHECK_FAILED;
}

/* Conditions that no point meets are a slip. A shard may well have none. */
static bool
check_met(struct sweep_block *block, size_t points)
{
    const struct sweep_space *space = &block->job->space;
    if (block->left_out < points || points == 0 || block->job->slice.count > 0)
        return true;
    struct text conditions = text_new(block->job->arena);
    for (size_t i = 0; i < space->condition_count; i++)
        text_format(&conditions, "%s%s", i > 0 ? ", " : "", space->conditions[i]);
    return error_add(&block->errors, ERROR_INPUT, conditions.bytes,
                     "nothing to sweep: none of %zu points meets %s", points,
                     space->condition_count > 1 ? "all of these" : "this");
}

static int
finish(struct sweep_block *block, size_t points)
{
    bool has_file = block->file != NULL;
    if (block->code == EXIT_DONE && block->errors.count == 0 && block->done == points &&
        check_met(block, points))
        (void)write_head(block);
    if (block->errors.count > 0) {
        if (has_file)
            text_file_drop(block->file);
        return command_report(&block->errors);
    }
    if (block->code != EXIT_DONE)
        return block->code;
    if (block->done < points)
        return stop(block, points);
    if (has_file && !text_file_finish(block->file, &block->errors))
        return command_report(&block->errors);
    if (block->refused > 0 || block->left_out > 0)
        fprintf(
            stderr, "stepcast sweep: %zu point%s, %zu cannot be run, %zu left out by --where\n",
            block->written, block->written == 1 ? "" : "s", block->refused, block->left_out);
    return command_draws(block->job->format) ? draw(block) : EXIT_DONE;
}

static bool
open_outputs(struct sweep_block *block)
{
    const struct sweep_job *job = block->job;
    const char *path = options_text(job->options, "output");
    bool is_file = *path && strcmp(path, "-") != 0 && !command_draws(job->format);
    if (is_file)
        block->file = text_file_open(path, job->arena, &block->errors);
    make_head(block);
    return block->errors.count == 0;
}

/* Processes must have read the same: settings stand in each question, all else does not. */
static const char *
make_identity(const struct sweep_block *block)
{
    const struct sweep_space *space = &block->job->space;
    struct text text = text_new(block->job->arena);
    text_format(&text, "%s", known_points_identity(&block->known_points));
    append_inference(&text, space);
    for (size_t i = 0; i < space->condition_count; i++)
        text_format(&text, "\n%s", space->conditions[i]);
    return text.bytes;
}

int
sweep_run(const struct sweep_job *job)
{
    static crew_answer *const answers[] = {answer_point};
    size_t points = slice_points(&job->slice, sweep_space_count(&job->space));
    struct sweep_block block = {.job = job,
                                .crew = {.arena = job->arena,
                                         .threads = job->threads,
                                         .answers = answers,
                                         .setup = job,
                                         .is_stopped = interrupt_is_waiting},
                                .progress =
                                    progress_begin("sweep", "points", points, !job->is_quiet)};
    if (!known_points_open(&block.known_points, job->base, job->arena, &block.errors))
        return command_report(&block.errors);
    block.crew.identity = make_identity(&block);
    if (!crew_open(&block.crew))
        return EXIT_DONE; /* the process that asked has said what there is to say */
    int code = run_options_store("sweep", job->options, job->threads + 1,
                                 &block.known_points.store, job->arena);
    interrupt_hold();
    if (code == EXIT_DONE && open_outputs(&block))
        run_blocks(&block, points);
    code = code == EXIT_DONE ? finish(&block, points) : code;
    crew_close(&block.crew);
    if (block.known_points.store)
        store_close(block.known_points.store);
    interrupt_release();
    return code;
}
