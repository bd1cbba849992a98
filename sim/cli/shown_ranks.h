/* Which ranks of a step are shown beside each other. */
#ifndef SIM_CLI_SHOWN_RANKS_H
#define SIM_CLI_SHOWN_RANKS_H

#include "models/step.h"

struct shown_ranks {
    const int64_t *ranks; /* each once, as they are shown */
    size_t count;
    size_t own; /* of these, the one that the picture or file is about */
};

/* "slowest": the rank that reports are about. "stages": of each pipeline stage the rank that
 * exchanges with that one. "all": every rank that was simulated. Or numbers, such as "5,0-3":
 * the first is what it is about. False when the text is none of these, names a rank twice or
 * one that there is not. */
bool shown_ranks_read(const char *text, const struct step *step, struct shown_ranks *shown,
                      struct arena *arena);

struct shown_ranks shown_ranks_slowest(const struct step *step, struct arena *arena);

/* The rank that was simulated in its place: another one where equal ranks are simulated once. */
int64_t shown_ranks_simulated(const struct step *step, int64_t rank);

/* "rank 9, node 1, GPU 1", with its stage where there are several, and whom it is shown as. */
const char *shown_ranks_name(const struct step *step, int64_t rank, struct arena *arena);

#endif
