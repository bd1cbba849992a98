/* How far a long command is: one line on a terminal's standard error, nothing anywhere else. */
#ifndef SIM_CLI_PROGRESS_H
#define SIM_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/measure_times.h"

struct progress {
    const char *command, *noun; /* "sweep", "points" */
    bool is_wanted;
    size_t total; /* 0: not known */
    struct measure_clock clock;
    double begun_s, shown_s; /* when; 0: not shown */
};

struct progress progress_begin(const char *command, const char *noun, size_t total,
                               bool is_wanted);

/* So many done, `known` of them without work, which say nothing of the rate. The line is renewed a
 * few times a second. */
void progress_show(struct progress *progress, size_t done, size_t known);

/* What the line says at that time. */
struct progress_line {
    char text[128];
};
struct progress_line progress_line_of(const struct progress *progress, size_t done,
                                      size_t known, double now_s);

/* Takes the line away, so that something else can be printed. */
void progress_hide(struct progress *progress);

#endif
