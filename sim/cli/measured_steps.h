/* Whole steps with the times that somebody measured, as samples of an error table. */
#ifndef SIM_CLI_MEASURED_STEPS_H
#define SIM_CLI_MEASURED_STEPS_H

#include "validate/comparison.h"

/* Adds a JSONL file. A line names a run's file, relative to the list, and the step's measured
 * time; the times of its parts (models/step.h) may be there as well:
 *
 *   {"run": "../runs/a.json", "measured_s": 0.12, "measured_optimizer_s": 0.004}
 *
 * The group is "step", of size "all", and of its parts "passes" (forward and backward),
 * "reduction", "optimizer" and "gather". All rows are held out: no step is fitted on.
 * False after adding every fault, a run that cannot be simulated among them. */
bool measured_steps_add(struct comparison *comparison, const char *path, struct arena *arena,
                        struct error_list *errors);

#endif
