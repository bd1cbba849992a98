/* The points of a sweep over runs: fields that take values, fields that follow from them, and what
 * a point must hold to. */
#ifndef SIM_CLI_SWEEP_SPACE_H
#define SIM_CLI_SWEEP_SPACE_H

#include "models/inference.h"
#include "models/run.h"
#include "sim/cli/sweep_quantity.h"

/* A field that takes each value in turn; the last of several runs fastest. */
struct sweep_axis {
    const char *field; /* "plan.microbatch_sequences" */
    const char *const *values;
    size_t count;
    bool is_numeric;
};

/* A field that is computed from others. */
struct sweep_link {
    const char *field, *formula;
};

/* Zero-initialised by its owner, filled by the functions below. */
struct sweep_space {
    struct sweep_axis *axes;
    size_t axis_count, axis_room;
    struct sweep_link *links;
    size_t link_count, link_room;
    const char **conditions; /* formulas; a point for which one is 0 is left out */
    size_t condition_count, condition_room;
    int64_t samples; /* 0: every point */
    int64_t seed;
    const double *fractions; /* of each sample on each axis; set by sweep_space_check */
    bool has_inference;      /* the model is asked too */
    struct inference_request inference; /* 0 tokens: the plan's sequence; then the prompt's */
    enum sweep_quantity front[SWEEP_QUANTITY_COUNT]; /* columns of a Pareto front, if any */
    size_t front_count;
    double slack_fraction; /* what counts as equal on it */
};

enum { SWEEP_POINTS_MAX = 100000000, SWEEP_SAMPLES_MAX = 1000000 };
/* Sequences or tokens asked at once: far above any real batch or context, catches slips. */
enum { SWEEP_INFERENCE_MAX = 1 << 24 };

/* "FIELD=FROM:TO:STEP", "FIELD=FROM:TO" (doubles) or "FIELD=VALUE,VALUE,...". */
bool sweep_space_add_axis(struct sweep_space *space, const char *text, struct arena *arena,
                          const char **fault);
/* "FIELD=FORMULA". */
bool sweep_space_add_link(struct sweep_space *space, const char *text, struct arena *arena,
                          const char **fault);
void sweep_space_add_condition(struct sweep_space *space, const char *formula,
                               struct arena *arena);

/* A file {"run": FILE, "set": {FIELD: VALUE}, "over": {FIELD: VALUES}, "link": {FIELD: FORMULA},
 * "where": [FORMULA], "samples": N, "seed": N, "inference": {"batch": N, "prompt_tokens": N,
 * "context_tokens": N}, "pareto": [COLUMN], "slack_fraction": X}; VALUES is a list or
 * "FROM:TO:STEP". What it sets comes back as settings; *run_file is relative to where the program
 * runs. */
bool sweep_space_read(struct sweep_space *space, const struct json *object,
                      struct run_settings *settings, const char **run_file, struct arena *arena,
                      struct error_list *errors);

/* Makes it ready for what follows; false after adding why there is nothing to sweep, or which field
 * stands twice. */
bool sweep_space_check(struct sweep_space *space, struct arena *arena,
                       struct error_list *errors);

size_t sweep_space_count(const struct sweep_space *space);

/* How many columns a row has: those of the step, and of inference where that is asked for. */
int sweep_space_quantities(const struct sweep_space *space);

/* Which value each axis has at a point: of a product in order, else as the samples fall. */
void sweep_space_place(const struct sweep_space *space, size_t point, size_t *values);

/* Fields of axes and links in turn as settings of the point. False after adding which formula has
 * no value. */
bool sweep_space_settings(const struct sweep_space *space, size_t point, const struct run *base,
                          struct run_settings *settings, struct arena *arena,
                          struct error_list *errors);

/* Whether the run, made of those settings, holds to all conditions. *holds is set unless false. */
bool sweep_space_holds(const struct sweep_space *space, const struct run *run,
                       const struct run *base, bool *holds, struct arena *arena,
                       struct error_list *errors);

#endif
