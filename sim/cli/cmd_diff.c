/* stepcast diff: which points changed between two results, by how much. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/csv.h"
#include "sim/base/json_writer.h"
#include "sim/base/spelling.h"
#include "sim/base/units.h"
#include "sim/cli/command.h"
#include "sim/cli/results.h"

extern const struct command command_diff;

enum { TOP_DEFAULT = 20 };

/* A point's largest change. */
struct change {
    const char *label, *column;
    double before, after;
    double fraction;    /* of what it was; infinite from nothing, or where it runs no more */
    const char *reason; /* why it runs no more */
};

struct diff {
    const struct options *options;
    struct arena *arena;
    struct results before, after;
    double tolerance_fraction; /* NaN: none */
    long top;
    struct change *changes;
    size_t change_count, room, common_count, gone_count, new_count, past_count;
};

static double
change_of(double before, double after)
{
    bool has_before = !isnan(before), has_after = !isnan(after);
    if (!has_before || !has_after)
        return has_before == has_after ? 0 : (double)INFINITY;
    if (!(before < after || before > after))
        return 0;
    return fabs(before) > 0 ? (after - before) / fabs(before)
                            : copysign((double)INFINITY, after);
}

/* Whether a column is asked for, with nothing asked for every one. */
static bool
is_wanted(const struct diff *diff, const char *column)
{
    size_t count = options_text_count(diff->options, "column");
    for (size_t i = 0; i < count; i++)
        if (strcmp(options_text_at(diff->options, "column", i), column) == 0)
            return true;
    return count == 0;
}

static void
add_change(struct diff *diff, const struct change *change)
{
    diff->changes = arena_grow(diff->arena, diff->changes, diff->change_count, &diff->room,
                               sizeof *diff->changes);
    diff->changes[diff->change_count++] = *change;
}

/* Of single results, such as runs, each number that changed; of many, a point's largest change. */
static void
take_change(struct diff *diff, const struct change *change, struct change *largest)
{
    bool is_alone = diff->before.count == 1 && diff->after.count == 1;
    if (is_alone && fabs(change->fraction) > 0)
        add_change(diff, change);
    if (fabs(change->fraction) > fabs(largest->fraction))
        *largest = *change;
}

static bool
has_column(const struct results *results, const char *column)
{
    for (size_t i = 0; i < results->column_count; i++)
        if (strcmp(results->columns[i], column) == 0)
            return true;
    return false;
}

/* A number that one of the two says of no point is none that changed: a sweep's file has not what a
 * search's has. */
static bool
is_comparable(const struct diff *diff, const char *column)
{
    return has_column(&diff->before, column) && has_column(&diff->after, column);
}

static void
compare_points(struct diff *diff, const struct result *before, const struct result *after)
{
    struct change largest = {0};
    const struct results *both[] = {&diff->before, &diff->after};
    diff->common_count++;
    for (size_t i = 0; i < both[0]->column_count + both[1]->column_count; i++) {
        bool is_first = i < both[0]->column_count;
        const char *column =
            is_first ? both[0]->columns[i] : both[1]->columns[i - both[0]->column_count];
        double a = results_value(both[0], before, column);
        double b = results_value(both[1], after, column);
        bool is_refused = *before->reason || *after->reason; /* then it has no number at all */
        if (!is_wanted(diff, column) || (!is_first && !isnan(a)) ||
            (!is_refused && !is_comparable(diff, column)))
            continue;
        struct change change = {
            before->label, column, a, b, change_of(a, b), isnan(b) ? after->reason : ""};
        take_change(diff, &change, &largest);
    }
    if (fabs(largest.fraction) > diff->tolerance_fraction)
        diff->past_count++;
    if (largest.column && (diff->before.count > 1 || diff->after.count > 1))
        add_change(diff, &largest);
}

static int
compare_changes(const void *a, const void *b)
{
    const struct change *one = a, *two = b;
    double first = fabs(one->fraction), second = fabs(two->fraction);
    if (first > second || first < second)
        return first > second ? -1 : 1;
    return strcmp(one->label, two->label);
}

/* Both are sorted by their keys: equal ones meet in their order. */
static void
compare_all(struct diff *diff)
{
    const struct results *before = &diff->before, *after = &diff->after;
    size_t i = 0, j = 0;
    while (i < before->count && j < after->count) {
        int order = strcmp(before->items[i].key, after->items[j].key);
        if (order == 0)
            compare_points(diff, &before->items[i++], &after->items[j++]);
        else if (order < 0)
            i++;
        else
            j++;
        diff->gone_count += order < 0;
        diff->new_count += order > 0;
    }
    diff->gone_count += before->count - i;
    diff->new_count += after->count - j;
    if (diff->change_count > 0)
        qsort(diff->changes, diff->change_count, sizeof *diff->changes, compare_changes);
}

