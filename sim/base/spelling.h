/* Did you mean: the nearest of the words that would have been right. */
#ifndef SIM_BASE_SPELLING_H
#define SIM_BASE_SPELLING_H

#include <stddef.h>

/* Edits (insert, delete, replace, swap of neighbours) that turn one word into the other. */
size_t spelling_distance(const char *a, const char *b);

/* The candidate nearest to the word, of equals the first; NULL when none is within a third of the
 * word's length (at least one edit) and none begins with the word (three letters or more). */
const char *spelling_nearest(const char *word, const char *const *candidates, size_t count);

#endif
