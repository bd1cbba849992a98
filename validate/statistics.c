/* Mean and quantile, by GSL. */
#include "validate/statistics.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

double
statistics_mean(const double *values, size_t count)
{
    return gsl_stats_mean(values, 1, count);
}

double
statistics_quantile(double *values, size_t count, double fraction)
{
    gsl_sort(values, 1, count);
    return gsl_stats_quantile_from_sorted_data(values, 1, count, fraction);
}
