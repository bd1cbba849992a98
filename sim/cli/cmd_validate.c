/* stepcast validate: predictions against measured times, as error tables that must keep limits.
 */
#include "sim/cli/validate_overlap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/cluster.h"
#include "hw/device.h"
#include "sim/base/json.h"
#include "sim/base/json_writer.h"
#include "sim/cli/measured_steps.h"
#include "sim/cli/picture.h"
#include "validate/baseline.h"
#include "validate/junit.h"
#include "validate/measured_list.h"

extern const struct command command_validate;

static const struct device *
read_device(const char *path, struct arena *arena, struct error_list *errors)
{
    const struct json *object = json_read_file(arena, path, errors);
    return object != NULL ? device_read(object, arena, errors) : NULL;
}

static const struct cluster *
read_cluster(const char *path, struct arena *arena, struct error_list *errors)
{
    const struct json *object = json_read_file(arena, path, errors);
    struct cluster *cluster = object != NULL ? cluster_read(object, arena, errors) : NULL;
    if (cluster == NULL)
        return NULL;
    cluster->device = read_device(cluster->device_path, arena, errors);
    return cluster->device != NULL ? cluster : NULL;
}

static bool
read_basis(const struct suite_table *asked, struct comparison_basis *basis, struct arena *arena,
           struct error_list *errors)
{
    *basis = (struct comparison_basis){
        .small_s = asked->small_s, .large_s = asked->large_s, .seed = (uint64_t)asked->seed};
    if (*asked->cluster != '\0') {
        basis->cluster = read_cluster(asked->cluster, arena, errors);
        if (basis->cluster == NULL)
            return false;
        basis->device = basis->cluster->device;
    }
    if (*asked->device != '\0') {
        basis->device = read_device(asked->device, arena, errors);
        if (basis->device == NULL)
            return false;
    }
    return true;
}

static bool
compare_prices(struct validate_outcome *outcome, struct arena *arena, struct error_list *errors)
{
    const struct suite_table *asked = outcome->asked;
    const struct comparison_basis *basis = &outcome->basis;
    struct measured_list list = {0}, again = {0};
    if (!read_basis(asked, &outcome->basis, arena, errors) ||
        !measured_list_read_all(&list, asked->lists, asked->list_count, arena, errors) ||
        !measured_list_read_all(&again, asked->again, asked->again_count, arena, errors))
        return false;
    if (asked->forgets_clocks)
        measured_list_forget_clocks(&list, basis->device);
    if (asked->again_count > 0)
        return comparison_add_again(&outcome->comparison, &list, &again, basis, arena, errors);
    return comparison_add(&outcome->comparison, &list, basis, arena, errors) &&
           validate_add_overlaps(outcome, arena, errors);
}

static bool
compare_steps(struct validate_outcome *outcome, struct arena *arena, struct error_list *errors)
{
    const struct suite_table *asked = outcome->asked;
    for (size_t i = 0; i < asked->list_count; i++)
        if (!measured_steps_add(&outcome->comparison, asked->lists[i], arena, errors))
            return false;
    return true;
}

static bool
compare_host(struct validate_outcome *outcome, struct arena *arena, struct error_list *errors)
{
    if (!host_steps_take(outcome->host, &outcome->steps, arena, errors))
        return false;
    host_steps_compare(&outcome->steps, &outcome->comparison, arena);
    return true;
}

static bool
make_table(struct validate_outcome *outcome, struct arena *arena, struct error_list *errors)
{
    const struct suite_table *asked = outcome->asked;
    struct comparison *comparison = &outcome->comparison;
    bool (*compare)(struct validate_outcome *, struct arena *, struct error_list *) =
        asked->holds_steps ? compare_steps : compare_prices;
    if (!(outcome->host ? compare_host : compare)(outcome, arena, errors))
        return false;
    outcome->table = error_table_new(comparison->samples, comparison->count, arena);
    return tolerance_check(&asked->tolerances, &outcome->table, &outcome->verdicts, arena,
                           errors);
}

