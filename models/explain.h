/* Why a step takes as long as it does: the chain of tasks that decides its end, summed by cause. */
#ifndef MODELS_EXPLAIN_H
#define MODELS_EXPLAIN_H

#include "models/step.h"

/* What a task of the chain waits for. The first are those of enum kernel_bound, in its order. */
enum explain_cause {
    CAUSE_COMPUTE,
    CAUSE_HBM,
    CAUSE_CACHE,
    CAUSE_LATENCY,
    CAUSE_LAUNCH,
    CAUSE_LINKS,           /* bytes of a collective over links of the node */
    CAUSE_NIC,             /* and over the network */
    CAUSE_NETWORK_LATENCY, /* a collective's launch and hops, whatever its size */
    CAUSE_SHARING,         /* what tasks take longer beside others than alone */
    CAUSE_HOST,
    CAUSE_COUNT
};
const char *explain_cause_key(enum explain_cause cause);   /* "network_latency", without _s */
const char *explain_cause_label(enum explain_cause cause); /* "starting collectives and hops" */

/* A kernel, a collective or launches of the host, all of one name and price together. */
struct explain_operator {
    const struct step_work *work;
    enum explain_cause cause; /* of most of its time, were it alone */
    int64_t count;            /* on the chain */
    int64_t ps;               /* of the chain's time */
};

struct explanation {
    const struct step *step;
    int64_t task_count;                       /* of the chain */
    int64_t cause_ps[CAUSE_COUNT];            /* add up to the step's time */
    int64_t class_ps[STEP_CLASS_COUNT];       /* add up to it too */
    const struct explain_operator *operators; /* so do these; longest first */
    int64_t operator_count;
};

struct explanation explain_step(const struct step *step, struct arena *arena);

#endif
