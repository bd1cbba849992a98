/* A width of a model, or of one product: why it is as quick as it is, and which near it are better.
 *
 * Of a field of the run every width near it is simulated again, with what follows from it; better
 * is what brings a GPU more model FLOP/s, so that a smaller model is not better for being smaller.
 * Of a product alone its columns are varied and priced. */
#ifndef SIM_CLI_WIDTH_ADVICE_H
#define SIM_CLI_WIDTH_ADVICE_H

#include "models/sizing_rules.h"
#include "sim/cli/sweep_space.h"

struct width_request {
    const char *what;         /* "model.expert_ffn", or a product on the chain: "gate_up" */
    int64_t every;            /* width tried; 0: the power of two at a sixteenth, up to 64 */
    double within_fraction;   /* of the width, to both sides */
    struct sweep_space space; /* fields that follow: links alone */
};

struct width_point {
    int64_t width;
    const char *reason;                   /* why it cannot be; NULL: it can */
    double seconds_s;                     /* the step; of a product one call */
    double flop_per_s;                    /* of the model, on each GPU; of the product */
    double mfu;                           /* 0 of a product */
    double parameters, active_parameters; /* of a product its weights */
    double memory_bytes;                  /* 0 of a product */
};

/* A product of the step that changes with the width. */
struct width_product {
    const struct explain_operator *found;
    const char *waves;
};

enum { WIDTH_PRODUCTS_MAX = 12 };

struct width_advice {
    const struct width_request *request;
    const struct explanation *explanation;
    bool is_field;
    const struct width_point *points; /* by width */
    size_t count;
    const struct width_point *now;
    const struct width_point *down, *up; /* the nearest better ones; NULL: there is none */
    const struct width_point *best;      /* of all; `now` where none is better */
    struct width_product products[WIDTH_PRODUCTS_MAX]; /* longest first */
    int product_count;
    struct sizing_rule rules[SIZING_RULES_MAX]; /* of a field */
    int rule_count;
};

/* What counts as better, so that rounding does not: a part of the FLOP/s. */
extern const double WIDTH_BETTER_FRACTION;

/* False after adding why there is nothing to say. */
bool width_advise(const struct width_request *request, const struct explanation *explanation,
                  struct width_advice *advice, struct arena *arena, struct error_list *errors);

void width_advice_text(const struct width_advice *advice, struct text *out);
void width_advice_json(const struct width_advice *advice, struct text *out);

#endif