static void
print_outcome(const struct validate_outcome *outcome, struct arena *arena, struct text *out)
{
    const char *heading = arena_format(
        arena, "%s (fit and held-out: as a row says, else by its shape and seed %lld)",
        validate_title(outcome->asked), (long long)outcome->asked->seed);
    if (outcome->host)
        host_steps_print(&outcome->steps, out);
    error_table_print(&outcome->table, heading, out);
    tolerance_print(&outcome->verdicts, out);
}

static void
print_outcomes(const struct validate_outcome *outcomes, size_t count, struct arena *arena,
               struct text *out)
{
    for (size_t i = 0; i < count; i++) {
        text_format(out, "%s", i > 0 ? "\n" : "");
        print_outcome(&outcomes[i], arena, out);
    }
}

static void
print_summaries(const struct validate_outcome *outcomes, size_t count, struct text *out)
{
    for (size_t i = 0; i < count; i++) {
        if (outcomes[i].host)
            host_steps_print(&outcomes[i].steps, out);
        error_table_print_summary(&outcomes[i].table, outcomes[i].asked->title, out);
        (void)tolerance_print_broken(&outcomes[i].verdicts, out);
    }
}

static bool
all_limits_hold(const struct validate_outcome *outcome)
{
    return outcome->verdicts.all_hold && (!outcome->host || outcome->steps.keeps_order);
}

static void
write_outcome(const struct validate_outcome *outcome, struct json_writer *writer)
{
    const struct suite_table *asked = outcome->asked;
    json_write_begin_object(writer);
    json_write_string_at(writer, "title", asked->title);
    json_write_string_at(writer, "device", asked->device);
    json_write_string_at(writer, "cluster", asked->cluster);
    json_write_key(writer, "measured");
    json_write_begin_array(writer);
    for (size_t i = 0; i < asked->list_count; i++)
        json_write_string(writer, asked->lists[i]);
    for (size_t i = 0; i < asked->overlap_count; i++)
        json_write_string(writer, asked->overlaps[i]);
    json_write_end_array(writer);
    json_write_integer_at(writer, "seed", asked->seed);
    json_write_key(writer, "rows");
    error_table_write(&outcome->table, writer);
    json_write_key(writer, "limits");
    tolerance_write(&outcome->verdicts, writer);
    json_write_bool_at(writer, "all_limits_hold", all_limits_hold(outcome));
    if (outcome->host) {
        json_write_key(writer, "steps");
        host_steps_write(&outcome->steps, writer);
    }
    json_write_end_object(writer);
}

/* Of --against; no path without it. */
struct against {
    const char *path;
    struct baseline_growths growths;
};

static void
write_outcomes(const struct validate_outcome *outcomes, size_t count,
               const struct against *against, struct text *out)
{
    struct json_writer writer = json_writer_new(out, true);
    json_write_begin_object(&writer);
    json_write_key(&writer, "tables");
    json_write_begin_array(&writer);
    for (size_t i = 0; i < count; i++)
        write_outcome(&outcomes[i], &writer);
    json_write_end_array(&writer);
    if (*against->path) {
        json_write_string_at(&writer, "against", against->path);
        json_write_key(&writer, "grown");
        baseline_write(&against->growths, &writer);
    }
    json_write_end_object(&writer);
    text_format(out, "\n");
}

static void
write_junit(const struct validate_outcome *outcomes, size_t count, struct text *out)
{
    struct junit_suite *suites = arena_alloc(out->arena, count, sizeof *suites);
    for (size_t i = 0; i < count; i++)
        suites[i] = (struct junit_suite){validate_title(outcomes[i].asked), &outcomes[i].table,
                                         &outcomes[i].verdicts};
    junit_write(suites, count, out);
}

