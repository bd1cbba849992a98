/* What a search found, and what it refused and why: for people and for programs. */
#ifndef SIM_CLI_SEARCH_REPORT_H
#define SIM_CLI_SEARCH_REPORT_H

#include "sim/base/text.h"
#include "sim/cli/search.h"

/* The settings that make the run's plan that one; "the plan as it is" where there are none. */
const char *search_report_plan(const struct search *search, const struct search_plan *plan,
                               struct arena *arena);

void search_report_text(const struct search *search, struct text *out);
void search_report_json(const struct search *search, struct text *out);
/* The best; of a search for the front, the front. */
void search_report_csv(const struct search *search, struct text *out);

#endif
