/* The world's faults, collected for the caller: what was wrong, where, and of which sort. */
#ifndef SIM_BASE_ERROR_H
#define SIM_BASE_ERROR_H

#include <stdbool.h>

/* Each sort has its own exit code (the program's business). Bugs of ours are asserts instead. */
enum error_kind {
    ERROR_INPUT,      /* a file or list that cannot be used as it is */
    ERROR_INFEASIBLE, /* understood, but it cannot be: does not fit, has no route */
    ERROR_IO,         /* a file that cannot be read or written */
};

struct error {
    enum error_kind kind;
    char where[256]; /* "configs/plans/a.json:7:13: $.tensor", "" if nowhere in a file */
    char what[256];  /* one line, no full stop: what was found and what was wanted */
};

enum { ERROR_LIST_MAX = 20 };

/* Zero-initialised by its owner ({0}). Later faults than the twentieth are counted, not kept. */
struct error_list {
    struct error items[ERROR_LIST_MAX];
    int count;
};

/* Adds one fault; `where` may be "". Always false, so that a function can
 * `return error_add(errors, ...)`. Cannot fail: too long a text is cut, control characters become
 * "?". */
bool error_add(struct error_list *errors, enum error_kind kind, const char *where,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* How many of the faults are kept in items. */
int error_list_kept(const struct error_list *errors);

#endif
