/* The options by which run, timeline and their like name a run. */
#ifndef SIM_CLI_RUN_OPTIONS_H
#define SIM_CLI_RUN_OPTIONS_H

#include "models/step.h"
#include "sim/cli/command.h"
#include "sim/cli/slice.h"
#include "sim/cli/store.h"

/* Rows for a command's table of options; a run file is its one word. */
#define RUN_FILE_OPTIONS                                                                       \
    {"model", 0, OPTION_TEXT, "FILE", "the model, instead of the run's"},                      \
        {"cluster", 0, OPTION_TEXT, "FILE", "the cluster, instead of the run's"},              \
        {"plan", 0, OPTION_TEXT, "FILE", "the plan, instead of the run's"},                    \
        {"software", 0, OPTION_TEXT, "FILE", "the software stack, instead of the run's"},      \
    {                                                                                          \
        "set", 0, OPTION_TEXTS, "KEY=VALUE", "one value, such as plan.microbatch_sequences=2"  \
    }
#define RUN_OPTIONS                                                                            \
    RUN_FILE_OPTIONS,                                                                          \
    {                                                                                          \
        "ranks", 0, OPTION_TEXT, "WHICH", "folded (equal ranks once, the default) or all"      \
    }

/* Of commands that simulate many runs. */
#define MANY_RUNS_OPTIONS                                                                      \
    {"store", 0, OPTION_TEXT, "FILE", "keep results there (SQLite), use those it has"},        \
        {"shard", 0, OPTION_TEXT, "K/N", "the K-th of N parts, for 'stepcast merge'"},         \
        {"quiet", 0, OPTION_FLAG, NULL, "tell nothing on the way on standard error"},          \
    {                                                                                          \
        "jobs", 0, OPTION_TEXT, "N", "threads (default: as many as there are cores)"           \
    }

/* Reads and checks the run that the options name. NULL after printing why not; *exit_code is then
 * what to return. */
const struct run *run_options_read(const char *command, const struct options *options,
                                   struct arena *arena, int *exit_code);

/* The same of a run file that another file names, whose settings come before the options'. */
struct run_options_file {
    const char *path;
    struct run_settings settings;
};
const struct run *run_options_read_file(const char *command, const struct options *options,
                                        const struct run_options_file *file,
                                        struct arena *arena, int *exit_code);

/* The same, simulated. */
const struct step *run_options_simulate(const char *command, const struct options *options,
                                        struct arena *arena, int *exit_code);

/* Opens what --store names, which must be another file than -o; *store stays NULL without it. An
 * exit_code, after saying why not. */
int run_options_store(const char *command, const struct options *options, int threads,
                      struct store **store, struct arena *arena);

/* What --jobs and --shard say; an exit_code, after saying why not. */
int run_options_jobs(const char *command, const struct options *options, int *threads);
int run_options_shard(const char *command, const struct options *options, struct slice *slice);

/* A whole number from the least on; as it was without the option, false when it holds something
 * else. */
bool run_options_count(const struct options *options, const char *name, int64_t least,
                       int64_t most, int64_t *count);

#endif
