/* Mean and quantile of a row of numbers. */
#ifndef VALIDATE_STATISTICS_H
#define VALIDATE_STATISTICS_H

#include <stddef.h>

/* Of at least one value. */
double statistics_mean(const double *values, size_t count);

/* The value below which that fraction of them lies, linear between neighbours: of n sorted values
 * the one at index fraction (n - 1). Sorts the values, of which there is at least one. */
double statistics_quantile(double *values, size_t count, double fraction);

#endif
