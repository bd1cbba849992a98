/* A command line read by the table of a command's options; sim/cli/command.h says what a
 * command asks of the result. */
#ifndef SIM_CLI_OPTIONS_H
#define SIM_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/cli/command.h"

/* Words as main gets them, those that name the program and the command left out. */
struct arguments {
    const char *const *words;
    size_t count;
};

/* Options and words in any order; "--list FILE" is "--list=FILE", "-o FILE" is "-oFILE"
 * and "-o=FILE"; after "--" everything is a word, and "-" is a word. Names are never shortened.
 * NULL when the command cannot take these arguments: then *fault says why in one line. */
const struct options *options_parse(struct arena *arena, const struct command *command,
                                    struct arguments arguments, const char **fault);

/* Is --help or -h there, before any "--"? */
bool options_ask_for_help(struct arguments arguments);

/* The text of the option with that letter; "" when it was not given or the table has none. */
const char *options_text_of_letter(const struct options *options, char letter);

#endif
