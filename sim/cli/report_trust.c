/* How far the prediction can be trusted, and every input with its source. */
#include <string.h>

#include "sim/base/markup.h"
#include "sim/base/units.h"
#include "sim/cli/report.h"

/* In struct run: objects go by the order of its paths. */
enum { DEVICE_OBJECT = 5 };
enum { KINDS_MAX = 64 };

/* Kernels of one kind and dtype, or collectives of one kind, on the chain. */
struct sort_of_work {
    const char *name;  /* "attention_backward" */
    const char *dtype; /* "" of collectives */
    int64_t ps;
    double sigma_ps;
};

static struct sort_of_work
sort_of(const struct step_work *work, struct arena *arena)
{
    if (work->collective)
        return (struct sort_of_work){collective_kind_name(work->collective->kind), "", 0, 0};
    if (!work->kernel)
        return (struct sort_of_work){
            work->parts ? "blocks of kernels" : step_class_label(work->spent_on), "", 0, 0};
    bool is_backward = work->kernel->direction == DIRECTION_BACKWARD;
    return (struct sort_of_work){arena_format(arena, "%s%s",
                                              kernel_kind_name(work->kernel->kind),
                                              is_backward ? "_backward" : ""),
                                 dtype_name(work->kernel->dtype), 0, 0};
}

static int
collect_sorts(const struct report *report, struct sort_of_work *sorts)
{
    const struct explanation *explanation = &report->explanation;
    int count = 0;
    for (int64_t i = 0; i < explanation->operator_count; i++) {
        const struct explain_operator *entry = &explanation->operators[i];
        struct sort_of_work sort = sort_of(entry->work, report->arena);
        int place = 0;
        while (place < count && (strcmp(sorts[place].name, sort.name) != 0 ||
                                 strcmp(sorts[place].dtype, sort.dtype) != 0))
            place++;
        if (place == KINDS_MAX)
            continue;
        if (place == count)
            sorts[count++] = sort;
        sorts[place].ps += entry->ps;
        sorts[place].sigma_ps += entry->work->relative_sigma * (double)entry->ps;
    }
    return count;
}

/* The residual of the device's fit on rows that were held out: "6.0 % (34)"; "" where the file has
 * none. */
static const char *
find_residual(const struct report *report, const struct sort_of_work *sort)
{
    const struct json *device = report->step->run->objects[DEVICE_OBJECT];
    const struct json *list = device ? json_at(device, "calibration.residuals") : NULL;
    for (size_t i = 0; list && i < json_count(list); i++) {
        const struct json *row = json_element(list, i);
        const struct json *kind = json_at(row, "kind"), *dtype = json_at(row, "dtype"),
                          *size = json_at(row, "size"), *part = json_at(row, "part");
        if (!kind || !dtype || !size || !part)
            continue;
        if (strcmp(json_as_string(kind), sort->name) == 0 &&
            strcmp(json_as_string(dtype), sort->dtype) == 0 &&
            strcmp(json_as_string(size), "all") == 0 &&
            strcmp(json_as_string(part), "held-out") == 0)
            return arena_format(report->arena, "%.1f %% (%lld)",
                                100 * json_as_real(json_at(row, "mape_after_fraction")),
                                (long long)json_as_integer(json_at(row, "rows_count")));
    }
    return "";
}

static void
write_sort(const struct report *report, const struct sort_of_work *sort, int64_t longest_ps)
{
    const struct report_bar bar = {(double)sort->ps / (double)longest_ps,
                                   style_colour(STYLE_OTHER)};
    double fraction = (double)sort->ps / (double)report->step->step_ps;
    const char *label = arena_format(report->arena, "%s %s", sort->name, sort->dtype);
    report_label(report, label, bar);
    report_cell(report, units_format_fraction(fraction).text);
    report_cell(report,
                arena_format(report->arena, "± %.1f %%",
                             sort->ps > 0 ? 100 * sort->sigma_ps / (double)sort->ps : 0.0));
    report_cell(report, find_residual(report, sort));
    text_format(report->out, "</tr>\n");
}

/* Most of the chain first. */
static void
sort_by_time(struct sort_of_work *sorts, int count)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && sorts[j].ps > sorts[j - 1].ps; j--) {
            struct sort_of_work moved = sorts[j];
            sorts[j] = sorts[j - 1];
            sorts[j - 1] = moved;
        }
}

