/* How much a step's time hangs on each of the numbers that it is predicted from. */
#ifndef MODELS_SENSITIVITY_H
#define MODELS_SENSITIVITY_H

#include "models/step.h"

/* What is changed, up and down. */
extern const double SENSITIVITY_FRACTION;

/* The step simulated twice more: a rate more or a time less by the fraction, and the other way. */
struct sensitivity {
    const char *key;             /* "hbm_bandwidth" */
    const char *label;           /* "bandwidth of HBM" */
    bool is_rate;                /* better when higher */
    int64_t better_ps, worse_ps; /* the step's time */
};

enum { SENSITIVITY_COUNT = 8 };

/* What moves the step most first. False after adding why a step could not be simulated. */
bool sensitivity_all(const struct step *step, struct sensitivity items[SENSITIVITY_COUNT],
                     struct arena *arena, struct error_list *errors);

#endif
