/* For models/plan_check.c: the part of the check that is fp8's. */
#ifndef MODELS_PLAN_CHECK_FP8_H
#define MODELS_PLAN_CHECK_FP8_H

#include "models/plan.h"

/* As plan_check; the degrees have been found to divide. */
bool plan_check_fp8(const struct plan *plan, const struct json *object, const struct arch *arch,
                    const struct cluster *cluster, struct error_list *errors);

#endif
