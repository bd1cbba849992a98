/* What measure runs a list on: this machine's CPU, or its GPUs behind a vendor's libraries. */
#ifndef VALIDATE_MEASURE_BACKEND_H
#define VALIDATE_MEASURE_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/collective.h"
#include "hw/kernel.h"
#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "validate/measure_times.h"

struct measure_result {
    struct measure_times times;
    int64_t disturbed; /* runs that are not in these times, as others had the core */
    int64_t operand_sets;
    double error_fraction; /* norm(result - reference) / norm(reference), reference in fp64 */
    const char *library;   /* whose code it was, when not the back end's; else NULL */
};

/* Both functions: false after adding the fault (no code for it, too large, a wrong result, which
 * is never timed); the next line can be measured all the same. They keep nothing in the arena but
 * the result's library. */
struct measure_backend {
    const char *device, *library;
    double clock_hz;  /* as the system says it is now; 0: it does not say, or the name does */
    bool is_enqueued; /* kernels wait for the device, not for the host: no host's time is in */
    void *context;
    bool (*run_kernel)(void *context, const struct kernel *kernel,
                       struct measure_result *result, struct arena *arena,
                       struct error_list *errors);
    bool (*run_collective)(void *context, const struct collective *collective,
                           struct measure_result *result, struct arena *arena,
                           struct error_list *errors); /* NULL: nobody to talk to */
    void (*close)(void *context);                      /* NULL: nothing to give back */
};

#endif
