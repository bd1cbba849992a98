/* One kernel as a command line says it, and its price. */
#ifndef SIM_CLI_KERNEL_QUESTION_H
#define SIM_CLI_KERNEL_QUESTION_H

#include "hw/kernel_cost.h"
#include "sim/base/json_writer.h"
#include "sim/cli/command.h"

/* Of the command's words: JSON ('{"kernel": "gemm", "m": 4096, ...}') or the kind alone ("gemm"),
 * and after it any number of "key=value". NULL after adding what is wrong. */
const struct json *kernel_question_read(const struct options *options, struct arena *arena,
                                        struct error_list *errors);

/* The kernel of a question and what it costs; faults stand at the question's place. */
bool kernel_question_price(const struct device *device, const struct json *question,
                           struct arena *arena, struct kernel *kernel, struct kernel_cost *cost,
                           struct error_list *errors);

/* The keys that an answer adds to its question, and a whole answer on a line of its own. */
void kernel_question_write_cost(struct json_writer *writer, const struct kernel_cost *cost);
void kernel_question_write_answer(struct text *text, const struct json *question,
                                  const struct kernel_cost *cost);

#endif
