/* Charts as tables. */
#include "plots/chart_csv.h"

#include <math.h>

#include "sim/base/csv.h"

static const char *
or_else(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

static void
write_field(struct text *out, const char *text)
{
    csv_write_text(out, text);
    text_append(out, ",", 1);
}

static void
write_values(struct text *out, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        csv_write_real(out, values[i]);
        text_append(out, i + 1 < count ? "," : "\n", 1);
    }
}

/* "step (s)". */
static const char *
column_name(struct text *out, const char *name, const char *unit)
{
    return *unit != '\0' ? arena_format(out->arena, "%s (%s)", name, unit) : name;
}

static void
write_line_head(const struct line_chart *chart, struct text *out)
{
    const char *unit = chart->y.unit;
    text_format(out, "series,kind,");
    write_field(out, column_name(out, chart->x.name, chart->x.unit));
    write_field(out, column_name(out, or_else(chart->y.name, "value"), unit));
    write_field(out, column_name(out, "low", unit));
    csv_write_text(out, column_name(out, "high", unit));
    text_append(out, "\n", 1);
}

static void
write_row(struct text *out, const char *series, const char *kind, const double values[4])
{
    write_field(out, series);
    write_field(out, kind);
    write_values(out, values, 4);
}

static void
write_series(const struct line_chart *chart, const struct line_chart_series *series,
             struct text *out)
{
    const char *label = or_else(series->label, "");
    if (series->y != NULL) {
        const char *quantity = column_name(out, series->y->name, series->y->unit);
        label = *label != '\0' ? arena_format(out->arena, "%s: %s", label, quantity) : quantity;
    }
    for (size_t i = 0; i < series->vertex_count; i++) {
        const struct line_chart_vertex *vertex = &series->curve[i];
        write_row(out, label, or_else(chart->curve_name, "curve"),
                  (double[]){vertex->x, vertex->y, vertex->low, vertex->high});
    }
    for (size_t i = 0; i < series->point_count; i++) {
        const struct line_chart_point *point = &series->points[i];
        const char *kind = point->is_hollow ? or_else(chart->hollow_name, "ring")
                                            : or_else(chart->point_name, "point");
        write_row(out, label, kind, (double[]){point->x, point->y, point->y, point->y});
    }
    for (size_t i = 0; i < series->note_count; i++) {
        const struct line_chart_note *note = &series->notes[i];
        write_row(out, label, note->text, (double[]){note->x, note->y, note->y, note->y});
    }
}

void
line_chart_csv(const struct line_chart *chart, struct text *out)
{
    write_line_head(chart, out);
    for (size_t s = 0; s < chart->series_count; s++)
        write_series(chart, &chart->series[s], out);
}

static void
write_ratio_panel(const struct ratio_chart *chart, const char *section,
                  const struct ratio_chart_panel *panel, struct text *out)
{
    for (size_t i = 0; i < panel->point_count; i++) {
        const struct ratio_chart_point *point = &panel->points[i];
        write_field(out, section);
        write_field(out, panel->title);
        write_field(out, point->is_faint ? chart->faint_name : chart->strong_name);
        write_values(out, (double[]){point->truth, point->ratio}, 2);
    }
}

void
ratio_chart_csv(const struct ratio_chart *chart, struct text *out)
{
    text_format(out, "section,panel,kind,");
    write_field(out, column_name(out, chart->x_name, chart->x_unit));
    text_format(out, "ratio\n");
    for (size_t s = 0; s < chart->section_count; s++) {
        const struct ratio_chart_section *section = &chart->sections[s];
        for (size_t p = 0; p < section->panel_count; p++)
            write_ratio_panel(chart, or_else(section->title, ""), &section->panels[p], out);
    }
}

/* The field is empty where nothing is known. */
static void
write_known(struct text *out, double value, bool is_known)
{
    if (is_known)
        csv_write_real(out, value);
    text_append(out, ",", 1);
}

