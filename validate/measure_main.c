/* measure: runs a list of kernels on this machine and prints it with the times that they took.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/kernel.h"
#include "sim/base/json.h"
#include "sim/base/json_writer.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "validate/measure_cpu.h"
#include "validate/measure_gpu.h"
#include "validate/measured_answers.h"

/* As stepcast's own (sim/cli/command.h). */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_NOT_ALL = 1,
    EXIT_USAGE = 2,
    EXIT_BAD_INPUT = 3,
    EXIT_INFEASIBLE = 4,
    EXIT_IO = 5,
};

static const char help[] =
    "measure: runs a list of kernels on this machine, each checked and then timed\n"
    "\n"
    "  measure [--backend cpu|cuda|hip] [OPTION...] LIST.jsonl\n"
    "\n"
    "LIST holds one kernel or collective a line, {\"kernel\": \"gemm\", \"m\": 512, ...}; "
    "\"-\" is\n"
    "standard input. Each is checked against a calculation in double precision, then timed on\n"
    "operands that rotate through more than the last cache. The line comes back on standard\n"
    "output with measured_s (median), measured_min_s, measured_max_s, measured_repeats,\n"
    "measured_device and library. What cannot be run is named on standard error and left out.\n"
    "\n"
    "  --backend NAME    cpu: one thread, fp32 (the default); cuda, hip: GPUs, all dtypes\n"
    "  --seconds S       time for the repeats of one kernel (0.5)\n"
    "  --cache-bytes N   size of the last cache (what the system or the GPU says)\n"
    "  --memory-bytes N  most memory for operands (half of the machine's, all of the GPU's)\n"
    "  --seed N          of the random operands (1)\n"
    "  --operand-sets N  on a GPU, most sets of operands that rotate (16)\n"
    "  --resume FILE     leaves out what FILE has measured on this device: append to it\n"
    "  --library-path D  folders (D:D) where GPU libraries lie besides the usual places, as a\n"
    "                    Python environment's site-packages/nvidia/cu13/lib\n"
    "\n"
    "Exit codes: 0 every line measured, 1 some not, 2 usage, 3 a line is no kernel, 4 no GPU,\n"
    "5 I/O or a library that is missing or lacks a function.\n";

struct program {
    struct measure_cpu_options options;
    double cache_bytes, memory_bytes, operand_sets; /* as asked for, else 0 */
    const char *backend_name, *library_path;
    const char *resume_path; /* what was measured before; NULL: nothing */
    struct measured_answers answers;
    struct measure_gpu gpu;
    const char *path;
    struct measure_backend backend;
    int line;
    int status; /* the gravest so far */
};

static void
out_of_memory(void *context, size_t wanted_bytes)
{
    (void)context;
    fprintf(stderr, "measure: no memory for %zu bytes\n", wanted_bytes);
    exit(EXIT_IO);
}

static const struct arena_policy policy = {.out_of_memory = out_of_memory};

