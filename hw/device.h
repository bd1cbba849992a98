/* A GPU as its datasheet and its measurements describe it. */
#ifndef HW_DEVICE_H
#define HW_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/kernel.h"

/* hw owner: complete this struct; models rely on the members named here only. */
struct device {
    const char *name; /* "mi300x" */
    const char *description; /* "AMD Instinct MI300X 192 GB" */
    double hbm_bytes;           /* capacity */
    double peak_flop_per_s[DTYPE_COUNT]; /* dense, datasheet; 0: the device has none */
};

/* Reads configs/devices/NAME.json; NULL after adding every fault. */
const struct device *device_read(const struct json *object, struct arena *arena,
                                 struct error_list *errors);

#endif
