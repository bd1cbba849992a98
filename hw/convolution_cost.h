/* What a short causal convolution along the sequence costs. */
#ifndef HW_CONVOLUTION_COST_H
#define HW_CONVOLUTION_COST_H

#include "hw/kernel_cost.h"

/* The weight's gradient with a channel a group: a warp to each tap of each channel, as many as fit
 * at once. */
double convolution_weight_sum_s(const struct device *device,
                                const struct convolution *convolution);

/* Groups of several channels, all but their products. */
double convolution_groups_s(const struct device *device, const struct convolution *convolution,
                            enum direction direction);

/* The device must have a matrix rate for the dtype. */
void convolution_cost(const struct device *device, const struct kernel *kernel,
                      struct kernel_cost *cost);

#endif
