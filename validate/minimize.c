/* Descents by GSL's nmsimplex2, several starts, then polished. */
#include "validate/minimize.h"

#include <assert.h>
#include <math.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_qrng.h>

/* In angles: the whole range between two bounds is pi wide. */
static const double FIRST_STEP = 0.3, POLISH_STEP = 0.1, SIMPLEX_SMALLEST = 1e-5;
static const double START_SPREAD = 3; /* about the start: nearly the whole range */

/* A polish that gains less than this part of the value is the last. */
static const double GAIN_SMALLEST = 1e-4;
enum { POLISHES_MAX = 6 };

struct search {
    const struct minimize_problem *problem;
    gsl_multimin_fminimizer *simplex;
    gsl_vector *start, *step, *best; /* angles */
    double *at;                      /* the same point as values */
    double best_value;
    size_t evaluations;
};

static double
value_of_angle(const struct minimize_variable *variable, double angle)
{
    double t = (1 + sin(angle)) / 2;
    double value = variable->is_logarithmic
                       ? variable->least * pow(variable->most / variable->least, t)
                       : variable->least + (variable->most - variable->least) * t;
    return fmin(variable->most, fmax(variable->least, value));
}

static double
angle_of_value(const struct minimize_variable *variable, double value)
{
    double t = variable->is_logarithmic
                   ? log(value / variable->least) / log(variable->most / variable->least)
                   : (value - variable->least) / (variable->most - variable->least);
    return asin(fmin(1, fmax(-1, 2 * t - 1)));
}

static void
values_of_angles(const struct minimize_problem *problem, const gsl_vector *angles,
                 double *values)
{
    for (size_t i = 0; i < problem->count; i++)
        values[i] = value_of_angle(&problem->variables[i], gsl_vector_get(angles, i));
}

static double
value_at(const gsl_vector *angles, void *context)
{
    struct search *search = context;
    values_of_angles(search->problem, angles, search->at);
    search->evaluations++;
    return search->problem->value(search->problem->context, search->at);
}

/* One simplex from search->start until it is small or the budget is spent. */
static void
descend(struct search *search, double step)
{
    gsl_multimin_function function = {value_at, search->problem->count, search};
    size_t end = search->evaluations + search->problem->evaluations_max;
    gsl_vector_set_all(search->step, step);
    if (gsl_multimin_fminimizer_set(search->simplex, &function, search->start, search->step))
        return;
    while (search->evaluations < end &&
           gsl_multimin_fminimizer_iterate(search->simplex) == GSL_SUCCESS &&
           gsl_multimin_fminimizer_size(search->simplex) > SIMPLEX_SMALLEST)
        continue;
    if (search->simplex->fval < search->best_value) {
        search->best_value = search->simplex->fval;
        gsl_vector_memcpy(search->best, search->simplex->x);
    }
}

/* The first point of Sobol's sequence is the middle: the start as it was given. */
static void
descend_from_each_start(struct search *search, gsl_qrng *spread)
{
    const struct minimize_problem *problem = search->problem;
    double place[MINIMIZE_VARIABLES_MAX];
    for (size_t i = 0; i < problem->start_count; i++) {
        gsl_qrng_get(spread, place);
        for (size_t j = 0; j < problem->count; j++) {
            const struct minimize_variable *variable = &problem->variables[j];
            double angle = angle_of_value(variable, variable->start);
            gsl_vector_set(search->start, j, angle + START_SPREAD * (place[j] - 0.5));
        }
        descend(search, FIRST_STEP);
    }
}

static void
polish(struct search *search)
{
    for (int i = 0; i < POLISHES_MAX; i++) {
        double before = search->best_value;
        gsl_vector_memcpy(search->start, search->best);
        descend(search, i % 2 == 0 ? POLISH_STEP : FIRST_STEP);
        if (i > 0 && before - search->best_value <= GAIN_SMALLEST * fabs(before))
            break;
    }
}

static void
search_from_start(struct search *search, gsl_qrng *spread)
{
    const struct minimize_problem *problem = search->problem;
    for (size_t i = 0; i < problem->count; i++)
        gsl_vector_set(search->best, i,
                       angle_of_value(&problem->variables[i], problem->variables[i].start));
    search->best_value = value_at(search->best, search);
    descend_from_each_start(search, spread);
    polish(search);
}

bool
minimize(const struct minimize_problem *problem, double *best, struct minimum *minimum,
         struct arena *arena)
{
    size_t count = problem->count;
    assert(count >= 1 && count <= MINIMIZE_VARIABLES_MAX);
    /* GSL would end the program on a point that is no number; here a fault is only a return. */
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    struct search search = {
        .problem = problem,
        .simplex = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, count),
        .start = gsl_vector_alloc(count),
        .step = gsl_vector_alloc(count),
        .best = gsl_vector_alloc(count),
        .at = arena_alloc(arena, count, sizeof(double)),
    };
    gsl_qrng *spread = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)count);
    bool has_room = search.simplex && search.start && search.step && search.best && spread;
    if (has_room) {
        search_from_start(&search, spread);
        values_of_angles(problem, search.best, best);
        *minimum = (struct minimum){search.best_value, search.evaluations};
    }
    if (search.simplex)
        gsl_multimin_fminimizer_free(search.simplex);
    gsl_vector_free(search.start);
    gsl_vector_free(search.step);
    gsl_vector_free(search.best);
    gsl_qrng_free(spread);
    gsl_set_error_handler(handler);
    return has_room;
}