static void
print_number(struct text *out, double value)
{
    if (isnan(value))
        text_format(out, " %12s", "-");
    else
        text_format(out, " %12.6g", value);
}

/* "not compared: bound_s, which b.csv has not". */
static void
print_uncompared(const struct diff *diff, const struct results *own,
                 const struct results *other, struct text *out)
{
    size_t count = 0;
    for (size_t i = 0; i < own->column_count; i++)
        if (is_wanted(diff, own->columns[i]) && !has_column(other, own->columns[i]))
            text_format(out, "%s%s", count++ > 0 ? ", " : "not compared: ", own->columns[i]);
    if (count > 0)
        text_format(out, ", which %s has not\n", other->path);
}

static void
print_text(const struct diff *diff, struct text *out)
{
    size_t shown =
        diff->change_count < (size_t)diff->top ? diff->change_count : (size_t)diff->top;
    int width = 6;
    bool is_alone = diff->before.count == 1 && diff->after.count == 1;
    text_format(out, "%zu %s in both, %zu %s; %zu only in %s, %zu only in %s\n",
                diff->common_count, diff->common_count == 1 ? "point" : "points",
                diff->change_count, is_alone ? "numbers changed" : "changed", diff->gone_count,
                diff->before.path, diff->new_count, diff->after.path);
    print_uncompared(diff, &diff->before, &diff->after, out);
    print_uncompared(diff, &diff->after, &diff->before, out);
    for (size_t i = 0; i < shown; i++)
        if ((int)strlen(diff->changes[i].column) > width)
            width = (int)strlen(diff->changes[i].column);
    if (shown > 0)
        text_format(out, "\n   change  %-*s %12s %12s  point\n", width, "column", "before",
                    "after");
    for (size_t i = 0; i < shown; i++) {
        const struct change *change = &diff->changes[i];
        if (isinf(change->fraction))
            text_format(out, "%9s", isnan(change->after) ? "gone" : "new");
        else
            text_format(out, "%+7.3g %%", 100 * change->fraction);
        text_format(out, "  %-*s", width, change->column);
        print_number(out, change->before);
        print_number(out, change->after);
        text_format(out, "  %s%s%s\n", *change->label ? change->label : "the whole",
                    *change->reason ? ": " : "", change->reason);
    }
    if (shown < diff->change_count)
        text_format(out, "and %zu more; --top says how many are shown\n",
                    diff->change_count - shown);
}

static void
write_csv(const struct diff *diff, struct text *out)
{
    text_format(out, "point,column,before,after,change_fraction\n");
    for (size_t i = 0; i < diff->change_count; i++) {
        const struct change *change = &diff->changes[i];
        csv_write_text(out, change->label);
        text_format(out, ",");
        csv_write_text(out, change->column);
        text_format(out, ",");
        csv_write_real(out, change->before);
        text_format(out, ",");
        csv_write_real(out, change->after);
        text_format(out, ",");
        csv_write_real(out, change->fraction);
        text_format(out, "\n");
    }
}

static void
write_json(const struct diff *diff, struct text *out)
{
    struct json_writer writer = json_writer_new(out, true);
    json_write_begin_object(&writer);
    json_write_integer_at(&writer, "schema_version", 1);
    json_write_string_at(&writer, "before", diff->before.path);
    json_write_string_at(&writer, "after", diff->after.path);
    json_write_integer_at(&writer, "common_count", (int64_t)diff->common_count);
    json_write_integer_at(&writer, "only_before_count", (int64_t)diff->gone_count);
    json_write_integer_at(&writer, "only_after_count", (int64_t)diff->new_count);
    json_write_key(&writer, "changed");
    json_write_begin_array(&writer);
    for (size_t i = 0; i < diff->change_count; i++) {
        const struct change *change = &diff->changes[i];
        json_write_begin_object(&writer);
        json_write_string_at(&writer, "point", change->label);
        json_write_string_at(&writer, "column", change->column);
        json_write_real_at(&writer, "before", change->before);
        json_write_real_at(&writer, "after", change->after);
        json_write_real_at(&writer, "change_fraction", change->fraction);
        if (*change->reason)
            json_write_string_at(&writer, "reason", change->reason);
        json_write_end_object(&writer);
    }
    json_write_end_array(&writer);
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
}

