/* For models/pricing_shares.c: what the optimizer's work on a share costs, but for its exchange
 * with other ranks. Shares with as much to do are priced once. */
#ifndef MODELS_SHARE_PRICES_H
#define MODELS_SHARE_PRICES_H

#include "models/pricing.h"

/* A share with its prices, but for the exchange. */
struct priced_share {
    const struct optimizer_share *share;
    const struct step_work *works[SHARE_STAGE_COUNT];
    /* Of the ranks of a stage so far that have as much to do: the most that one of them exchanges
     * with another that lies so to it; -1: none does. */
    int64_t stage;
    int64_t most_elements[COLLECTIVE_PAIRS];
    struct priced_share *next; /* of the same place */
};

/* The prices of one lowering. */
struct share_prices;

struct share_prices *share_prices_new(struct arena *arena);

/* Of that share, which lasts as long; NULL after adding why it has no price. */
struct priced_share *share_prices_find(struct share_prices *prices,
                                       const struct pricing *pricing,
                                       const struct optimizer_share *share);

#endif
