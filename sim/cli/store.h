/* Results that outlast the program: a row a point in an SQLite file.
 *
 * A row is known by a hash of all that it was computed from and by the version of the program. What
 * was put is written at least every half second, all of it in one go: however the program ends,
 * the file is whole and little is lost. Several programs may use one file at the same time. */
#ifndef SIM_CLI_STORE_H
#define SIM_CLI_STORE_H

#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/cli/sweep_point.h"

struct store;

struct store_request {
    const char *path;
    int threads;   /* as many may find rows at the same time */
    double wait_s; /* for another program that writes; 0: the usual 10 s */
};

/* What is known of a point beside its numbers. */
struct store_label {
    const char *inputs;   /* run_key's */
    const char *run;      /* the run's name */
    const char *settings; /* what differs from its files, a JSON list: ["plan.tensor=2"] */
};

/* NULL after adding why not: ERROR_INPUT for what is no store or of another layout, ERROR_IO for
 * what cannot be opened. */
struct store *store_open(const struct store_request *request, struct arena *arena,
                         struct error_list *errors);

/* This program's row of those inputs, as it was put; false when there is none, or none that was
 * simulated. */
bool store_find(struct store *store, int thread, const char *inputs, struct sweep_row *row);

/* Takes a copy; by one thread at a time. False after adding ERROR_IO: disk full, locked. */
bool store_put(struct store *store, const struct store_label *label,
               const struct sweep_row *row, struct error_list *errors);

/* Writes what is held. False as above. */
bool store_flush(struct store *store, struct error_list *errors);

/* What could not be flushed is lost. */
void store_close(struct store *store);

/* Whether a file that can be read is an SQLite one. */
bool store_is_one(const char *path);

/* Rows of all versions. */
bool store_count(struct store *store, int64_t *rows, struct error_list *errors);

/* Of other versions of the program, which store_find does not find: "8 of 0.0.9+1a2b, 3 of ..."; ""
 * where there are none. NULL after adding the fault. */
const char *store_list_others(struct store *store, struct error_list *errors);

/* Adds all rows of another store that this one lacks. False with ERROR_INPUT when of the same
 * inputs and version it says other numbers, or as store_open and store_put. */
bool store_merge(struct store *store, const char *path, struct error_list *errors);

#endif
