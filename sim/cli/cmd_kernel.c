/* stepcast kernel: what kernels cost on a device: one, one with a key that runs, or a list. */
#include <string.h>

#include "hw/kernel_cost.h"
#include "sim/base/units.h"
#include "sim/cli/kernel_question.h"
#include "sim/cli/kernel_sweep.h"
#include "sim/cli/picture.h"
#include "sim/cli/price_list.h"

extern const struct command command_kernel;

static bool
price_question(const void *context, const struct json *question, struct arena *arena,
               struct json_writer *answer, struct error_list *errors)
{
    struct kernel kernel;
    struct kernel_cost cost;
    if (!kernel_question_price(context, question, arena, &kernel, &cost, errors))
        return false;
    kernel_question_write_cost(answer, &cost);
    return true;
}

/* The one kernel as people read it. */
static void
write_reading(struct text *text, const struct device *device, const struct kernel_cost *cost)
{
    text_format(text, "%s on %s (+- %s), bound by %s\n", units_format_s(cost->seconds_s).text,
                device->name, units_format_fraction(cost->relative_sigma).text,
                kernel_bound_name(cost->bound));
    text_format(text, "  moves %s of HBM, %s\n", units_format_bytes(cost->hbm_bytes).text,
                units_format_bytes_per_s(cost->hbm_bytes / cost->seconds_s).text);
    if (cost->flop > 0)
        text_format(text, "  computes %s, %s\n", units_format_flop(cost->flop).text,
                    units_format_flop_per_s(cost->flop / cost->seconds_s).text);
    if (cost->tiles > 0)
        text_format(text, "  %lld tiles in %lld waves over %lld compute units\n",
                    (long long)cost->tiles, (long long)cost->waves,
                    (long long)device->compute_units);
}

static int
price_words(const struct options *options, const struct device *device, struct arena *arena)
{
    struct error_list errors = {0};
    struct kernel kernel;
    struct kernel_cost cost;
    const struct json *question = kernel_question_read(options, arena, &errors);
    if (!question || !kernel_question_price(device, question, arena, &kernel, &cost, &errors))
        return command_report(&errors);
    struct text text = text_new(arena);
    if (command_format(options) == OUTPUT_JSON)
        kernel_question_write_answer(&text, question, &cost);
    else
        write_reading(&text, device, &cost);
    return command_output(options, &text);
}

static int
write_sweep(const struct kernel_sweep *sweep, const struct options *options,
            struct arena *arena)
{
    enum output_format format = command_format(options);
    struct text out = text_new(arena);
    if (command_draws(format)) {
        int code = picture_line_chart(options, kernel_sweep_picture(sweep, arena), arena);
        if (code != EXIT_DONE || !command_wants_json(options))
            return code;
    }
    if (command_wants_json(options))
        kernel_sweep_write_lines(sweep, &out);
    else if (format == OUTPUT_CSV)
        kernel_sweep_write_csv(sweep, &out);
    else
        kernel_sweep_print(sweep, &out);
    return command_output(options, &out);
}

static int
price_sweep(const struct options *options, const struct device *device, struct arena *arena)
{
    struct error_list errors = {0};
    struct kernel_sweep sweep = {
        .options = options, .device = device, .has_panels = options_flag(options, "panels")};
    struct measured_list measured = {0};
    const char *range = options_text(options, "sweep"), *fault = "";
    const char *series = options_text(options, "series");
    if (!sweep_parse(range, &sweep.sweep, arena, &fault))
        return command_usage(command_kernel.name, "--sweep %s: %s", range, fault);
    if (*series && !sweep_parse_words(series, &sweep.series, arena, &fault))
        return command_usage(command_kernel.name, "--series %s: %s", series, fault);
    if (*series && strcmp(sweep.series.key, sweep.sweep.key) == 0)
        return command_usage(command_kernel.name, "--sweep and --series both set %s",
                             sweep.sweep.key);
    for (size_t i = 0; i < options_text_count(options, "measured"); i++)
        if (!measured_list_read(&measured, options_text_at(options, "measured", i), arena,
                                &errors))
            return command_report(&errors);
    if (!kernel_sweep_price(&sweep, arena, &errors) ||
        !kernel_sweep_add_measured(&sweep, &measured, arena, &errors))
        return command_report(&errors);
    return write_sweep(&sweep, options, arena);
}

