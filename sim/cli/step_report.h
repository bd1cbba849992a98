/* A step in words, as JSON and as CSV. */
#ifndef SIM_CLI_STEP_REPORT_H
#define SIM_CLI_STEP_REPORT_H

#include "models/step.h"
#include "sim/base/text.h"

/* For people: what was asked, the answer, where the step goes, what memory holds. */
void step_report_text(const struct step *step, struct text *out);

/* For programs: one object (README, "As JSON"). Terms of "breakdown" add up to "step_s". */
void step_report_json(const struct step *step, struct text *out);

/* The breakdown, a class a row. */
void step_report_csv(const struct step *step, struct text *out);

#endif
