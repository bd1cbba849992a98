/* Flows that have nothing to do with each other, told apart, so that one part after the other can
 * be run and only one has to be held.
 *
 *      0 ──▶ 1 ──▶ 2        a part        what shares a link, or waits for each other, directly
 *      3 ──▶ 4              another       or through others, is in one part */
#ifndef MODELS_FLOW_PARTS_H
#define MODELS_FLOW_PARTS_H

#include "models/flow_classes.h"

/* Parts smaller than this many classes are put together: each costs some tables of its own. */
enum { FLOW_PART_CLASSES_MIN = 1024 };

struct flow_parts {
    const uint32_t *classes; /* of flows, part by part; within one they ascend */
    const uint32_t *begins;  /* by part, and one more: its first in `classes` */
    size_t count;
};

struct flow_parts *flow_parts_find(const struct flow_list *list, const struct flow_paths *paths,
                                   const struct flow_classes *classes, struct arena *arena);

#endif
