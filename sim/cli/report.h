/* A page about one predicted step: HTML that needs nothing but itself, and no script. */
#ifndef SIM_CLI_REPORT_H
#define SIM_CLI_REPORT_H

#include "models/explain.h"
#include "models/what_if.h"
#include "plots/style.h"
#include "sim/base/text.h"

struct report {
    const struct step *step;
    struct explanation explanation;
    struct what_if what_ifs[WHAT_IFS_MAX];
    int what_if_count;
    struct text *out;
    struct arena *arena;
};

/* Simulates the step's what-ifs, and writes the whole page. */
void report_write(const struct step *step, struct text *out, struct arena *arena);

/* ---- Sections, in the order of the page */

void report_breakdown(const struct report *report);
void report_memory(const struct report *report);
void report_causes(const struct report *report);
void report_what_ifs(const struct report *report);
void report_operators(const struct report *report);
void report_trust(const struct report *report);
void report_inputs(const struct report *report);

/* ---- Parts of them */

/* Opens a section with a title and a sentence about it, which may be NULL. */
void report_begin(const struct report *report, const char *id, const char *title,
                  const char *about);
void report_end(const struct report *report);

/* A table that a narrow page does not overflow: heads of columns, NULL at the end; the first column
 * is words, the others are numbers. */
void report_begin_table(const struct report *report, const char *const *heads);
void report_end_table(const struct report *report);

/* A row's first cell, with a bar under the words: a fraction of the cell, in a colour. */
struct report_bar {
    double fraction; /* below 0: no bar */
    uint32_t rgb;
};
/* As pictures have it, but waiting so dark that it is seen on white and on black. */
uint32_t report_class_colour(enum step_class spent_on);
void report_label(const struct report *report, const char *words, struct report_bar bar);
/* A further cell. */
void report_cell(const struct report *report, const char *words);
/* Words between tags. */
void report_words(const struct report *report, const char *tag, const char *words);

#endif
