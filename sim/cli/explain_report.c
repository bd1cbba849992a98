/* Tables of an explanation: causes, parts of the model, operators, changes. */
#include "sim/cli/explain_report.h"

#include "sim/base/json_writer.h"
#include "sim/base/units.h"

enum { LABEL_COLUMNS = 40, OPERATORS_SHOWN = 15 };

static struct units_text
format_ps(int64_t ps)
{
    return units_format_s(units_s_from_ps(ps));
}

static struct units_text
format_part(int64_t ps, const struct step *step)
{
    return units_format_fraction((double)ps / (double)step->step_ps);
}

static void
print_row(struct text *out, const char *label, int64_t ps, const struct step *step)
{
    text_format(out, "  %-*s %9s %8s\n", LABEL_COLUMNS, label, format_ps(ps).text,
                format_part(ps, step).text);
}

/* The largest behind the one numbered `after` (-1: of all), of equals in their order; -1: none is
 * left above 0. */
static int
next_largest(const int64_t *values_ps, int count, int after)
{
    int next = -1;
    for (int i = 0; i < count; i++) {
        bool is_left = after < 0 || values_ps[i] < values_ps[after] ||
                       (i > after && values_ps[i] == values_ps[after]);
        if (is_left && values_ps[i] > 0 && (next < 0 || values_ps[i] > values_ps[next]))
            next = i;
    }
    return next;
}

static void
print_causes(struct text *out, const struct explanation *explanation)
{
    const int64_t *ps = explanation->cause_ps;
    text_format(out, "\nby cause\n");
    for (int i = next_largest(ps, CAUSE_COUNT, -1); i >= 0;
         i = next_largest(ps, CAUSE_COUNT, i))
        print_row(out, explain_cause_label((enum explain_cause)i), ps[i], explanation->step);
}

static void
print_classes(struct text *out, const struct explanation *explanation)
{
    const int64_t *ps = explanation->class_ps;
    text_format(out, "\nby what it is for\n");
    for (int i = next_largest(ps, STEP_CLASS_COUNT, -1); i >= 0;
         i = next_largest(ps, STEP_CLASS_COUNT, i))
        print_row(out, step_class_label((enum step_class)i), ps[i], explanation->step);
}

static void
print_operators(struct text *out, const struct explanation *explanation)
{
    text_format(out, "\n%-*s %9s %8s %6s  %s\n", LABEL_COLUMNS + 2, "longest on the chain",
                "time", "", "times", "bound by");
    int64_t shown = explanation->operator_count < OPERATORS_SHOWN ? explanation->operator_count
                                                                  : OPERATORS_SHOWN;
    for (int64_t i = 0; i < shown; i++) {
        const struct explain_operator *entry = &explanation->operators[i];
        text_format(out, "  %2lld  %-*s %9s %8s %6lld  %s\n", (long long)i + 1,
                    LABEL_COLUMNS - 4, entry->work->name, format_ps(entry->ps).text,
                    format_part(entry->ps, explanation->step).text, (long long)entry->count,
                    explain_cause_key(entry->cause));
    }
    if (shown < explanation->operator_count)
        text_format(out, "  (and %lld more)\n",
                    (long long)(explanation->operator_count - shown));
}

/* "-85.0 ms" of a gain. */
static void
print_difference(struct text *out, const struct what_if *what_if, const struct step *step)
{
    int64_t gain_ps = what_if->gain_ps;
    int64_t size_ps = gain_ps < 0 ? -gain_ps : gain_ps;
    const char *sign = gain_ps > 0 ? "-" : gain_ps < 0 ? "+" : "";
    text_format(out, "  %-*s %9s", LABEL_COLUMNS, what_if->label,
                format_ps(what_if->step_ps).text);
    text_format(out, " %10s %8s\n",
                arena_format(out->arena, "%s%s", sign, format_ps(size_ps).text),
                arena_format(out->arena, "%s%s", sign, format_part(size_ps, step).text));
}

