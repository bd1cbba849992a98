/* All points of a sweep: looked up or simulated, then written in order, a block at a time, so that
 * memory stays flat however many there are. */
#ifndef SIM_CLI_SWEEP_RUN_H
#define SIM_CLI_SWEEP_RUN_H

#include "sim/cli/command.h"
#include "sim/cli/crew.h"
#include "sim/cli/known_points.h"
#include "sim/cli/slice.h"

struct sweep_job {
    const struct options *options;
    struct arena *arena;
    struct sweep_space space;
    const struct run *base;
    int threads;
    struct slice slice;
    enum output_format format;
    enum output_format rows_format; /* JSON beside a picture */
    enum sweep_quantity quantity;   /* of a picture */
    bool is_quiet;                  /* shows no progress */
};

/* An exit_code, after saying what there is to say. The job is ready: its space checked, its options
 * read. */
int sweep_run(const struct sweep_job *job);

#endif
