/* Did you mean: Damerau-Levenshtein distance (optimal string alignment) over short words. */
#include "sim/base/spelling.h"

#include <string.h>

enum {
    WORD_MAX = 63,     /* longer words are compared by their first letters */
    BEGINNING_MIN = 3, /* letters that are enough to mean a word by its beginning */
};

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t
spelling_distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1]; /* edits from a's first i letters, for i-2, i-1, i */
    size_t length_a = least(strlen(a), WORD_MAX), length_b = least(strlen(b), WORD_MAX);
    for (size_t j = 0; j <= length_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3], *above_two = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            row[j] = least(above[j], row[j - 1]) + 1;
            row[j] = least(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], above_two[j - 2] + 1);
        }
    }
    return rows[length_a % 3][length_b];
}

/* The first candidate that begins with the word, NULL for none or too short a word. */
static const char *
find_beginning(const char *word, const char *const *candidates, size_t count)
{
    size_t length = strlen(word);
    for (size_t i = 0; length >= BEGINNING_MIN && i < count; i++)
        if (strncmp(candidates[i], word, length) == 0)
            return candidates[i];
    return NULL;
}

const char *
spelling_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t nearest = strlen(word) / 3 > 1 ? strlen(word) / 3 : 1;
    size_t best = count; /* none so far */
    for (size_t i = 0; i < count; i++) {
        size_t distance = spelling_distance(word, candidates[i]);
        if (distance < nearest || (distance == nearest && best == count)) {
            nearest = distance;
            best = i;
        }
    }
    return best < count ? candidates[best] : find_beginning(word, candidates, count);
}
