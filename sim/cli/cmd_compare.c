/* stepcast compare: runs, or variants of one run, side by side. */
#include <string.h>

#include "models/altered.h"
#include "plots/chart_csv.h"
#include "sim/cli/compare.h"
#include "sim/cli/picture.h"
#include "sim/cli/run_options.h"

extern const struct command command_compare;

/* The step of a run whose GPUs have memory enough, so that a picture can show how long it would
 * take; NULL when more than memory is missing. */
static const struct step *
simulate_boundless(const struct run *run, struct arena *arena)
{
    struct error_list errors = {0};
    struct altered *altered = altered_new(run, arena);
    altered_lift_memory(altered);
    return step_simulate(&altered->run, RANKS_FOLDED, arena, &errors);
}

/* Others than the first may be plans that cannot be run: they stand there with the reason. */
static int
add_run(struct comparison *comparison, const struct run *run, const char *name,
        struct arena *arena)
{
    struct error_list errors = {0};
    struct compared item = {.name = name,
                            .capacity_bytes = run->inputs.cluster->device->hbm_bytes};
    if (comparison->count == COMPARE_MAX)
        return command_usage("compare", "more than %d steps side by side", COMPARE_MAX);
    item.step = step_simulate(run, RANKS_FOLDED, arena, &errors);
    if (!item.step) {
        if (comparison->count == 0 || errors.items[0].kind != ERROR_INFEASIBLE)
            return command_report(&errors);
        item.reason = arena_format(arena, "%s", errors.items[0].what);
        item.step = simulate_boundless(run, arena);
    }
    comparison->items[comparison->count++] = item;
    return EXIT_DONE;
}

/* "configs/runs/a.json" is "a". */
static const char *
name_of_file(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *ending = strrchr(name, '.');
    int length = (int)(ending && ending > name ? (size_t)(ending - name) : strlen(name));
    return arena_format(arena, "%.*s", length, name);
}

/* "plan.tensor=2,plan.recompute=full": the commas that stand before a setting part them, those of a
 * list do not. */
static struct run_settings
split_settings(const char *text, struct arena *arena)
{
    const char **texts = arena_alloc(arena, strlen(text) + 1, sizeof *texts);
    size_t count = 0;
    while (*text) {
        size_t length = 0;
        int depth = 0;
        while (text[length] && (depth > 0 || text[length] != ',')) {
            depth += (text[length] == '[') - (text[length] == ']');
            length++;
        }
        texts[count++] = arena_format(arena, "%.*s", (int)length, text);
        text += length + (text[length] == ',');
    }
    return (struct run_settings){texts, count};
}

/* "NAME:SETTINGS", of the base. */
static int
add_variant(struct comparison *comparison, const struct run *base, const char *text,
            struct arena *arena)
{
    struct error_list errors = {0};
    const char *colon = strchr(text, ':');
    if (!colon || colon == text || !colon[1])
        return command_usage("compare",
                             "--variant is '%s', wanted NAME:KEY=VALUE,..., such as "
                             "full:plan.recompute=full",
                             text);
    struct run_settings settings = split_settings(colon + 1, arena);
    const struct run *run = run_again(base, &settings, arena, &errors);
    const char *name = arena_format(arena, "%.*s", (int)(colon - text), text);
    if (run)
        return add_run(comparison, run, name, arena);
    if (errors.items[0].kind != ERROR_INFEASIBLE || comparison->count == COMPARE_MAX)
        return command_report(&errors);
    comparison->items[comparison->count++] =
        (struct compared){.name = name,
                          .reason = arena_format(arena, "%s", errors.items[0].what),
                          .capacity_bytes = comparison->items[0].capacity_bytes};
    return EXIT_DONE;
}

static int
draw(const struct comparison *comparison, const struct options *options, struct arena *arena)
{
    struct canvas *canvas = canvas_new(arena, STYLE_FONTS);
    const struct bar_chart *chart = comparison_chart(comparison, arena);
    struct text data = text_new(arena);
    bar_chart_draw(chart, picture_page(options), canvas);
    if (picture_wants_data(options))
        bar_chart_csv(chart, &data);
    return picture_output(options, canvas, &data);
}

static int
report(const struct comparison *comparison, const struct options *options, struct arena *arena)
{
    struct text out = text_new(arena);
    enum output_format format = command_format(options);
    if (command_draws(format)) {
        int code = draw(comparison, options, arena);
        if (code != EXIT_DONE || !command_wants_json(options))
            return code;
    }
    if (command_wants_json(options))
        comparison_write_json(comparison, &out);
    else if (format == OUTPUT_CSV)
        comparison_write_csv(comparison, &out);
    else
        comparison_print(comparison, &out);
    return command_output(options, &out);
}

static int
run(const struct options *options, struct arena *arena)
{
    struct comparison comparison = {.count = 0};
    const struct run *base = NULL;
    int code = EXIT_DONE;
    size_t variants = options_text_count(options, "variant");
    if (options_word_count(options) + variants < 2)
        return command_usage("compare", "wanted several runs, or one and --variant");
    for (size_t i = 0; i < options_word_count(options); i++) {
        struct run_options_file file = {.path = options_word(options, i)};
        const struct run *one = run_options_read_file("compare", options, &file, arena, &code);
        if (one)
            code = add_run(&comparison, one, name_of_file(file.path, arena), arena);
        if (code != EXIT_DONE)
            return code;
        base = base ? base : one;
    }
    for (size_t i = 0; i < variants && code == EXIT_DONE; i++)
        code = add_variant(&comparison, base, options_text_at(options, "variant", i), arena);
    return code == EXIT_DONE ? report(&comparison, options, arena) : code;
}

static const struct option_spec OPTIONS[] = {
    {"variant", 0, OPTION_TEXTS, "NAME:KEY=VALUE,...", "the first run with other values"},
    RUN_FILE_OPTIONS,
    PICTURE_OPTIONS,
    {"json", 0, OPTION_FLAG, NULL, "the answer as JSON"},
    {"output", 'o', OPTION_TEXT, "FILE", "write there; .json .csv .svg .png .pdf"},
};

const struct command command_compare = {
    .name = "compare",
    .summary = "set steps side by side, their difference term by term",
    .synopsis = "RUN.json... [--variant NAME:KEY=VALUE,...]...",
    .example = "stepcast compare configs/runs/zaya1-base-4k-1024.json "
               "--variant full:plan.recompute=full",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 1,
    .word_maximum = COMPARE_MAX,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON | 1u << OUTPUT_CSV | 1u << OUTPUT_SVG |
               1u << OUTPUT_PDF | 1u << OUTPUT_PNG,
    .run = run,
};
