/* Words within HTML and SVG. */
#ifndef SIM_BASE_MARKUP_H
#define SIM_BASE_MARKUP_H

#include "sim/base/text.h"

/* As text or within a quoted attribute: whatever they are, they end neither. Control characters
 * become spaces. */
void markup_write(struct text *out, const char *words);

#endif
