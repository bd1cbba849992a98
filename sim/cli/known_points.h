/* Points that a store has from before, and those that it is to keep: runs with more settings. */
#ifndef SIM_CLI_KNOWN_POINTS_H
#define SIM_CLI_KNOWN_POINTS_H

#include "sim/cli/run_key.h"
#include "sim/cli/store.h"

struct known_points {
    struct store *store; /* set by its owner; NULL: nothing is known or kept */
    const struct run *base;
    struct run_keys keys; /* of the base */
    struct arena *arena;
};

/* False after adding why the base has no key. */
bool known_points_open(struct known_points *known, const struct run *base, struct arena *arena,
                       struct error_list *errors);

/* The program and what it has read: of the same, points are the same. */
const char *known_points_identity(const struct known_points *known);

/* The key of the base's run with the settings, or of settings that make no run (NULL), and of what
 * is asked beside its step; false when there is none. By several threads. */
bool known_points_key(const struct known_points *known, const struct run *run,
                      const struct run_settings *settings, const struct text *question,
                      struct run_key *key);

/* Gives the row to the store; false after adding the fault. By one thread at a time. */
bool known_points_keep(const struct known_points *known, const struct run_key *key,
                       const struct run_settings *settings, const struct sweep_row *row,
                       struct error_list *errors);

#endif