/* What is past a tolerance, or no longer there, fails. */
static int
judge(const struct diff *diff)
{
    if (isnan(diff->tolerance_fraction) || diff->past_count + diff->gone_count == 0)
        return EXIT_DONE;
    fprintf(stderr, "stepcast diff: %zu points past the tolerance of %s, %zu no longer there\n",
            diff->past_count, options_text(diff->options, "tolerance"), diff->gone_count);
    return EXIT_CHECK_FAILED;
}

static int
report(const struct diff *diff)
{
    struct text out = text_new(diff->arena);
    enum output_format format = command_format(diff->options);
    if (format == OUTPUT_JSON)
        write_json(diff, &out);
    else if (format == OUTPUT_CSV)
        write_csv(diff, &out);
    else
        print_text(diff, &out);
    int code = command_output(diff->options, &out);
    return code == EXIT_DONE ? judge(diff) : code;
}

/* "1%" or "0.01". */
static bool
read_tolerance(const char *word, double *fraction)
{
    char *end = NULL;
    *fraction = (double)NAN;
    if (!*word)
        return true;
    *fraction = strtod(word, &end);
    if (end != word && *end == '%') {
        *fraction /= 100;
        end++;
    }
    return end != word && *end == '\0' && *fraction >= 0 && isfinite(*fraction);
}

static int
read_options(struct diff *diff)
{
    const char *tolerance = options_text(diff->options, "tolerance");
    const char *top = options_text(diff->options, "top");
    char *end = NULL;
    diff->top = *top ? strtol(top, &end, 10) : TOP_DEFAULT;
    if (!read_tolerance(tolerance, &diff->tolerance_fraction))
        return command_usage("diff", "--tolerance is '%s', wanted such as 1%% or 0.01",
                             tolerance);
    if (*top && (*end || diff->top < 0))
        return command_usage("diff", "--top is '%s', wanted a whole number from 0", top);
    return EXIT_DONE;
}

static int
check_columns(const struct diff *diff)
{
    const struct results *both[] = {&diff->before, &diff->after};
    for (size_t i = 0; i < options_text_count(diff->options, "column"); i++) {
        const char *column = options_text_at(diff->options, "column", i), *nearest = NULL;
        bool is_known = has_column(both[0], column) || has_column(both[1], column);
        for (int j = 0; j < 2 && !nearest; j++)
            nearest = spelling_nearest(column, both[j]->columns, both[j]->column_count);
        if (!is_known)
            return command_usage("diff", "--column %s is in neither%s%s%s", column,
                                 nearest ? ", did you mean " : "", nearest ? nearest : "",
                                 nearest ? "?" : "");
    }
    return EXIT_DONE;
}

static int
run(const struct options *options, struct arena *arena)
{
    struct diff diff = {.options = options, .arena = arena};
    struct error_list errors = {0};
    int code = read_options(&diff);
    if (code != EXIT_DONE)
        return code;
    if (!results_read(&diff.before, options_word(options, 0), arena, &errors) ||
        !results_read(&diff.after, options_word(options, 1), arena, &errors))
        return command_report(&errors);
    code = check_columns(&diff);
    if (code != EXIT_DONE)
        return code;
    if (!results_align(&diff.before, &diff.after, arena, &errors))
        return command_report(&errors);
    compare_all(&diff);
    if (diff.common_count > 0)
        return report(&diff);
    error_add(&errors, ERROR_INPUT, diff.after.path,
              "has no point in common with %.160s: of %zu and %zu", diff.before.path,
              diff.before.count, diff.after.count);
    return command_report(&errors);
}

static const struct option_spec OPTIONS[] = {
    {"column", 0, OPTION_TEXTS, "NAME", "this number only, such as step_s; else all"},
    {"tolerance", 0, OPTION_TEXT, "PART", "exit 1 past it: 1% or 0.01"},
    {"top", 0, OPTION_TEXT, "N", "how many the table shows (default 20)"},
    {"json", 0, OPTION_FLAG, NULL, "the answer as JSON"},
    {"output", 'o', OPTION_TEXT, "FILE", "write there; .json or .csv choose the format"},
};

const struct command command_diff = {
    .name = "diff",
    .summary = "say which points of two results changed, and by how much",
    .synopsis = "BEFORE AFTER",
    .example = "stepcast diff results.db@0.1.0 results.db --tolerance 1%",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 2,
    .word_maximum = 2,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON | 1u << OUTPUT_CSV,
    .run = run,
};
