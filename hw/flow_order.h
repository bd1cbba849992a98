/* An order in which flows can run: each after those that it depends on. */
#ifndef HW_FLOW_ORDER_H
#define HW_FLOW_ORDER_H

#include <stdbool.h>

#include "hw/flow_list.h"

/* Sets the list's `order`, NULL where its own will do. False if flows wait for each other, after
 * naming them. */
bool flow_order_find(struct flow_list *list, struct arena *arena, struct error_list *errors);

#endif