void
report_trust(const struct report *report)
{
    static const char *const heads[] = {"on the chain that decides the end", "of the step",
                                        "standard deviation", "error on held-out rows", NULL};
    const struct step *step = report->step;
    const struct device *device = step->run->inputs.cluster->device;
    struct sort_of_work sorts[KINDS_MAX];
    int count = collect_sorts(report, sorts);
    sort_by_time(sorts, count);
    report_begin(
        report, "trust", "How far to trust it",
        arena_format(
            report->arena,
            "In nine of ten cases the step should take %s to %s (± %.1f %%). That comes "
            "from the standard deviations below: errors of one kind of work add up, kinds "
            "are independent. It knows nothing of what the model of a step leaves out, "
            "such as loading data and slow nodes.",
            units_format_s(step->low_s).text, units_format_s(step->high_s).text,
            50 * (step->high_s - step->low_s) / step->step_s));
    report_words(
        report, "p",
        device->is_fitted
            ? arena_format(report->arena,
                           "%s was fitted to measured kernels. The last column is the "
                           "mean error on those that no coefficient was fitted to, and "
                           "how many they were; where it is empty none was measured.",
                           device->name)
            : arena_format(report->arena,
                           "%s is described by its data sheet: nothing of it was fitted "
                           "to measurements.",
                           device->name));
    report_begin_table(report, heads);
    for (int i = 0; i < count; i++)
        write_sort(report, &sorts[i], sorts[0].ps);
    report_end_table(report);
    report_end(report);
}

/* ---- Inputs */

static const char *
value_words(const struct json *value, struct arena *arena)
{
    switch (json_kind(value)) {
    case JSON_KIND_NULL:
        return "null";
    case JSON_KIND_BOOL:
        return json_as_bool(value) ? "true" : "false";
    case JSON_KIND_INTEGER:
        return arena_format(arena, "%lld", (long long)json_as_integer(value));
    case JSON_KIND_REAL:
        return arena_format(arena, "%.6g", json_as_real(value));
    case JSON_KIND_STRING:
        return json_as_string(value);
    case JSON_KIND_ARRAY:
        return arena_format(arena, "%zu values", json_count(value));
    case JSON_KIND_OBJECT:
        break;
    }
    return "";
}

static void
write_input(const struct report *report, const char *path, const struct json *leaf)
{
    const struct json *value = json_at(leaf, "value"), *source = json_at(leaf, "source");
    text_format(report->out, "<tr><td>");
    report_words(report, "code", path);
    if (source && json_kind(source) == JSON_KIND_STRING) {
        text_format(report->out, "<br>");
        report_words(report, "small", json_as_string(source));
    }
    text_format(report->out, "</td><td class=\"words\">");
    markup_write(report->out, value_words(value ? value : leaf, report->arena));
    text_format(report->out, "</td></tr>\n");
}

static bool
is_group(const struct json *value)
{
    return json_kind(value) == JSON_KIND_OBJECT && !json_at(value, "value");
}

/* Values of an object, and of those in it; the record of a calibration is of no price. */
static void
write_members(const struct report *report, const char *path, const struct json *object)
{
    struct arena *arena = report->arena;
    for (size_t i = 0; i < json_count(object); i++) {
        const char *key = json_key(object, i);
        const struct json *value = json_value_at(object, i);
        const char *full = *path ? arena_format(arena, "%s.%s", path, key) : key;
        if (strcmp(full, "calibration") == 0)
            continue;
        if (is_group(value))
            write_members(report, full, value);
        else
            write_input(report, full, value);
    }
}

static void
write_file(const struct report *report, const char *what, const char *path,
           const struct json *object)
{
    static const char *const heads[] = {"", "value", NULL};
    text_format(report->out, "<details><summary>%s <small>", what);
    markup_write(report->out, path);
    text_format(report->out, "</small></summary>\n");
    report_begin_table(report, heads);
    write_members(report, "", object);
    report_end_table(report);
    text_format(report->out, "</details>\n");
}

void
report_inputs(const struct report *report)
{
    static const char *const names[RUN_FILES] = {"run",  "model",    "cluster",
                                                 "plan", "software", "device"};
    const struct run *run = report->step->run;
    report_begin(
        report, "inputs", "Inputs and their sources",
        "Every value that the prediction was made from, as its file has it, with where "
        "the file says that it comes from.");
    for (size_t i = 0; i < run->change_count; i++)
        report_words(
            report, "p",
            arena_format(report->arena, "Changed beside the files: %s", run->changes[i]));
    for (int i = 0; i < RUN_FILES; i++)
        if (run->objects[i])
            write_file(report, names[i], run->paths[i] ? run->paths[i] : "", run->objects[i]);
    report_end(report);
}
