/* A list in rounds: as many of its kernels as memory holds, each found right, then a run of each a
 * round; the answers come when the rounds have ended. */
#include "validate/measure_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/json.h"
#include "validate/measure_rounds.h"

struct line {
    const struct json *question;
    struct measure_result result;
    int number;
};

/* Lines whose operands are in memory together. */
struct batch {
    struct line *lines; /* as many as pieces */
    struct measure_piece *pieces;
    size_t count, line_capacity, piece_capacity;
    double bytes;
    struct arena *arena;
};

static bool
is_over(void *context)
{
    (void)context;
    return measure_is_interrupted();
}

static void
sweep(void *context)
{
    measure_cpu_sweep(context);
}

static void
print_answers(struct program *program, struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct line *line = &batch->lines[i];
        line->result.times = batch->pieces[i].times;
        line->result.disturbed = batch->pieces[i].disturbed;
        program->line = line->number;
        if (line->result.times.repeats > 0)
            measure_answer(program, line->question, &line->result, batch->arena);
    }
}

/* Runs what the batch holds, and empties it. */
static void
finish_batch(struct program *program, struct batch *batch)
{
    const struct measure_cpu_options *options = &program->options;
    struct measure_rounds rounds = {.effort = options->effort,
                                    .wall = measure_system_clock(),
                                    .core = options->threads > 1 ? measure_system_clock()
                                                                 : measure_core_clock(),
                                    .cold_bytes = measure_cpu_sweep_bytes(options),
                                    .sweep = sweep,
                                    .is_over = is_over,
                                    .context = &program->options};
    int last = program->line;
    if (batch->count > 0) {
        fprintf(stderr, "%s:%d: %zu kernels to go round\n", program->path, last, batch->count);
        measure_rounds_take(batch->pieces, batch->count, &rounds, batch->arena);
        print_answers(program, batch);
    }
    program->line = last;
    arena_free(batch->arena);
    *batch = (struct batch){0};
}

/* EXIT_DONE, or what the fault that it added comes to. */
static int
add_kernel(struct program *program, const struct json *question, struct batch *batch,
           struct error_list *errors)
{
    struct arena *arena = batch->arena;
    struct kernel kernel;
    struct measure_piece piece;
    struct line line = {.question = question, .number = program->line};
    if (!kernel_read(question, &kernel, arena, errors))
        return EXIT_BAD_INPUT;
    if (!measure_cpu_piece(&kernel, &program->options, &piece, &line.result, arena, errors))
        return EXIT_NOT_ALL;
    batch->lines = arena_grow(arena, batch->lines, batch->count, &batch->line_capacity,
                              sizeof *batch->lines);
    batch->pieces = arena_grow(arena, batch->pieces, batch->count, &batch->piece_capacity,
                               sizeof *batch->pieces);
    batch->lines[batch->count] = line;
    batch->pieces[batch->count++] = piece;
    batch->bytes += piece.operand_bytes;
    return EXIT_DONE;
}

static void
add_line(struct program *program, const char *text, size_t length, struct batch *batch)
{
    struct error_list errors = {0};
    int status = EXIT_BAD_INPUT;
    if (strspn(text, " \t\r\n") >= length)
        return;
    if (batch->arena == NULL)
        batch->arena = arena_new(&measure_policy);
    const struct json *question =
        json_read_text(batch->arena, program->path, program->line, text, length, &errors);
    if (question != NULL && measured_answers_have(&program->answers, question, batch->arena))
        return;
    if (question != NULL)
        status = add_kernel(program, question, batch, &errors);
    if (status != EXIT_DONE)
        measure_report(program, &errors, status);
}

void
measure_in_rounds(struct program *program, FILE *file)
{
    char *text = NULL;
    size_t capacity = 0;
    struct batch batch = {0};
    /* One half for what rotates, one for the next line and its check. */
    program->options.memory_bytes /= 2;
    for (ssize_t length; (length = measure_read_line(program, file, &text, &capacity)) >= 0;) {
        add_line(program, text, (size_t)length, &batch);
        if (batch.bytes > program->options.memory_bytes)
            finish_batch(program, &batch);
    }
    if (batch.arena != NULL)
        finish_batch(program, &batch);
    free(text);
}
