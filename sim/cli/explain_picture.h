/* Why a step takes that long, as pictures. */
#ifndef SIM_CLI_EXPLAIN_PICTURE_H
#define SIM_CLI_EXPLAIN_PICTURE_H

#include "models/sensitivity.h"
#include "models/step.h"
#include "plots/scatter_chart.h"
#include "plots/tornado_chart.h"

/* What a tenth more or less of each number does to the step. */
const struct tornado_chart *explain_tornado(const struct step *step,
                                            const struct sensitivity items[SENSITIVITY_COUNT],
                                            struct arena *arena);

/* Classes of kernels by the FLOP that they compute for each byte of HBM and a second, sized by
 * their part of the step, under what the device can. */
const struct scatter_chart *explain_roofline(const struct step *step, struct arena *arena);

#endif
