/* What kernels cost that work row by row: norms, softmax, choosing the largest, losses. */
#ifndef HW_ROW_COST_H
#define HW_ROW_COST_H

#include "hw/kernel_cost.h"

/* Rows that a device works on at once with a small workgroup for each. */
double row_resident_narrow(const struct device *device);

/* rms_norm, softmax, top_k, cross_entropy. */
void row_cost(const struct device *device, const struct kernel *kernel,
              struct kernel_cost *cost);

#endif
