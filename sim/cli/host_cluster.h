/* Measures collectives on this machine, fits a cluster to them and shows how far off it is: the
 * second half of `calibrate --host`. */
#ifndef SIM_CLI_HOST_CLUSTER_H
#define SIM_CLI_HOST_CLUSTER_H

#include "hw/device.h"
#include "sim/base/text.h"
#include "sim/cli/host_measurement.h"

struct host_cluster_question {
    const struct host_question *host; /* its output path is the device's */
    const struct device *device;      /* the fitted one */
    const char *date;
    uint64_t seed; /* of the split into fitted and held-out sizes */
};

/* Writes STEM.collectives.jsonl and STEM.cluster.json beside the device and appends the error
 * table. Where nobody is there to talk to, or nothing to start processes with, says so on
 * standard error and writes nothing. False after adding a fault. */
bool host_cluster_take(const struct host_cluster_question *question, struct text *report,
                       struct error_list *errors);

#endif
