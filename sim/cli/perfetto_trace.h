/* A step as a Perfetto trace (.pftrace): a group of tracks for each rank that was simulated, and
 * one for the network.
 *
 *      rank 832, stage 13, node 104, GPU 0
 *          account      what each moment counts for in the breakdown
 *          host, compute, data, ...     lanes; arrows from the last to come of a collective to
 *                                       the others, and from each sender to its receiver
 *          sent activations, ...        to other stages
 *          HBM          memory in use
 *      network
 *          rail 0 .. 7  how much of the NICs of the rail is in use
 */
#ifndef SIM_CLI_PERFETTO_TRACE_H
#define SIM_CLI_PERFETTO_TRACE_H

#include "models/step.h"
#include "sim/cli/perfetto_packets.h"

/* Returns how many bytes the sink got. Beside a buffer of fixed size, memory is taken for one rank
 * at a time, and a few bytes for each rank; what is longer than that is only the trace itself. */
uint64_t perfetto_trace_write(const struct step *step, const struct trace_sink *sink,
                              struct arena *arena);

#endif
