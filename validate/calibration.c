/* Puts a calibration together: rows into groups, groups fitted, deviations estimated, tables. */
#include "validate/calibration.h"

#include <math.h>
#include <string.h>

#include "sim/base/spelling.h"
#include "validate/comparison.h"
#include "validate/fabric_coefficient.h"

/* Two devices of one sort differ by that much (validate/reference/README.md), and one list was
 * measured on one of them. */
static const double SIGMA_LEAST = 0.04;

/* Size classes of the error tables, as `stepcast validate` has them. */
static const double SMALL_S = 10e-6, LARGE_S = 100e-6;

struct work {
    struct calibration *calibration;
    struct measured_list rows;
    struct arena *arena;
    struct error_list *errors;
};

static bool
fits_fabric(const struct calibration *calibration)
{
    return calibration->question->cluster != NULL;
}

static void
take_rows(struct work *work)
{
    const struct measured_list *list = work->calibration->question->list;
    struct measured_list *rows = &work->rows;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].is_collective != fits_fabric(work->calibration)) {
            work->calibration->left_out_count++;
            continue;
        }
        rows->items = arena_grow(work->arena, rows->items, rows->count, &rows->capacity,
                                 sizeof *rows->items);
        rows->items[rows->count++] = list->items[i];
    }
}

static bool
compare(struct work *work, struct error_table *table)
{
    const struct calibration *calibration = work->calibration;
    struct comparison comparison = {0};
    struct comparison_basis basis = {.device = &calibration->device,
                                     .cluster = &calibration->cluster,
                                     .small_s = SMALL_S,
                                     .large_s = LARGE_S,
                                     .seed = calibration->question->seed};
    if (!comparison_add(&comparison, &work->rows, &basis, work->arena, work->errors))
        return false;
    *table = error_table_new(comparison.samples, comparison.count, work->arena);
    return true;
}

static bool
is_kept(const struct calibration_question *question, const char *path)
{
    for (size_t i = 0; i < question->kept_count; i++)
        if (strcmp(question->kept[i], path) == 0)
            return true;
    return false;
}

/* A wish to keep what there is not is a slip. */
static bool
check_kept(const struct work *work, const struct coefficient_list *list)
{
    const struct calibration_question *question = work->calibration->question;
    const char **paths = arena_alloc(work->arena, list->count, sizeof *paths);
    bool is_right = true;
    for (size_t i = 0; i < list->count; i++)
        paths[i] = list->items[i].path;
    for (size_t i = 0; i < question->kept_count; i++) {
        bool is_known = false;
        for (size_t j = 0; j < list->count && !is_known; j++)
            is_known = strcmp(question->kept[i], paths[j]) == 0;
        if (is_known)
            continue;
        const char *nearest = spelling_nearest(question->kept[i], paths, list->count);
        is_right = error_add(work->errors, ERROR_INPUT, "",
                             "%s has no coefficient \"%.80s\" to keep%s%s",
                             work->calibration->name, question->kept[i],
                             nearest ? "; did you mean " : "", nearest ? nearest : "");
    }
    return is_right;
}

/* Only kinds of kernels are asked for; of a fabric all is. */
static bool
is_wanted(const struct calibration *calibration, enum kernel_kind kind)
{
    return fits_fabric(calibration) || calibration->question->is_wanted[kind];
}

static void
make_groups(struct work *work, const struct coefficient_list *list)
{
    struct calibration *calibration = work->calibration;
    struct fit_coefficient *all = arena_alloc(work->arena, list->count, sizeof *all);
    calibration->groups = arena_alloc(work->arena, list->count, sizeof *calibration->groups);
    struct calibrated_group *group = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct coefficient *coefficient = &list->items[i];
        all[i] = (struct fit_coefficient){
            .coefficient = *coefficient,
            .before = *coefficient->value,
            .is_kept = !is_wanted(calibration, coefficient->kind) ||
                       is_kept(calibration->question, coefficient->path)};
        if (!group || !coefficient_group_is(&group->group, &coefficient->group)) {
            group = &calibration->groups[calibration->group_count++];
            group->group = coefficient->group;
            group->name = fits_fabric(calibration)
                              ? "collective"
                              : coefficient_group_name(&coefficient->group,
                                                       &calibration->device, work->arena);
            group->coefficients = &all[i];
        }
        group->count++;
    }
}

static struct calibrated_group *
group_of(struct calibration *calibration, const struct measured *row)
{
    if (row->is_collective)
        return &calibration->groups[0];
    struct coefficient_group wanted = coefficient_group_of(&calibration->device, &row->kernel);
    for (size_t i = 0; i < calibration->group_count; i++)
        if (coefficient_group_is(&calibration->groups[i].group, &wanted))
            return &calibration->groups[i];
    return NULL; /* a kind that stands on others' coefficients alone */
}

