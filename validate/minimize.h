/* The least sum of squares over a few bounded variables: descents by Levenberg and Marquardt from
 * several starts, the best polished by the simplex of Nelder and Mead, which minds no kinks.
 *
 * A variable v between its bounds is searched as an angle u without bounds,
 *
 *     t = (1 + sin u) / 2     v = least + (most - least) t     or   least (most / least)^t
 *
 * (James and Roos, Computer Physics Communications 10, 1975: MINUIT), so that a bound is reached
 * where the sum presses against it and never passed. */
#ifndef VALIDATE_MINIMIZE_H
#define VALIDATE_MINIMIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/arena.h"

enum { MINIMIZE_VARIABLES_MAX = 40 };

struct minimize_variable {
    double start, least, most; /* least <= start <= most, least < most */
    bool is_logarithmic;       /* then least is above 0 */
};

struct minimize_problem {
    const struct minimize_variable *variables;
    size_t count; /* 1 to MINIMIZE_VARIABLES_MAX */
    /* Writes the numbers whose squares are summed; at least as many as there are variables. */
    void (*residuals)(void *context, const double *at, double *residuals);
    size_t residual_count;
    void *context;
    size_t start_count;            /* the start given, and others spread about it evenly */
    size_t polish_count;           /* simplices at most; fewer when one gains nothing */
    size_t polish_evaluations_max; /* of each */
};

struct minimum {
    double value; /* the sum of squares */
    size_t evaluations;
};

/* The sum at `best` (one number a variable) is never above that at the start. Same problem, same
 * bytes: the starts are Sobol's sequence, there is no chance in it. False when memory ran out. */
bool minimize(const struct minimize_problem *problem, double *best, struct minimum *minimum,
              struct arena *arena);

#endif