/* The answer in the format that was asked for. */
static int
write_answer(const struct options *options, const struct validate_outcome *outcomes,
             size_t count, const struct against *against, struct arena *arena)
{
    enum output_format format = command_format(options);
    struct text out = text_new(arena), growths = text_new(arena);
    if (*against->path)
        baseline_print(&against->growths, against->path, &growths);
    if (format != OUTPUT_TEXT && format != OUTPUT_JSON && *against->path)
        fprintf(stderr, "%s", growths.bytes);
    if (command_draws(format)) {
        int code = validate_draw(options, outcomes, count, arena);
        if (code != EXIT_DONE || !command_wants_json(options))
            return code;
    }
    if (command_wants_json(options))
        write_outcomes(outcomes, count, against, &out);
    else if (format == OUTPUT_XML)
        write_junit(outcomes, count, &out);
    else if (options_flag(options, "summary"))
        print_summaries(outcomes, count, &out);
    else
        print_outcomes(outcomes, count, arena, &out);
    if (format == OUTPUT_TEXT && *against->path)
        text_format(&out, "%s", growths.bytes);
    return command_output(options, &out);
}

/* --junit FILE, beside whatever else is written. */
static int
write_junit_beside(const struct options *options, const struct validate_outcome *outcomes,
                   size_t count, struct arena *arena)
{
    struct error_list errors = {0};
    struct text xml = text_new(arena);
    const char *path = options_text(options, "junit");
    if (*path == '\0')
        return EXIT_DONE;
    write_junit(outcomes, count, &xml);
    return text_write_file(&xml, path, &errors) ? EXIT_DONE : command_report(&errors);
}

static bool
parse_growth(const char *text, double *allowed_fraction)
{
    const double shown_fraction = 5e-5; /* half of the last digit that is printed */
    char *end;
    *allowed_fraction = *text ? strtod(text, &end) / 100 : shown_fraction;
    return *text == '\0' || (end != text && strcmp(end, "%") == 0 && *allowed_fraction >= 0 &&
                             *allowed_fraction <= 1);
}

/* What has grown since --against's answer was saved; EXIT_DONE when that is known. */
static int
compare_with_baseline(const struct options *options, const struct validate_outcome *outcomes,
                      size_t count, struct against *against, struct arena *arena)
{
    struct error_list errors = {0};
    struct baseline *baseline = arena_alloc(arena, 1, sizeof *baseline);
    double allowed_fraction = 0;
    (void)parse_growth(options_text(options, "growth"), &allowed_fraction);
    against->path = options_text(options, "against");
    if (*against->path == '\0')
        return EXIT_DONE;
    const struct json *object = json_read_file(arena, against->path, &errors);
    bool is_read = object && baseline_read(baseline, object, arena, &errors);
    for (size_t i = 0; is_read && i < count; i++)
        baseline_compare(baseline, outcomes[i].asked->title, &outcomes[i].table,
                         allowed_fraction, &against->growths, arena);
    if (is_read && against->growths.compared_count > 0)
        return EXIT_DONE;
    if (is_read)
        error_add(&errors, ERROR_INPUT, against->path, "no table of it was made now");
    return command_report(&errors);
}

static int
answer(const struct options *options, const struct suite *suite,
       const struct host_steps_question *host, struct arena *arena)
{
    struct error_list errors = {0};
    struct against against = {.path = ""};
    struct validate_outcome *outcomes = arena_alloc(arena, suite->count, sizeof *outcomes);
    bool all_hold = true;
    for (size_t i = 0; i < suite->count; i++) {
        outcomes[i].asked = &suite->tables[i];
        outcomes[i].host = host;
        if (!make_table(&outcomes[i], arena, &errors))
            return command_report(&errors);
        all_hold = all_hold && all_limits_hold(&outcomes[i]);
    }
    int status = compare_with_baseline(options, outcomes, suite->count, &against, arena);
    if (status != EXIT_DONE)
        return status;
    all_hold = all_hold && against.growths.count == 0;
    status = write_answer(options, outcomes, suite->count, &against, arena);
    if (status == EXIT_DONE)
        status = write_junit_beside(options, outcomes, suite->count, arena);
    return status == EXIT_DONE && !all_hold ? EXIT_CHECK_FAILED : status;
}

/* "10e-6,100e-6": the edges of the size classes, in seconds. */
static bool
parse_edges(const char *text, struct suite_table *table)
{
    char *comma, *end;
    if (*text == '\0')
        return true;
    table->small_s = strtod(text, &comma);
    if (comma == text || *comma != ',')
        return false;
    table->large_s = strtod(comma + 1, &end);
    return end != comma + 1 && *end == '\0' && table->small_s >= 0 &&
           table->large_s >= table->small_s;
}

