/* A quantity that runs over values, as the command line says it: "n=1024:8192:64". */
#ifndef SIM_CLI_SWEEP_H
#define SIM_CLI_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"

enum { SWEEP_VALUES_MAX = 16384 };

struct sweep {
    const char *key;
    const int64_t *values; /* ascending, each once, from 1 */
    size_t count;
};

/* "KEY=FROM:TO:STEP" (TO itself only where a step ends on it), "KEY=FROM:TO" (doubles) or
 * "KEY=VALUE,VALUE,..." in any order. False when it is none of these; then *fault says why in one
 * line that can follow the text. */
bool sweep_parse(const char *text, struct sweep *sweep, struct arena *arena,
                 const char **fault);

/* A key and words for it, "KEY=WORD,WORD,...", in their order. */
struct sweep_words {
    const char *key;
    const char *const *words;
    size_t count;
};

bool sweep_parse_words(const char *text, struct sweep_words *words, struct arena *arena,
                       const char **fault);

#endif
