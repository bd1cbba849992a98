/* Measures kernels on this machine for a calibration: what `calibrate --host` fits to. */
#ifndef SIM_CLI_HOST_MEASUREMENT_H
#define SIM_CLI_HOST_MEASUREMENT_H

#include "sim/base/json.h"
#include "sim/cli/measure_child.h"

struct host_question {
    const char *device_path;  /* the file to begin with; "": the nearest of configs/devices */
    const char *backend;      /* "cuda", "hip"; "" or "cpu": a core */
    const char *library_path; /* where GPU libraries lie besides the usual places, or "" */
    const char *measure_program; /* "": the measure that lies beside stepcast */
    const char *output_path;     /* of the fitted device: the list goes beside it */
    double budget_s;             /* of measuring, about */
};

struct host_measurement {
    const struct json *device; /* the file to begin with, told of this machine */
    const char *list_path;     /* "build/host.kernels.jsonl" for "build/host.json" */
};

/* Writes the list, says on standard error what it is about to do. False after adding a fault. */
bool host_measurement_take(const struct host_question *question,
                           struct host_measurement *measurement, struct arena *arena,
                           struct error_list *errors);

/* The measuring program as this question has it started; seconds are the caller's. */
struct measure_child host_child(const struct host_question *question, struct arena *arena);

/* The path without its ending: "build/host" for "build/host.json". */
const char *host_stem(const char *path, struct arena *arena);

#endif
