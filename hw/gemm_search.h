/* Which cut of a product the library runs: the quickest of all that it has. */
#ifndef HW_GEMM_SEARCH_H
#define HW_GEMM_SEARCH_H

#include "hw/gemm_cut.h"

/* Of the device's tiles, each with k whole, in parts and streamed; of equals the first in this
 * order. The work must have at least one row; the device a rate for its dtype. */
struct gemm_cut gemm_search_quickest(const struct device *device, const struct gemm_work *work);

#endif
