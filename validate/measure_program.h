/* The program measure in its two halves: what it was asked to do, and doing it line by line. */
#ifndef VALIDATE_MEASURE_PROGRAM_H
#define VALIDATE_MEASURE_PROGRAM_H

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>

#include "validate/measure_cpu.h"
#include "validate/measure_gpu.h"
#include "validate/measured_answers.h"
#include "validate/process_group.h"

/* As stepcast's own (sim/cli/command.h). */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_NOT_ALL = 1,
    EXIT_USAGE = 2,
    EXIT_BAD_INPUT = 3,
    EXIT_INFEASIBLE = 4,
    EXIT_IO = 5,
    EXIT_INTERRUPTED = 128 + SIGINT,
};

struct program {
    struct measure_cpu_options options;
    double cache_bytes, memory_bytes, operand_sets;               /* as asked for, else 0 */
    double repeats, rounds, ranks, threads, timeout_s, from_line; /* the same */
    double streams;                                               /* beside the timed one */
    const char *backend_name, *library_path;
    const char *journal_path; /* of measure_launch.h; NULL: nobody reads it */
    const char *resume_path;  /* what was measured before; NULL: nothing */
    struct measured_answers answers;
    struct measure_gpu gpu;
    struct gpu *training_gpu; /* of it, where steps are trained; NULL: on the core */
    const char *path;
    const struct process_group *world;
    char host[64]; /* the machine's own name */
    struct measure_backend backend;
    int line;
    int status; /* the gravest so far */
};

/* Ends the program when memory ends. */
extern const struct arena_policy measure_policy;

/* Prints them on standard error, by rank 0; the status stays if it is the gravest so far. */
void measure_report(struct program *program, const struct error_list *errors, int status);

/* For measure_launch, if it is waiting: the line at hand and the status so far. */
void measure_note(const struct program *program, int line);

/* Prints the line with its times, at once; says on standard error that it did. */
void measure_answer(const struct program *program, const struct json *question,
                    const struct measure_result *result, struct arena *arena);

/* Ctrl-C was pressed. */
bool measure_is_interrupted(void);

/* The next line, as getline has it, its number in the program; below 0 when none is left, or nobody
 * wants one. */
ssize_t measure_read_line(struct program *program, FILE *file, char **line, size_t *capacity);

/* Every kernel of the list, --rounds as many times, as far as they are not interrupted. */
void measure_in_rounds(struct program *program, FILE *file);

/* Every line of the list, in order, on all processes of the world. Returns the exit code. */
int measure_lines(struct program *program);

#endif
