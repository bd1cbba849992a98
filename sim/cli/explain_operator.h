/* One kernel or collective of a step, and where its price comes from, in words and as JSON. */
#ifndef SIM_CLI_EXPLAIN_OPERATOR_H
#define SIM_CLI_EXPLAIN_OPERATOR_H

#include "models/explain.h"
#include "models/provenance.h"

/* By its number in the table of operators, from 1, or by its name: of several of one name the
 * longest. NULL: there is none. */
const struct explain_operator *explain_operator_find(const struct explanation *explanation,
                                                     const char *wanted);

/* The first of that name that any rank runs, on the chain or not; its count is then 0. */
const struct explain_operator *
explain_operator_find_anywhere(const struct explanation *explanation, const char *wanted,
                               struct arena *arena);

/* The name that was meant, NULL without one near. */
const char *explain_operator_nearest(const struct explanation *explanation, const char *wanted,
                                     struct arena *arena);

/* The unit that the path of a number names: "B/s" of "network.nic_bytes_per_s"; "" of counts. */
const char *explain_operator_unit(const char *path);

struct explain_origin {
    const struct explanation *explanation;
    const struct explain_operator *found;
    struct provenance provenance;
};

/* As a line of a list for `stepcast kernel` or `stepcast collective`. */
void explain_operator_question(const struct explain_origin *origin, struct text *out);

void explain_operator_text(const struct explain_origin *origin, struct text *out);
void explain_operator_json(const struct explain_origin *origin, struct text *out);

#endif
