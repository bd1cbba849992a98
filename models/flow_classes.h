/* Flows in equal positions, told by their list and paths alone: one of them stands for all.
 *
 *      0 ──▶ 1                  four GPUs in a circle, equal bytes each: one class of flows,
 *      ▲     │                  one class of links; one flow on one link tells all times
 *      3 ◀── 2
 *
 * Flows are of one class when they have the same bytes and start, pass as many links of each
 * class of links, and depend on flows of the same classes; links are of one class when they give
 * the same and as many flows of each class pass them (an equitable partition of flows and links).
 * Then rates that are the same within each class solve the whole: as they are the only max-min fair
 * ones, flows of a class start, run and end together. */
#ifndef MODELS_FLOW_CLASSES_H
#define MODELS_FLOW_CLASSES_H

#include "models/flow_paths.h"

struct flow_classes {
    const uint32_t *of_flow; /* a class is numbered after all that it depends on */
    const uint32_t *flows;   /* by class: one flow of it */
    const uint32_t *sizes;   /* by class: flows of it; NULL: 1 of each */
    size_t count;
    const uint32_t *of_link;
    const uint32_t *links;      /* by class: one link of it */
    const uint32_t *link_sizes; /* likewise */
    size_t link_count;
};

/* The coarsest such partition; or each flow and link for itself where it would have more than
 * half as many classes as flows, or its search more than a few rounds. Classes are told
 * by hashes of 64 bits: of a million flows two are confused once in 10^7 lists. */
struct flow_classes *flow_classes_find(const struct flow_list *list,
                                       const struct flow_paths *paths, struct arena *arena);

/* How many flows of the class pass each link of that class, if one of them passes one. */
double flow_classes_flows_on_link(const struct flow_classes *classes, uint32_t class,
                                  uint32_t link_class, double links_of_a_flow);

#endif
