/* Fields of comma-separated values, as RFC 4180 has them. */
#ifndef SIM_BASE_CSV_H
#define SIM_BASE_CSV_H

#include "sim/base/text.h"

/* As it is, or quoted where it holds a comma, a quote or a line's end. */
void csv_write_text(struct text *out, const char *text);

/* So many digits that reading them gives the number back; nothing of one that is not finite. */
void csv_write_real(struct text *out, double value);

#endif
