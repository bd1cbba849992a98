/* A step as a timeline: which row, colour and label each of its tasks gets. */
#ifndef SIM_CLI_STEP_PICTURE_H
#define SIM_CLI_STEP_PICTURE_H

#include "models/step.h"
#include "plots/timeline.h"

/* Seconds of the window that is enlarged; to_s 0: the last eighth of the step. */
struct zoom_window {
    double from_s, to_s;
};

/* Everything in the arena; drawn by timeline_draw. */
const struct timeline *step_picture(const struct step *step, struct zoom_window zoom,
                                    struct arena *arena);

#endif
