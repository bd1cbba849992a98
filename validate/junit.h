/* Error tables as JUnit XML, which CI systems read: a suite for each table, a case for each group.
 *
 * Only what every reader of that format agrees on is used: testsuites, testsuite, testcase,
 * failure, system-out. A case fails when its held-out MAPE is past a limit; one without a limit
 * passes. All figures stand in system-out, fit rows too. */
#ifndef VALIDATE_JUNIT_H
#define VALIDATE_JUNIT_H

#include <stddef.h>

#include "sim/base/text.h"
#include "validate/error_table.h"
#include "validate/tolerance.h"

struct junit_suite {
    const char *title;
    const struct error_table *table;
    const struct tolerance_verdicts *verdicts;
};

/* Appends the document. */
void junit_write(const struct junit_suite *suites, size_t count, struct text *out);

#endif
