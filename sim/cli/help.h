/* What the program says of itself, written from the tables of its commands. */
#ifndef SIM_CLI_HELP_H
#define SIM_CLI_HELP_H

#include "sim/base/text.h"
#include "sim/cli/command.h"

struct command_table {
    const struct command *const *commands;
    size_t count;
};

/* Two examples and where to read on, for whoever typed the name alone. */
void help_short(struct text *out, struct command_table table);

/* All commands, one line each, and the exit codes. */
void help_overview(struct text *out, struct command_table table);

/* One command: example, usage, options. At most 80 columns where words allow it. */
void help_command(struct text *out, const struct command *command);

#endif
