/* A step as a Chrome trace (Trace Event Format), for Perfetto and the trace tools of PyTorch.
 *
 *      rank 8, stage 1     the file's own: kernels, streams and arguments as PyTorch's profiler
 *          host, compute, data, ...                        (Kineto) writes those of one rank
 *          account      what each moment counts for in the breakdown
 *          activations to rank 16    arrows from here to where that rank takes them in
 *      rank 16, stage 2    what it does meanwhile, for people only
 */
#ifndef SIM_CLI_CHROME_TRACE_H
#define SIM_CLI_CHROME_TRACE_H

#include "sim/cli/shown_ranks.h"
#include "sim/cli/trace_sink.h"

/* Times in microseconds with three decimals; the account's duration_ps add up to the breakdown
 * exactly. An arrow stands for each message of which both ends are shown: pipeline transfers, and
 * exchanges with the next of a group. Memory is taken for one rank at a time and a buffer. */
void chrome_trace_write(const struct step *step, const struct shown_ranks *shown,
                        const struct trace_sink *sink, struct arena *arena);

#endif
