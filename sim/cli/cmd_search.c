/* stepcast search: the best plans for a model, a cluster and a batch. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/spelling.h"
#include "sim/base/units.h"
#include "sim/cli/parallel.h"
#include "sim/cli/run_options.h"
#include "sim/cli/search.h"
#include "sim/cli/search_report.h"
#include "sim/cli/sweep.h"

extern const struct command command_search;

enum { TOP_DEFAULT = 10, TOP_MAX = 10000 };

/* Ctrl-C is held back and looked for between blocks, so that results so far are printed. */
static void
hold_interrupts(int how)
{
    sigset_t interrupts;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    sigprocmask(how, &interrupts, NULL);
}

static bool
is_interrupted(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGINT) == 1;
}

static void
tell_best(const struct search *search, const struct search_plan *best)
{
    struct arena *arena = arena_new_beside(search->arena);
    fprintf(stderr, "stepcast search: %zu plans simulated, best so far %s: %s\n",
            search->simulated_count, units_format_s(best->row.values[SWEEP_STEP_S]).text,
            search_report_plan(search, best, arena));
    arena_free(arena);
}

/* "plan.tensor=1,2,4": the field's values in place of all. */
static int
set_values(struct search *search, const char *text)
{
    const char *keys[PLAN_FIELD_COUNT];
    const char *fault = NULL;
    struct sweep_words words = {0};
    if (!sweep_parse_words(text, &words, search->arena, &fault))
        return command_usage("search", "--over %s: %s", text, fault);
    const char *key = strncmp(words.key, "plan.", 5) == 0 ? words.key + 5 : words.key;
    int field = 0;
    for (int i = 0; i < PLAN_FIELD_COUNT; i++)
        keys[i] = plan_field_key((enum plan_field)i);
    while (field < PLAN_FIELD_COUNT && strcmp(keys[field], key) != 0)
        field++;
    if (field == PLAN_FIELD_COUNT) {
        const char *nearest = spelling_nearest(key, keys, PLAN_FIELD_COUNT);
        return command_usage("search", "--over %s: %s is no field that is searched%s%s%s", text,
                             words.key, nearest ? ", did you mean plan." : "",
                             nearest ? nearest : "", nearest ? "?" : "");
    }
    if (!plan_space_set(&search->space, (enum plan_field)field, words.words, words.count,
                        search->arena))
        return command_usage("search", "--over %s: a value is none of plan.%s", text,
                             keys[field]);
    return EXIT_DONE;
}

/* A whole number from 1 to most; false when the option holds something else. */
static bool
read_count(const struct options *options, const char *name, long most, long *count)
{
    char *end = NULL;
    const char *word = options_text(options, name);
    if (!*word)
        return true;
    *count = strtol(word, &end, 10);
    return *end == '\0' && *count >= 1 && *count <= most;
}

static int
read_options(struct search *search, const struct options *options)
{
    long threads = parallel_cores(), top = TOP_DEFAULT;
    if (!read_count(options, "jobs", PARALLEL_THREADS_MAX, &threads))
        return command_usage("search", "--jobs is '%s', wanted 1 to %d",
                             options_text(options, "jobs"), PARALLEL_THREADS_MAX);
    if (!read_count(options, "top", TOP_MAX, &top))
        return command_usage("search", "--top is '%s', wanted 1 to %d",
                             options_text(options, "top"), TOP_MAX);
    search->threads = (int)threads;
    search->top = (size_t)top;
    search->has_front = options_flag(options, "pareto");
    search->is_exhaustive = options_flag(options, "exhaustive");
    int code = EXIT_DONE;
    for (size_t i = 0; i < options_text_count(options, "over") && code == EXIT_DONE; i++)
        code = set_values(search, options_text_at(options, "over", i));
    return code;
}

static int
report(const struct search *search, const struct options *options)
{
    struct text out = text_new(search->arena);
    enum output_format format = command_format(options);
    if (format == OUTPUT_JSON)
        search_report_json(search, &out);
    else if (format == OUTPUT_CSV)
        search_report_csv(search, &out);
    else
        search_report_text(search, &out);
    int code = command_output(options, &out);
    if (code != EXIT_DONE || search->best_count > 0)
        return code;
    fprintf(stderr, "stepcast search: none of %zu legal plans %s\n", search->list.count,
            search->was_stopped ? "was simulated before the search was stopped"
                                : "fits the memory of a GPU");
    return EXIT_INFEASIBLE;
}

static int
run(const struct options *options, struct arena *arena)
{
    int code = EXIT_BUG;
    const struct run *base = run_options_read("search", options, arena, &code);
    if (!base)
        return code;
    struct search search = {.space = plan_space_of(base, arena),
                            .arena = arena,
                            .is_stopped = is_interrupted,
                            .tell = options_flag(options, "quiet") ? NULL : tell_best};
    code = read_options(&search, options);
    if (code != EXIT_DONE)
        return code;
    hold_interrupts(SIG_BLOCK);
    search_run(&search);
    code = report(&search, options);
    hold_interrupts(SIG_UNBLOCK);
    return code;
}

static const struct option_spec OPTIONS[] = {
    {"over", 0, OPTION_TEXTS, "FIELD=VALUE,...", "these values of a field in place of all"},
    {"top", 0, OPTION_TEXT, "N", "how many of the best (default 10)"},
    {"pareto", 0, OPTION_FLAG, NULL, "and all that none beats in both step and memory"},
    {"exhaustive", 0, OPTION_FLAG, NULL, "simulate every plan that fits: screen none"},
    {"quiet", 0, OPTION_FLAG, NULL, "do not tell the best so far on standard error"},
    {"jobs", 0, OPTION_TEXT, "N", "threads (default: as many as there are cores)"},
    RUN_FILE_OPTIONS,
    {"json", 0, OPTION_FLAG, NULL, "the answer as JSON"},
    {"output", 'o', OPTION_TEXT, "FILE", "write there; .json or .csv choose the format"},
};

const struct command command_search = {
    .name = "search",
    .summary = "find the best plans for a model, a cluster and a batch",
    .synopsis = "[RUN.json]",
    .example = "stepcast search configs/runs/zaya1-base-4k-1024.json --over plan.context=1 "
               "--over plan.zero_stage=1",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON | 1u << OUTPUT_CSV,
    .run = run,
};
