/* Measures collectives between processes: each checked, then timed by its slowest rank. */
#ifndef VALIDATE_PROCESS_COLLECTIVE_H
#define VALIDATE_PROCESS_COLLECTIVE_H

#include "validate/measure_backend.h"
#include "validate/measure_cpu.h"
#include "validate/process_group.h"

/* The back end's kernels run on rank 0, while the others wait for the next line; collectives run on
 * the first ranks of the world, as many as they ask for. Every process calls with the same
 * options. World, inner and options outlive it. */
struct measure_backend process_collective_backend(const struct process_group *world,
                                                  const struct measure_backend *inner,
                                                  const struct measure_cpu_options *options,
                                                  struct arena *arena);

#endif
