/* Writes the fitted device or fabric file. */
#include "validate/calibration_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/json_edit.h"
#include "sim/base/json_writer.h"

struct writing {
    const struct calibration *calibration;
    const struct calibration_record *record;
    struct json_edit edit;
    struct arena *arena;
};

/* The fewest digits that read back: a fitted number has four, a bound what its source gives. */
static const char *
number(struct arena *arena, double value)
{
    const char *digits = "0";
    for (int precision = 4; precision <= 17; precision++) {
        digits = arena_format(arena, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    return digits;
}

static const char *
quoted(struct arena *arena, const char *string)
{
    struct text text = text_new(arena);
    struct json_writer writer = json_writer_new(&text, false);
    json_write_string(&writer, string);
    return text.bytes;
}

/* "a.jsonl, b.jsonl" */
static const char *
list_names(const struct writing *writing)
{
    struct text names = text_new(writing->arena);
    for (size_t i = 0; i < writing->record->list_count; i++)
        text_format(&names, "%s%s", i > 0 ? ", " : "", writing->record->lists[i].name);
    return names.bytes;
}

/* {"value": ..., "source": ..., "note": ...}: the first two change. */
static void
change(struct writing *writing, const char *path, double value, const char *source)
{
    const struct json *object = json_at(writing->calibration->question->file, path);
    struct arena *arena = writing->arena;
    json_edit_replace(&writing->edit, json_member(object, "value"), number(arena, value),
                      arena);
    json_edit_replace(&writing->edit, json_member(object, "source"), quoted(arena, source),
                      arena);
}

static void
change_coefficient(struct writing *writing, const struct calibrated_group *group,
                   const struct coefficient *coefficient)
{
    struct text source = text_new(writing->arena);
    text_format(&source,
                "fitted to the %zu %s rows (%zu shapes) of %s on the fit side of the split by "
                "shape, seed %" PRIu64 " (validate/split.h)",
                group->rows.count, group->name, group->rows.shape_count, list_names(writing),
                writing->calibration->question->seed);
    if (fit_is_at(*coefficient->value, coefficient->least))
        text_format(&source, "; at its lower bound: %s", coefficient->least_reason);
    if (fit_is_at(*coefficient->value, coefficient->most))
        text_format(&source, "; at its upper bound: %s", coefficient->most_reason);
    change(writing, coefficient->path, *coefficient->value, source.bytes);
}

static void
change_group(struct writing *writing, const struct calibrated_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->coefficients[i].fate == FIT_DONE)
            change_coefficient(writing, group, &group->coefficients[i].coefficient);
}

static void
change_sigma(struct writing *writing, const struct calibrated_sigma *sigma)
{
    if (sigma->row_count == 0)
        return;
    const char *how = sigma->is_cross_validated
                          ? "each predicted by a fit without its shape (4-fold)"
                          : "corrected for the coefficients fitted to them";
    change(writing, sigma->sigma.path, *sigma->sigma.value,
           arena_format(writing->arena,
                        "root mean square of log(predicted / measured) of %zu rows on the fit "
                        "side, %s; at least the 0.04 by which two devices differ",
                        sigma->row_count, how));
}

static void
append_lists(const struct calibration_record *record, struct text *text, struct arena *arena)
{
    for (size_t i = 0; i < record->list_count; i++)
        text_format(text,
                    "%s\n      {\"name\": %s, \"rows_count\": %zu, "
                    "\"fnv1a_64\": \"%016" PRIx64 "\"}",
                    i > 0 ? "," : "", quoted(arena, record->lists[i].name),
                    record->lists[i].row_count, record->lists[i].hash);
}

/* Both tables have the same groups in the same order: they are settled by measured times. */
static void
append_residuals(const struct calibration *calibration, struct text *text)
{
    for (size_t i = 0; i < calibration->after.count; i++) {
        const struct error_row *before = &calibration->before.rows[i];
        const struct error_row *after = &calibration->after.rows[i];
        text_format(text,
                    "%s\n      {\"kind\": \"%s\", \"dtype\": \"%s\", \"size\": \"%s\", "
                    "\"part\": \"%s\", \"rows_count\": %zu, ",
                    i > 0 ? "," : "", after->group.kind, after->group.dtype, after->group.size,
                    split_part_name(after->part), after->count);
        text_format(text,
                    "\"mape_before_fraction\": %.4f, \"mape_after_fraction\": %.4f, "
                    "\"bias_before_fraction\": %.4f, \"bias_after_fraction\": %.4f, ",
                    before->mape_fraction, after->mape_fraction, before->bias_fraction,
                    after->bias_fraction);
        text_format(text, "\"p90_before_fraction\": %.4f, \"p90_after_fraction\": %.4f}",
                    before->p90_fraction, after->p90_fraction);
    }
}

static const char *
record_text(const struct writing *writing)
{
    struct text text = text_new(writing->arena);
    text_format(&text,
                "{\n    \"date\": \"%s\",\n    \"split_seed\": %" PRIu64 ",\n    \"lists\": [",
                writing->record->date, writing->calibration->question->seed);
    append_lists(writing->record, &text, writing->arena);
    text_format(&text, "\n    ],\n    \"residuals\": [");
    append_residuals(writing->calibration, &text);
    text_format(&text, "\n    ]\n  }");
    return text.bytes;
}

void
calibration_file_write(const struct calibration *calibration,
                       const struct calibration_record *record, struct text *out)
{
    struct writing writing = {
        .calibration = calibration, .record = record, .arena = out->arena};
    const struct json *file = calibration->question->file;
    const struct json *old = json_member(file, "calibration");
    for (size_t i = 0; i < calibration->group_count; i++)
        change_group(&writing, &calibration->groups[i]);
    for (size_t i = 0; i < calibration->sigma_count; i++)
        change_sigma(&writing, &calibration->sigmas[i]);
    if (json_member(file, "is_fitted"))
        json_edit_replace(&writing.edit, json_member(file, "is_fitted"), "true", out->arena);
    if (old)
        json_edit_replace(&writing.edit, old, record_text(&writing), out->arena);
    else
        json_edit_add(&writing.edit, file, "calibration", record_text(&writing), out->arena);
    json_edit_apply(&writing.edit, file, out);
}
