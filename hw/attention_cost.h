/* What attention without a stored score matrix costs (FlashAttention and its kin). */
#ifndef HW_ATTENTION_COST_H
#define HW_ATTENTION_COST_H

#include "hw/kernel_cost.h"

/* The device's implementation of that name, its first for NULL; NULL when it knows none. */
const struct device_attention *attention_implementation(const struct device *device,
                                                        const char *name);

/* The one that runs it: the implementation it names, else its library's, else the first, or the
 * other one that this leaves it to. The device must know the name. */
const struct device_attention *attention_runs_on(const struct device *device,
                                                 const struct attention *attention);

/* The device must have a peak rate for the dtype and know the implementation. */
void attention_cost(const struct device *device, const struct kernel *kernel,
                    struct kernel_cost *cost);

#endif
