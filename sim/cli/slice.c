/* Points are dealt out one by one, so that parts take about as long. */
#include "sim/cli/slice.h"

/* A whole number from 1 to most, and what follows it; 0 where there is none. */
static size_t
read_number(const char **at, size_t most)
{
    size_t number = 0;
    for (; **at >= '0' && **at <= '9' && number <= most; (*at)++)
        number = 10 * number + (size_t)(**at - '0');
    return number <= most ? number : 0;
}

bool
slice_parse(const char *text, struct slice *slice)
{
    size_t number = read_number(&text, SLICES_MAX);
    bool has_bar = *text++ == '/';
    size_t count = has_bar ? read_number(&text, SLICES_MAX) : 0;
    *slice = (struct slice){number - 1, count};
    return has_bar && *text == '\0' && number >= 1 && number <= count;
}

size_t
slice_points(const struct slice *slice, size_t points)
{
    if (slice->count == 0)
        return points;
    return points > slice->index ? (points - slice->index - 1) / slice->count + 1 : 0;
}

size_t
slice_point(const struct slice *slice, size_t n)
{
    return slice->count == 0 ? n : slice->index + n * slice->count;
}
