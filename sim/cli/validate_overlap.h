/* Measured pairs of kernels and collectives in an error table. */
#ifndef SIM_CLI_VALIDATE_OVERLAP_H
#define SIM_CLI_VALIDATE_OVERLAP_H

#include "sim/cli/validate_outcome.h"

/* Adds the lists of pairs that the table asks for: of each pair the time of its kernels and
 * that of its collectives. False after adding every fault. */
bool validate_add_overlaps(struct validate_outcome *outcome, struct arena *arena,
                           struct error_list *errors);

#endif