/* From here on nothing sees a held-out row before all is fitted. */
static void
sort_rows(struct work *work)
{
    struct calibration *calibration = work->calibration;
    for (size_t i = 0; i < work->rows.count; i++) {
        const struct measured *row = &work->rows.items[i];
        if (!row->is_collective && !is_wanted(calibration, row->kernel.kind))
            continue;
        struct calibrated_group *group = group_of(calibration, row);
        const char *shape = measured_shape(row, work->arena);
        enum split_part part =
            row->has_part ? row->part : split_part(shape, calibration->question->seed);
        if (group && part == SPLIT_FIT)
            fit_rows_add(&group->rows, row, shape, work->arena);
        else if (group)
            group->held_out_count++;
    }
}

static void
leave(const struct calibrated_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        group->coefficients[i].fate =
            group->coefficients[i].is_kept ? FIT_NOT_ASKED : FIT_NO_ROWS;
}

static bool
fit_groups(struct work *work)
{
    struct calibration *calibration = work->calibration;
    for (size_t i = 0; i < calibration->group_count; i++) {
        struct calibrated_group *group = &calibration->groups[i];
        if (group->rows.count == 0) {
            leave(group);
            continue;
        }
        struct fit_problem problem = {&calibration->device, &calibration->cluster,
                                      group->coefficients, group->count, group->rows};
        group->is_fitted = true;
        if (!fit_group(&problem, &group->outcome, work->arena))
            return error_add(work->errors, ERROR_IO, "", "out of memory while fitting %s",
                             group->name);
        group->rows = problem.rows;
    }
    return true;
}

static bool
sigma_covers(const struct calibration *calibration, const struct coefficient_sigma *sigma,
             const struct calibrated_group *group, const struct fit_row *row)
{
    double predicted_s = row->measured->measured_s * exp(row->unseen_residual);
    return fits_fabric(calibration)
               ? fabric_sigma_covers(sigma, &calibration->cluster, row->measured)
               : coefficient_sigma_covers(sigma, &group->group, predicted_s);
}

static void
estimate_sigma(struct calibration *calibration, struct calibrated_sigma *sigma)
{
    double squares = 0;
    sigma->is_cross_validated = true;
    for (size_t i = 0; i < calibration->group_count; i++) {
        const struct calibrated_group *group = &calibration->groups[i];
        for (size_t j = 0; group->is_fitted && j < group->rows.count; j++) {
            const struct fit_row *row = &group->rows.items[j];
            if (!row->has_unseen_residual ||
                !sigma_covers(calibration, &sigma->sigma, group, row))
                continue;
            squares += row->unseen_residual * row->unseen_residual;
            sigma->row_count++;
            sigma->is_cross_validated &= group->outcome.is_cross_validated;
        }
    }
    if (sigma->row_count == 0)
        return;
    double deviation = sqrt(squares / (double)sigma->row_count);
    *sigma->sigma.value = fmin(1, ceil(1e3 * fmax(SIGMA_LEAST, deviation)) / 1e3);
}

static void
estimate_sigmas(struct work *work)
{
    struct calibration *calibration = work->calibration;
    struct coefficient_sigma_list list =
        fits_fabric(calibration) ? fabric_sigma_list_of(&calibration->cluster, work->arena)
                                 : coefficient_sigma_list_of(&calibration->device, work->arena);
    calibration->sigma_count = list.count;
    calibration->sigmas = arena_alloc(work->arena, list.count, sizeof *calibration->sigmas);
    for (size_t i = 0; i < list.count; i++) {
        calibration->sigmas[i].sigma = list.items[i];
        calibration->sigmas[i].before = *list.items[i].value;
        estimate_sigma(calibration, &calibration->sigmas[i]);
    }
}

static bool
check_fitted(const struct work *work)
{
    size_t fitted = 0;
    for (size_t i = 0; i < work->calibration->group_count; i++)
        fitted += work->calibration->groups[i].outcome.fitted_count;
    return fitted > 0 || error_add(work->errors, ERROR_INPUT, "",
                                   "no measured row of a kind to fit on the fit side of the "
                                   "split tells a coefficient of %s",
                                   work->calibration->name);
}

/* What there is to fit, in a copy of it. */
static struct coefficient_list
begin_with(struct calibration *calibration, struct arena *arena)
{
    const struct calibration_question *question = calibration->question;
    if (question->cluster) {
        calibration->cluster = *question->cluster;
        calibration->name = calibration->cluster.fabric.name;
        return fabric_coefficient_list_of(&calibration->cluster, question->file, arena);
    }
    calibration->device = *question->device;
    calibration->name = calibration->device.name;
    return coefficient_list_of(&calibration->device, arena);
}

const struct calibration *
calibrate(const struct calibration_question *question, struct arena *arena,
          struct error_list *errors)
{
    struct calibration *calibration = arena_alloc(arena, 1, sizeof *calibration);
    calibration->question = question;
    struct work work = {.calibration = calibration, .arena = arena, .errors = errors};
    struct coefficient_list list = begin_with(calibration, arena);
    if (!coefficient_list_check(&list, question->file, errors) || !check_kept(&work, &list))
        return NULL;
    take_rows(&work);
    if (!compare(&work, &calibration->before))
        return NULL;
    make_groups(&work, &list);
    sort_rows(&work);
    if (!fit_groups(&work) || !check_fitted(&work))
        return NULL;
    calibration->device.is_fitted = true;
    estimate_sigmas(&work);
    return compare(&work, &calibration->after) ? calibration : NULL;
}
