/* A list, line by line: rank 0 reads and prints, every process of the world runs. */
#include "validate/measure_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hw/kernel.h"
#include "sim/base/json.h"
#include "sim/base/json_writer.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "validate/measure_launch.h"
#include "validate/training_measure.h"

static void
out_of_memory(void *context, size_t wanted_bytes)
{
    (void)context;
    fprintf(stderr, "measure: no memory for %zu bytes\n", wanted_bytes);
    exit(EXIT_IO);
}

const struct arena_policy measure_policy = {.out_of_memory = out_of_memory};

/* Set by the first Ctrl-C; a second one ends the program where it stands. */
static volatile sig_atomic_t is_interrupted;

static void
interrupt(int signal_number)
{
    is_interrupted = signal_number;
}

static void
time_out(int signal_number)
{
    (void)signal_number;
    _exit(MEASURE_TIMED_OUT);
}

/* Processes that are several are stopped by who started them. */
static void
catch_signals(const struct program *program)
{
    struct sigaction on_interrupt = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    struct sigaction on_alarm = {.sa_handler = time_out};
    if (program->world->size == 1)
        (void)sigaction(SIGINT, &on_interrupt, NULL);
    (void)sigaction(SIGALRM, &on_alarm, NULL);
}

/* Rank 0 speaks for all. */
static bool
is_speaker(const struct program *program)
{
    return program->world->rank == 0;
}

void
measure_report(struct program *program, const struct error_list *errors, int status)
{
    for (int i = 0; is_speaker(program) && i < error_list_kept(errors); i++) {
        const struct error *error = &errors->items[i];
        if (*error->where != '\0')
            fprintf(stderr, "measure: %s: %s\n", error->where, error->what);
        else
            fprintf(stderr, "measure: %s:%d: %s\n", program->path, program->line, error->what);
    }
    if (status > program->status)
        program->status = status;
}

static void
write_answer(const struct program *program, const struct json *question,
             const struct measure_result *result, struct text *out)
{
    struct json_writer writer = json_writer_new(out, false);
    json_write_begin_object(&writer);
    measured_question_write(question, &writer);
    json_write_real_at(&writer, "measured_s", result->times.median_s);
    json_write_real_at(&writer, "measured_min_s", result->times.min_s);
    json_write_real_at(&writer, "measured_max_s", result->times.max_s);
    json_write_integer_at(&writer, "measured_repeats", result->times.repeats);
    if (result->disturbed > 0)
        json_write_integer_at(&writer, "measured_disturbed", result->disturbed);
    json_write_real_at(&writer, "measured_error_fraction", result->error_fraction);
    if (program->backend.is_enqueued)
        json_write_bool_at(&writer, "measured_enqueued", true);
    json_write_string_at(&writer, "measured_device", program->backend.device);
    if (program->backend.clock_hz > 0)
        json_write_real_at(&writer, "measured_clock_hz", program->backend.clock_hz);
    json_write_string_at(&writer, "measured_host", program->host);
    json_write_string_at(&writer, "library",
                         result->library != NULL ? result->library : program->backend.library);
    json_write_end_object(&writer);
    text_format(out, "\n");
}

/* Each answer leaves at once: what was measured before an interruption is kept. */
static void
print_answer(const struct text *out)
{
    if (fwrite(out->bytes, 1, out->length, stdout) == out->length && fflush(stdout) == 0)
        return;
    fprintf(stderr, "measure: standard output: %s\n", strerror(errno));
    exit(EXIT_IO);
}

void
measure_answer(const struct program *program, const struct json *question,
               const struct measure_result *result, struct arena *arena)
{
    struct text out = text_new(arena);
    write_answer(program, question, result, &out);
    print_answer(&out);
    fprintf(stderr, "%s:%d: %s, %lld repeats\n", program->path, program->line,
            units_format_s(result->times.median_s).text, (long long)result->times.repeats);
}

static int
measure_collective(struct program *program, const struct json *question,
                   struct measure_result *result, struct arena *arena,
                   struct error_list *errors)
{
    const struct measure_backend *backend = &program->backend;
    struct collective collective;
    if (backend->run_collective == NULL) {
        error_add(errors, ERROR_INPUT, "",
                  "one process has nobody for a collective: see --ranks");
        return EXIT_NOT_ALL;
    }
    if (!collective_read(question, &collective, arena, errors))
        return EXIT_BAD_INPUT;
    return backend->run_collective(backend->context, &collective, result, arena, errors)
               ? EXIT_DONE
               : EXIT_NOT_ALL;
}

static int
measure_kernel(struct program *program, const struct json *question,
               struct measure_result *result, struct arena *arena, struct error_list *errors)
{
    const struct measure_backend *backend = &program->backend;
    struct kernel kernel;
    if (!kernel_read(question, &kernel, arena, errors))
        return EXIT_BAD_INPUT;
    return backend->run_kernel(backend->context, &kernel, result, arena, errors) ? EXIT_DONE
                                                                                 : EXIT_NOT_ALL;
}

