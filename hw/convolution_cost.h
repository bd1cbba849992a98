/* What a short causal convolution along the sequence costs. */
#ifndef HW_CONVOLUTION_COST_H
#define HW_CONVOLUTION_COST_H

#include "hw/kernel_cost.h"

/* The device must have a matrix rate for the dtype. */
void convolution_cost(const struct device *device, const struct kernel *kernel,
                      struct kernel_cost *cost);

#endif
