/* A run: one model, one cluster, one plan, one software stack, each a file of its own. */
#ifndef MODELS_RUN_H
#define MODELS_RUN_H

#include "models/program.h"

/* Where each part comes from. A run file names four files, relative to itself; each can be given
 * beside it or instead of it. */
struct run_request {
    const char *file;                              /* configs/runs/NAME.json, or NULL */
    const char *model, *cluster, *plan, *software; /* paths, or NULL: what the file names */
    const char *const *settings; /* "plan.microbatch_sequences=2": part.path=value */
    size_t setting_count;
};

struct run_settings {
    const char *const *texts; /* "plan.microbatch_sequences=2" */
    size_t count;
};

enum { RUN_FILES = 6 };

struct run {
    const char *name;           /* the run file's, else the plan's */
    const char *const *changes; /* what was given beside the file: "plan.recompute=full" */
    size_t change_count;
    const char *paths[RUN_FILES]; /* of the run (NULL without), model, cluster, plan, software,
                                     device */
    struct step_inputs inputs;
    const struct json *plan_object;        /* for messages about what does not go together */
    const struct json *objects[RUN_FILES]; /* of the paths; NULL of the run's own */
    struct run_settings settings;          /* of the request */
};

/* Reads and checks all; NULL after adding the faults of every file at once. */
const struct run *run_read(const struct run_request *request, struct arena *arena,
                           struct error_list *errors);

/* The same run with further settings, each over those before it. No file is read: parts that the
 * settings leave alone are the base's own, so it must last as long. Threads may make runs from one
 * base at the same time, each in its own arena. */
const struct run *run_again(const struct run *base, const struct run_settings *settings,
                            struct arena *arena, struct error_list *errors);

/* "ZAYA1-base, 4k, 1,024 MI300X (changed: plan.recompute=full)". */
const char *run_heading(const struct run *run, struct arena *arena);

/* The number that stands at a field of the run's files, "model.hidden"; false where there is
 * none. */
bool run_number(const struct run *run, const char *field, double *value);

#endif
