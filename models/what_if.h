/* How long a step would take with one thing about it changed. */
#ifndef MODELS_WHAT_IF_H
#define MODELS_WHAT_IF_H

#include "models/step.h"

/* The step simulated once more with one change. */
struct what_if {
    const char *key;    /* "nic_bandwidth_doubled" */
    const char *label;  /* "twice the bandwidth of the NICs" */
    const char *reason; /* why it cannot be; NULL: it can */
    int64_t step_ps;    /* 0 of what cannot be */
    int64_t gain_ps;    /* what the step takes less; below 0: more */
};

enum { WHAT_IFS_MAX = 24 };

/* Most gain first, then what cannot be; how many. Changes of the plan that it has already made, as
 * an overlap that is on, are left out. */
int what_if_all(const struct step *step, struct what_if what_ifs[WHAT_IFS_MAX],
                struct arena *arena);

#endif
