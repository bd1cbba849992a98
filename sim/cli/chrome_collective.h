/* What trace readers want to know of a collective: what it is, how much it moves, between whom. */
#ifndef SIM_CLI_CHROME_COLLECTIVE_H
#define SIM_CLI_CHROME_COLLECTIVE_H

#include "models/step.h"
#include "sim/base/json_writer.h"

/* As one rank takes part in it. */
struct chrome_collective {
    const struct step *step;
    int64_t rank;
    const struct step_item *item;
    const struct collective *collective;
};

/* The arguments of its kernel. TraceLens insists on each of them, compares those of several ranks'
 * files by the group's name, and knows only the dtypes and names that PyTorch has. */
void chrome_collective_write(const struct chrome_collective *of, struct json_writer *writer,
                             struct arena *arena);

/* The rank that an item, a transfer from another stage, comes from. */
int64_t chrome_collective_sender(const struct step *step, int64_t rank,
                                 const struct step_item *item);

#endif
