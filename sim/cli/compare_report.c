/* Steps side by side: as a table, as CSV and as JSON. */
#include <math.h>
#include <string.h>

#include "sim/base/json_writer.h"
#include "sim/base/units.h"
#include "sim/cli/compare.h"
#include "sim/cli/version.h"

enum { LABEL_WIDTH = 36, COLUMN_LEAST = 11 };

int64_t
comparison_difference_ps(const struct comparison *comparison, size_t item,
                         enum step_class spent_on)
{
    return comparison->items[item].step->class_ps[spent_on] -
           comparison->items[0].step->class_ps[spent_on];
}

static int
column_width(const struct comparison *comparison, size_t item)
{
    size_t length = strlen(comparison->items[item].name);
    return length > COLUMN_LEAST ? (int)length : COLUMN_LEAST;
}

static bool
runs(const struct comparison *comparison, size_t item)
{
    return !comparison->items[item].reason;
}

/* One line: a text for each step. */
static void
print_line(const struct comparison *comparison, struct text *out, const char *label,
           struct units_text (*value)(const struct step *step))
{
    text_format(out, "%-*s", LABEL_WIDTH, label);
    for (size_t i = 0; i < comparison->count; i++)
        text_format(out, " %*s", column_width(comparison, i),
                    runs(comparison, i) ? value(comparison->items[i].step).text : "-");
    text_format(out, "\n");
}

static struct units_text
step_text(const struct step *step)
{
    return units_format_s(step->step_s);
}

static struct units_text
half_text(const struct step *step)
{
    return units_format_s((step->high_s - step->low_s) / 2);
}

static struct units_text
rate_text(const struct step *step)
{
    return units_format_count(step->tokens_per_s_per_gpu);
}

static struct units_text
mfu_text(const struct step *step)
{
    return units_format_fraction(step->mfu);
}

static struct units_text
memory_text(const struct step *step)
{
    return units_format_bytes(step->memory.peak);
}

static struct units_text
network_text(const struct step *step)
{
    return units_format_s(units_s_from_ps(step_group_ps(step, GROUP_NETWORK)));
}

static struct units_text
bubble_text(const struct step *step)
{
    return units_format_s(units_s_from_ps(step_group_ps(step, GROUP_BUBBLE)));
}

/* Of a class, or with STEP_CLASS_COUNT of the whole step. */
static void
print_difference(const struct comparison *comparison, size_t item, enum step_class spent_on,
                 struct text *out)
{
    int width = column_width(comparison, item);
    if (!runs(comparison, item)) {
        text_format(out, " %*s", width, "-");
        return;
    }
    int64_t ps =
        spent_on == STEP_CLASS_COUNT
            ? comparison->items[item].step->step_ps - comparison->items[0].step->step_ps
            : comparison_difference_ps(comparison, item, spent_on);
    const char *sign = ps < 0 ? "-" : ps > 0 ? "+" : "";
    struct text cell = text_new(out->arena);
    text_format(&cell, "%s%s", sign, units_format_s(fabs(units_s_from_ps(ps))).text);
    text_format(out, " %*s", width, cell.bytes);
}

static bool
differs(const struct comparison *comparison, enum step_class spent_on)
{
    for (size_t i = 1; i < comparison->count; i++)
        if (runs(comparison, i) && comparison_difference_ps(comparison, i, spent_on) != 0)
            return true;
    return false;
}

/* Terms that differ anywhere, then their sum. */
static void
print_differences(const struct comparison *comparison, struct text *out)
{
    text_format(out, "\nlonger or shorter than %s\n", comparison->items[0].name);
    for (int class = 0; class < STEP_CLASS_COUNT; class ++) {
        enum step_class spent_on = (enum step_class) class;
        if (!differs(comparison, spent_on))
            continue;
        text_format(out, "  %-*s %*s", LABEL_WIDTH - 2, step_class_label(spent_on),
                    column_width(comparison, 0), "");
        for (size_t i = 1; i < comparison->count; i++)
            print_difference(comparison, i, spent_on, out);
        text_format(out, "\n");
    }
    text_format(out, "  %-*s %*s", LABEL_WIDTH - 2, "the whole step",
                column_width(comparison, 0), "");
    for (size_t i = 1; i < comparison->count; i++)
        print_difference(comparison, i, STEP_CLASS_COUNT, out);
    text_format(out, "\n");
}

