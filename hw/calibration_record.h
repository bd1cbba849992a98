/* What a fitted device file says of its fit: "calibration". */
#ifndef HW_CALIBRATION_RECORD_H
#define HW_CALIBRATION_RECORD_H

#include <stdbool.h>

#include "sim/base/json.h"

/* Nothing is priced by it, so it is only checked, key by key, and not kept:
 *
 *     {"date": "2026-11-21", "split_seed": 1,
 *      "lists": [{"name", "rows_count", "fnv1a_64"}, ...],
 *      "residuals": [{"kind", "dtype", "size", "part", "rows_count",
 *                     "mape_before_fraction", "mape_after_fraction", bias and p90 likewise}, ...]}
 */
bool calibration_record_check(const struct json *object, struct error_list *errors);

#endif
