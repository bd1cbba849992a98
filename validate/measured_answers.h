/* Questions that were measured before: what a list that goes on need not ask again. */
#ifndef VALIDATE_MEASURED_ANSWERS_H
#define VALIDATE_MEASURED_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/json.h"
#include "sim/base/json_writer.h"
#include "sim/base/text.h"

/* Zero-initialised by its owner; lives in the arena of the text that it was read from. */
struct measured_answers {
    const char **questions;
    size_t count, capacity;
};

/* The members of a line that ask, not those that answer. */
void measured_question_write(const struct json *line, struct json_writer *writer);

/* Adds the lines that the device answered; others' are passed over. False after adding a fault
 * at its line. */
bool measured_answers_parse(struct measured_answers *answers, const char *name,
                            const struct text *text, const char *device,
                            struct error_list *errors);

bool measured_answers_have(const struct measured_answers *answers, const struct json *question,
                           struct arena *arena);

#endif
