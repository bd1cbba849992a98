/* Prints coefficients before and after, what stays and why, and the error tables side by side. */
#include "validate/calibration_report.h"

#include <inttypes.h>
#include <string.h>

static const char *
fate_words(enum fit_fate fate)
{
    switch (fate) {
    case FIT_DONE:
        return "fitted";
    case FIT_NO_ROWS:
        return "no rows on the fit side";
    case FIT_NOT_ASKED:
        return "left alone as asked";
    case FIT_NO_EFFECT:
        return "these rows do not depend on it";
    case FIT_NOT_TOLD_APART:
        return "not told from those above by rows so noisy";
    case FIT_TOO_FEW_SHAPES:
        return "too few shapes for one coefficient more";
    }
    return "";
}

/* "upper" when the fit ended at that bound, "lower", "" within. */
static const char *
bound_pressed(const struct fit_coefficient *fitted)
{
    const struct coefficient *coefficient = &fitted->coefficient;
    if (fitted->fate != FIT_DONE)
        return "";
    if (fit_is_at(*coefficient->value, coefficient->most))
        return "upper";
    return fit_is_at(*coefficient->value, coefficient->least) ? "lower" : "";
}

static void
print_coefficient(const struct fit_coefficient *fitted, struct text *out)
{
    const struct coefficient *coefficient = &fitted->coefficient;
    text_format(out, "  %-42s %10.4g", coefficient->path, fitted->before);
    if (fitted->fate != FIT_DONE) {
        text_format(out, "  stays: %s\n", fate_words(fitted->fate));
        return;
    }
    text_format(out, " -> %-10.4g", *coefficient->value);
    if (fitted->highest > fitted->lowest)
        text_format(out, "  %.3g to %.3g without a quarter", fitted->lowest, fitted->highest);
    const char *bound = bound_pressed(fitted);
    if (*bound != '\0')
        text_format(out, "  at its %s bound: %s", bound,
                    *bound == 'u' ? coefficient->most_reason : coefficient->least_reason);
    while (out->length > 0 && out->bytes[out->length - 1] == ' ')
        out->bytes[--out->length] = '\0';
    text_format(out, "\n");
}

static void
print_group(const struct calibrated_group *group, struct text *out)
{
    const struct fit_outcome *outcome = &group->outcome;
    text_format(out, "%s: %zu rows of %zu shapes to fit, %zu rows held out", group->name,
                group->rows.count, group->rows.shape_count, group->held_out_count);
    if (outcome->fitted_count > 0)
        text_format(out, "; loss %.4f -> %.4f in %zu evaluations", outcome->loss_before,
                    outcome->loss_after, outcome->evaluations);
    text_format(out, "\n");
    for (size_t i = 0; i < group->count; i++)
        print_coefficient(&group->coefficients[i], out);
}

/* Kinds that were not fitted, on one line each reason. */
static void
print_left(const struct calibration *calibration, enum fit_fate fate, struct text *out)
{
    size_t count = 0;
    for (size_t i = 0; i < calibration->group_count; i++) {
        const struct calibrated_group *group = &calibration->groups[i];
        if (!group->is_fitted && group->coefficients[0].fate == fate)
            text_format(out, "%s%s", count++ > 0 ? ", " : "left as they are: ", group->name);
    }
    if (count > 0)
        text_format(out, " (%s)\n", fate_words(fate));
}

static void
print_sigmas(const struct calibration *calibration, struct text *out)
{
    text_format(out, "\nrelative standard deviations, from rows on the fit side that the "
                     "predicting fit had not seen\n");
    for (size_t i = 0; i < calibration->sigma_count; i++) {
        const struct calibrated_sigma *sigma = &calibration->sigmas[i];
        if (sigma->row_count > 0)
            text_format(out, "  %-42s %10.4g -> %-10.4g %4zu rows%s\n", sigma->sigma.path,
                        sigma->before, *sigma->sigma.value, sigma->row_count,
                        sigma->is_cross_validated
                            ? ""
                            : ", seen: too few to leave some out; corrected for the freedom");
    }
}

static void
print_row(const struct error_row *before, const struct error_row *after, struct text *out)
{
    text_format(out, "%-18s %-5s %-14s %-8s %5zu", after->group.kind, after->group.dtype,
                after->group.size, split_part_name(after->part), after->count);
    text_format(out, " %6.1f -> %-6.1f %+6.1f -> %-+6.1f %6.1f -> %-6.1f %+6.0f -> %+.0f\n",
                before->mape_fraction * 100, after->mape_fraction * 100,
                before->bias_fraction * 100, after->bias_fraction * 100,
                before->p90_fraction * 100, after->p90_fraction * 100,
                before->worst_fraction * 100, after->worst_fraction * 100);
}

static void
print_table(const struct calibration *calibration, struct text *out)
{
    text_format(out, "\n%-18s %-5s %-14s %-8s %5s %16s %16s %16s %14s\n", "kind", "dtype",
                "size", "rows", "n", "MAPE %     ", "bias %     ", "p90 %     ", "worst %");
    for (size_t i = 0; i < calibration->after.count; i++)
        print_row(&calibration->before.rows[i], &calibration->after.rows[i], out);
}

