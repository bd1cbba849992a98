/* Where one rank's time goes: from 0 to the step's end in stretches of one class each.
 *
 *      compute  [ k ][ k ]     [  k  ][ k ]
 *      network       [  reduce  ]
 *      account  [ k ][ k ][ red ][ k ][o][ k ][bubble]
 *
 * A kernel counts for its class as long as it takes alone, and for CLASS_OVERLAP for what it takes
 * longer. A gap of the compute lane counts for what the next kernel waited for: the engine has
 * noted who released whom, so the gap is followed back from release to release until it is used
 * up. All in whole picoseconds: the stretches leave nothing out and never overlap. */
#ifndef MODELS_STEP_ACCOUNT_H
#define MODELS_STEP_ACCOUNT_H

#include "models/step.h"

struct step_stretch {
    int64_t start_ps, end_ps; /* start < end */
    enum step_class spent_on;
};

struct step_visitor {
    void (*visit)(void *context, const struct step_stretch *stretch);
    void (*kernel)(void *context, const struct step_work *work); /* each, in order; or NULL */
    void *context;
};

/* Shows every stretch of the rank that a slot of the lowered step stands for; those of one gap come
 * latest first. Reads lowered and trace alone. */
void step_account(const struct step *step, uint32_t slot, const struct step_visitor *visitor);

/* The same as a list in the order of time, neighbours of one class as one; *count of them. */
const struct step_stretch *step_account_list(const struct step *step, uint32_t slot,
                                             struct arena *arena, size_t *count);

#endif