static void
print_what_ifs(struct text *out, const struct explain_report *report)
{
    const struct step *step = report->explanation.step;
    text_format(out, "\n%-*s %9s %10s\n", LABEL_COLUMNS + 2, "with one change", "step time",
                "difference");
    int i = 0;
    for (; i < report->what_if_count && !report->what_ifs[i].reason; i++)
        print_difference(out, &report->what_ifs[i], step);
    if (i < report->what_if_count)
        text_format(out, "\nwhat cannot be\n");
    for (; i < report->what_if_count; i++)
        text_format(out, "  %s: %s\n", report->what_ifs[i].label, report->what_ifs[i].reason);
}

void
explain_report_text(const struct explain_report *report, struct text *out)
{
    const struct explanation *explanation = &report->explanation;
    text_format(out, "%s\n\n", explanation->step->heading);
    text_format(out, "step time    %s, decided by a chain of %lld tasks\n",
                units_format_s(explanation->step->step_s).text,
                (long long)explanation->task_count);
    print_causes(out, explanation);
    print_classes(out, explanation);
    print_operators(out, explanation);
    print_what_ifs(out, report);
}

static void
write_ps(struct json_writer *writer, const char *key, int64_t ps)
{
    json_write_real_at(writer, key, units_s_from_ps(ps));
}

static void
write_sums(struct json_writer *writer, const struct explanation *explanation)
{
    struct arena *arena = writer->out->arena;
    json_write_key(writer, "causes");
    json_write_begin_object(writer);
    for (int i = 0; i < CAUSE_COUNT; i++)
        write_ps(writer, arena_format(arena, "%s_s", explain_cause_key((enum explain_cause)i)),
                 explanation->cause_ps[i]);
    json_write_end_object(writer);
    json_write_key(writer, "classes");
    json_write_begin_object(writer);
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        write_ps(writer, arena_format(arena, "%s_s", step_class_key((enum step_class)i)),
                 explanation->class_ps[i]);
    json_write_end_object(writer);
}

static void
write_operators(struct json_writer *writer, const struct explanation *explanation)
{
    json_write_key(writer, "operators");
    json_write_begin_array(writer);
    for (int64_t i = 0; i < explanation->operator_count; i++) {
        const struct explain_operator *entry = &explanation->operators[i];
        json_write_begin_object(writer);
        json_write_string_at(writer, "name", entry->work->name);
        json_write_string_at(writer, "class", step_class_key(entry->work->spent_on));
        json_write_string_at(writer, "bound", explain_cause_key(entry->cause));
        json_write_integer_at(writer, "count", entry->count);
        write_ps(writer, "chain_s", entry->ps);
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}

static void
write_what_ifs(struct json_writer *writer, const struct explain_report *report)
{
    json_write_key(writer, "what_ifs");
    json_write_begin_array(writer);
    for (int i = 0; i < report->what_if_count; i++) {
        const struct what_if *what_if = &report->what_ifs[i];
        json_write_begin_object(writer);
        json_write_string_at(writer, "change", what_if->key);
        json_write_string_at(writer, "label", what_if->label);
        json_write_bool_at(writer, "is_feasible", !what_if->reason);
        if (what_if->reason) {
            json_write_string_at(writer, "reason", what_if->reason);
        } else {
            write_ps(writer, "step_s", what_if->step_ps);
            write_ps(writer, "gain_s", what_if->gain_ps);
        }
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}

void
explain_report_json(const struct explain_report *report, struct text *out)
{
    struct json_writer writer = json_writer_new(out, true);
    json_write_begin_object(&writer);
    json_write_string_at(&writer, "name", report->explanation.step->heading);
    json_write_real_at(&writer, "step_s", report->explanation.step->step_s);
    json_write_integer_at(&writer, "chain_tasks_count", report->explanation.task_count);
    write_sums(&writer, &report->explanation);
    write_operators(&writer, &report->explanation);
    write_what_ifs(&writer, report);
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
}
