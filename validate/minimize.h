/* The least value of a function of a few bounded variables, by the simplex of Nelder and Mead.
 *
 * A variable v between its bounds is searched as an angle u without bounds,
 *
 *     t = (1 + sin u) / 2     v = least + (most - least) t     or   least (most / least)^t
 *
 * (James and Roos, Computer Physics Communications 10, 1975: MINUIT), so that a bound is reached
 * where the function presses against it and never passed. */
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
    double (*value)(void *context, const double *at);
    void *context;
    size_t start_count;     /* from the start given, and others spread about it evenly */
    size_t evaluations_max; /* of one descent */
};

struct minimum {
    double value;
    size_t evaluations;
};

/* Descends from each start, then from the best again with new simplices until that gains nothing
 * more. `best` (one number a variable) never has a higher value than the start. Same problem, same
 * bytes: the starts are Sobol's sequence, there is no chance in it. False when memory ran out. */
bool minimize(const struct minimize_problem *problem, double *best, struct minimum *minimum,
              struct arena *arena);

#endif
