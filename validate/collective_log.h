/* Logs of rccl-tests and nccl-tests (all_reduce_perf and its like) as measured collectives.
 *
 *     # nThread 1 nGpus 8 minBytes 8388608 maxBytes 1073741824 ...
 *     # Using devices
 *     #  Rank  0 Group  0 Pid  37300 on   node7 device  0 [0000:05:00] AMD Instinct MI300X
 *     #       size         count      type   redop    root     time   algbw   busbw #wrong ...
 *          8388608       2097152     float     sum      -1    91.10   92.08  161.14      0 ...
 *
 * Which collective it was stands in no column: it is taken from the first "..._perf" in the
 * log, or else from the file's name. Ranks and nodes are those of the Rank lines; without
 * them, threads times GPUs of one process. Of the two groups of times the first counts (out of
 * place); lines of other programs in between are passed over, and so are rows of no bytes. */
#ifndef VALIDATE_COLLECTIVE_LOG_H
#define VALIDATE_COLLECTIVE_LOG_H

#include "sim/base/text.h"
#include "validate/measured_list.h"

/* Whether a text is such a log: told by the heading of its table. */
bool collective_log_is(const struct text *text);

/* Adds its rows. False after adding every fault: a collective that has no price here, no
 * ranks, a time that is none, no row. `name` is the file's and stands in messages. */
bool collective_log_parse(struct measured_list *list, const char *name, const struct text *text,
                          struct arena *arena, struct error_list *errors);

#endif