static bool
parse_seed(const char *text, struct suite_table *table)
{
    char *end;
    if (*text == '\0')
        return true;
    table->seed = strtoll(text, &end, 10);
    return end != text && *end == '\0' && table->seed >= 0;
}

static int
run_suite(const struct options *options, struct arena *arena)
{
    struct error_list errors = {0};
    struct suite suite = {0};
    const struct json *object = json_read_file(arena, options_text(options, "suite"), &errors);
    if (object == NULL || !suite_read(&suite, object, arena, &errors))
        return command_report(&errors);
    return answer(options, &suite, NULL, arena);
}

/* The lists, as the table of the command line wants them. */
static void
take_lists(const struct options *options, struct suite_table *table, struct arena *arena)
{
    table->list_count = options_text_count(options, "measured");
    const char **lists = arena_alloc(arena, table->list_count, sizeof *lists);
    for (size_t i = 0; i < table->list_count; i++)
        lists[i] = options_text_at(options, "measured", i);
    table->lists = lists;
}

static int
run_table(const struct options *options, const struct host_steps_question *host,
          struct arena *arena)
{
    struct error_list errors = {0};
    struct suite_table table = suite_table_new();
    take_lists(options, &table, arena);
    table.device = options_text(options, "device");
    table.cluster = options_text(options, "cluster");
    if (table.list_count == 0 && !host)
        return command_usage("validate", "no measured list: give --measured LIST, --suite FILE "
                                         "or --host");
    if (table.list_count > 0 && host)
        return command_usage("validate", "--host measures, --measured brings times: not both");
    if (*table.device == '\0' && *table.cluster == '\0')
        return command_usage("validate", "nothing to price by: give --device or --cluster");
    if (!parse_edges(options_text(options, "edges"), &table))
        return command_usage("validate",
                             "--edges %s: wanted two times in seconds, 10e-6,100e-6",
                             options_text(options, "edges"));
    if (!parse_seed(options_text(options, "seed"), &table))
        return command_usage("validate", "--seed %s: wanted a whole number from 0",
                             options_text(options, "seed"));
    for (size_t i = 0; i < options_text_count(options, "tolerance"); i++)
        tolerance_parse(&table.tolerances, options_text_at(options, "tolerance", i), arena,
                        &errors);
    if (errors.count > 0)
        return command_usage("validate", "%s: %s", errors.items[0].where, errors.items[0].what);
    if (host)
        table.title = "steps on this machine";
    return answer(options, &(struct suite){.tables = &table, .count = 1}, host, arena);
}

static bool
parse_real(const char *text, double least, double most, double *value)
{
    char *end;
    if (*text == '\0')
        return true;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= least && *value <= most;
}

static int
run_host(const struct options *options, struct arena *arena)
{
    struct host_steps_question host = {.list_path = options_text(options, "steps"),
                                       .cluster_path = options_text(options, "cluster"),
                                       .device_path = options_text(options, "device"),
                                       .measure_program = options_text(options, "measure"),
                                       .backend = options_text(options, "backend"),
                                       .library_path = options_text(options, "library-path"),
                                       .budget_s = 2,
                                       .order_least = -1};
    bool is_gpu = strcmp(host.backend, "cuda") == 0 || strcmp(host.backend, "hip") == 0;
    if (*host.backend && strcmp(host.backend, "cpu") != 0 && !is_gpu)
        return command_usage("validate", "--backend %s: wanted cpu, cuda or hip", host.backend);
    if (*host.list_path == '\0')
        host.list_path = is_gpu ? "validate/gpu_steps.jsonl" : "validate/host_steps.jsonl";
    if (!parse_real(options_text(options, "budget-s"), 0.01, 1e4, &host.budget_s))
        return command_usage("validate", "--budget-s %s: wanted seconds, 0.01 to 10000",
                             options_text(options, "budget-s"));
    if (!parse_real(options_text(options, "order"), -1, 1, &host.order_least))
        return command_usage("validate", "--order %s: wanted Kendall's tau, -1 to 1",
                             options_text(options, "order"));
    return run_table(options, &host, arena);
}

