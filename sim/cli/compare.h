/* Steps side by side: each as it is, and its difference to the first term by term. */
#ifndef SIM_CLI_COMPARE_H
#define SIM_CLI_COMPARE_H

#include "models/step.h"
#include "plots/bar_chart.h"

enum { COMPARE_MAX = 16 };

struct compared {
    const char *name;
    const struct step
        *step;             /* with a reason: as if a GPU had memory enough; NULL: none at all */
    const char *reason;    /* why it cannot be run; NULL: it can */
    double capacity_bytes; /* of a GPU */
};

struct comparison {
    struct compared items[COMPARE_MAX]; /* the first runs, the others are held against it */
    size_t count;
};

/* Of a class of one that runs, how much longer than in the first: over all classes they add up to
 * the difference of the steps, to the picosecond. */
int64_t comparison_difference_ps(const struct comparison *comparison, size_t item,
                                 enum step_class spent_on);

void comparison_print(const struct comparison *comparison, struct text *out);
void comparison_write_json(const struct comparison *comparison, struct text *out);
void comparison_write_csv(const struct comparison *comparison, struct text *out);
/* A bar for each, of what its step goes to; the shortest first. */
const struct bar_chart *comparison_chart(const struct comparison *comparison,
                                         struct arena *arena);

#endif
