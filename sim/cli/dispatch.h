/* The program as a function: finds the command that the words name, and runs it. */
#ifndef SIM_CLI_DISPATCH_H
#define SIM_CLI_DISPATCH_H

#include "sim/cli/help.h"
#include "sim/cli/options.h"

/* Returns an exit_code. The arguments are main's, the first the program's own name. */
int dispatch(struct command_table table, struct arguments words, struct arena *arena);

#endif