static int
run(const struct options *options, struct arena *arena)
{
    double allowed_fraction;
    if (!parse_growth(options_text(options, "growth"), &allowed_fraction))
        return command_usage("validate", "--growth %s: wanted points of error, such as 0.5%%",
                             options_text(options, "growth"));
    if ((*options_text(options, "backend") || *options_text(options, "library-path")) &&
        !options_flag(options, "host"))
        return command_usage("validate", "--backend and --library-path are of --host");
    if (*options_text(options, "growth") && *options_text(options, "against") == '\0')
        return command_usage("validate", "--growth is of --against");
    if (*options_text(options, "suite") == '\0')
        return options_flag(options, "host") ? run_host(options, arena)
                                             : run_table(options, NULL, arena);
    const char *const apart[] = {"measured", "device", "cluster", "edges",
                                 "seed",     "steps",  "measure", "tolerance"};
    for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++)
        if (options_text_count(options, apart[i]) > 0)
            return command_usage("validate", "--suite says it all: --%s cannot stand beside it",
                                 apart[i]);
    return run_suite(options, arena);
}

static const struct option_spec option_specs[] = {
    {"device", 0, OPTION_TEXT, "FILE", "the device that prices kernels"},
    {"cluster", 0, OPTION_TEXT, "FILE", "the cluster that prices collectives"},
    {"measured", 0, OPTION_TEXTS, "LIST", "measured kernels or collectives (JSONL)"},
    {"suite", 0, OPTION_TEXT, "FILE", "tables and limits from a file instead"},
    {"host", 0, OPTION_FLAG, NULL, "run training steps on this machine now, and predict them"},
    {"steps", 0, OPTION_TEXT, "LIST", "with --host: which, default validate/host_steps.jsonl"},
    {"backend", 0, OPTION_TEXT, "NAME", "with --host: cpu, or cuda or hip for a GPU's steps"},
    {"library-path", 0, OPTION_TEXT, "DIRS", "with --host: where GPU libraries lie besides"},
    {"budget-s", 0, OPTION_TEXT, "S",
     "with --host: seconds for each step's repeats, default 2"},
    {"order", 0, OPTION_TEXT, "TAU", "with --host: least rank correlation of the steps' times"},
    {"measure", 0, OPTION_TEXT, "PROGRAM", "with --host: default the measure beside stepcast"},
    {"tolerance", 0, OPTION_TEXTS, "KIND[/DTYPE[/SIZE]]=LIMIT",
     "most that a held-out MAPE may be"},
    {"edges", 0, OPTION_TEXT, "S,S", "size classes, default 10e-6,100e-6"},
    {"seed", 0, OPTION_TEXT, "N", "of the split into fit and held-out shapes, default 1"},
    {"against", 0, OPTION_TEXT, "FILE", "a saved --json answer: fail where an error has grown"},
    {"growth", 0, OPTION_TEXT, "P%", "with --against: points that it may grow, default none"},
    {"summary", 0, OPTION_FLAG, NULL, "held-out rows over all sizes only"},
    {"junit", 0, OPTION_TEXT, "FILE", "write JUnit XML there as well, a case a group"},
    PICTURE_OPTIONS,
    {"json", 0, OPTION_FLAG, NULL, "the tables as JSON"},
    {"output", 'o', OPTION_TEXT, "FILE", "there instead; .json .xml (JUnit) .svg .png .pdf"},
};

const struct command command_validate = {
    .name = "validate",
    .summary = "hold predictions against measured times",
    .synopsis =
        "--device FILE --measured LIST... | --cluster FILE --measured LIST... | --suite FILE | "
        "--host --device FILE",
    .example = "stepcast validate --device configs/devices/h200.json "
               "--measured validate/reference/h200/kernels.jsonl --tolerance gemm=8%",
    .options = option_specs,
    .option_count = sizeof option_specs / sizeof option_specs[0],
    .word_minimum = 0,
    .word_maximum = 0,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON | 1u << OUTPUT_XML | 1u << OUTPUT_SVG |
               1u << OUTPUT_PDF | 1u << OUTPUT_PNG,
    .run = run,
};
