/* Why a step does less a second than its neighbour in a sweep, though it has more to do. */
#ifndef SIM_CLI_SWEEP_FALL_H
#define SIM_CLI_SWEEP_FALL_H

#include "sim/cli/sweep_point.h"

/* What takes longer in the second step than the first's time would grow with the work, said of the
 * operator or the wait that adds most: "logits in 17 waves, not 16". Both rows are done. NULL where
 * nothing stands out. */
const char *sweep_fall_reason(const struct run *base, const struct sweep_row *before,
                              const struct sweep_row *after, struct arena *arena);

#endif