void
calibration_report_print(const struct calibration *calibration,
                         const struct calibration_record *record, struct text *out)
{
    text_format(out, "%s, fitted by rows split by shape with seed %" PRIu64 "\n",
                calibration->name, calibration->question->seed);
    for (size_t i = 0; i < record->list_count; i++)
        text_format(out, "  %s: %zu rows\n", record->lists[i].name, record->lists[i].row_count);
    if (calibration->left_out_count > 0)
        text_format(out, "  %zu %s prices them\n", calibration->left_out_count,
                    calibration->question->cluster ? "kernels left out: no fabric"
                                                   : "collectives left out: no device");
    text_format(out, "\n");
    for (size_t i = 0; i < calibration->group_count; i++)
        if (calibration->groups[i].is_fitted)
            print_group(&calibration->groups[i], out);
    print_left(calibration, FIT_NO_ROWS, out);
    print_left(calibration, FIT_NOT_ASKED, out);
    print_sigmas(calibration, out);
    print_table(calibration, out);
}

static void
write_coefficient(const struct calibrated_group *group, const struct fit_coefficient *fitted,
                  struct json_writer *writer)
{
    const struct coefficient *coefficient = &fitted->coefficient;
    json_write_begin_object(writer);
    json_write_string_at(writer, "path", coefficient->path);
    json_write_string_at(writer, "group", group->name);
    json_write_real_at(writer, "before", fitted->before);
    json_write_real_at(writer, "after", *coefficient->value);
    json_write_bool_at(writer, "is_fitted", fitted->fate == FIT_DONE);
    json_write_string_at(writer, "fate", fate_words(fitted->fate));
    json_write_real_at(writer, "lowest_of_folds", fitted->lowest);
    json_write_real_at(writer, "highest_of_folds", fitted->highest);
    json_write_real_at(writer, "least", coefficient->least);
    json_write_real_at(writer, "most", coefficient->most);
    json_write_string_at(writer, "bound_pressed", bound_pressed(fitted));
    json_write_end_object(writer);
}

static void
write_group(const struct calibrated_group *group, struct json_writer *writer)
{
    json_write_begin_object(writer);
    json_write_string_at(writer, "name", group->name);
    json_write_integer_at(writer, "fit_rows_count", (int64_t)group->rows.count);
    json_write_integer_at(writer, "fit_shapes_count", (int64_t)group->rows.shape_count);
    json_write_integer_at(writer, "held_out_rows_count", (int64_t)group->held_out_count);
    json_write_integer_at(writer, "fitted_count", (int64_t)group->outcome.fitted_count);
    json_write_real_at(writer, "loss_before", group->outcome.loss_before);
    json_write_real_at(writer, "loss_after", group->outcome.loss_after);
    json_write_end_object(writer);
}

static void
write_sigma(const struct calibrated_sigma *sigma, struct json_writer *writer)
{
    json_write_begin_object(writer);
    json_write_string_at(writer, "path", sigma->sigma.path);
    json_write_real_at(writer, "before", sigma->before);
    json_write_real_at(writer, "after", *sigma->sigma.value);
    json_write_integer_at(writer, "rows_count", (int64_t)sigma->row_count);
    json_write_bool_at(writer, "is_cross_validated",
                       sigma->row_count > 0 && sigma->is_cross_validated);
    json_write_end_object(writer);
}

static void
write_lists(const struct calibration_record *record, struct json_writer *writer)
{
    json_write_begin_array(writer);
    for (size_t i = 0; i < record->list_count; i++) {
        json_write_begin_object(writer);
        json_write_string_at(writer, "name", record->lists[i].name);
        json_write_integer_at(writer, "rows_count", (int64_t)record->lists[i].row_count);
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}

static void
write_fits(const struct calibration *calibration, struct json_writer *writer)
{
    json_write_key(writer, "groups");
    json_write_begin_array(writer);
    for (size_t i = 0; i < calibration->group_count; i++)
        write_group(&calibration->groups[i], writer);
    json_write_end_array(writer);
    json_write_key(writer, "coefficients");
    json_write_begin_array(writer);
    for (size_t i = 0; i < calibration->group_count; i++)
        for (size_t j = 0; j < calibration->groups[i].count; j++)
            write_coefficient(&calibration->groups[i], &calibration->groups[i].coefficients[j],
                              writer);
    json_write_end_array(writer);
    json_write_key(writer, "relative_sigmas");
    json_write_begin_array(writer);
    for (size_t i = 0; i < calibration->sigma_count; i++)
        write_sigma(&calibration->sigmas[i], writer);
    json_write_end_array(writer);
}

void
calibration_report_write(const struct calibration *calibration,
                         const struct calibration_record *record, struct json_writer *writer)
{
    json_write_begin_object(writer);
    json_write_string_at(writer, calibration->question->cluster ? "fabric" : "device",
                         calibration->name);
    json_write_string_at(writer, "date", record->date);
    json_write_integer_at(writer, "split_seed", (int64_t)calibration->question->seed);
    json_write_key(writer, "lists");
    write_lists(record, writer);
    json_write_integer_at(writer,
                          calibration->question->cluster ? "kernels_left_out_count"
                                                         : "collectives_left_out_count",
                          (int64_t)calibration->left_out_count);
    write_fits(calibration, writer);
    json_write_key(writer, "before");
    error_table_write(&calibration->before, writer);
    json_write_key(writer, "after");
    error_table_write(&calibration->after, writer);
    json_write_end_object(writer);
}
