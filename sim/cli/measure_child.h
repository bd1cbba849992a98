/* Runs build/measure on a list and reads what it prints. */
#ifndef SIM_CLI_MEASURE_CHILD_H
#define SIM_CLI_MEASURE_CHILD_H

#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

struct measure_child {
    const char *command; /* that asks for it, for the line that says how far it is */
    const char *program; /* its path; "": the measure that lies beside this program */
    double seconds;      /* for the repeats of one kernel */
    int rounds;          /* in which kernels take turns; 0: one after the other */
    double cold_bytes;   /* through which operands rotate; 0: the program knows */
    int ranks;           /* processes that measure together, by mpirun; 0: one alone */
    const char *backend, *library_path; /* "" as the program has it */
    const char *log_path; /* where its talk goes; gone again when every line was measured */
};

/* The list's lines come back with times, those that it could not measure are left out. False after
 * adding ERROR_IO, or ERROR_INFEASIBLE where there is no GPU, with the child's own words if it had
 * any; it has ended in any case. */
bool measure_child_run(const struct measure_child *child, const struct text *list,
                       struct text *measured, struct error_list *errors);

#endif
