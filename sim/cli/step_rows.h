/* Rows and spans of a step's picture: lanes of ranks, and a row for each stage of a pipeline.
 *
 *      stage 0  [1][2][3]▨▨▨[ 1 ][4][ 2 ] ..    passes with their microbatches, bubbles hatched
 *                ▪  ▪  ▪ ▨▨▨ ▪     ▪            beneath: where compute waits, and for what
 */
#ifndef SIM_CLI_STEP_ROWS_H
#define SIM_CLI_STEP_ROWS_H

#include "models/step.h"
#include "plots/timeline.h"

struct step_rows {
    const struct step *step;
    struct arena *arena;
    bool *is_critical; /* by task: on the chain that decides the step's end */
    struct timeline_row *rows;
    size_t row_count, row_room;
    struct timeline_span *spans;
    size_t span_count, span_room;
};

struct step_rows step_rows_new(const struct step *step, struct arena *arena);

/* The lanes of a rank that have anything to run; `name` says whose they are, "" where there is
 * only one. */
void step_rows_add_lanes(struct step_rows *rows, int64_t rank, const char *name,
                         enum timeline_place place);

/* A row for each stage of the pipeline. */
void step_rows_add_stages(struct step_rows *rows, enum timeline_place place);

/* The slot of the lowered step that stands for a stage: of the rank that is a peer of the
 * representative one. */
uint32_t step_rows_stage_slot(const struct step *step, int64_t stage);

#endif
