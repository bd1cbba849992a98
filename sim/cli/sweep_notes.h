/* What is said of points on a sweep's curve: the best, the run as it is, where it falls and why. */
#ifndef SIM_CLI_SWEEP_NOTES_H
#define SIM_CLI_SWEEP_NOTES_H

#include "plots/line_chart.h"
#include "sim/cli/sweep_point.h"

/* The points of one curve that run, by ascending value of the first field. */
struct sweep_curve {
    const struct sweep_row **rows;
    double *x;
    size_t count;
};

struct sweep_curve sweep_curve_of(const struct sweep_picture *picture, size_t first,
                                  size_t stride, struct arena *arena);

/* How a fraction is drawn: in per cent; all else as it is. */
double sweep_shown(const struct sweep_row *row, enum sweep_quantity quantity);

struct sweep_notes {
    const struct line_chart_note *notes;
    size_t count;
    const struct sweep_row
        *worst;               /* behind the deepest fall; NULL: there is none to speak of */
    const char *worst_reason; /* may be NULL */
    double worst_fraction;    /* what is lost of MFU there */
};

/* Falls are those of model FLOP/s by a hundredth or more from one value to the next; the six
 * deepest are told. */
struct sweep_notes sweep_notes_of(const struct sweep_picture *picture,
                                  const struct sweep_curve *curve, struct arena *arena);

#endif
