/* A case is a group: kind, dtype and size; its held-out row, if any, decides. */
#include "validate/junit.h"

#include <string.h>

/* The bytes of the UTF-8 character at the text, 0 when there is none that XML 1.0 allows (section
 * 2.2: no control characters but tab and line end, no U+FFFE, no U+FFFF). */
static size_t
character_bytes(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    unsigned lead = at[0];
    size_t count = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (count == 1)
        return lead >= 0x20 || lead == '\t' || lead == '\n' ? 1 : 0;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((at[i] & 0xC0u) != 0x80)
            return 0;
    bool is_overlong = (lead == 0xE0 && at[1] < 0xA0) || (lead == 0xF0 && at[1] < 0x90);
    bool is_beyond = (lead == 0xED && at[1] >= 0xA0) || (lead == 0xF4 && at[1] >= 0x90);
    bool is_no_character = lead == 0xEF && at[1] == 0xBF && at[2] >= 0xBE;
    return is_overlong || is_beyond || is_no_character ? 0 : count;
}

/* Text as it may stand in an element or between double quotes; "?" for what is no character. */
static void
append_escaped(struct text *out, const char *text)
{
    static const char special[] = "&<>\"\t\n";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#9;", "&#10;"};
    while (*text != '\0') {
        const char *found = strchr(special, *text);
        size_t count = character_bytes(text);
        if (found != NULL)
            text_format(out, "%s", entities[found - special]);
        else if (count == 0)
            text_append(out, "?", 1);
        else
            text_append(out, text, count);
        text += count > 0 ? count : 1;
    }
}

static void
append_attribute(struct text *out, const char *name, const char *value)
{
    text_format(out, " %s=\"", name);
    append_escaped(out, value);
    text_append(out, "\"", 1);
}

/* Whether no row before the index-th has its group: that one begins the case. */
static bool
begins_case(const struct error_table *table, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (error_group_is(&table->rows[i].group, &table->rows[index].group))
            return false;
    return true;
}

/* The tightest limit that the group breaks, NULL when it breaks none. */
static const struct tolerance_verdict *
find_broken(const struct junit_suite *suite, const struct error_group *group)
{
    const struct tolerance_verdict *broken = NULL;
    for (size_t i = 0; i < suite->verdicts->count; i++) {
        const struct tolerance_verdict *verdict = &suite->verdicts->items[i];
        if (verdict->holds || !error_group_is(&verdict->row->group, group))
            continue;
        if (broken == NULL ||
            verdict->tolerance->mape_fraction_max < broken->tolerance->mape_fraction_max)
            broken = verdict;
    }
    return broken;
}

static void
count_cases(const struct junit_suite *suite, size_t *cases, size_t *failures)
{
    for (size_t i = 0; i < suite->table->count; i++) {
        if (!begins_case(suite->table, i))
            continue;
        ++*cases;
        *failures += find_broken(suite, &suite->table->rows[i].group) != NULL;
    }
}

static void
append_failure(struct text *out, const struct tolerance_verdict *broken)
{
    const struct error_row *row = broken->row;
    const char *message =
        arena_format(out->arena, "held-out MAPE is %.2f %%, wanted at most %.2f %%",
                     row->mape_fraction * 100, broken->tolerance->mape_fraction_max * 100);
    text_format(out, "      <failure type=\"tolerance\"");
    append_attribute(out, "message", message);
    text_format(out, ">worst of %zu rows: ", row->count);
    append_escaped(out, row->worst.shape);
    text_format(out, "\nmeasured_s=%.6g predicted_s=%.6g\nlimit: ", row->worst.measured_s,
                row->worst.predicted_s);
    append_escaped(out, broken->tolerance->where);
    text_format(out, "</failure>\n");
}

/* "held-out: n 122, MAPE 7.2 %, ..." of each part that the group has. */
static void
append_figures(struct text *out, const struct error_table *table,
               const struct error_group *group)
{
    text_format(out, "      <system-out>");
    for (size_t i = 0; i < table->count; i++) {
        const struct error_row *row = &table->rows[i];
        if (error_group_is(&row->group, group))
            text_format(out,
                        "%s: n %zu, MAPE %.2f %%, bias %+.2f %%, p90 %.2f %%, worst %+.2f %%, "
                        "within 2 sd %.0f %%\n",
                        split_part_name(row->part), row->count, row->mape_fraction * 100,
                        row->bias_fraction * 100, row->p90_fraction * 100,
                        row->worst_fraction * 100, row->within_two_sigma_fraction * 100);
    }
    text_format(out, "</system-out>\n");
}

/* "gemm bf16 over 100 us"; a kind without dtype leaves none out. */
static const char *
case_name(const struct error_group *group, struct arena *arena)
{
    return arena_format(arena, "%s%s%s %s", group->kind, *group->dtype != '\0' ? " " : "",
                        group->dtype, group->size);
}

/* Readers cut class names at dots, which a title need not mean. */
static const char *
class_name(const char *title, struct arena *arena)
{
    char *name = arena_format(arena, "%s", title);
    for (char *at = name; *at != '\0'; at++)
        if (*at == '.')
            *at = '_';
    return arena_format(arena, "validate.%s", name);
}

static void
append_case(struct text *out, const struct junit_suite *suite, const struct error_group *group)
{
    const struct tolerance_verdict *broken = find_broken(suite, group);
    text_format(out, "    <testcase");
    append_attribute(out, "classname", class_name(suite->title, out->arena));
    append_attribute(out, "name", case_name(group, out->arena));
    text_format(out, " time=\"0\">\n");
    if (broken != NULL)
        append_failure(out, broken);
    append_figures(out, suite->table, group);
    text_format(out, "    </testcase>\n");
}

static void
append_suite(struct text *out, const struct junit_suite *suite)
{
    size_t cases = 0, failures = 0;
    count_cases(suite, &cases, &failures);
    text_format(out, "  <testsuite");
    append_attribute(out, "name", suite->title);
    text_format(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"0\" time=\"0\">\n",
                cases, failures);
    for (size_t i = 0; i < suite->table->count; i++)
        if (begins_case(suite->table, i))
            append_case(out, suite, &suite->table->rows[i].group);
    text_format(out, "  </testsuite>\n");
}

void
junit_write(const struct junit_suite *suites, size_t count, struct text *out)
{
    size_t cases = 0, failures = 0;
    for (size_t i = 0; i < count; i++)
        count_cases(&suites[i], &cases, &failures);
    text_format(out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<testsuites name=\"stepcast validate\" tests=\"%zu\" failures=\"%zu\" "
                "errors=\"0\" time=\"0\">\n",
                cases, failures);
    for (size_t i = 0; i < count; i++)
        append_suite(out, &suites[i]);
    text_format(out, "</testsuites>\n");
}
