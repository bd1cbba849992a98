/* Fits one group of coefficients to measured rows: which of them the rows tell, their values, and
 * how far off such a fit is on shapes that it has not seen.
 *
 * The loss of a row is sqrt(r^2 + d^2) - d of r = log(predicted / measured) (Charbonnier's; d is
 * the noise of a good measurement): a square near 0 and a magnitude beyond, so that one bad row
 * does not steer. Rows are weighted so that each size class present counts as much: under 10 us, 10
 * to 100 us and over 100 us of measured time; collectives from 1 MiB and smaller ones. */
#ifndef VALIDATE_CALIBRATION_FIT_H
#define VALIDATE_CALIBRATION_FIT_H

#include "hw/cluster.h"
#include "validate/coefficient.h"
#include "validate/measured_list.h"

enum { FIT_FOLDS = 4 };

/* A measured row on the fit side. */
struct fit_row {
    const struct measured *measured;
    const char *shape;
    int fold; /* of its shape: which of the four fits that judge the fit does not see it */
    /* Given by fit_group, the last as log(predicted / measured) by a fit without the row. */
    size_t shape_number;
    double weight;
    double unseen_residual;
    bool has_unseen_residual;
};

struct fit_rows {
    struct fit_row *items;
    size_t count, capacity;
    size_t shape_count;
};

/* What became of a coefficient. */
enum fit_fate {
    FIT_DONE,
    FIT_NO_ROWS,        /* of its group, on the fit side */
    FIT_NOT_ASKED,      /* its kind, or the coefficient itself, was to be left alone */
    FIT_NO_EFFECT,      /* on these rows */
    FIT_NOT_TOLD_APART, /* on these rows from those before it in the table */
    FIT_TOO_FEW_SHAPES, /* for one coefficient more */
};

struct fit_coefficient {
    struct coefficient coefficient;
    enum fit_fate fate;
    double before;
    bool is_kept; /* by the wish of who asks */
    /* Over the fits that each leave a quarter of the shapes out: how firm the value is. */
    double lowest, highest;
};

struct fit_problem {
    /* What the coefficients point into, and what prices: kernels, or else collectives. */
    const struct device *device;
    const struct cluster *cluster;
    struct fit_coefficient *coefficients;
    size_t count;
    struct fit_rows rows;
};

struct fit_outcome {
    size_t fitted_count;
    double loss_before, loss_after; /* of the rows, with the values as written */
    size_t evaluations;
    bool is_cross_validated; /* else residuals are the fit's own, for lack of shapes */
};

/* Adds a row of the group; fit_group reads the rows in the order added. */
void fit_rows_add(struct fit_rows *rows, const struct measured *measured, const char *shape,
                  struct arena *arena);

/* Settles every coefficient's fate, leaves the fitted ones in the device, rounded to four digits,
 * and gives the rows their residuals. False when memory ran out. */
bool fit_group(struct fit_problem *problem, struct fit_outcome *outcome, struct arena *arena);

bool fit_is_at(double value, double bound);

#endif
