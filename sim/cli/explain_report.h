/* Why a step takes that long, in words and as JSON. */
#ifndef SIM_CLI_EXPLAIN_REPORT_H
#define SIM_CLI_EXPLAIN_REPORT_H

#include "models/explain.h"
#include "models/what_if.h"

struct explain_report {
    struct explanation explanation;
    struct what_if what_ifs[WHAT_IFS_MAX];
    int what_if_count;
};

void explain_report_text(const struct explain_report *report, struct text *out);
/* Terms of "causes" and of "classes" add up to "step_s" each, as do those of "operators". */
void explain_report_json(const struct explain_report *report, struct text *out);

#endif
