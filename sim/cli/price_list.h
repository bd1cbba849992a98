/* Answers a list of questions, one JSON object a line: each line is read, priced and answered
 * before the next is read, so that a list of any length takes the memory of one line. */
#ifndef SIM_CLI_PRICE_LIST_H
#define SIM_CLI_PRICE_LIST_H

#include <stdbool.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/json_writer.h"

struct price_list {
    const char *path;        /* "-" is standard input */
    const char *output_path; /* "" is standard output; a file appears only when it is whole */
    bool keeps_going;        /* past a line that cannot be answered */

    /* Writes the keys of one answer ("predicted_s", ...) after those of its question; false
     * after adding a fault. The arena lasts as long as the line. */
    bool (*price)(const void *context, const struct json *question, struct arena *arena,
                  struct json_writer *answer, struct error_list *errors);
    const void *context;
};

/* One answer a question, in order; empty lines are left out. A question without answer is
 * reported with its line; then the list ends there or, if it keeps going, is answered by
 * {..., "error": "what was wrong"}. Returns the exit code of the first fault. */
int price_list_run(const struct price_list *list);

#endif
