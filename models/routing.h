/* How many tokens each expert gets: even, skewed or as measured; and what that makes of the ranks
 * that hold the experts. Every rank and microbatch routes alike: the loads are expectations.
 *
 *   "routing": {"kind": "power_law", "exponent": 0.7, "seed": 1} */
#ifndef MODELS_ROUTING_H
#define MODELS_ROUTING_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/json.h"

enum routing_kind {
    ROUTING_UNIFORM,
    ROUTING_POWER_LAW, /* the i-th most popular expert in proportion to i^-exponent (Zipf) */
    ROUTING_HISTOGRAM, /* in proportion to the weights, one an expert */
};

struct routing {
    enum routing_kind kind;
    double exponent;
    const double *weights;
    int64_t weight_count;
    int64_t seed;            /* who is popular: 0 the first experts, else drawn by it; a
                                histogram keeps its order */
    int64_t row_multiple;    /* each expert's tokens are a multiple of this, at least one; what
                                is left over goes to the most popular. 1: whole tokens */
    double capacity_factor;  /* an expert takes at most this part of an even load, what is over
                                is dropped; 0: nothing is dropped */
    bool is_capacity_padded; /* every expert computes its whole capacity, filled or not */
    bool is_given;           /* who goes where is known beforehand: nothing is sorted */
};

/* NULL after adding every fault of the object. */
const struct routing *routing_read(const struct json *object, struct arena *arena,
                                   struct error_list *errors);

/* Whether it fits a model of so many experts. */
bool routing_check(const struct routing *routing, const struct json *object, int64_t experts,
                   struct error_list *errors);

/* Tokens of one microbatch of one rank, each going to so many of the experts. */
struct routed_tokens {
    int64_t tokens, per_token, experts;
};

struct expert_loads {
    const int64_t *rows; /* of each expert, padding included: what its products compute */
    int64_t experts;
    int64_t copies;  /* of tokens, sent to experts: the rows without padding */
    int64_t dropped; /* copies that found no room */
};

/* `routing` NULL: uniform. No expert gets more than every token once, unless a token goes to more
 * experts than there are: those of one rank among many. */
struct expert_loads routing_loads(const struct routing *routing,
                                  const struct routed_tokens *routed, struct arena *arena);

/* The experts lie on `ranks` ranks, the first experts / ranks on the first of them and so on; ranks
 * divide experts. Rows that one rank sends to `rank`. */
int64_t routing_rank_rows(const struct expert_loads *loads, int64_t ranks, int64_t rank);
/* The lowest of the ranks with most rows. */
int64_t routing_busiest_rank(const struct expert_loads *loads, int64_t ranks);
/* Its rows over those of the mean rank: 1 where all are alike. */
double routing_imbalance(const struct expert_loads *loads, int64_t ranks);
/* Experts may be chosen from so many groups of neighbours only, `chosen` of all; all 0: from any.
 */
struct routing_groups {
    int64_t all, chosen;
};
/* Of so many places (nodes) that hold equally many experts each, on how many those of one token
 * lie: the expectation where every choice is as likely. */
double routing_places_met(const struct routed_tokens *routed, struct routing_groups groups,
                          int64_t places);

/* Bytes of an all-to-all-v over these ranks, ranks x ranks, one sender a row. */
const double *routing_matrix(const struct expert_loads *loads, int64_t ranks,
                             double bytes_per_row, struct arena *arena);

#endif
