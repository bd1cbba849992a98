/* A step as a timeline: which row, colour and label each of its tasks gets. */
#ifndef SIM_CLI_STEP_PICTURE_H
#define SIM_CLI_STEP_PICTURE_H

#include "models/step.h"
#include "plots/timeline.h"
#include "sim/cli/shown_ranks.h"

/* What is enlarged: of a pipeline or many microbatches the steady state, else the end; the last
 * eighth of the step; two forwards and what is between them in the middle; or a window. */
enum zoom_kind { ZOOM_AUTO, ZOOM_END, ZOOM_STEADY, ZOOM_WINDOW };

struct zoom {
    enum zoom_kind kind;
    double from_s, to_s; /* of a window */
};

/* The colour of a class in every picture. */
enum style_slot step_picture_class_slot(enum step_class spent_on);

enum { STEP_PICTURE_RANKS_MAX = 16 }; /* more lanes would be lines, not bars */

/* With the lanes of these ranks, STEP_PICTURE_RANKS_MAX at most. Everything in the arena; drawn by
 * timeline_draw. */
const struct timeline *step_picture(const struct step *step, struct zoom zoom,
                                    const struct shown_ranks *shown, struct arena *arena);

#endif
