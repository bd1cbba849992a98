/* Which coefficients of a group the rows tell, and tell apart from those before them. */
#ifndef VALIDATE_CALIBRATION_CHOICE_H
#define VALIDATE_CALIBRATION_CHOICE_H

#include "validate/calibration_fit.h"

/* What two good measurements of one shape differ by (validate/reference/README.md); and how much of
 * a coefficient, relatively, noise may leave in doubt. */
extern const double FIT_NOISE, FIT_DOUBT_MOST;

struct fit_choice {
    double noise;      /* of the rows, relative */
    bool is_narrowing; /* only those that are fitted already may stay */
    /* The least that a coefficient chosen (but the first) does over all rows and those before it
     * cannot: root of the sum of squares of its elasticities. Noise over it is its doubt. */
    double least_apart;
};

/* log(predicted / measured); far off when the coefficients make no sense. */
double fit_residual(const struct fit_problem *problem, const struct measured *measured);

/* Settles the fates and lists those that are to be fitted (room for MINIMIZE_VARIABLES_MAX). */
size_t fit_choose(const struct fit_problem *problem, struct fit_coefficient **moving,
                  struct fit_choice *choice, struct arena *arena);

#endif
