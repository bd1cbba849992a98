/* stepcast search: the best plans for a model, a cluster and a batch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots/chart_csv.h"
#include "sim/base/spelling.h"
#include "sim/base/units.h"
#include "sim/cli/interrupt.h"
#include "sim/cli/picture.h"
#include "sim/cli/run_options.h"
#include "sim/cli/search_answers.h"
#include "sim/cli/search_nodes.h"
#include "sim/cli/sweep.h"

extern const struct command command_search;

enum { TOP_DEFAULT = 10, TOP_MAX = 10000 };
/* Of any currency: above it a slip. */
static const double PRICE_MAX = 1e9;

static void
tell_best(const struct search *search, const struct search_plan *best)
{
    struct arena *arena = arena_new_beside(search->arena);
    progress_hide(search->progress);
    fprintf(stderr, "stepcast search: %zu %s simulated, best so far %s: %s\n",
            search->simulated_count, search->simulated_count == 1 ? "plan" : "plans",
            units_format_s(best->row.values[SWEEP_STEP_S]).text,
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
    for (size_t i = 0; i < words.count; i++) /* the first that is wrong */
        if (!plan_space_set(&search->space, (enum plan_field)field, &words.words[i], 1,
                            search->arena))
            return command_usage("search", "--over %s: '%s' is none of plan.%s, wanted %s",
                                 text, words.words[i], keys[field],
                                 plan_field_wanted((enum plan_field)field, search->arena));
    (void)plan_space_set(&search->space, (enum plan_field)field, words.words, words.count,
                         search->arena);
    return EXIT_DONE;
}

/* What the best are the best by, and money where there is a price. */
static bool
read_objective(struct search *search, const struct options *options)
{
    const char *word = options_text(options, "objective");
    const char *price = options_text(options, "price-per-gpu-hour");
    char *end = NULL;
    int i = 0;
    search->price_per_gpu_hour = *price ? strtod(price, &end) : 0;
    if (*price &&
        (*end || !(search->price_per_gpu_hour > 0 && search->price_per_gpu_hour < PRICE_MAX)))
        return false;
    while (*word && i < OBJECTIVE_COUNT &&
           strcmp(word, search_objective_key((enum search_objective)i)) != 0)
        i++;
    search->objective = (enum search_objective)i;
    return i < OBJECTIVE_COUNT &&
           (search->objective != OBJECTIVE_COST || search->price_per_gpu_hour > 0);
}

static int
read_options(struct search *search, const struct options *options)
{
    int64_t top = TOP_DEFAULT;
    int code = run_options_jobs("search", options, &search->threads);
    if (code == EXIT_DONE)
        code = run_options_shard("search", options, &search->slice);
    if (code != EXIT_DONE)
        return code;
    if (!run_options_count(options, "top", 1, TOP_MAX, &top))
        return command_usage("search", "--top is '%s', wanted 1 to %d",
                             options_text(options, "top"), TOP_MAX);
    search->top = (size_t)top;
    if (!read_objective(search, options))
        return command_usage("search",
                             "--objective is '%s', wanted step, tokens_per_s_per_gpu, memory, "
                             "or cost with --price-per-gpu-hour above 0",
                             options_text(options, "objective"));
    if (search->slice.count > 0 && search->objective == OBJECTIVE_MEMORY)
        return command_usage("search", "--shard goes by the step, not by memory");
    search->has_dots = command_draws(command_format(options));
    search->has_front = options_flag(options, "pareto") ||
                        (search->has_dots && !*options_text(options, "nodes"));
    search->is_exhaustive = options_flag(options, "exhaustive");
    for (size_t i = 0; i < options_text_count(options, "over") && code == EXIT_DONE; i++)
        code = set_values(search, options_text_at(options, "over", i));
    return code;
}

static int
draw(const struct scatter_chart *chart, const struct options *options, struct arena *arena)
{
    struct canvas *canvas = canvas_new(arena, STYLE_FONTS);
    struct text data = text_new(arena);
    scatter_chart_draw(chart, picture_page(options), canvas);
    if (picture_wants_data(options))
        scatter_chart_csv(chart, &data);
    return picture_output(options, canvas, &data);
}

static int
report(const struct search *search, const struct options *options)
{
    struct text out = text_new(search->arena);
    enum output_format format = command_format(options);
    bool is_said = !command_draws(format) || command_wants_json(options);
    if (command_draws(format) && search->front_count > 0) {
        int code = draw(search_picture(search, search->arena), options, search->arena);
        if (code != EXIT_DONE || !is_said)
            return code;
    }
    if (command_wants_json(options))
        search_report_json(search, &out);
    else if (format == OUTPUT_CSV)
        search_report_csv(search, &out);
    else
        search_report_text(search, &out);
    int code = is_said ? command_output(options, &out) : EXIT_DONE;
    bool is_part = search->slice.count > 0 && !command_draws(format);
    if (code != EXIT_DONE || search->best_count > 0 || is_part)
        return code; /* other shards may have found one */
    if (search->counts.legal_count == 0)
        fprintf(stderr, "stepcast search: no combination is a legal plan%s\n",
                format == OUTPUT_TEXT ? ", for the reasons counted above" : "");
    else
        fprintf(stderr, "stepcast search: none of %zu legal plans %s\n",
                search->counts.legal_count,
                search->was_stopped ? "was simulated before the search was stopped"
                                    : "fits the memory of a GPU");
    return EXIT_INFEASIBLE;
}

/* Searches one base; *has_result is false in a process that only answered another one's questions.
 */
static int
find(struct search *search, const struct run *base, const struct options *options,
     bool *has_result)
{
    struct arena *arena = search->arena;
    struct known_points *known = arena_alloc(arena, 1, sizeof *known);
    struct crew *crew = arena_alloc(arena, 1, sizeof *crew);
    struct progress *progress = arena_alloc(arena, 1, sizeof *progress);
    if (!known_points_open(known, base, arena, &search->errors))
        return command_report(&search->errors);
    *crew = (struct crew){.arena = arena,
                          .threads = search->threads,
                          .answers = SEARCH_ANSWERS,
                          .setup = search,
                          .identity = known_points_identity(known),
                          .is_stopped = interrupt_is_waiting};
    *progress = progress_begin("search", "plans", 0, !options_flag(options, "quiet"));
    search->progress = progress;
    search->crew = crew;
    search->known = known;
    *has_result = crew_open(crew);
    if (!*has_result)
        return EXIT_DONE; /* the process that asked has said what there is to say */
    int code = run_options_store("search", options, search->threads + 1, &known->store, arena);
    interrupt_hold();
    if (code == EXIT_DONE)
        search_run(search);
    if (search->errors.count > 0)
        code = command_report(&search->errors);
    crew_close(crew);
    if (known->store)
        store_close(known->store);
    search->crew = NULL; /* both end here */
    search->known = NULL;
    *has_result = code == EXIT_DONE;
    return code;
}

static int
start(struct search *search, const struct run *base, const struct options *options,
      struct arena *arena)
{
    *search = (struct search){.space = plan_space_of(base, arena),
                              .arena = arena,
                              .is_stopped = interrupt_is_waiting,
                              .tell = options_flag(options, "quiet") ? NULL : tell_best};
    return read_options(search, options);
}

static int
report_nodes(const struct search_nodes *all, const struct options *options, struct arena *arena)
{
    struct text out = text_new(arena);
    enum output_format format = command_format(options);
    const struct scatter_chart *chart =
        command_draws(format) ? search_nodes_picture(all, arena) : NULL;
    bool is_said = !command_draws(format) || command_wants_json(options);
    size_t found = 0;
    int code = chart ? draw(chart, options, arena) : EXIT_DONE;
    if (code != EXIT_DONE || (chart && !is_said))
        return code;
    if (command_wants_json(options))
        search_nodes_json(all, &out);
    else if (format == OUTPUT_CSV)
        search_nodes_csv(all, &out);
    else
        search_nodes_text(all, &out);
    for (size_t i = 0; i < all->count; i++)
        found += all->reasons[i] ? 0 : all->searches[i].best_count;
    code = is_said ? command_output(options, &out) : EXIT_DONE;
    bool is_part = all->slice.count > 0 && !command_draws(format);
    if (code != EXIT_DONE || found > 0 || is_part)
        return code;
    fprintf(stderr, "stepcast search: no plan on any of these numbers of nodes\n");
    return EXIT_INFEASIBLE;
}

/* The base with another number of nodes; NULL after noting why its own plan cannot be there. */
static const struct run *
base_of_nodes(const struct run *base, int64_t nodes, const char **reason, struct arena *arena)
{
    struct error_list errors = {0};
    const char **setting = arena_alloc(arena, 1, sizeof *setting);
    *setting = arena_format(arena, "cluster.nodes=%lld", (long long)nodes);
    const struct run *run = run_again(base, &(struct run_settings){setting, 1}, arena, &errors);
    *reason = run ? NULL
                  : arena_format(arena, "the run's own plan cannot be there: %s",
                                 errors.items[0].what);
    return run;
}

/* One after the other, since what is whose turn depends on how many plans came before. */
static int
search_each(struct search_nodes *all, const char **reasons, const struct run *base,
            const struct options *options, struct arena *arena)
{
    bool has_result = true;
    int code = EXIT_DONE;
    for (size_t i = 0; i < all->count && code == EXIT_DONE; i++) {
        struct search *search = &all->searches[i];
        const struct run *own = base_of_nodes(base, all->nodes[i], &reasons[i], arena);
        if (!own)
            continue;
        code = start(search, own, options, arena);
        all->slice = code == EXIT_DONE ? search->slice : all->slice;
        all->top = search->top;
        search->slice = search_nodes_slice(all, i);
        search->nodes = all->nodes[i];
        if (code == EXIT_DONE)
            code = find(search, own, options, &has_result);
    }
    return code == EXIT_DONE && has_result ? report_nodes(all, options, arena) : code;
}

/* Of --nodes 16,32 or 16:128. */
static int
search_nodes(const struct run *base, const struct options *options, struct arena *arena)
{
    const char *text = options_text(options, "nodes"), *fault = NULL;
    struct sweep nodes = {0};
    if (!sweep_parse(arena_format(arena, "nodes=%s", text), &nodes, arena, &fault))
        return command_usage("search", "--nodes is '%s': %s", text, fault);
    const char **reasons = arena_alloc(arena, nodes.count, sizeof *reasons);
    struct search_nodes all = {.searches =
                                   arena_alloc(arena, nodes.count, sizeof *all.searches),
                               .reasons = reasons,
                               .nodes = nodes.values,
                               .count = nodes.count};
    return search_each(&all, reasons, base, options, arena);
}

static int
run(const struct options *options, struct arena *arena)
{
    int code = EXIT_BUG;
    bool has_result = false;
    struct search search;
    const struct run *base = run_options_read("search", options, arena, &code);
    if (!base)
        return code;
    if (*options_text(options, "nodes")) {
        code = search_nodes(base, options, arena);
    } else {
        code = start(&search, base, options, arena);
        if (code == EXIT_DONE)
            code = find(&search, base, options, &has_result);
        if (has_result)
            code = report(&search, options);
    }
    interrupt_release();
    return code;
}

static const struct option_spec OPTIONS[] = {
    {"over", 0, OPTION_TEXTS, "FIELD=VALUE,...", "these values of a field in place of all"},
    {"top", 0, OPTION_TEXT, "N", "how many of the best (default 10)"},
    {"objective", 0, OPTION_TEXT, "WHAT",
     "best by step (default), tokens_per_s_per_gpu, memory or cost"},
    {"price-per-gpu-hour", 0, OPTION_TEXT, "PRICE", "what a million tokens cost, then"},
    {"nodes", 0, OPTION_TEXT, "N,...", "on each of these numbers of nodes, or FROM:TO doubled"},
    {"pareto", 0, OPTION_FLAG, NULL, "and all that none beats in both step and memory"},
    {"exhaustive", 0, OPTION_FLAG, NULL, "simulate every plan that fits: screen none"},
    MANY_RUNS_OPTIONS,
    RUN_FILE_OPTIONS,
    PICTURE_OPTIONS,
    {"json", 0, OPTION_FLAG, NULL, "the answer as JSON"},
    {"output", 'o', OPTION_TEXT, "FILE", "write there; .json .csv .svg .png .pdf"},
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
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON | 1u << OUTPUT_CSV | 1u << OUTPUT_SVG |
               1u << OUTPUT_PDF | 1u << OUTPUT_PNG,
    .run = run,
};
