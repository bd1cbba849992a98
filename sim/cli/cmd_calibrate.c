/* stepcast calibrate: fits a device file to measured kernels, or a fabric file to measured
 * collectives, and shows how far off it is. */
#include "sim/cli/command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hw/cluster.h"
#include "sim/base/hash.h"
#include "sim/base/json.h"
#include "sim/base/json_writer.h"
#include "sim/base/path.h"
#include "sim/base/spelling.h"
#include "sim/cli/host_cluster.h"
#include "sim/cli/host_measurement.h"
#include "validate/calibration_file.h"
#include "validate/calibration_report.h"
#include "validate/host_device.h"

extern const struct command command_calibrate;

enum { LIST_BYTES_MAX = 64 * 1024 * 1024 };

/* The lists of the command line, with what the record says of each. */
struct lists {
    struct measured_list rows;
    struct calibration_list *items;
    size_t count;
};

static bool
read_list(const char *path, struct lists *lists, struct arena *arena, struct error_list *errors)
{
    struct text text = text_new(arena);
    size_t rows_before = lists->rows.count;
    if (!text_read_file(&text, path, LIST_BYTES_MAX, errors) ||
        !measured_list_parse(&lists->rows, path, &text, arena, errors))
        return false;
    lists->items[lists->count++] = (struct calibration_list){
        path, lists->rows.count - rows_before, hash_fnv1a_64(text.bytes, text.length)};
    return true;
}

static bool
read_lists(const struct options *options, struct lists *lists, struct arena *arena,
           struct error_list *errors)
{
    size_t count = options_text_count(options, "measured");
    bool is_right = true;
    lists->items = arena_alloc(arena, count, sizeof *lists->items);
    for (size_t i = 0; i < count; i++)
        is_right &= read_list(options_text_at(options, "measured", i), lists, arena, errors);
    return is_right;
}

static struct host_question
host_question_of(const struct options *options)
{
    const double default_budget_s = 60;
    const char *budget = options_text(options, "budget-s");
    return (struct host_question){
        .device_path = options_text(options, "device"),
        .backend = options_text(options, "backend"),
        .library_path = options_text(options, "library-path"),
        .measure_program = options_text(options, "measure"),
        .output_path = options_text(options, "output"),
        .budget_s = *budget ? strtod(budget, NULL) : default_budget_s,
    };
}

/* Measures this machine; the list is then one as any other. */
static bool
measure_host(const struct options *options, const struct json **device, struct lists *lists,
             struct arena *arena, struct error_list *errors)
{
    struct host_measurement measurement;
    struct host_question question = host_question_of(options);
    if (!host_measurement_take(&question, &measurement, arena, errors))
        return false;
    *device = measurement.device;
    lists->items = arena_alloc(arena, 1, sizeof *lists->items);
    return read_list(measurement.list_path, lists, arena, errors);
}

static bool
read_files(const struct options *options, const struct json **device, struct lists *lists,
           struct arena *arena, struct error_list *errors)
{
    *device = json_read_file(arena, options_text(options, "device"), errors);
    return *device && read_lists(options, lists, arena, errors);
}

/* "gemm,attention": one word of --only; NULL when it is a kind, else what was meant. */
static bool
want_kind(const char *word, size_t length, struct calibration_question *question)
{
    for (int i = 0; i < KERNEL_KIND_COUNT; i++) {
        const char *name = kernel_kind_name((enum kernel_kind)i);
        if (strlen(name) == length && strncmp(name, word, length) == 0)
            return question->is_wanted[i] = true;
    }
    return false;
}

static int
fail_kind(const char *word, size_t length, struct arena *arena)
{
    const char *names[KERNEL_KIND_COUNT];
    for (int i = 0; i < KERNEL_KIND_COUNT; i++)
        names[i] = kernel_kind_name((enum kernel_kind)i);
    const char *unknown = arena_format(arena, "%.*s", (int)length, word);
    const char *nearest = spelling_nearest(unknown, names, KERNEL_KIND_COUNT);
    return command_usage("calibrate", "--only: there is no kernel \"%.60s\"%s%s", unknown,
                         nearest ? "; did you mean " : "", nearest ? nearest : "");
}

/* EXIT_DONE when the kinds are understood; all without --only. */
static int
want_kinds(const struct options *options, struct calibration_question *question,
           struct arena *arena)
{
    const char *words = options_text(options, "only");
    for (int i = 0; i < KERNEL_KIND_COUNT; i++)
        question->is_wanted[i] = *words == '\0';
    while (*words != '\0') {
        size_t length = strcspn(words, ",");
        if (!want_kind(words, length, question))
            return fail_kind(words, length, arena);
        words += length + (words[length] == ',');
    }
    return EXIT_DONE;
}

static bool
parse_seed(const char *text, uint64_t *seed)
{
    char *end;
    *seed = SPLIT_SEED_DEFAULT;
    if (*text == '\0')
        return true;
    long long value = strtoll(text, &end, 10);
    *seed = (uint64_t)value;
    return end != text && *end == '\0' && value >= 0 && value <= 1000000000000000;
}

