/* What a search asks of plans, and the answers: any process with the same space can give them. */
#ifndef SIM_CLI_SEARCH_ANSWERS_H
#define SIM_CLI_SEARCH_ANSWERS_H

#include "models/memory.h"
#include "sim/cli/crew.h"
#include "sim/cli/search.h"

/* A question is points one behind the other; of a step, a point and its memory. */
enum search_question {
    ASK_BOUNDS, /* of plans that agree in all degrees and the microbatch: a bound_answer each */
    ASK_MEMORY, /* of one: a struct memory */
    ASK_STEP,   /* of one: its row's values; nothing where it has no step */
    SEARCH_QUESTION_COUNT
};

struct bound_answer {
    double bound_s;
    bool has_price;
};

/* The crew's table; its setup is the search, of which they read the space only. */
extern crew_answer *const SEARCH_ANSWERS[SEARCH_QUESTION_COUNT];

void search_append_point(struct text *question, const struct plan_point *point);

/* What makes the base's plan the point's. */
struct run_settings search_settings(const struct search *search, const struct plan_point *point,
                                    struct arena *arena);

#endif