static void
report(struct program *program, const struct error_list *errors, int status)
{
    for (int i = 0; i < error_list_kept(errors); i++) {
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
    json_write_real_at(&writer, "measured_error_fraction", result->error_fraction);
    json_write_string_at(&writer, "measured_device", program->backend.device);
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

static int
measure_collective(struct program *program, const struct json *question,
                   struct measure_result *result, struct arena *arena,
                   struct error_list *errors)
{
    const struct measure_backend *backend = &program->backend;
    struct collective collective;
    if (backend->run_collective == NULL) {
        error_add(errors, ERROR_INPUT, "", "one CPU has nobody for a collective, skipped");
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

static void
measure_question(struct program *program, const struct json *question, struct arena *arena)
{
    struct error_list errors = {0};
    struct measure_result result = {0};
    if (measured_answers_have(&program->answers, question, arena))
        return;
    int status = json_member(question, "collective") != NULL
                     ? measure_collective(program, question, &result, arena, &errors)
                     : measure_kernel(program, question, &result, arena, &errors);
    if (status != EXIT_DONE) {
        report(program, &errors, status);
        return;
    }
    struct text out = text_new(arena);
    write_answer(program, question, &result, &out);
    print_answer(&out);
    fprintf(stderr, "%s:%d: %s, %lld repeats\n", program->path, program->line,
            units_format_s(result.times.median_s).text, (long long)result.times.repeats);
}

static void
measure_line(struct program *program, const char *line, size_t length)
{
    struct error_list errors = {0};
    if (strspn(line, " \t\r\n") >= length)
        return;
    struct arena *arena = arena_new(&policy);
    const struct json *question =
        json_read_text(arena, program->path, program->line, line, length, &errors);
    if (question == NULL)
        report(program, &errors, EXIT_BAD_INPUT);
    else
        measure_question(program, question, arena);
    arena_free(arena);
}

static int
measure_list(struct program *program)
{
    FILE *file = strcmp(program->path, "-") == 0 ? stdin : fopen(program->path, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    if (file == NULL) {
        fprintf(stderr, "measure: %s: %s\n", program->path, strerror(errno));
        return EXIT_IO;
    }
    for (program->line = 1; (length = getline(&line, &capacity, file)) >= 0; program->line++)
        measure_line(program, line, (size_t)length);
    bool is_whole = feof(file) != 0;
    free(line);
    if (file != stdin)
        (void)fclose(file);
    return is_whole ? program->status : EXIT_IO;
}

static int
usage(const char *what, const char *word)
{
    fprintf(stderr, "measure: %s%s; measure --help shows how\n", what, word);
    return EXIT_USAGE;
}

/* The number that the option named sets; NULL when there is no such option. */
static double *
option_number(struct program *program, double *seed, const char *name)
{
    if (strcmp(name, "--seconds") == 0)
        return &program->options.effort.budget_s;
    if (strcmp(name, "--cache-bytes") == 0)
        return &program->cache_bytes;
    if (strcmp(name, "--memory-bytes") == 0)
        return &program->memory_bytes;
    if (strcmp(name, "--operand-sets") == 0)
        return &program->operand_sets;
    return strcmp(name, "--seed") == 0 ? seed : NULL;
}

static const char **
option_word(struct program *program, const char *name)
{
    if (strcmp(name, "--backend") == 0)
        return &program->backend_name;
    if (strcmp(name, "--resume") == 0)
        return &program->resume_path;
    return strcmp(name, "--library-path") == 0 ? &program->library_path : NULL;
}

static bool
parse_number(const char *word, double *number)
{
    char *end;
    *number = strtod(word, &end);
    return end != word && *end == '\0' && *number >= 0 && *number < 1e15;
}

/* One word that is no option: the list. */
static int
parse_path(struct program *program, const char *word)
{
    if (word[0] == '-' && word[1] != '\0')
        return usage("unknown option ", word);
    if (program->path != NULL)
        return usage("more than one list: ", word);
    program->path = word;
    return EXIT_DONE;
}

static int
parse_words(struct program *program, int count, char **words)
{
    double seed = 1;
    for (int i = 1; i < count; i++) {
        double *number = option_number(program, &seed, words[i]);
        const char **text = option_word(program, words[i]);
        int status = EXIT_DONE;
        if (number == NULL && text == NULL)
            status = parse_path(program, words[i]);
        else if (++i == count || (number != NULL && !parse_number(words[i], number)))
            status = usage(number != NULL ? "wanted a number after " : "wanted a word after ",
                           words[i - 1]);
        else if (text != NULL)
            *text = words[i];
        if (status != EXIT_DONE)
            return status;
    }
    program->options.seed = (uint64_t)seed;
    if (program->cache_bytes > 0)
        program->options.cache_bytes = program->cache_bytes;
    if (program->memory_bytes > 0)
        program->options.memory_bytes = program->memory_bytes;
    return program->path != NULL ? EXIT_DONE : usage("no list", "");
}

static int
read_answers(struct program *program, struct arena *arena)
{
    const size_t limit_bytes = 67108864;
    struct error_list errors = {0};
    struct text text = text_new(arena);
    if (program->resume_path == NULL)
        return EXIT_DONE;
    if (text_read_file(&text, program->resume_path, limit_bytes, &errors) &&
        measured_answers_parse(&program->answers, program->resume_path, &text,
                               program->backend.device, &errors))
        return EXIT_DONE;
    int status = errors.items[0].kind == ERROR_IO ? EXIT_IO : EXIT_BAD_INPUT;
    report(program, &errors, status);
    return status;
}

/* ---- Back ends */

static int
open_gpu(struct program *program, enum gpu_vendor vendor, struct arena *arena)
{
    /* 9 replays and 2 to warm up, the capture and as much again for operands and check */
    const double replays_per_budget = 40;
    struct error_list errors = {0};
    struct gpu_options *options = &program->gpu.gpu.options;
    if (!measure_gpu_open(&program->gpu, &program->backend, vendor, program->library_path,
                          arena, &errors)) {
        fprintf(stderr, "measure: %s\n", errors.items[0].what);
        return errors.items[0].kind == ERROR_IO ? EXIT_IO : EXIT_INFEASIBLE;
    }
    options->graph_s = program->options.effort.budget_s / replays_per_budget;
    options->seed = program->options.seed;
    options->memory_bytes = program->memory_bytes;
    if (program->cache_bytes > 0)
        options->cache_bytes = program->cache_bytes;
    if (program->operand_sets >= 1)
        options->sets_max = (int64_t)program->operand_sets;
    return EXIT_DONE;
}

static int
open_backend(struct program *program, struct arena *arena)
{
    const char *name = program->backend_name;
    if (strcmp(name, "cuda") == 0)
        return open_gpu(program, GPU_CUDA, arena);
    if (strcmp(name, "hip") == 0)
        return open_gpu(program, GPU_HIP, arena);
    if (strcmp(name, "cpu") != 0)
        return usage("wanted --backend cpu, cuda or hip, found ", name);
    program->backend = measure_cpu_backend(&program->options, arena);
    return EXIT_DONE;
}

int
main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "--help") == 0) {
        fputs(help, stdout);
        return EXIT_DONE;
    }
    struct program program = {.options = measure_cpu_options_new(), .backend_name = "cpu"};
    int status = parse_words(&program, count, words);
    if (status != EXIT_DONE)
        return status;
    struct arena *arena = arena_new(&policy);
    status = open_backend(&program, arena);
    if (status == EXIT_DONE)
        status = read_answers(&program, arena);
    if (status == EXIT_DONE)
        status = measure_list(&program);
    if (program.backend.close != NULL)
        program.backend.close(program.backend.context);
    arena_free(arena);
    return status;
}
