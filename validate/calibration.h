/* Fits a device to measured kernels, or a fabric to measured collectives: group after group
 * (coefficient.h, fabric_coefficient.h), on the fit side of the split (split.h) alone. Held-out
 * rows are only priced, before and after, to judge the fit. */
#ifndef VALIDATE_CALIBRATION_H
#define VALIDATE_CALIBRATION_H

#include "validate/calibration_fit.h"
#include "validate/error_table.h"

struct calibration_question {
    const struct device *device;   /* to fit; or NULL, and */
    const struct cluster *cluster; /* the one whose fabric is to be fitted */
    const struct json *file;       /* that the device or the fabric was read from */
    const struct measured_list *list;
    uint64_t seed;                     /* of the split */
    bool is_wanted[KERNEL_KIND_COUNT]; /* kinds to fit; the others stay as they are */
    const char *const *kept;           /* paths of coefficients that stay as well */
    size_t kept_count;
};

struct calibrated_group {
    struct coefficient_group group;
    const char *name; /* "attention flash2 backward" */
    struct fit_coefficient *coefficients;
    size_t count;
    struct fit_rows rows; /* on the fit side */
    size_t held_out_count;
    bool is_fitted; /* asked for, and with rows on the fit side */
    struct fit_outcome outcome;
};

/* A relative standard deviation of the file, from what fits without a row missed it by. */
struct calibrated_sigma {
    struct coefficient_sigma sigma;
    double before;
    size_t row_count; /* 0: nothing to estimate it from, it stays */
    bool is_cross_validated;
};

struct calibration {
    const struct calibration_question *question;
    struct device device; /* the fitted one; or */
    struct cluster cluster;
    const char *name; /* of what was fitted */
    struct calibrated_group *groups;
    size_t group_count;
    struct calibrated_sigma *sigmas;
    size_t sigma_count;
    struct error_table before, after; /* of every row, whether of a kind asked for or not */
    size_t left_out_count; /* rows: collectives, that no device prices; or kernels, no fabric */
};

/* NULL after adding every fault: a coefficient outside its bounds, a row without a price on this
 * device, nothing to fit. Same question, same bytes. */
const struct calibration *calibrate(const struct calibration_question *question,
                                    struct arena *arena, struct error_list *errors);

#endif
