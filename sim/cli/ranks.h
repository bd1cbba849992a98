/* The other processes of a program that mpirun started, and messages to and from them.
 *
 * Two implementations of this page; a program has the one that it is linked with:
 *   ranks_alone.c   in the library: there are no others (build/stepcast)
 *   ranks_mpi.c     over MPI, and first on the linker's line (build/stepcast-mpi)
 *
 * No call waits for another process, so that one that is gone harms nobody; all by one thread. */
#ifndef SIM_CLI_RANKS_H
#define SIM_CLI_RANKS_H

#include <stdbool.h>

#include "sim/base/text.h"

struct ranks;

/* How many processes were started together, this one included. */
int ranks_started(void);

/* NULL: this process is the only one. Lives in the arena. */
struct ranks *ranks_open(struct arena *arena);
int ranks_count(const struct ranks *ranks);
int ranks_own(const struct ranks *ranks); /* from 0 */

/* Sent when it can be; messages from one process to another come in order. */
void ranks_send(struct ranks *ranks, int to, const struct text *message);

/* Appends a message that has come, from whomever; false when none has. */
bool ranks_receive(struct ranks *ranks, int *from, struct text *message);

/* Waits until what was sent has gone, for a second at most. All processes call it; if one of them
 * is lost, none may wait for the others when it ends, which is_whole says. */
void ranks_close(struct ranks *ranks, bool is_whole);

#endif
