/* measure: runs a list of kernels on this machine and prints it with the times that they took.
 */
#include "validate/measure_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/gpu_streams.h"
#include "validate/measure_launch.h"
#include "validate/measure_step.h"
#include "validate/process_collective.h"

static const double DEFAULT_TIMEOUT_S = 60;

static const char help[] =
    "measure: runs a list of kernels on this machine, each checked and then timed\n"
    "\n"
    "  measure [--backend cpu|cuda|hip] [OPTION...] LIST.jsonl\n"
    "  measure --ranks N [OPTION...] LIST.jsonl\n"
    "  mpirun -n N measure-mpi [OPTION...] LIST.jsonl\n"
    "  measure --step RUN.json [--set PART.KEY=VALUE]... [--steps N] [--seconds S] [--seed N]\n"
    "          [--backend cpu|cuda|hip] [--library-path D]\n"
    "\n"
    "LIST holds one kernel, collective or training step a line, {\"kernel\": \"gemm\", \"m\": "
    "512, ...}; "
    "\"-\" is\n"
    "standard input. Each is checked against a calculation in double precision, then timed on\n"
    "operands that rotate through more than the last cache. The line comes back on standard\n"
    "output with measured_s (median), measured_min_s, measured_max_s, measured_repeats,\n"
    "measured_device, measured_clock_hz if known, measured_host and library. What cannot be "
    "run is named on standard error and left out.\n"
    "\n"
    "  --backend NAME    cpu: fp32, products in bf16 where it has that (the default);\n"
    "                    cuda, hip: GPUs, all dtypes\n"
    "  --ranks N         collectives between N processes, by Open MPI; a line in which one is "
    "lost\n"
    "                    is left out, and the rest measured by new ones\n"
    "  --threads N       of the CPU for a kernel (1): rows are shared out by OpenMP, products "
    "are\n"
    "                    OpenBLAS's; attention, transposes and convolutions stay on one\n"
    "  --timeout S       most seconds for one line between processes, for one collective\n"
    "                    between GPUs (60)\n"
    "  --seconds S       time for the repeats of one kernel (0.5)\n"
    "  --repeats N       of one kernel on a CPU, at most (200): each on other operands\n"
    "  --rounds N        kernels of the list take turns on a CPU, N times at most: what "
    "disturbs\n"
    "                    the machine for a second meets a run of each, not every run of one;\n"
    "                    the answers come at the end, or upon Ctrl-C\n"
    "  --cache-bytes N   size of the last cache (what the system or the GPU says)\n"
    "  --memory-bytes N  most memory for operands (half of the machine's, all of the GPU's)\n"
    "  --seed N          of the random operands (1)\n"
    "  --operand-sets N  on a GPU, most sets of operands that rotate (16)\n"
    "  --streams N       on a GPU, streams that are in use beside the timed one (32, as in a\n"
    "                    program that trains; 0: short kernels take up to 1 us less)\n"
    "  --resume FILE     leaves out what FILE has measured on this device: append to it\n"
    "  --list LIST       the list, where it should not come last\n"
    "  --library-path D  folders (D:D) where GPU libraries lie besides the usual places, as a\n"
    "                    Python environment's site-packages/nvidia/cu13/lib\n"
    "\n"
    "--step trains the model of a run, configs/runs/host-moe.json, as `stepcast run` reads "
    "it:\n"
    "gradients are checked against slopes in double precision, then steps are timed (for 5 s)\n"
    "and printed as a line with the times of each part. Of several ranks: mpirun -n N "
    "measure-mpi.\n"
    "With --backend the same step runs on a GPU for each rank of the plan, without mpirun, "
    "its\n"
    "gradients checked against a core's. --timeout S: an exchange between GPUs that lasts "
    "longer is\n"
    "aborted (60), all of it between processes ended (never).\n"
    "\n"
    "Ctrl-C stops it behind the line at hand; what was printed is whole.\n"
    "Exit codes: 0 every line measured, 1 some not, 2 usage, 3 a line is no kernel, 4 no GPU,\n"
    "5 I/O or a library that is missing or lacks a function, 130 interrupted.\n";

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
    if (strcmp(name, "--streams") == 0)
        return &program->streams;
    if (strcmp(name, "--repeats") == 0)
        return &program->repeats;
    if (strcmp(name, "--rounds") == 0)
        return &program->rounds;
    if (strcmp(name, "--ranks") == 0)
        return &program->ranks;
    if (strcmp(name, "--threads") == 0)
        return &program->threads;
    if (strcmp(name, "--timeout") == 0)
        return &program->timeout_s;
    if (strcmp(name, "--from-line") == 0)
        return &program->from_line;
    return strcmp(name, "--seed") == 0 ? seed : NULL;
}

static const char **
option_word(struct program *program, const char *name)
{
    if (strcmp(name, "--backend") == 0)
        return &program->backend_name;
    if (strcmp(name, "--resume") == 0)
        return &program->resume_path;
    if (strcmp(name, "--list") == 0)
        return &program->path;
    if (strcmp(name, "--journal") == 0)
        return &program->journal_path;
    return strcmp(name, "--library-path") == 0 ? &program->library_path : NULL;
}

static bool
parse_number(const char *word, double *number)
{
    char *end;
    *number = strtod(word, &end);
    return end != word && *end == '\0' && *number >= 0 && *number < 1e15;
}

