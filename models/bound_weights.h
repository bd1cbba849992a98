/* For models/bound.c: the least that collectives over weights and gradients take of a step. */
#ifndef MODELS_BOUND_WEIGHTS_H
#define MODELS_BOUND_WEIGHTS_H

#include "models/program.h"
#include "models/schedule.h"

enum { WEIGHT_SETS = 2 }; /* those alike on all data ranks, and the experts */

/* Elements on one rank, by where they are used; the same for any number of stages. */
struct bound_weights {
    int64_t *layers[WEIGHT_SETS]; /* of each layer */
    int64_t embedding;            /* of the first set */
    int64_t head[WEIGHT_SETS];    /* and what is predicted ahead; a tied head has none */
};
struct bound_weights bound_weights_of(const struct step_inputs *inputs, struct arena *arena);

/* Of one stage. */
struct bound_sync {
    double lane_s;   /* all collectives of a step: they share a lane */
    double before_s; /* before its first kernel has its weights */
    double behind_s; /* behind its last one, before the optimizer can begin, and behind that */
};
struct bound_sync bound_sync_of(const struct step_inputs *inputs,
                                const struct bound_weights *weights, int64_t stage,
                                struct arena *arena);

#endif
