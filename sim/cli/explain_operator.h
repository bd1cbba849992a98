/* One kernel or collective of a step, and where its price comes from, in words and as JSON. */
#ifndef SIM_CLI_EXPLAIN_OPERATOR_H
#define SIM_CLI_EXPLAIN_OPERATOR_H

#include "models/explain.h"
#include "models/provenance.h"

/* By its number in the table of operators, from 1, or by its name: of several of one name the
 * longest. NULL: there is none. */
const struct explain_operator *explain_operator_find(const struct explanation *explanation,
                                                     const char *wanted);

struct explain_origin {
    const struct explanation *explanation;
    const struct explain_operator *found;
    struct provenance provenance;
};

void explain_operator_text(const struct explain_origin *origin, struct text *out);
void explain_operator_json(const struct explain_origin *origin, struct text *out);

#endif
