/* What plain kernels cost: those of validate/gpu_rows.cu and validate/gpu_moves.cu, on a device
 * whose file says that its streams are such. */
#ifndef HW_PLAIN_COST_H
#define HW_PLAIN_COST_H

#include "hw/kernel_cost.h"

/* Whether a kernel of this kind is one of them; elementwise kernels and copies are everybody's. */
bool plain_has(enum kernel_kind kind);

void plain_cost(const struct device *device, const struct kernel *kernel,
                struct kernel_cost *cost);

#endif
