/* One collective over sizes that double, a curve for each number of nodes, and what was
 * measured of it. */
#ifndef SIM_CLI_COLLECTIVE_CURVES_H
#define SIM_CLI_COLLECTIVE_CURVES_H

#include "hw/collective.h"
#include "models/routing.h"
#include "plots/line_chart.h"
#include "sim/base/json_writer.h"
#include "sim/cli/command.h"
#include "validate/measured_list.h"

struct collective_curve {
    struct collective collective; /* bytes are each point's */
    struct rank_placement placement;
    const struct collective_cost *costs;    /* by size */
    const struct measured *const *measured; /* rows of this collective on as many ranks */
    size_t measured_count;
};

struct collective_curves {
    const struct cluster *cluster;
    const char
        *settings; /* what was set in it, ", fabric.network.works_by_levels=true"; or "" */
    double first_bytes;
    size_t size_count; /* sizes from the first on, each twice the one before */
    struct collective_curve *items;
    size_t count;
    bool draws_time; /* alone, not under bus bandwidth */
    double skew;     /* of all_to_all_v: rank i gets (i + 1)^-skew of what each sends */
    /* Of an all_to_all: each token goes to `per_token` of so many experts, and once to a node that
     * has several of them; 0: every part is what one rank sends to one other. */
    struct routed_tokens routed;
};

/* The sizes, nodes and ranks that the options ask for. Those of a collective that `word` names.
 * EXIT_DONE, or the code of what was wrong, which was said. */
int collective_curves_read(struct collective_curves *curves, const char *word,
                           const struct options *options, struct arena *arena);

/* False after adding why a point has no price. */
bool collective_curves_price(struct collective_curves *curves, struct arena *arena,
                             struct error_list *errors);

void collective_curves_add_measured(struct collective_curves *curves,
                                    const struct measured_list *list, struct arena *arena);

double collective_curves_bytes(const struct collective_curves *curves, size_t size);

/* rccl-tests' columns and units, a table a curve. */
void collective_curves_print(const struct collective_curves *curves, struct text *out);
/* An array of objects; rows of numbers. */
void collective_curves_write(const struct collective_curves *curves,
                             struct json_writer *writer);
void collective_curves_write_csv(const struct collective_curves *curves, struct text *out);
const struct line_chart *collective_curves_picture(const struct collective_curves *curves,
                                                   struct arena *arena);

/* Keys of a price that answers share. */
void collective_cost_write(struct json_writer *writer, const struct collective_cost *cost);

/* "bus bandwidth of a row": bytes over time by rccl-tests' factor. */
double collective_bus_of_row(const struct measured *row);

#endif
