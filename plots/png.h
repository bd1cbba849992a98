/* Dots as PNG bytes. */
#ifndef PLOTS_PNG_H
#define PLOTS_PNG_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/text.h"

struct png_dots {
    const uint32_t *dots; /* 0xRRGGBB, whatever above it; line by line from the top */
    uint32_t width, height;
    uint32_t stride; /* from one line to the next, in dots */
};

/* Appends the picture; false when the library refuses it. The same dots give the same bytes. */
bool png_append(const struct png_dots *dots, struct text *out);

#endif