static void
print_reasons(const struct comparison *comparison, struct text *out)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (!runs(comparison, i))
            text_format(out, "\n%s cannot be run: %s\n", comparison->items[i].name,
                        comparison->items[i].reason);
}

void
comparison_print(const struct comparison *comparison, struct text *out)
{
    text_format(out, "%-*s", LABEL_WIDTH, "");
    for (size_t i = 0; i < comparison->count; i++)
        text_format(out, " %*s", column_width(comparison, i), comparison->items[i].name);
    text_format(out, "\n");
    print_line(comparison, out, "step", step_text);
    print_line(comparison, out, "+-, 90 %", half_text);
    print_line(comparison, out, "tokens a second and GPU", rate_text);
    print_line(comparison, out, "model FLOP/s, of the peak", mfu_text);
    print_line(comparison, out, "memory of a GPU", memory_text);
    print_line(comparison, out, "waiting for the network", network_text);
    print_line(comparison, out, "waiting for other ranks", bubble_text);
    if (comparison->count > 1)
        print_differences(comparison, out);
    print_reasons(comparison, out);
}

/* Empty of one that cannot be run. */
static void
print_csv_cell(const struct comparison *comparison, size_t item, enum step_class spent_on,
               struct text *out)
{
    text_format(out, ",");
    if (runs(comparison, item))
        text_format(out, "%.12f",
                    units_s_from_ps(comparison->items[item].step->class_ps[spent_on]));
}

void
comparison_write_csv(const struct comparison *comparison, struct text *out)
{
    text_format(out, "class");
    for (size_t i = 0; i < comparison->count; i++)
        text_format(out, ",%s_s", comparison->items[i].name);
    text_format(out, "\n");
    for (int class = 0; class < STEP_CLASS_COUNT; class ++) {
        text_format(out, "%s", step_class_key((enum step_class) class));
        for (size_t i = 0; i < comparison->count; i++)
            print_csv_cell(comparison, i, (enum step_class) class, out);
        text_format(out, "\n");
    }
}

static void
write_classes(struct json_writer *writer, const struct comparison *comparison, size_t item,
              bool is_difference)
{
    json_write_begin_object(writer);
    for (int class = 0; class < STEP_CLASS_COUNT; class ++) {
        enum step_class spent_on = (enum step_class) class;
        int64_t ps = is_difference ? comparison_difference_ps(comparison, item, spent_on)
                                   : comparison->items[item].step->class_ps[class];
        struct text key = text_new(writer->out->arena);
        text_format(&key, "%s_s", step_class_key(spent_on));
        json_write_real_at(writer, key.bytes,
                           ps < 0 ? -units_s_from_ps(-ps) : units_s_from_ps(ps));
    }
    json_write_end_object(writer);
}

static void
write_step(struct json_writer *writer, const struct comparison *comparison, size_t item)
{
    const struct step *step = comparison->items[item].step;
    json_write_begin_object(writer);
    json_write_string_at(writer, "name", comparison->items[item].name);
    if (runs(comparison, item)) {
        json_write_real_at(writer, "step_s", step->step_s);
        json_write_real_at(writer, "low_s", step->low_s);
        json_write_real_at(writer, "high_s", step->high_s);
        json_write_real_at(writer, "tokens_per_s_per_gpu", step->tokens_per_s_per_gpu);
        json_write_real_at(writer, "mfu", step->mfu);
        json_write_real_at(writer, "memory_bytes", step->memory.peak);
        json_write_key(writer, "breakdown");
        write_classes(writer, comparison, item, false);
        json_write_key(writer, "difference");
        write_classes(writer, comparison, item, true);
    } else {
        json_write_string_at(writer, "reason", comparison->items[item].reason);
    }
    json_write_end_object(writer);
}

void
comparison_write_json(const struct comparison *comparison, struct text *out)
{
    struct json_writer writer = json_writer_new(out, true);
    json_write_begin_object(&writer);
    json_write_integer_at(&writer, "schema_version", 1);
    json_write_string_at(&writer, "tool_version", STEPCAST_VERSION);
    json_write_key(&writer, "steps");
    json_write_begin_array(&writer);
    for (size_t i = 0; i < comparison->count; i++)
        write_step(&writer, comparison, i);
    json_write_end_array(&writer);
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
}
