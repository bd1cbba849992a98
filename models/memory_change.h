/* Single changes of a plan, and the memory that it would take with each. */
#ifndef MODELS_MEMORY_CHANGE_H
#define MODELS_MEMORY_CHANGE_H

#include "models/memory.h"
#include "models/run.h"

struct memory_change {
    const char *settings; /* "plan.recompute=full", as --set takes it */
    double peak_bytes;
    bool fits;
};

enum { MEMORY_CHANGES_MAX = 10 };

/* Those that the plan's checks let through and that take less memory, the least disturbing first.
 * Returns how many there are. */
int memory_changes(const struct run *run, struct memory_change changes[MEMORY_CHANGES_MAX],
                   struct arena *arena);

#endif
