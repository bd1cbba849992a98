/* What orthogonalising one matrix costs (Muon's step). */
#ifndef HW_NEWTON_SCHULZ_COST_H
#define HW_NEWTON_SCHULZ_COST_H

#include "hw/kernel_cost.h"

/* The device must have a matrix rate for the dtype. */
void newton_schulz_cost(const struct device *device, const struct kernel *kernel,
                        struct kernel_cost *cost);

#endif
