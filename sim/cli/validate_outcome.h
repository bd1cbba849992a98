/* One error table of `stepcast validate` with what it was made from. */
#ifndef SIM_CLI_VALIDATE_OUTCOME_H
#define SIM_CLI_VALIDATE_OUTCOME_H

#include "plots/ratio_chart.h"
#include "sim/cli/command.h"
#include "sim/cli/host_steps.h"
#include "validate/comparison.h"
#include "validate/error_table.h"
#include "validate/suite.h"
#include "validate/tolerance.h"

struct validate_outcome {
    const struct suite_table *asked;
    const struct host_steps_question *host; /* NULL: nothing is measured now */
    struct host_steps steps;                /* of the host */
    struct comparison_basis basis;
    struct comparison comparison;
    struct error_table table;
    struct tolerance_verdicts verdicts;
};

/* What to call a table: its title, or else what prices it. */
const char *validate_title(const struct suite_table *asked);

/* Every row of the tables as predicted / measured against the measured time, a panel for each kind
 * and dtype, a section for each table. */
const struct ratio_chart *validate_picture(const struct validate_outcome *outcomes,
                                           size_t count, struct arena *arena);

/* The same drawn to where the options say, with its data beside it; an exit code. */
int validate_draw(const struct options *options, const struct validate_outcome *outcomes,
                  size_t count, struct arena *arena);

#endif
