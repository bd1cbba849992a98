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

/* Any device file, told the GPU's own name, that grouped products run one by one there, and that
 * its streams are plain kernels, with the numbers of `plain`, a device file that has such
 * (configs/devices/h200-own-kernels.json), unless it has its own. */
bool host_device_write_gpu(const struct json *begin, const struct json *plain, const char *gpu,
                           struct text *out, struct error_list *errors);

/* Operands that rotate through so much come from where those of a training step do: beyond the last
 * cache, or, of a cache that a machine of many cores shares, beyond 128 MB. The step of
 * configs/runs/host-moe.json goes through 380 MB before a weight comes again; on a Xeon of 480 MB
 * its kernels take as long as such operands make them, a third longer than with 8 MB. */
double host_device_cold_bytes(const struct host_topology *topology);

#endif
