/* A double as text that reads back to the same double. */
#ifndef SIM_BASE_REAL_TEXT_H
#define SIM_BASE_REAL_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum { REAL_TEXT_MAX = 32 };

/* Writes what printf's %.15g writes, or where that does not read back %.16g, or else %.17g, and
 * a 0; returns the length. The value is finite. The same text as of trying these one after the
 * other, several times as quick. */
size_t real_text_write(double value, char text[REAL_TEXT_MAX]);

/* The same of a whole number: what printf's PRId64 writes. */
size_t real_text_write_whole(int64_t value, char text[REAL_TEXT_MAX]);

#endif
