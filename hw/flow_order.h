/* An order in which flows can run: each after those that it depends on. */
#ifndef HW_FLOW_ORDER_H
#define HW_FLOW_ORDER_H

#include "hw/flow_list.h"

/* The list's own order where that will do. NULL if flows wait for each other, after naming
 * them. Reads all of the list but `order`. */
const uint32_t *flow_order_find(const struct flow_list *list, struct arena *arena,
                                struct error_list *errors);

#endif
