/* Where the step goes, what memory holds, what causes its length, and what changes it. */
#include <math.h>

#include "sim/base/units.h"
#include "sim/cli/report.h"
#include "sim/cli/step_picture.h"

/* What would make the step longer, and shorter. */
static const uint32_t LONGER_RGB = 0xD55E00, SHORTER_RGB = 0x009E73;

static double
fraction_of(int64_t ps, const struct step *step)
{
    return (double)ps / (double)step->step_ps;
}

static void
write_row(const struct report *report, const char *label, int64_t ps, struct report_bar bar)
{
    report_label(report, label, bar);
    report_cell(report, units_format_s(units_s_from_ps(ps)).text);
    report_cell(report, units_format_fraction(fraction_of(ps, report->step)).text);
    text_format(report->out, "</tr>\n");
}

/* The largest of values that are not done; -1: none is left above 0. */
static int
next_largest(const int64_t *values_ps, int count, bool *is_done)
{
    int next = -1;
    for (int i = 0; i < count; i++)
        if (!is_done[i] && values_ps[i] > 0 && (next < 0 || values_ps[i] > values_ps[next]))
            next = i;
    if (next >= 0)
        is_done[next] = true;
    return next;
}

uint32_t
report_class_colour(enum step_class spent_on)
{
    enum style_slot slot = step_picture_class_slot(spent_on);
    return style_shade(style_colour(slot), slot == STYLE_BUBBLE ? 0.25 : 0);
}

static const char *const TIME_HEADS[] = {"", "time", "of the step", NULL};

void
report_breakdown(const struct report *report)
{
    const struct step *step = report->step;
    bool is_done[STEP_CLASS_COUNT] = {false};
    double longest = 0;
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        longest = fmax(longest, (double)step->class_ps[i]);
    report_begin(
        report, "breakdown", "Where the step goes",
        arena_format(report->arena,
                     "Of rank %lld, the slowest; the parts add up to the step exactly. "
                     "Collectives run for %s in all, hidden or not.",
                     (long long)step->lowered.representative,
                     units_format_s(units_s_from_ps(step->communication_ps)).text));
    report_begin_table(report, TIME_HEADS);
    for (int i = next_largest(step->class_ps, STEP_CLASS_COUNT, is_done); i >= 0;
         i = next_largest(step->class_ps, STEP_CLASS_COUNT, is_done)) {
        enum step_class spent_on = (enum step_class)i;
        const char *label = step_class_label(spent_on);
        if (step_class_is_communication(spent_on))
            label = arena_format(report->arena, "exposed %s", label);
        uint32_t rgb = report_class_colour(spent_on);
        write_row(report, label, step->class_ps[i],
                  (struct report_bar){(double)step->class_ps[i] / longest, rgb});
    }
    write_row(report, "the whole step", step->step_ps, (struct report_bar){-1, 0});
    report_end_table(report);
    report_end(report);
}

void
report_memory(const struct report *report)
{
    const struct memory *memory = &report->step->memory;
    static const char *const heads[] = {"", "bytes", "of the GPU", NULL};
    struct memory_class classes[MEMORY_CLASS_COUNT];
    memory_classes(memory, classes);
    report_begin(report, "memory", "What memory holds",
                 arena_format(report->arena,
                              "At the fullest moment of the fullest stage (%lld): %s of %s.",
                              (long long)memory->stage, units_format_bytes(memory->peak).text,
                              units_format_bytes(memory->capacity).text));
    report_begin_table(report, heads);
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++) {
        double fraction = classes[i].bytes / memory->capacity;
        report_label(report, classes[i].name,
                     (struct report_bar){fraction, style_colour(STYLE_FORWARD)});
        report_cell(report, units_format_bytes(classes[i].bytes).text);
        report_cell(report, units_format_fraction(fraction).text);
        text_format(report->out, "</tr>\n");
    }
    report_end_table(report);
    report_end(report);
}

void
report_causes(const struct report *report)
{
    const struct explanation *explanation = &report->explanation;
    bool is_done[CAUSE_COUNT] = {false};
    double longest = 0;
    for (int i = 0; i < CAUSE_COUNT; i++)
        longest = fmax(longest, (double)explanation->cause_ps[i]);
    report_begin(
        report, "causes", "Why it takes that long",
        arena_format(report->arena,
                     "The chain of %lld tasks that decides the end, summed by what each "
                     "waits for.",
                     (long long)explanation->task_count));
    report_begin_table(report, TIME_HEADS);
    for (int i = next_largest(explanation->cause_ps, CAUSE_COUNT, is_done); i >= 0;
         i = next_largest(explanation->cause_ps, CAUSE_COUNT, is_done)) {
        int64_t ps = explanation->cause_ps[i];
        write_row(report, explain_cause_label((enum explain_cause)i), ps,
                  (struct report_bar){(double)ps / longest, style_colour(STYLE_OTHER)});
    }
    report_end_table(report);
    report_end(report);
}

static void
write_change(const struct report *report, const struct what_if *what_if, int64_t most_ps)
{
    int64_t gain_ps = what_if->gain_ps, size_ps = gain_ps < 0 ? -gain_ps : gain_ps;
    const char *sign = gain_ps > 0 ? "−" : gain_ps < 0 ? "+" : "";
    struct report_bar bar = {most_ps > 0 ? (double)size_ps / (double)most_ps : 0,
                             gain_ps < 0 ? LONGER_RGB : SHORTER_RGB};
    report_label(report, what_if->label, bar);
    report_cell(report, units_format_s(units_s_from_ps(what_if->step_ps)).text);
    report_cell(report,
                arena_format(report->arena, "%s%s", sign,
                             units_format_fraction(fraction_of(size_ps, report->step)).text));
    text_format(report->out, "</tr>\n");
}

void
report_what_ifs(const struct report *report)
{
    static const char *const heads[] = {"with one change", "step time", "difference", NULL};
    int64_t most_ps = 0;
    int i = 0;
    for (int j = 0; j < report->what_if_count; j++) {
        int64_t gain_ps = report->what_ifs[j].gain_ps;
        gain_ps = gain_ps < 0 ? -gain_ps : gain_ps;
        most_ps = gain_ps > most_ps ? gain_ps : most_ps;
    }
    report_begin(report, "what-ifs", "What would change it",
                 "Each simulated again; green is shorter, orange is longer.");
    report_begin_table(report, heads);
    for (; i < report->what_if_count && !report->what_ifs[i].reason; i++)
        write_change(report, &report->what_ifs[i], most_ps);
    report_end_table(report);
    for (; i < report->what_if_count; i++)
        report_words(report, "p",
                     arena_format(report->arena, "Cannot be: %s (%s).",
                                  report->what_ifs[i].label, report->what_ifs[i].reason));
    report_end(report);
}
