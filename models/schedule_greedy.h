/* Schedules that are found by trying: each stage runs the most urgent pass that it can. */
#ifndef MODELS_SCHEDULE_GREEDY_H
#define MODELS_SCHEDULE_GREEDY_H

#include "models/schedule.h"

/* ZB-V (arXiv 2401.10241 section 6), one schedule a stage: as if every pass took the same time,
 * gradients of inputs first, then forwards as long as no more is kept than 1F1B keeps (2 p
 * chunks), and gradients of weights where nothing else can run. */
const struct schedule *schedule_greedy(const struct schedule_shape *shape, struct arena *arena);

#endif