static void
write_bar_row(const struct bar_chart *chart, const struct bar_chart_row *row, struct text *out)
{
    bool has_interval = row->high > 0.0;
    write_field(out, row->name);
    for (size_t i = 0; i < chart->kind_count; i++)
        write_known(out, row->pieces != NULL ? row->pieces[i].value : 0.0, row->pieces != NULL);
    write_known(out, bar_chart_sum(chart, row), row->pieces != NULL);
    write_known(out, row->low, has_interval);
    write_known(out, row->high, has_interval);
    if (chart->side.name != NULL) {
        write_known(out, row->side, row->side > 0.0);
        write_known(out, row->side_limit, row->side_limit > 0.0);
    }
    csv_write_text(out, or_else(row->reason, ""));
    text_append(out, "\n", 1);
}

void
bar_chart_csv(const struct bar_chart *chart, struct text *out)
{
    const char *unit = chart->main.unit;
    text_format(out, "row,");
    for (size_t i = 0; i < chart->kind_count; i++)
        write_field(out, column_name(out, chart->kinds[i].name, unit));
    write_field(out, column_name(out, chart->main.name, unit));
    write_field(out, column_name(out, "low", unit));
    write_field(out, column_name(out, "high", unit));
    if (chart->side.name != NULL) {
        write_field(out, column_name(out, chart->side.name, chart->side.unit));
        write_field(out, column_name(out, "limit", chart->side.unit));
    }
    text_format(out, "reason\n");
    for (size_t i = 0; i < chart->row_count; i++)
        write_bar_row(chart, &chart->rows[i], out);
}

static void
write_place(struct text *out, const char *kind, const char *label, struct canvas_point at)
{
    write_field(out, kind);
    write_field(out, or_else(label, ""));
    write_known(out, at.x_pt, true);
    write_known(out, at.y_pt, true);
}

void
scatter_chart_csv(const struct scatter_chart *chart, struct text *out)
{
    text_format(out, "kind,label,");
    write_field(out, column_name(out, chart->x.name, chart->x.unit));
    write_field(out, column_name(out, chart->y.name, chart->y.unit));
    text_format(out, "area_part\n");
    for (size_t i = 0; i < chart->point_count; i++) {
        const struct scatter_point *point = &chart->points[i];
        const char *kind = point->is_faint ? or_else(chart->faint_name, "faint")
                                           : or_else(chart->strong_name, "point");
        write_place(out, kind, point->label, (struct canvas_point){point->x, point->y});
        csv_write_real(out, point->area_part);
        text_append(out, "\n", 1);
    }
    for (size_t i = 0; i < chart->line_count; i++)
        for (size_t k = 0; k < chart->lines[i].count; k++) {
            write_place(out, "line", chart->lines[i].label, chart->lines[i].points[k]);
            text_append(out, "\n", 1);
        }
    if (chart->limit.name != NULL) {
        write_place(out, "limit", chart->limit.name,
                    (struct canvas_point){chart->limit.x, INFINITY});
        text_append(out, "\n", 1);
    }
}

void
tornado_chart_csv(const struct tornado_chart *chart, struct text *out)
{
    text_format(out, "row,");
    write_field(out, column_name(out, chart->better, chart->x_unit));
    csv_write_text(out, column_name(out, chart->worse, chart->x_unit));
    text_append(out, "\n", 1);
    for (size_t i = 0; i < chart->row_count; i++) {
        write_field(out, chart->rows[i].name);
        write_values(out, (double[]){chart->rows[i].better, chart->rows[i].worse}, 2);
    }
}

static void
write_area_panel(const struct area_chart *chart, const struct area_chart_panel *panel,
                 struct text *out)
{
    for (size_t i = 0; i < panel->count; i++) {
        write_field(out, or_else(panel->title, ""));
        write_known(out, panel->x[i], true);
        for (size_t k = 0; k < chart->kind_count; k++)
            write_known(out, panel->layers[k].heights[i], true);
        csv_write_real(out, chart->limit);
        text_append(out, "\n", 1);
    }
}

void
area_chart_csv(const struct area_chart *chart, struct text *out)
{
    text_format(out, "panel,");
    write_field(out, column_name(out, chart->x_name, chart->x_unit));
    for (size_t i = 0; i < chart->kind_count; i++)
        write_field(out, column_name(out, chart->kinds[i].name, chart->y_unit));
    csv_write_text(out, column_name(out, "limit", chart->y_unit));
    text_append(out, "\n", 1);
    for (size_t i = 0; i < chart->panel_count; i++)
        write_area_panel(chart, &chart->panels[i], out);
}
