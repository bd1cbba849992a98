/* What a run is computed from, as a hash of its files' contents: the same files somewhere else,
 * laid out otherwise or changed by other words are the same run. */
#ifndef SIM_CLI_RUN_KEY_H
#define SIM_CLI_RUN_KEY_H

#include "models/run.h"
#include "sim/base/text.h"

enum { RUN_KEY_DIGITS = 64 };

struct run_key {
    char digits[RUN_KEY_DIGITS + 1];
};

/* Hashes of a base's files, for runs that share most of them. */
struct run_keys {
    const struct run *base;
    struct run_key files[RUN_FILES];
};
/* False after adding why the fabric's file, which is no part of a run, cannot be read. */
bool run_keys_of(const struct run *base, struct run_keys *keys, struct arena *arena,
                 struct error_list *errors);

/* Of a run that was made from the base by run_again, and of what else is asked. */
bool run_key_find(const struct run_keys *keys, const struct run *run,
                  const struct text *question, struct run_key *key, struct error_list *errors);

#endif
