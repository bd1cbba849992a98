/* What a layer of experts costs as one or two kernels that hold all of its products. */
#ifndef HW_FUSED_MOE_COST_H
#define HW_FUSED_MOE_COST_H

#include "hw/kernel_cost.h"

/* The device must have a rate for the dtype. */
void fused_moe_cost(const struct device *device, const struct kernel *kernel,
                    struct kernel_cost *cost);

#endif
