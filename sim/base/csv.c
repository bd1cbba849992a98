/* Fields of comma-separated values. */
#include "sim/base/csv.h"

#include <math.h>
#include <string.h>

#include "sim/base/real_text.h"

void
csv_write_text(struct text *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        text_append(out, text, strlen(text));
        return;
    }
    text_append(out, "\"", 1);
    for (; *text; text++)
        text_append(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    text_append(out, "\"", 1);
}

void
csv_write_real(struct text *out, double value)
{
    char text[REAL_TEXT_MAX];
    if (isfinite(value))
        text_append(out, text, real_text_write(value, text));
}