static int
price_all(const struct options *options, const struct device *device)
{
    const struct price_list list = {
        .path = options_text(options, "list"),
        .output_path = options_text(options, "output"),
        .keeps_going = options_flag(options, "keep-going"),
        .price = price_question,
        .context = device,
    };
    return price_list_run(&list);
}

/* EXIT_DONE, or EXIT_USAGE after saying which of the options do not go together. */
static int
check_options(const struct options *options)
{
    const char *name = command_kernel.name;
    bool has_words = options_word_count(options) > 0;
    bool has_sweep = *options_text(options, "sweep") != '\0';
    enum output_format format = command_format(options);
    if (!*options_text(options, "device"))
        return command_usage(name, "--device is missing");
    if (has_words == (*options_text(options, "list") != '\0'))
        return command_usage(name, "wanted either a kernel or --list FILE");
    if (has_sweep && !has_words)
        return command_usage(name, "--sweep runs over one kernel, and there is only a list");
    if (has_sweep)
        return EXIT_DONE;
    if (*options_text(options, "series") || options_text_count(options, "measured") > 0 ||
        options_flag(options, "panels"))
        return command_usage(
            name, "--series, --panels and --measured go with --sweep KEY=FROM:TO:STEP");
    if (command_draws(format) || format == OUTPUT_CSV)
        return command_usage(name, "a picture or a table is of a --sweep KEY=FROM:TO:STEP");
    return EXIT_DONE;
}

static int
run(const struct options *options, struct arena *arena)
{
    int code = check_options(options);
    if (code != EXIT_DONE)
        return code;
    struct error_list errors = {0};
    const struct json *object = json_read_file(arena, options_text(options, "device"), &errors);
    const struct device *device = object ? device_read(object, arena, &errors) : NULL;
    if (!device)
        return command_report(&errors);
    if (*options_text(options, "sweep"))
        return price_sweep(options, device, arena);
    if (options_word_count(options) > 0)
        return price_words(options, device, arena);
    return price_all(options, device);
}

static const struct option_spec OPTIONS[] = {
    {"device", 0, OPTION_TEXT, "FILE", "the device that runs them"},
    {"list", 0, OPTION_TEXT, "FILE", "one kernel a line, JSON; - is standard input"},
    {"keep-going", 0, OPTION_FLAG, NULL, "past a line that cannot be answered"},
    {"sweep", 0, OPTION_TEXT, "KEY=FROM:TO:STEP", "one key over a range, or KEY=1,2,4"},
    {"series", 0, OPTION_TEXT, "KEY=VALUE,...", "a curve for each value of another key"},
    {"panels", 0, OPTION_FLAG, NULL, "in a picture, a panel for each curve"},
    {"measured", 0, OPTION_TEXTS, "LIST", "measured kernels to set beside a sweep (JSONL)"},
    PICTURE_OPTIONS,
    {"json", 0, OPTION_FLAG, NULL, "JSON in place of words"},
    {"output", 'o', OPTION_TEXT, "FILE", ".json; of a sweep .csv, .svg, .png, .pdf, too"},
};

const struct command command_kernel = {
    .name = "kernel",
    .summary = "what kernels cost on a device, and why",
    .synopsis =
        "--device FILE [KERNEL [KEY=VALUE]... [--sweep KEY=FROM:TO:STEP] | --list FILE]",
    .example = "stepcast kernel --device configs/devices/mi300x.json gemm m=8192 k=8192 "
               "layout=nt dtype=bf16 --sweep n=1024:8192:64 -o width.svg",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 16,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON | 1u << OUTPUT_CSV | 1u << OUTPUT_SVG |
               1u << OUTPUT_PDF | 1u << OUTPUT_PNG,
    .run = run,
};
