/* How much of the network a step uses over time: a counter for each rail, one for links within
 * nodes. */
#ifndef SIM_CLI_PERFETTO_NETWORK_H
#define SIM_CLI_PERFETTO_NETWORK_H

#include "models/step.h"
#include "sim/cli/perfetto_packets.h"

/* The mean over the GPUs of a rail (of all nodes) of what they take of their NIC (links); of ranks
 * that stand for others as many times as those are. Nothing where no work takes any. first_uuid:
 * of the tracks, gpus_per_node + 2 of them. */
void perfetto_network_write(const struct step *step, struct perfetto_packets *packets,
                            uint64_t first_uuid, struct arena *arena);

#endif
