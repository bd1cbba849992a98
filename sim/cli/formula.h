/* Arithmetic on named quantities, as a sweep links fields: "round(8/3 * model.hidden, 64)". */
#ifndef SIM_CLI_FORMULA_H
#define SIM_CLI_FORMULA_H

#include <stdbool.h>

#include "sim/base/arena.h"

/* What a name stands for; false when it stands for nothing. */
struct formula_names {
    bool (*find)(const void *context, const char *name, double *value);
    const void *context;
};

/* Sums, products and comparisons (1 or 0) of numbers, names, abs(x), min(x, y), max(x, y), and
 * round, floor, ceil of x to a multiple of y. False when the text is no such thing, a name is
 * unknown or the value is not finite; *fault then says why in one line. */
bool formula_value(const char *text, const struct formula_names *names, double *value,
                   struct arena *arena, const char **fault);

#endif
