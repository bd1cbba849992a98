/* A host as a device to calibrate: each core is one, a process of one thread. */
#ifndef VALIDATE_HOST_DEVICE_H
#define VALIDATE_HOST_DEVICE_H

#include "sim/base/json.h"
#include "sim/base/text.h"
#include "validate/host_topology.h"

/* Coefficients that a fit leaves as they are: of a core they stand for nothing, or name the rate
 * that the others are fractions of. */
extern const char *const host_device_kept[];
extern const size_t host_device_kept_count;

/* The device file `begin` (configs/devices/cpu-core.json) with the machine's name, caches and a
 * core's part of the memory. False after adding ERROR_INPUT when it is no file of one unit. */
bool host_device_write(const struct json *begin, const struct host_topology *topology,
                       struct text *out, struct error_list *errors);

/* Operands that rotate through so much come from beyond the core's own cache, as those do that an
 * operator finds in a training step: a layer's weights, what the layer before wrote. */
double host_device_cold_bytes(const struct host_topology *topology);

#endif
