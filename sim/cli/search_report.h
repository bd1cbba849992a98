/* What a search found, and what it refused and why: for people and for programs. */
#ifndef SIM_CLI_SEARCH_REPORT_H
#define SIM_CLI_SEARCH_REPORT_H

#include "plots/scatter_chart.h"
#include "sim/base/json_writer.h"
#include "sim/base/text.h"
#include "sim/cli/search.h"

/* The settings that make the run's plan that one; "the plan as it is" where there are none. */
const char *search_report_plan(const struct search *search, const struct search_plan *plan,
                               struct arena *arena);

/* Its fields, its bound, its numbers: members of an object that is open. */
void search_report_write(struct json_writer *writer, const struct search *search,
                         const struct search_plan *plan);

void search_report_text(const struct search *search, struct text *out);
void search_report_json(const struct search *search, struct text *out);
/* The best; of a search for the front, the front. Of a slice each row begins with its plan's place
 * by bound, for `stepcast merge`. */
void search_report_csv(const struct search *search, struct text *out);

/* The pieces of it: what names the shard, if it is one, and the columns, `first` before the others;
 * a plan's columns from there on. */
void search_report_csv_head(const struct search *search, const struct slice *slice,
                            const char *first, struct text *out);
void search_report_csv_row(const struct search *search, const struct search_plan *plan,
                           struct text *out);

/* The front as a picture; NULL when there is none: no plan fits. */
const struct scatter_chart *search_picture(const struct search *search, struct arena *arena);
/* A plan as people call it: "TP2 PP4 mbs1". */
const char *search_picture_code(const struct plan_point *point, struct arena *arena);

#endif
