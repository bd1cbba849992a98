/* A point of a sweep as a row: what was set, what came of it, or why nothing did. */
#ifndef SIM_CLI_SWEEP_POINT_H
#define SIM_CLI_SWEEP_POINT_H

#include "models/step.h"
#include "sim/cli/sweep_space.h"

enum sweep_status {
    SWEEP_DONE,
    SWEEP_LEFT_OUT,   /* a condition is not met */
    SWEEP_INFEASIBLE, /* it cannot be run: does not fit, does not divide */
    SWEEP_UNREADABLE, /* a value is none that its field takes */
};

enum { SWEEP_REASON_MAX = 516 };

struct sweep_row {
    enum sweep_status status;
    enum error_kind kind;                /* of the reason */
    struct run_settings settings;        /* of axes and links in turn */
    double values[SWEEP_QUANTITY_COUNT]; /* of SWEEP_DONE; counts of parameters of others too;
                                            NAN: what inference cannot do */
    bool is_on_front;                    /* marked by sweep_front_mark */
    char reason[SWEEP_REASON_MAX];       /* of the others, or why there is no inference */
};

/* What came of a simulated step. */
void sweep_row_fill(struct sweep_row *row, const struct step *step);

/* Runs the point whose settings stand in the row. */
void sweep_point_run(const struct sweep_space *space, const struct run *base,
                     struct sweep_row *row, struct arena *arena);

/* Rows as a table, as CSV and as JSON, one object a line. The heads are written once. */
void sweep_rows_head(const struct sweep_space *space, struct text *out);
void sweep_rows_csv_head(const struct sweep_space *space, struct text *out);
void sweep_row_print(const struct sweep_space *space, const struct sweep_row *row,
                     struct text *out);
void sweep_row_write_csv(const struct sweep_space *space, const struct sweep_row *row,
                         struct text *out);
void sweep_row_write_json(const struct sweep_space *space, const struct sweep_row *row,
                          struct text *out);

/* Draws a quantity over the first axis, a curve for each combination of the others; of a front its
 * first column over its second, with rings where another point is better. NULL after adding why
 * there is nothing to draw. */
struct sweep_picture {
    const struct sweep_space *space;
    const struct run *base;
    const struct sweep_row *rows; /* of every point in turn */
    size_t count;
    enum sweep_quantity quantity;
};
const struct line_chart *sweep_picture_chart(const struct sweep_picture *picture,
                                             struct arena *arena, struct error_list *errors);

#endif
