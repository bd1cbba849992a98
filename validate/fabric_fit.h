/* Fits what collectives in one node cost to measured ones: a fabric's tuning of each kind, and what
 * all kinds share, on the fit side of the split (split.h) alone. */
#ifndef VALIDATE_FABRIC_FIT_H
#define VALIDATE_FABRIC_FIT_H

#include "hw/cluster.h"
#include "sim/base/text.h"
#include "validate/measured_list.h"

struct fabric_fit_question {
    const struct cluster *cluster; /* whose fabric is the one to begin with */
    const struct json *file;       /* of that fabric, with some tuning of each measured kind */
    const struct measured_list *list;
    uint64_t seed;      /* of the split */
    const char *source; /* of the fitted numbers: "fitted on 2026-11-21: ..." */
};

struct fabric_fit {
    struct cluster cluster; /* with the fitted fabric */
    size_t fit_count, held_out_count;
};

/* Appends the fabric's file with fitted numbers, every other byte as it was. False after adding a
 * fault: a row without a price, no row to fit to, a file that lacks a number to put. */
bool fabric_fit(const struct fabric_fit_question *question, struct fabric_fit *fit,
                struct text *out, struct error_list *errors);

#endif