/* "2026-11-21", each month taken to have 31 days. */
static bool
is_date(const char *text)
{
    if (strlen(text) != 10 || text[4] != '-' || text[7] != '-')
        return false;
    for (size_t i = 0; i < 10; i++)
        if (i != 4 && i != 7 && !isdigit((unsigned char)text[i]))
            return false;
    long month = strtol(text + 5, NULL, 10), day = strtol(text + 8, NULL, 10);
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* The library has no clock: today is taken here. */
static const char *
date_of(const char *given, struct arena *arena)
{
    struct tm day;
    time_t now = time(NULL);
    if (*given != '\0')
        return given;
    if (!gmtime_r(&now, &day))
        return "";
    return arena_format(arena, "%04d-%02d-%02d", day.tm_year + 1900, day.tm_mon + 1,
                        day.tm_mday);
}

/* What joins several of the fitted device on this machine. */
static bool
add_cluster(const struct options *options, const struct calibration *calibration,
            const char *date, struct text *report, struct error_list *errors)
{
    struct host_question host = host_question_of(options);
    struct host_cluster_question question = {&host, &calibration->device, date,
                                             calibration->question->seed};
    return host_cluster_take(&question, report, errors);
}

static int
write_answer(const struct options *options, const struct calibration *calibration,
             const struct calibration_record *record, struct arena *arena)
{
    struct error_list errors = {0};
    struct text file = text_new(arena), report = text_new(arena);
    calibration_file_write(calibration, record, &file);
    if (!text_write_file(&file, options_text(options, "output"), &errors))
        return command_report(&errors);
    if (options_flag(options, "json")) {
        struct json_writer writer = json_writer_new(&report, true);
        calibration_report_write(calibration, record, &writer);
        text_format(&report, "\n");
    } else {
        calibration_report_print(calibration, record, &report);
        if (options_flag(options, "host") &&
            !add_cluster(options, calibration, record->date, &report, &errors))
            return command_report(&errors);
    }
    return command_print(&report);
}

static int
answer(const struct options *options, struct calibration_question question,
       const struct lists *lists, const char *date, struct arena *arena)
{
    struct error_list errors = {0};
    question.list = &lists->rows;
    const struct calibration *calibration = calibrate(&question, arena, &errors);
    if (!calibration)
        return command_report(&errors);
    struct calibration_record record = {date, lists->items, lists->count};
    return write_answer(options, calibration, &record, arena);
}

/* The file of the cluster's fabric, which is what is fitted. */
static const struct json *
read_fabric_file(const struct json *cluster, struct arena *arena, struct error_list *errors)
{
    const struct json *fabric = json_member(cluster, "fabric");
    if (json_kind(fabric) == JSON_KIND_STRING)
        return json_read_file(
            arena, path_beside(json_file_name(cluster), json_as_string(fabric), arena), errors);
    (void)json_fail(fabric, errors, "wanted the name of a file: that is fitted");
    return NULL;
}

static int
fit_fabric(const struct options *options, struct calibration_question question,
           const char *date, struct arena *arena)
{
    struct error_list errors = {0};
    struct lists lists = {0};
    const struct json *object =
        json_read_file(arena, options_text(options, "cluster"), &errors);
    question.cluster = object ? cluster_read(object, arena, &errors) : NULL;
    question.file = question.cluster ? read_fabric_file(object, arena, &errors) : NULL;
    if (!question.file || !read_lists(options, &lists, arena, &errors))
        return command_report(&errors);
    return answer(options, question, &lists, date, arena);
}

static int
fit_device(const struct options *options, struct calibration_question question,
           const char *date, struct arena *arena)
{
    struct error_list errors = {0};
    struct lists lists = {0};
    bool is_host = options_flag(options, "host");
    if (!(is_host ? measure_host : read_files)(options, &question.file, &lists, arena, &errors))
        return command_report(&errors);
    question.device = device_read(question.file, arena, &errors);
    if (!question.device)
        return command_report(&errors);
    return answer(options, question, &lists, date, arena);
}

static bool
is_of_gpu(const struct options *options)
{
    const char *backend = options_text(options, "backend");
    return *backend && strcmp(backend, "cpu") != 0;
}

static void
take_kept(const struct options *options, struct calibration_question *question,
          struct arena *arena)
{
    size_t wished = options_text_count(options, "keep");
    size_t own =
        options_flag(options, "host") && !is_of_gpu(options) ? host_device_kept_count : 0;
    const char **kept = arena_alloc(arena, wished + own, sizeof *kept);
    for (size_t i = 0; i < wished; i++)
        kept[i] = options_text_at(options, "keep", i);
    for (size_t i = 0; i < own; i++)
        kept[wished + i] = host_device_kept[i];
    question->kept_count = wished + own;
    question->kept = kept;
}

static bool
is_budget(const char *text)
{
    const double least_s = 1, most_s = 86400;
    char *end;
    double seconds = strtod(text, &end);
    return *text == '\0' || (*end == '\0' && seconds >= least_s && seconds <= most_s);
}

/* EXIT_DONE when it is said where times come from, and only once. */
static int
check_source(const struct options *options)
{
    size_t lists = options_text_count(options, "measured");
    if (options_flag(options, "host")) {
        if (*options_text(options, "cluster"))
            return command_usage("calibrate", "--host measures kernels: no --cluster");
        const char *backend = options_text(options, "backend");
        if (is_of_gpu(options) && strcmp(backend, "cuda") != 0 && strcmp(backend, "hip") != 0)
            return command_usage("calibrate", "--backend %.60s: wanted cpu, cuda or hip",
                                 backend);
        if (lists > 0)
            return command_usage("calibrate",
                                 "--host measures, --measured brings times: not both");
        if (!is_budget(options_text(options, "budget-s")))
            return command_usage("calibrate", "--budget-s %s: wanted seconds, 1 to 86400",
                                 options_text(options, "budget-s"));
        return EXIT_DONE;
    }
    if (*options_text(options, "budget-s") || *options_text(options, "measure") ||
        *options_text(options, "backend") || *options_text(options, "library-path"))
        return command_usage("calibrate", "--backend, --library-path, --budget-s and --measure "
                                          "are of --host");
    bool has_device = *options_text(options, "device") != '\0';
    bool has_cluster = *options_text(options, "cluster") != '\0';
    if (!has_device && !has_cluster)
        return command_usage("calibrate", "--device is missing: the file to begin with");
    if (has_cluster && (has_device || *options_text(options, "only")))
        return command_usage("calibrate", "--cluster fits a fabric to collectives: neither "
                                          "--device nor --only can stand beside it");
    if (lists == 0)
        return command_usage("calibrate", "--measured is missing: what to fit to");
    return EXIT_DONE;
}

static int
run(const struct options *options, struct arena *arena)
{
    struct calibration_question question = {0};
    const char *date = date_of(options_text(options, "date"), arena);
    int code = check_source(options);
    if (code != EXIT_DONE)
        return code;
    const char *output = options_text(options, "output");
    if (*output == '\0' || strcmp(output, "-") == 0)
        return command_usage("calibrate", "wanted -o FILE: where the fitted file goes");
    if (!parse_seed(options_text(options, "seed"), &question.seed))
        return command_usage("calibrate", "--seed %s: wanted a whole number from 0 to 1e15",
                             options_text(options, "seed"));
    if (!is_date(date))
        return command_usage("calibrate", "--date %s: wanted a day as 2026-11-21", date);
    take_kept(options, &question, arena);
    code = want_kinds(options, &question, arena);
    if (code != EXIT_DONE)
        return code;
    return *options_text(options, "cluster") ? fit_fabric(options, question, date, arena)
                                             : fit_device(options, question, date, arena);
}

static const struct option_spec option_specs[] = {
    {"device", 0, OPTION_TEXT, "FILE", "the device file to begin with"},
    {"cluster", 0, OPTION_TEXT, "FILE", "or the cluster whose fabric to begin with"},
    {"measured", 0, OPTION_TEXTS, "LIST",
     "measured kernels (JSONL); or collectives (JSONL, or a log of rccl-tests)"},
    {"host", 0, OPTION_FLAG, NULL, "measure this machine now and fit one of its cores or GPUs"},
    {"backend", 0, OPTION_TEXT, "NAME", "with --host: cpu (a core, the default), cuda or hip"},
    {"library-path", 0, OPTION_TEXT, "D:D", "with --host: folders of GPU libraries"},
    {"budget-s", 0, OPTION_TEXT, "S", "with --host: seconds to measure for, default 60"},
    {"measure", 0, OPTION_TEXT, "PROGRAM", "with --host: default the measure beside stepcast"},
    {"only", 0, OPTION_TEXT, "KIND[,KIND]...", "fit these kinds of kernels, else all"},
    {"keep", 0, OPTION_TEXTS, "PATH", "leave this coefficient as it is"},
    {"seed", 0, OPTION_TEXT, "N", "of the split into fit and held-out shapes, default 1"},
    {"date", 0, OPTION_TEXT, "YYYY-MM-DD", "for the record, default today"},
    {"json", 0, OPTION_FLAG, NULL, "what was fitted as JSON"},
    {"output", 'o', OPTION_TEXT, "FILE", "where the fitted file goes"},
};

const struct command command_calibrate = {
    .name = "calibrate",
    .summary = "fit a device or a fabric to measured times",
    .synopsis = "((--device FILE | --cluster FILE) --measured LIST... | --host) -o FILE",
    .example = "stepcast calibrate --device configs/devices/h200.json "
               "--measured validate/reference/h200/kernels.jsonl -o build/h200.json",
    .options = option_specs,
    .option_count = sizeof option_specs / sizeof option_specs[0],
    .word_minimum = 0,
    .word_maximum = 0,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON,
    .run = run,
};
