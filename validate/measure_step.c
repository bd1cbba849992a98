/* `measure --step RUN`: its options, the world of processes, and its one line of output. */
#include "validate/measure_step.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "validate/training_measure.h"

enum { DONE = 0, NOT_ALL = 1, USAGE = 2, BAD_INPUT = 3, INFEASIBLE = 4, IO = 5 };

struct asked {
    struct training_question question;
    struct training_effort effort;
    const char **settings; /* of the question */
    const char *backend, *library_path;
    double timeout_s; /* 0: not said */
};

static int
usage(const char *what, const char *word)
{
    fprintf(stderr, "measure --step: %s%s; measure --help shows how\n", what, word);
    return USAGE;
}

static bool
parse_number(const char *word, double least, double most, double *number)
{
    char *end;
    *number = strtod(word, &end);
    return end != word && *end == '\0' && *number >= least && *number <= most;
}

/* An option and its value. */
static bool
take_option(struct asked *asked, const char *option, const char *value)
{
    double number;
    if (strcmp(option, "--set") == 0) {
        asked->settings[asked->question.setting_count++] = value;
        return true;
    }
    if (strcmp(option, "--library-path") == 0) {
        asked->library_path = value;
        return true;
    }
    if (strcmp(option, "--backend") == 0) {
        asked->backend = value;
        return strcmp(value, "cpu") == 0 || strcmp(value, "cuda") == 0 ||
               strcmp(value, "hip") == 0;
    }
    if (strcmp(option, "--timeout") == 0)
        return parse_number(value, 1, 1e6, &asked->timeout_s);
    if (strcmp(option, "--seconds") == 0)
        return parse_number(value, 0, 1e5, &asked->effort.budget_s);
    if (strcmp(option, "--steps") == 0 && parse_number(value, 1, 1e6, &number)) {
        asked->effort.steps_min = asked->effort.steps_max = (int64_t)number;
        return true;
    }
    if (strcmp(option, "--seed") == 0 && parse_number(value, 0, 1e15, &number)) {
        asked->effort.seed = (uint64_t)number;
        return true;
    }
    return false;
}

static int
parse(struct asked *asked, int count, char *const *words, struct arena *arena)
{
    asked->effort = training_effort_new();
    asked->backend = "cpu";
    asked->settings = arena_alloc(arena, (size_t)count + 1, sizeof *asked->settings);
    asked->question.settings = asked->settings;
    for (int i = 0; i < count; i++) {
        bool is_option = words[i][0] == '-';
        if (!is_option && asked->question.run != NULL)
            return usage("more than one run: ", words[i]);
        if (!is_option)
            asked->question.run = words[i];
        else if (i + 1 == count || !take_option(asked, words[i], words[i + 1]))
            return usage("unknown option or wrong value: ", words[i]);
        else
            i++;
    }
    return asked->question.run != NULL ? DONE : usage("no run", "");
}

/* What went wrong, by rank 0; all ranks know of it. */
static int
report(const struct error_list *errors, int rank)
{
    static const int codes[] = {
        [ERROR_INPUT] = BAD_INPUT, [ERROR_INFEASIBLE] = INFEASIBLE, [ERROR_IO] = IO};
    for (int i = 0; rank == 0 && i < error_list_kept(errors); i++) {
        const struct error *error = &errors->items[i];
        fprintf(stderr, "measure --step: %s%s%s\n", error->where,
                *error->where != '\0' ? ": " : "", error->what);
    }
    return codes[errors->items[0].kind];
}

/* One process drives the GPU. */
static bool
open_gpu(const struct asked *asked, const struct process_group *world, struct gpu *gpu,
         struct arena *arena, struct error_list *errors)
{
    enum gpu_vendor vendor = strcmp(asked->backend, "hip") == 0 ? GPU_HIP : GPU_CUDA;
    if (world->size > 1)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "one process drives the GPU: no mpirun with --backend %s",
                         asked->backend);
    if (!gpu_open(gpu, vendor, asked->library_path, 0, arena, errors))
        return false;
    if (asked->timeout_s > 0)
        gpu->options.timeout_s = asked->timeout_s;
    return true;
}

/* On rank 0: the others end with it, by mpirun. */
static void
tell_timeout(int signal_number)
{
    static const char text[] = "measure --step: the processes did not end in time\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(written > 0 ? NOT_ALL : signal_number);
}

/* A process that waits in an exchange for one that is stuck waits for ever. */
static void
limit_processes(const struct asked *asked, const struct process_group *world)
{
    if (asked->timeout_s <= 0 || world->size < 2)
        return;
    if (world->rank == 0)
        (void)signal(SIGALRM, tell_timeout);
    (void)alarm((unsigned)asked->timeout_s);
}

static int
print(const struct text *out)
{
    if (fwrite(out->bytes, 1, out->length, stdout) == out->length && fflush(stdout) == 0)
        return DONE;
    fprintf(stderr, "measure --step: standard output: not written\n");
    return IO;
}

static int
run(const struct asked *asked, const struct process_group *world, struct arena *arena)
{
    struct error_list errors = {0};
    struct text out = text_new(arena);
    struct gpu gpu = {0};
    bool is_gpu = strcmp(asked->backend, "cpu") != 0;
    if (is_gpu && !open_gpu(asked, world, &gpu, arena, &errors))
        return report(&errors, world->rank);
    limit_processes(asked, world);
    bool is_measured = training_measure(&asked->question, &asked->effort, world,
                                        is_gpu ? &gpu : NULL, &out, &errors);
    if (is_gpu)
        gpu_close(&gpu);
    if (!is_measured)
        return report(&errors, world->rank);
    return world->rank > 0 ? DONE : print(&out);
}

int
measure_step(int count, char *const *words, const struct arena_policy *policy)
{
    struct arena *arena = arena_new(policy);
    struct asked asked = {0};
    int status = parse(&asked, count, words, arena);
    if (status == DONE) {
        status = run(&asked, process_world_open(arena), arena);
        process_world_close();
    }
    arena_free(arena);
    return status;
}
