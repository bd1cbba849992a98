/* Runs build/measure on a list and reads what it prints. */
#ifndef SIM_CLI_MEASURE_CHILD_H
#define SIM_CLI_MEASURE_CHILD_H

#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

struct measure_child {
    const char *program;  /* its path; "": the measure that lies beside this program */
    double seconds;       /* for the repeats of one kernel */
    double cold_bytes;    /* through which operands rotate */
    const char *log_path; /* where its talk goes; gone again when all went well */
};

/* The list's lines come back with times, those that it could not measure are left out. False
 * after adding ERROR_IO when it does not run or was stopped; the child has ended in any case. */
bool measure_child_run(const struct measure_child *child, const struct text *list,
                       struct text *measured, struct error_list *errors);

#endif
