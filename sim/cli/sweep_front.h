/* Which points of a sweep no other beats: the Pareto front of several of its columns. */
#ifndef SIM_CLI_SWEEP_FRONT_H
#define SIM_CLI_SWEEP_FRONT_H

#include "sim/cli/sweep_point.h"

/* "tokens_per_s_per_gpu,decode_s": two columns or more, each once, of those that the space has.
 * False when it is none; then *fault says why in one line. */
bool sweep_front_read(struct sweep_space *space, const char *text, struct arena *arena,
                      const char **fault);

/* Marks the rows that no other beats: one that is in no column of the front worse by more than
 * the slack, and in all of them together better by more than it. Without slack: nowhere worse,
 * somewhere better. Rows without a value in one of the columns are on no front. */
void sweep_front_mark(const struct sweep_space *space, struct sweep_row *rows, size_t count,
                      struct arena *arena);

#endif
