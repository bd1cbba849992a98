/* Ctrl-C, and what a batch system sends before it kills: held back until results are safe. */
#ifndef SIM_CLI_INTERRUPT_H
#define SIM_CLI_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT and SIGTERM wait; threads that are started later hold them back too. */
void interrupt_hold(void);

/* Whether one is waiting. */
bool interrupt_is_waiting(void);

/* What was waiting takes effect: then this does not return. */
void interrupt_release(void);

#endif
