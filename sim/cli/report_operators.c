/* The operators that take longest, and where the price of the first ones comes from. */
#include "models/provenance.h"
#include "sim/base/markup.h"
#include "sim/base/units.h"
#include "sim/cli/explain_operator.h"
#include "sim/cli/report.h"

enum { OPERATORS_SHOWN = 15, OPERATORS_TRACED = 8, NUMBERS_SHOWN = 10 };

static void
write_numbers(const struct report *report, const struct provenance *provenance)
{
    static const char *const heads[] = {"number, and where it stands", "value",
                                        "price, for 1 % more", NULL};
    report_begin_table(report, heads);
    for (int64_t i = 0; i < provenance->count && i < NUMBERS_SHOWN; i++) {
        const struct provenance_number *number = &provenance->numbers[i];
        text_format(report->out, "<tr><td>");
        report_words(report, "code", number->where);
        if (number->source) {
            text_format(report->out, "<br>");
            report_words(report, "small", number->source);
        }
        text_format(report->out, "</td>");
        report_cell(report, arena_format(report->arena, "%.6g %s", number->value,
                                         explain_operator_unit(number->path)));
        report_cell(report, arena_format(report->arena, "%+.3f %%", number->elasticity));
        text_format(report->out, "</tr>\n");
    }
    report_end_table(report);
}

static void
write_origin(const struct report *report, const struct explain_operator *found)
{
    struct explain_origin origin = {.explanation = &report->explanation, .found = found};
    struct error_list errors = {0};
    struct text question = text_new(report->arena);
    bool is_priced = (found->work->kernel || found->work->collective) &&
                     provenance_of(report->step->run, found->work, &origin.provenance,
                                   report->arena, &errors);
    if (!is_priced)
        return;
    explain_operator_question(&origin, &question);
    const char *formula = arena_format(report->arena, "%s (%s)", origin.provenance.words,
                                       origin.provenance.formula);
    text_format(report->out, "<details><summary>");
    markup_write(report->out, found->work->name);
    text_format(report->out, " <small>%s each, ± %.1f %%</small></summary>\n<p>",
                units_format_s(origin.provenance.price_s).text,
                100 * found->work->relative_sigma);
    report_words(report, "code", question.bytes);
    text_format(report->out, "</p>\n");
    report_words(report, "p", formula);
    write_numbers(report, &origin.provenance);
    text_format(report->out, "</details>\n");
}

static void
write_operator(const struct report *report, const struct explain_operator *entry)
{
    double fraction = (double)entry->ps / (double)report->step->step_ps;
    uint32_t rgb = report_class_colour(entry->work->spent_on);
    double longest = (double)report->explanation.operators[0].ps;
    report_label(report, entry->work->name,
                 (struct report_bar){(double)entry->ps / longest, rgb});
    report_cell(report, units_format_s(units_s_from_ps(entry->ps)).text);
    report_cell(report, units_format_fraction(fraction).text);
    report_cell(report, arena_format(report->arena, "%lld", (long long)entry->count));
    report_cell(report, explain_cause_key(entry->cause));
    text_format(report->out, "</tr>\n");
}

void
report_operators(const struct report *report)
{
    static const char *const heads[] = {"", "time", "of the step", "times", "bound by", NULL};
    const struct explanation *explanation = &report->explanation;
    report_begin(
        report, "operators", "What takes longest, and where its price comes from",
        "On the chain that decides the end. Below the table, for the longest: what was "
        "asked, the file of the formula, and the numbers that the price depends on, most "
        "first, with the line of the file that each stands in.");
    report_begin_table(report, heads);
    for (int64_t i = 0; i < explanation->operator_count && i < OPERATORS_SHOWN; i++)
        write_operator(report, &explanation->operators[i]);
    report_end_table(report);
    for (int64_t i = 0; i < explanation->operator_count && i < OPERATORS_TRACED; i++)
        write_origin(report, &explanation->operators[i]);
    report_end(report);
}
