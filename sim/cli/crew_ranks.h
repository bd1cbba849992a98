/* The part of a crew that is in other processes. For crew.c only; others see sim/cli/crew.h. */
#ifndef SIM_CLI_CREW_RANKS_H
#define SIM_CLI_CREW_RANKS_H

#include "sim/cli/crew_shift.h"

/* True in process 0. In the others it answers until process 0 ends, then it is false. */
bool crew_ranks_begin(struct crew *crew);

/* Lets the others go. */
void crew_ranks_end(struct crew *crew);

/* Asks the others until nothing is left, or does it all itself if they are lost. */
void crew_ranks_work(struct crew_shift *shift);

/* How many questions are out at most. */
size_t crew_ranks_asked_most(const struct crew *crew);

#endif
