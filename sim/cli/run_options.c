/* The options by which run, timeline and their like name a run. */
#include "sim/cli/run_options.h"

#include <string.h>

/* The option's value, NULL when it was not given. */
static const char *
given(const struct options *options, const char *name)
{
    const char *value = options_text(options, name);
    return *value ? value : NULL;
}

static bool
read_ranks(const char *word, enum lower_ranks *ranks)
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
make_request(const struct options *options, struct arena *arena)
{
    size_t count = options_text_count(options, "set");
    const char **settings = arena_alloc(arena, count + 1, sizeof *settings);
    for (size_t i = 0; i < count; i++)
        settings[i] = options_text_at(options, "set", i);
    return (struct run_request){
        .file = options_word_count(options) > 0 ? options_word(options, 0) : NULL,
        .model = given(options, "model"),
        .cluster = given(options, "cluster"),
        .plan = given(options, "plan"),
        .software = given(options, "software"),
        .settings = settings,
        .setting_count = count,
    };
}

const struct step *
run_options_simulate(const char *command, const struct options *options, struct arena *arena,
                     int *exit_code)
{
    enum lower_ranks ranks = RANKS_FOLDED;
    if (!read_ranks(given(options, "ranks"), &ranks)) {
        *exit_code = command_usage(command, "--ranks is '%s', wanted folded or all",
                                   given(options, "ranks"));
        return NULL;
    }
    struct run_request request = make_request(options, arena);
    bool is_whole = request.model && request.cluster && request.plan && request.software;
    if (!request.file && !is_whole) {
        *exit_code = command_usage(command, "wanted a run, such as "
                                            "configs/runs/zaya1-base-4k-1024.json, or all of "
                                            "--model --cluster --plan --software");
        return NULL;
    }
    struct error_list errors = {0};
    const struct run *run = run_read(&request, arena, &errors);
    const struct step *step = run ? step_simulate(run, ranks, arena, &errors) : NULL;
    if (!step)
        *exit_code = command_report(&errors);
    return step;
}
