/* A part of many points, so that several programs can share them: "3/16", the third of sixteen. */
#ifndef SIM_CLI_SLICE_H
#define SIM_CLI_SLICE_H

#include <stdbool.h>
#include <stddef.h>

/* Every count-th point, from the index-th on; of all zero, every point. */
struct slice {
    size_t index, count;
};

enum { SLICES_MAX = 1000000 };

/* False when the text is none. */
bool slice_parse(const char *text, struct slice *slice);

/* How many of so many points are in the slice, and which is its n-th. */
size_t slice_points(const struct slice *slice, size_t points);
size_t slice_point(const struct slice *slice, size_t n);

#endif