static bool
is_count(double number, double least)
{
    const double most = 1024;
    return number >= least && number <= most && number == (double)(int)number;
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

static void
take_repeats(struct measure_effort *effort, int64_t most)
{
    effort->repeats_max = most;
    if (effort->repeats_min > most)
        effort->repeats_min = most;
}

/* The first one brings code and pages, and is not counted. */
static void
take_rounds(struct measure_effort *effort, int64_t most)
{
    enum { ROUNDS_LEAST = 8 };
    effort->warmups = 1;
    effort->repeats_max = most;
    effort->repeats_min = most < ROUNDS_LEAST ? most : ROUNDS_LEAST;
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
    if (program->ranks != 0 && !is_count(program->ranks, 2))
        return usage("wanted a whole number from 2 to 1024 after --ranks", "");
    if (program->rounds != 0 && !is_count(program->rounds, 1))
        return usage("wanted a whole number from 1 to 1024 after --rounds", "");
    if (program->rounds != 0 &&
        (program->ranks != 0 || strcmp(program->backend_name, "cpu") != 0))
        return usage("--rounds are of one process on a CPU", "");
    if (!is_count(program->streams, 0) || program->streams > GPU_STREAMS_MAX)
        return usage("wanted a whole number from 0 to 128 after --streams", "");
    if (program->threads != 0 && !is_count(program->threads, 1))
        return usage("wanted a whole number from 1 to 1024 after --threads", "");
    program->options.threads = (int)program->threads;
    program->options.seed = (uint64_t)seed;
    if (program->cache_bytes > 0)
        program->options.cache_bytes = program->cache_bytes;
    if (program->repeats >= 1)
        take_repeats(&program->options.effort, (int64_t)program->repeats);
    if (program->rounds >= 1)
        take_rounds(&program->options.effort, (int64_t)program->rounds);
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
    measure_report(program, &errors, status);
    return status;
}

/* ---- Back ends */

static int
open_gpu(struct program *program, enum gpu_vendor vendor, struct arena *arena)
{
    /* 9 replays and 2 to warm up, the capture and as much again for operands and check */
    const double replays_per_budget = 25;
    struct error_list errors = {0};
    struct gpu_options *options = &program->gpu.gpu.options;
    if (!measure_gpu_open(&program->gpu, &program->backend, vendor, program->library_path,
                          arena, &errors) ||
        !gpu_streams_open(&program->gpu.gpu, (int)program->streams, &errors)) {
        fprintf(stderr, "measure: %s\n", errors.items[0].what);
        return errors.items[0].kind == ERROR_IO ? EXIT_IO : EXIT_INFEASIBLE;
    }
    program->training_gpu = &program->gpu.gpu;
    options->graph_s = program->options.effort.budget_s / replays_per_budget;
    options->seed = program->options.seed;
    options->memory_bytes = program->memory_bytes;
    options->timeout_s = program->timeout_s;
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

/* Processes talk to each other beside the CPU's own kernels. */
static int
open_world(struct program *program, struct arena *arena)
{
    program->world = process_world_open(arena);
    if (program->world->size > 1 && strcmp(program->backend_name, "cpu") != 0)
        return program->world->rank > 0
                   ? EXIT_USAGE
                   : usage("one process drives all GPUs: no mpirun with --backend ",
                           program->backend_name);
    int status = open_backend(program, arena);
    if (status != EXIT_DONE || program->world->size == 1)
        return status;
    const struct measure_backend *cpu = arena_copy(arena, &program->backend, sizeof *cpu);
    program->backend =
        process_collective_backend(program->world, cpu, &program->options, arena);
    return EXIT_DONE;
}

static int
run(struct program *program, struct arena *arena)
{
    int status = open_world(program, arena);
    if (status == EXIT_DONE)
        status = read_answers(program, arena);
    /* No one appends to what another still reads. */
    status = (int)process_largest(program->world, status);
    if (status == EXIT_DONE)
        status = measure_lines(program);
    if (program->backend.close != NULL)
        program->backend.close(program->backend.context);
    if (program->journal_path != NULL) { /* mpirun would comment on any other exit code */
        program->status = status;
        measure_note(program, -1);
        status = EXIT_DONE;
    }
    process_world_close();
    return status;
}

/* The words but for --ranks and its number. */
static int
launch(const struct program *program, int count, char **words)
{
    struct measure_launch launch = {
        .ranks = (int)program->ranks,
        .timeout_s = program->timeout_s,
        .list = program->path,
        .words = words + 1,
        .not_all_status = EXIT_NOT_ALL,
        .fault_status = EXIT_IO,
    };
    for (int i = 1; i < count; i++)
        if (strcmp(words[i], "--ranks") == 0)
            i++;
        else
            launch.words[launch.word_count++] = words[i];
    return measure_launch(&launch);
}

int
main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "--help") == 0) {
        fputs(help, stdout);
        return EXIT_DONE;
    }
    if (count > 1 && strcmp(words[1], "--step") == 0)
        return measure_step(count - 2, words + 2, &measure_policy);
    struct program program = {.options = measure_cpu_options_new(),
                              .backend_name = "cpu",
                              .timeout_s = DEFAULT_TIMEOUT_S,
                              .streams = GPU_STREAMS_USUAL};
    int status = parse_words(&program, count, words);
    if (status != EXIT_DONE)
        return status;
    if (program.ranks >= 1)
        return launch(&program, count, words);
    struct arena *arena = arena_new(&measure_policy);
    status = run(&program, arena);
    arena_free(arena);
    return status;
}
