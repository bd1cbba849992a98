/* The options by which run, timeline and their like name a run. */
#include "sim/cli/run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/cli/crew.h"
#include "sim/cli/parallel.h"

/* The option's value, NULL when it was not given. */
static const char *
given(const struct options *options, const char *name)
{
    const char *value = options_text(options, name);
    return *value ? value : NULL;
}

static bool
read_ranks(const char *word, enum program_ranks *ranks)
{
    if (!word || strcmp(word, "folded") == 0)
        *ranks = RANKS_FOLDED;
    else if (strcmp(word, "all") == 0)
        *ranks = RANKS_ALL;
    else
        return false;
    return true;
}

static struct run_request
make_request(const struct options *options, const struct run_options_file *file,
             struct arena *arena)
{
    size_t before = file->settings.count, count = before + options_text_count(options, "set");
    const char **settings = arena_alloc(arena, count + 1, sizeof *settings);
    for (size_t i = 0; i < count; i++)
        settings[i] =
            i < before ? file->settings.texts[i] : options_text_at(options, "set", i - before);
    return (struct run_request){
        .file = file->path,
        .model = given(options, "model"),
        .cluster = given(options, "cluster"),
        .plan = given(options, "plan"),
        .software = given(options, "software"),
        .settings = settings,
        .setting_count = count,
    };
}

static bool
is_same_file(const char *a, const char *b)
{
    struct stat status_a, status_b;
    return stat(a, &status_a) == 0 && stat(b, &status_b) == 0 && S_ISREG(status_a.st_mode) &&
           status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}

/* A slip of the keyboard must not cost the user a file. */
static const char *
find_overwritten(const struct run *run, const char *output)
{
    for (int i = 0; i < RUN_FILES && *output; i++)
        if (run->paths[i] && is_same_file(run->paths[i], output))
            return run->paths[i];
    return NULL;
}

const struct run *
run_options_read(const char *command, const struct options *options, struct arena *arena,
                 int *exit_code)
{
    const struct run_options_file file = {
        .path = options_word_count(options) > 0 ? options_word(options, 0) : NULL};
    return run_options_read_file(command, options, &file, arena, exit_code);
}

const struct run *
run_options_read_file(const char *command, const struct options *options,
                      const struct run_options_file *file, struct arena *arena, int *exit_code)
{
    struct run_request request = make_request(options, file, arena);
    bool is_whole = request.model && request.cluster && request.plan && request.software;
    if (!request.file && !is_whole) {
        *exit_code = command_usage(command, "wanted a run, such as "
                                            "configs/runs/zaya1-base-4k-1024.json, or all of "
                                            "--model --cluster --plan --software");
        return NULL;
    }
    struct error_list errors = {0};
    const struct run *run = run_read(&request, arena, &errors);
    if (!run) {
        *exit_code = command_report(&errors);
        return NULL;
    }
    const char *overwritten = find_overwritten(run, options_text(options, "output"));
    if (overwritten) {
        *exit_code =
            command_usage(command, "-o would overwrite %s, which the run reads", overwritten);
        return NULL;
    }
    return run;
}

const struct step *
run_options_simulate(const char *command, const struct options *options, struct arena *arena,
                     int *exit_code)
{
    enum program_ranks ranks = RANKS_FOLDED;
    if (!read_ranks(given(options, "ranks"), &ranks)) {
        *exit_code = command_usage(command, "--ranks is '%s', wanted folded or all",
                                   given(options, "ranks"));
        return NULL;
    }
    const struct run *run = run_options_read(command, options, arena, exit_code);
    if (!run)
        return NULL;
    struct error_list errors = {0};
    const struct step *step = step_simulate(run, ranks, arena, &errors);
    if (!step)
        *exit_code = command_report(&errors);
    return step;
}

int
run_options_store(const char *command, const struct options *options, int threads,
                  struct store **store, struct arena *arena)
{
    const char *path = options_text(options, "store"),
               *output = options_text(options, "output");
    struct error_list errors = {0};
    if (!*path)
        return EXIT_DONE;
    if (strcmp(path, output) == 0 || is_same_file(path, output))
        return command_usage(command, "-o would overwrite %s, which --store keeps", path);
    *store =
        store_open(&(struct store_request){.path = path, .threads = threads}, arena, &errors);
    const char *others = *store ? store_list_others(*store, &errors) : NULL;
    if (!others)
        return command_report(&errors);
    if (*others)
        fprintf(
            stderr,
            "stepcast %s: %s has rows of other versions of stepcast that are not used: %s\n",
            command, path, others);
    return EXIT_DONE;
}

bool
run_options_count(const struct options *options, const char *name, int64_t least, int64_t most,
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

int
run_options_jobs(const char *command, const struct options *options, int *threads)
{
    int64_t count = crew_default_threads();
    if (!run_options_count(options, "jobs", 1, PARALLEL_THREADS_MAX, &count))
        return command_usage(command, "--jobs is '%s', wanted 1 to %d",
                             options_text(options, "jobs"), PARALLEL_THREADS_MAX);
    *threads = (int)count;
    return EXIT_DONE;
}

int
run_options_shard(const char *command, const struct options *options, struct slice *slice)
{
    const char *word = options_text(options, "shard");
    if (*word && !slice_parse(word, slice))
        return command_usage(command, "--shard is '%s', wanted K/N, such as 1/16", word);
    return EXIT_DONE;
}
