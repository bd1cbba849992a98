/* For tests: names, numbers and counts as nobody would choose them. */
#ifndef PLOTS_CHECK_RANDOM_H
#define PLOTS_CHECK_RANDOM_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plots/style.h"
#include "sim/base/check_random.h"
#include "sim/base/text.h"

/* No words to thirty of one to fifteen letters, some not of ASCII. */
static inline const char *
check_random_name(uint64_t *seed, struct arena *arena)
{
    static const char *const letters[] = {"a", "e", "i", "l", "m", "W",
                                          "8", "_", "µ", "Ω", "漢"};
    struct text name = text_new(arena);
    uint32_t words = check_random_below(seed, 4) ? check_random_below(seed, 5)
                                                 : check_random_below(seed, 31);
    text_format(&name, "%s", "");
    for (uint32_t word = 0; word < words; word++) {
        uint32_t count = 1 + check_random_below(seed, 15);
        text_format(&name, "%s", word > 0 ? " " : "");
        for (uint32_t i = 0; i < count; i++)
            text_format(&name, "%s", letters[check_random_below(seed, 11)]);
    }
    return name.bytes;
}

/* One of three is none. */
static inline const char *
check_random_name_or_none(uint64_t *seed, struct arena *arena)
{
    return check_random_below(seed, 3) ? check_random_name(seed, arena) : NULL;
}

static inline enum style_slot
check_random_slot(uint64_t *seed)
{
    return (enum style_slot)check_random_below(seed, STYLE_SLOT_COUNT);
}

/* Over many orders of size; one of sixteen is zero, one none, one without end. */
static inline double
check_random_value(uint64_t *seed)
{
    switch (check_random_below(seed, 16)) {
    case 0:
        return 0.0;
    case 1:
        return (double)NAN;
    case 2:
        return (double)INFINITY;
    default:
        return (1.0 + check_random_below(seed, 1000)) *
               pow(10.0, (double)check_random_below(seed, 24) - 12.0);
    }
}

/* As they come from one quantity: of one order of size, all finite. */
static inline double
check_random_like(uint64_t *seed, double size)
{
    return size * (0.05 + 0.001 * (double)check_random_below(seed, 1000));
}

#endif
