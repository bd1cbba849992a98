/* What a GPU keeps over a step, as a picture. */
#ifndef SIM_CLI_MEMORY_PICTURE_H
#define SIM_CLI_MEMORY_PICTURE_H

#include "models/step.h"
#include "plots/area_chart.h"

/* Of the only stage; of several the first, the middle, the last and the one that needs most. The
 * limit is of the run, whatever the step's own device has. */
const struct area_chart *memory_picture(const struct step *step, double capacity_bytes,
                                        struct arena *arena);

#endif
