/* stepcast kernel: what kernels cost on a device, one given as a word or a list line by line. */
#include <string.h>

#include "hw/kernel_cost.h"
#include "sim/base/json_writer.h"
#include "sim/base/units.h"
#include "sim/cli/command.h"
#include "sim/cli/price_list.h"

extern const struct command command_kernel;

/* The keys that an answer adds to its question. */
static void
write_cost(struct json_writer *writer, const struct kernel_cost *cost)
{
    json_write_real_at(writer, "predicted_s", cost->seconds_s);
    json_write_real_at(writer, "sigma", cost->relative_sigma);
    json_write_string_at(writer, "bound", kernel_bound_name(cost->bound));
    json_write_real_at(writer, "flop", cost->flop);
    json_write_real_at(writer, "hbm_bytes", cost->hbm_bytes);
    json_write_integer_at(writer, "tiles", cost->tiles);
    json_write_integer_at(writer, "waves", cost->waves);
    json_write_real_at(writer, "compute_fraction", cost->compute_fraction);
    json_write_real_at(writer, "hbm_fraction", cost->hbm_fraction);
}

/* Faults of the cost model know no place: they get the question's. */
static bool
price(const struct device *device, const struct json *question, struct arena *arena,
      struct kernel_cost *cost, struct error_list *errors)
{
    struct kernel kernel;
    struct error_list faults = {0};
    if (!kernel_read(question, &kernel, arena, errors))
        return false;
    if (!kernel_cost(device, &kernel, cost, &faults))
        return error_add(errors, faults.items[0].kind, json_where(question), "%s",
                         faults.items[0].what);
    return true;
}

static bool
price_question(const void *context, const struct json *question, struct arena *arena,
               struct json_writer *answer, struct error_list *errors)
{
    struct kernel_cost cost;
    if (!price(context, question, arena, &cost, errors))
        return false;
    write_cost(answer, &cost);
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

static void
write_answer(struct text *text, const struct json *question, const struct kernel_cost *cost)
{
    struct json_writer writer = json_writer_new(text, false);
    json_write_begin_object(&writer);
    for (size_t i = 0; i < json_count(question); i++) {
        json_write_key(&writer, json_key(question, i));
        json_write_value(&writer, json_value_at(question, i));
    }
    write_cost(&writer, cost);
    json_write_end_object(&writer);
    text_append(text, "\n", 1);
}

static int
price_word(const struct options *options, const struct device *device, struct arena *arena)
{
    struct error_list errors = {0};
    const char *word = options_word(options, 0);
    struct kernel_cost cost;
    const struct json *question =
        json_read_text(arena, "kernel", 1, word, strlen(word), &errors);
    if (!question || !price(device, question, arena, &cost, &errors))
        return command_report(&errors);
    struct text text = text_new(arena);
    if (command_format(options) == OUTPUT_JSON)
        write_answer(&text, question, &cost);
    else
        write_reading(&text, device, &cost);
    return command_output(options, &text);
}

static int
run(const struct options *options, struct arena *arena)
{
    const char *list_path = options_text(options, "list");
    bool has_word = options_word_count(options) > 0;
    if (!*options_text(options, "device"))
        return command_usage(command_kernel.name, "--device is missing");
    if (has_word == (*list_path != '\0'))
        return command_usage(command_kernel.name, "wanted either a kernel or --list FILE");
    struct error_list errors = {0};
    const struct json *object = json_read_file(arena, options_text(options, "device"), &errors);
    const struct device *device = object ? device_read(object, arena, &errors) : NULL;
    if (!device)
        return command_report(&errors);
    if (has_word)
        return price_word(options, device, arena);
    struct price_list list = {
        .path = list_path,
        .output_path = options_text(options, "output"),
        .keeps_going = options_flag(options, "keep-going"),
        .price = price_question,
        .context = device,
    };
    return price_list_run(&list);
}

static const struct option_spec OPTIONS[] = {
    {"device", 0, OPTION_TEXT, "FILE", "the device that runs them"},
    {"list", 0, OPTION_TEXT, "FILE", "one kernel a line, JSON; - is standard input"},
    {"keep-going", 0, OPTION_FLAG, NULL, "past a line that cannot be answered"},
    {"json", 0, OPTION_FLAG, NULL, "JSON in place of words"},
    {"output", 'o', OPTION_TEXT, "FILE", "where the answer goes; .json for JSON"},
};

const struct command command_kernel = {
    .name = "kernel",
    .summary = "what kernels cost on a device, and why",
    .synopsis = "--device FILE [KERNEL | --list FILE]",
    .example = "stepcast kernel --device configs/devices/mi300x.json "
               "'{\"kernel\": \"gemm\", \"m\": 8192, \"n\": 8192, \"k\": 8192, "
               "\"layout\": \"nt\", \"dtype\": \"bf16\"}'",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON,
    .run = run,
};
