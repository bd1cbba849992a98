/* The same search on several numbers of nodes: which is the shortest step, the most of each GPU,
 * the least money. */
#ifndef SIM_CLI_SEARCH_NODES_H
#define SIM_CLI_SEARCH_NODES_H

#include "sim/cli/search_report.h"

struct search_nodes {
    const struct search *searches; /* that have run, by nodes; of one objective and price */
    const char *const *reasons;    /* why there is no such search; NULL: there is one */
    const int64_t *nodes;
    size_t count;
    size_t top; /* of all together */
};

void search_nodes_text(const struct search_nodes *all, struct text *out);
void search_nodes_json(const struct search_nodes *all, struct text *out);

#endif
