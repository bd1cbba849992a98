/* The same search on several numbers of nodes: which is the shortest step, the most of each GPU,
 * the least money. */
#ifndef SIM_CLI_SEARCH_NODES_H
#define SIM_CLI_SEARCH_NODES_H

#include "sim/cli/search_report.h"

struct search_nodes {
    struct search *searches;    /* by nodes; of one objective and price */
    const char *const *reasons; /* why there is no such search; NULL: there is one */
    const int64_t *nodes;
    size_t count;
    size_t top;         /* of all together */
    struct slice slice; /* of the plans of all, those of fewer nodes before the others */
};

/* The slice of a search behind those that have run. */
struct slice search_nodes_slice(const struct search_nodes *all, size_t index);

void search_nodes_text(const struct search_nodes *all, struct text *out);
void search_nodes_json(const struct search_nodes *all, struct text *out);
/* As search_report_csv, the number of nodes before a plan's fields. */
void search_nodes_csv(const struct search_nodes *all, struct text *out);

/* What is asked for over the number of GPUs: the best plan of each, and what it would be if every
 * GPU did as much as with the fewest. NULL when no plan was simulated. */
const struct scatter_chart *search_nodes_picture(const struct search_nodes *all,
                                                 struct arena *arena);

#endif
