/* The world's faults, collected for the caller. */
#include "sim/base/error.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Drops the part of a UTF-8 letter that the cut at the array's end may have left. */
static void
drop_half_letter(char *text, size_t length)
{
    size_t start = length - 1;
    while (start > 0 && ((unsigned char)text[start] & 0xC0) == 0x80)
        start--;
    unsigned char first = (unsigned char)text[start];
    size_t wanted = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    if (length - start < wanted)
        text[start] = '\0';
}

/* Makes it one line that a terminal shows as it is: names and texts in it come from files that
 * may hold anything. */
static void
tidy(char *text, size_t size)
{
    size_t length = strlen(text);
    if (length + 1 == size)
        drop_half_letter(text, length);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7F)
            *at = '?';
}

bool
error_add(struct error_list *errors, enum error_kind kind, const char *where,
          const char *format, ...)
{
    if (errors->count >= ERROR_LIST_MAX) {
        errors->count += errors->count < INT_MAX;
        return false;
    }
    struct error *error = &errors->items[errors->count++];
    error->kind = kind;
    snprintf(error->where, sizeof error->where, "%s", where);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->what, sizeof error->what, format, arguments);
    va_end(arguments);
    tidy(error->where, sizeof error->where);
    tidy(error->what, sizeof error->what);
    return false;
}

int
error_list_kept(const struct error_list *errors)
{
    return errors->count < ERROR_LIST_MAX ? errors->count : ERROR_LIST_MAX;
}
