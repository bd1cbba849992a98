/* What a chart shows as a table: a row a value, in the SI units that its header names. */
#ifndef PLOTS_CHART_CSV_H
#define PLOTS_CHART_CSV_H

#include "plots/area_chart.h"
#include "plots/bar_chart.h"
#include "plots/line_chart.h"
#include "plots/ratio_chart.h"
#include "plots/scatter_chart.h"
#include "plots/tornado_chart.h"
#include "sim/base/text.h"

/* series,kind,x,y,low,high: `kind` is the name of what a row is of, or what is noted of it. A
 * series with a y of its own is named by that and its unit. */
void line_chart_csv(const struct line_chart *chart, struct text *out);

/* section,panel,kind,truth,ratio. */
void ratio_chart_csv(const struct ratio_chart *chart, struct text *out);

/* row,pieces..,sum,low,high,side,limit,reason. */
void bar_chart_csv(const struct bar_chart *chart, struct text *out);

/* kind,label,x,y,area. Of a line each point, of the limit its x. */
void scatter_chart_csv(const struct scatter_chart *chart, struct text *out);

/* row,better,worse. */
void tornado_chart_csv(const struct tornado_chart *chart, struct text *out);

/* panel,x, each kind,limit: a row a moment. */
void area_chart_csv(const struct area_chart *chart, struct text *out);

#endif