/* A whole training step; its answer has more to say than a kernel's. */
static int
measure_training(struct program *program, const struct json *line, struct arena *arena,
                 struct error_list *errors)
{
    struct training_question question;
    struct training_effort effort = training_effort_new();
    struct text out = text_new(arena);
    effort.budget_s = program->options.effort.budget_s;
    effort.seed = program->options.seed;
    if (!training_question_parse(line, &question, arena, errors))
        return EXIT_BAD_INPUT;
    if (!training_measure(&question, &effort, program->world, program->training_gpu, &out,
                          errors))
        return EXIT_NOT_ALL;
    if (!is_speaker(program))
        return EXIT_DONE;
    print_answer(&out);
    fprintf(stderr, "%s:%d: %s\n", program->path, program->line, question.run);
    return EXIT_DONE;
}

static void
measure_question(struct program *program, const struct json *question, struct arena *arena)
{
    struct error_list errors = {0};
    struct measure_result result = {0};
    if (measured_answers_have(&program->answers, question, arena))
        return;
    if (json_member(question, "run") != NULL) {
        int status = measure_training(program, question, arena, &errors);
        if (status != EXIT_DONE)
            measure_report(program, &errors, status);
        return;
    }
    int status = json_member(question, "collective") != NULL
                     ? measure_collective(program, question, &result, arena, &errors)
                     : measure_kernel(program, question, &result, arena, &errors);
    if (status != EXIT_DONE) {
        measure_report(program, &errors, status);
        return;
    }
    if (!is_speaker(program))
        return;
    measure_answer(program, question, &result, arena);
}

static void
measure_line(struct program *program, const char *line, size_t length, struct arena *arena)
{
    struct error_list errors = {0};
    if (strspn(line, " \t\r\n") >= length)
        return;
    const struct json *question =
        json_read_text(arena, program->path, program->line, line, length, &errors);
    if (question == NULL)
        measure_report(program, &errors, EXIT_BAD_INPUT);
    else
        measure_question(program, question, arena);
}

void
measure_note(const struct program *program, int line)
{
    char text[64];
    int file = program->journal_path != NULL && is_speaker(program)
                   ? open(program->journal_path, O_WRONLY | O_TRUNC)
                   : -1;
    if (file < 0)
        return;
    int length = snprintf(text, sizeof text, "%d %d\n", line, program->status);
    if (write(file, text, (size_t)length) != length)
        fprintf(stderr, "measure: %s: %s\n", program->journal_path, strerror(errno));
    (void)close(file);
}

/* The speaker's line becomes everybody's; a length below 0 is the end. */
static const char *
share_line(const struct program *program, char *line, ssize_t *length, struct arena *arena)
{
    int64_t bytes = *length;
    process_broadcast(program->world, &bytes, sizeof bytes, 0);
    *length = (ssize_t)bytes;
    if (bytes < 0)
        return NULL;
    char *text = is_speaker(program) ? line : arena_alloc(arena, (size_t)bytes + 1, 1);
    process_broadcast(program->world, text, (size_t)bytes, 0);
    return text;
}

bool
measure_is_interrupted(void)
{
    return is_interrupted != 0;
}

ssize_t
measure_read_line(struct program *program, FILE *file, char **line, size_t *capacity)
{
    ssize_t length = -1;
    if (!is_speaker(program))
        return length;
    do {
        program->line++;
        length = is_interrupted ? -1 : getline(line, capacity, file);
    } while (length >= 0 && program->line <= program->from_line);
    if (length >= 0)
        measure_note(program, program->line);
    return length;
}

static void
measure_each(struct program *program, FILE *file)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    while (length >= 0) {
        struct arena *arena = arena_new(&measure_policy);
        length = measure_read_line(program, file, &line, &capacity);
        const char *text = share_line(program, line, &length, arena);
        (void)alarm(program->world->size > 1 ? (unsigned)program->timeout_s : 0);
        if (text != NULL)
            measure_line(program, text, (size_t)length, arena);
        arena_free(arena);
    }
    free(line);
}

/* How the list ended, on the speaker. */
static int
end_of(struct program *program, FILE *file)
{
    if (is_interrupted) {
        fprintf(stderr, "measure: interrupted; --resume goes on from what it printed\n");
        return EXIT_INTERRUPTED;
    }
    return feof(file) != 0 ? program->status : EXIT_IO;
}

int
measure_lines(struct program *program)
{
    FILE *file = NULL;
    int status = EXIT_DONE;
    if (is_speaker(program)) {
        file = strcmp(program->path, "-") == 0 ? stdin : fopen(program->path, "r");
        if (file == NULL) {
            fprintf(stderr, "measure: %s: %s\n", program->path, strerror(errno));
            status = EXIT_IO;
        }
    }
    if (process_largest(program->world, status) != EXIT_DONE)
        return status;
    if (gethostname(program->host, sizeof program->host - 1) != 0)
        program->host[0] = '\0';
    catch_signals(program);
    if (program->rounds >= 1)
        measure_in_rounds(program, file);
    else
        measure_each(program, file);
    if (file == NULL)
        return EXIT_DONE;
    status = end_of(program, file);
    if (file != stdin)
        (void)fclose(file);
    return status;
}
