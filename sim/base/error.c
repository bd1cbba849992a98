/* The world's faults, collected for the caller. */
#include "sim/base/error.h"

#include <stdarg.h>
#include <stdio.h>

bool
error_add(struct error_list *errors, enum error_kind kind, const char *where,
          const char *format, ...)
{
    if (errors->count++ >= ERROR_LIST_MAX)
        return false;
    struct error *error = &errors->items[errors->count - 1];
    error->kind = kind;
    snprintf(error->where, sizeof error->where, "%s", where);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->what, sizeof error->what, format, arguments);
    va_end(arguments);
    return false;
}

int
error_list_kept(const struct error_list *errors)
{
    return errors->count < ERROR_LIST_MAX ? errors->count : ERROR_LIST_MAX;
}
