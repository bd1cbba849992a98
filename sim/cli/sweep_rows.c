/* Rows of a sweep: a table for people, CSV and JSON lines for programs. */
#include <math.h>
#include <string.h>

#include "sim/base/csv.h"
#include "sim/base/json_writer.h"
#include "sim/base/units.h"
#include "sim/cli/sweep_point.h"

static const char *
value_of(const char *setting)
{
    return strchr(setting, '=') + 1;
}

static const char *
field_of(const struct sweep_space *space, size_t index)
{
    return index < space->axis_count ? space->axes[index].field
                                     : space->links[index - space->axis_count].field;
}

/* As wide as the name, or the longest of the values. */
static int
column_width(const struct sweep_space *space, size_t index)
{
    size_t width = strlen(field_of(space, index));
    for (size_t i = 0; index < space->axis_count && i < space->axes[index].count; i++) {
        size_t length = strlen(space->axes[index].values[i]);
        width = length > width ? length : width;
    }
    return (int)width;
}

/* Of a front each row begins with its mark. */
static void
print_mark(const struct sweep_space *space, bool is_on_front, struct text *out)
{
    if (space->front_count > 0)
        text_format(out, is_on_front ? "* " : "  ");
}

void
sweep_rows_head(const struct sweep_space *space, struct text *out)
{
    print_mark(space, false, out);
    for (size_t i = 0; i < space->axis_count + space->link_count; i++)
        text_format(out, "%*s  ", column_width(space, i), field_of(space, i));
    text_format(out, "%9s %10s %10s %7s %9s %9s %9s", "step", "+-", "tok/s/GPU", "MFU",
                "memory", "network", "bubble");
    if (space->has_inference)
        text_format(out, " %9s %9s %9s %9s", "prefill", "decode", "decoded/s", "serving");
    text_format(out, "\n");
}

/* The sentence alone: a table has no room for its place. */
static const char *
reason_words(const struct sweep_row *row)
{
    const char *end = strstr(row->reason, ": $");
    const char *words = end ? strstr(end + 2, ": ") : strstr(row->reason, ": ");
    return words ? words + 2 : row->reason;
}

static void
print_inference(const struct sweep_row *row, struct text *out)
{
    const double *values = row->values;
    if (isnan(values[SWEEP_PREFILL_S])) {
        text_format(out, "  - %s", reason_words(row));
        return;
    }
    text_format(out, " %9s %9s", units_format_s(values[SWEEP_PREFILL_S]).text,
                units_format_s(values[SWEEP_DECODE_S]).text);
    text_format(out, " %9s %9s", units_format_count(values[SWEEP_DECODE_TOKENS_PER_S]).text,
                units_format_bytes(values[SWEEP_INFERENCE_BYTES]).text);
}

void
sweep_row_print(const struct sweep_space *space, const struct sweep_row *row, struct text *out)
{
    const double *values = row->values;
    print_mark(space, row->is_on_front, out);
    for (size_t i = 0; i < row->settings.count; i++)
        text_format(out, "%*s  ", column_width(space, i), value_of(row->settings.texts[i]));
    if (row->status != SWEEP_DONE) {
        text_format(out, "- %s\n", reason_words(row));
        return;
    }
    double half_s = (values[SWEEP_HIGH_S] - values[SWEEP_LOW_S]) / 2;
    text_format(out, "%9s %10s %10s", units_format_s(values[SWEEP_STEP_S]).text,
                units_format_s(half_s).text,
                units_format_count(values[SWEEP_TOKENS_PER_S_PER_GPU]).text);
    text_format(out, " %7s %9s", units_format_fraction(values[SWEEP_MFU]).text,
                units_format_bytes(values[SWEEP_MEMORY_BYTES]).text);
    text_format(out, " %9s %9s", units_format_s(values[SWEEP_NETWORK_S]).text,
                units_format_s(values[SWEEP_BUBBLE_S]).text);
    if (space->has_inference)
        print_inference(row, out);
    text_format(out, "\n");
}

void
sweep_rows_csv_head(const struct sweep_space *space, struct text *out)
{
    for (size_t i = 0; i < space->axis_count + space->link_count; i++)
        text_format(out, "%s,", field_of(space, i));
    for (int i = 0; i < sweep_space_quantities(space); i++)
        text_format(out, "%s,", sweep_quantity_key((enum sweep_quantity)i));
    text_format(out, space->front_count > 0 ? "is_on_front,reason\n" : "reason\n");
}

void
sweep_row_write_csv(const struct sweep_space *space, const struct sweep_row *row,
                    struct text *out)
{
    for (size_t i = 0; i < row->settings.count; i++) {
        csv_write_text(out, value_of(row->settings.texts[i]));
        text_format(out, ",");
    }
    for (int i = 0; i < sweep_space_quantities(space); i++) {
        if (row->status == SWEEP_DONE && !isnan(row->values[i]))
            csv_write_real(out, row->values[i]);
        text_format(out, ",");
    }
    if (space->front_count > 0)
        text_format(out, "%d,", row->is_on_front);
    csv_write_text(out, row->reason);
    text_format(out, "\n");
}

void
sweep_row_write_json(const struct sweep_space *space, const struct sweep_row *row,
                     struct text *out)
{
    struct json_writer writer = json_writer_new(out, false);
    json_write_begin_object(&writer);
    json_write_key(&writer, "settings");
    json_write_begin_array(&writer);
    for (size_t i = 0; i < row->settings.count; i++)
        json_write_string(&writer, row->settings.texts[i]);
    json_write_end_array(&writer);
    for (int i = 0; row->status == SWEEP_DONE && i < sweep_space_quantities(space); i++)
        if (!isnan(row->values[i]))
            json_write_real_at(&writer, sweep_quantity_key((enum sweep_quantity)i),
                               row->values[i]);
    if (space->front_count > 0)
        json_write_bool_at(&writer, "is_on_front", row->is_on_front);
    if (*row->reason)
        json_write_string_at(&writer, "reason", row->reason);
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
}
