/* Statistics of prediction errors by group. */
#include "validate/error_table.h"

#include <math.h>
#include <string.h>

#include "validate/statistics.h"

bool
error_group_is(const struct error_group *a, const struct error_group *b)
{
    return strcmp(a->kind, b->kind) == 0 && strcmp(a->dtype, b->dtype) == 0 &&
           strcmp(a->size, b->size) == 0;
}

static double
relative_error(const struct error_sample *sample)
{
    return sample->predicted_s / sample->measured_s - 1;
}

struct tally {
    const struct error_sample *samples;
    size_t count;
    double *errors, *magnitudes; /* room for one number a sample */
};

static void
count_sample(struct error_row *row, const struct error_sample *sample,
             const struct tally *tally)
{
    double error = relative_error(sample);
    tally->errors[row->count] = error;
    tally->magnitudes[row->count] = fabs(error);
    if (row->count++ == 0 || fabs(error) > fabs(row->worst_fraction)) {
        row->worst_fraction = error;
        row->worst = *sample;
    }
    if (fabs(error) <= 2 * sample->relative_sigma)
        row->within_two_sigma_fraction += 1;
    row->has_sigma = row->has_sigma || sample->relative_sigma > 0;
}

static struct error_row
group_row(const struct tally *tally, const struct error_group *group, enum split_part part)
{
    struct error_row row = {.group = *group, .part = part};
    for (size_t i = 0; i < tally->count; i++) {
        const struct error_sample *sample = &tally->samples[i];
        if (sample->part == part && error_group_is(&sample->group, group))
            count_sample(&row, sample, tally);
    }
    if (row.count > 0) {
        row.within_two_sigma_fraction /= (double)row.count;
        row.mape_fraction = statistics_mean(tally->magnitudes, row.count);
        row.bias_fraction = statistics_mean(tally->errors, row.count);
        row.p90_fraction = statistics_quantile(tally->magnitudes, row.count, 0.9);
    }
    return row;
}

static bool
is_listed(const struct error_table *table, const struct error_group *group)
{
    for (size_t i = 0; i < table->count; i++)
        if (error_group_is(&table->rows[i].group, group))
            return true;
    return false;
}

static void
add_row(struct error_table *table, const struct error_row *row, struct arena *arena)
{
    if (row->count == 0)
        return;
    table->rows =
        arena_grow(arena, table->rows, table->count, &table->capacity, sizeof *table->rows);
    size_t place = table->count++;
    for (; place > 0 && table->rows[place - 1].group.order > row->group.order; place--)
        table->rows[place] = table->rows[place - 1];
    table->rows[place] = *row;
}

struct error_table
error_table_new(const struct error_sample *samples, size_t count, struct arena *arena)
{
    struct error_table table = {0};
    struct tally tally = {
        .samples = samples,
        .count = count,
        .errors = arena_alloc(arena, count, sizeof(double)),
        .magnitudes = arena_alloc(arena, count, sizeof(double)),
    };
    for (size_t i = 0; i < count; i++) {
        const struct error_group *group = &samples[i].group;
        if (is_listed(&table, group))
            continue;
        struct error_row held_out = group_row(&tally, group, SPLIT_HELD_OUT);
        struct error_row fit = group_row(&tally, group, SPLIT_FIT);
        add_row(&table, &held_out, arena);
        add_row(&table, &fit, arena);
    }
    return table;
}

/* Of a shape with a list of many rows, as much as fits beside the numbers. */
enum { SHAPE_SHOWN_MAX = 72 };

/* What stands under 2sd; a dash where nothing says how sure it is. */
static void
print_sigma(const struct error_row *row, struct text *out)
{
    if (row->has_sigma)
        text_format(out, "%5.0f", row->within_two_sigma_fraction * 100);
    else
        text_format(out, "%5s", "-");
}

static void
print_row(const struct error_row *row, struct text *out)
{
    text_format(out, "%-18s %-5s %-14s %-8s %5zu %7.1f %+7.1f %7.1f %+7.1f ", row->group.kind,
                row->group.dtype, row->group.size, split_part_name(row->part), row->count,
                row->mape_fraction * 100, row->bias_fraction * 100, row->p90_fraction * 100,
                row->worst_fraction * 100);
    print_sigma(row, out);
    text_format(out, "  %.*s%s\n", SHAPE_SHOWN_MAX, row->worst.shape,
                strlen(row->worst.shape) > SHAPE_SHOWN_MAX ? "..." : "");
}

void
error_table_print(const struct error_table *table, const char *title, struct text *out)
{
    text_format(out, "%s\n\n%-18s %-5s %-14s %-8s %5s %7s %7s %7s %7s %5s  %s\n", title, "kind",
                "dtype", "size", "rows", "n", "MAPE %", "bias %", "p90 %", "worst %", "2sd %",
                "shape of the worst");
    for (size_t i = 0; i < table->count; i++)
        print_row(&table->rows[i], out);
}

void
error_table_print_summary(const struct error_table *table, const char *title, struct text *out)
{
    text_format(out, "%-26s %5s %7s %7s %7s %5s\n", title, "n", "MAPE %", "bias %", "p90 %",
                "2sd %");
    for (size_t i = 0; i < table->count; i++) {
        const struct error_row *row = &table->rows[i];
        if (row->part != SPLIT_HELD_OUT || strcmp(row->group.size, "all") != 0)
            continue;
        text_format(out, "  %-18s %-5s %5zu %7.1f %+7.1f %7.1f ", row->group.kind,
                    row->group.dtype, row->count, row->mape_fraction * 100,
                    row->bias_fraction * 100, row->p90_fraction * 100);
        print_sigma(row, out);
        text_format(out, "\n");
    }
}

static void
write_row(const struct error_row *row, struct json_writer *writer)
{
    json_write_begin_object(writer);
    json_write_string_at(writer, "kind", row->group.kind);
    json_write_string_at(writer, "dtype", row->group.dtype);
    json_write_string_at(writer, "size", row->group.size);
    json_write_string_at(writer, "part", split_part_name(row->part));
    json_write_integer_at(writer, "rows_count", (int64_t)row->count);
    json_write_real_at(writer, "mape_fraction", row->mape_fraction);
    json_write_real_at(writer, "bias_fraction", row->bias_fraction);
    json_write_real_at(writer, "p90_fraction", row->p90_fraction);
    json_write_real_at(writer, "worst_fraction", row->worst_fraction);
    json_write_real_at(writer, "within_two_sigma_fraction", row->within_two_sigma_fraction);
    json_write_string_at(writer, "worst_shape", row->worst.shape);
    json_write_real_at(writer, "worst_measured_s", row->worst.measured_s);
    json_write_real_at(writer, "worst_predicted_s", row->worst.predicted_s);
    json_write_end_object(writer);
}

void
error_table_write(const struct error_table *table, struct json_writer *writer)
{
    json_write_begin_array(writer);
    for (size_t i = 0; i < table->count; i++)
        write_row(&table->rows[i], writer);
    json_write_end_array(writer);
}
