/* Kernels beside collectives, with the times that somebody measured: how much each slows the
 * other.
 *
 * One pair a line, JSONL:
 * {"kernel": {"kernel": "gemm", ...}, "kernel_count": 43,
 *  "collective": {"collective": "all_gather", ...}, "collective_count": 19,
 *  "measured_kernels_alone_s": 0.0166, "measured_collectives_alone_s": 0.0140,
 *  "measured_kernels_s": 0.0162, "measured_collectives_s": 0.0236, "measured_part": "fit"}
 *
 * Where nobody wrote down what the collectives take, alone (then they are priced) or beside, both
 * may be left out. Where only the time until both streams are through was taken, that is
 * "measured_both_s", in place of each one's own. */
#ifndef VALIDATE_OVERLAP_LIST_H
#define VALIDATE_OVERLAP_LIST_H

#include "hw/overlap_pair.h"
#include "sim/base/text.h"
#include "validate/split.h"

struct measured_overlap {
    struct overlap_pair pair;        /* with its times alone */
    double kernels_s, collectives_s; /* each stream's own time beside the other; the latter 0
                                        where it is not known */
    double both_s; /* from the common start to the end of both; 0 where each one's is known */
    enum split_part part;
    const char *list; /* its name and the line in it, from 1 */
    int line;
};

/* Zero-initialised by its owner; lives in the arena. */
struct overlap_list {
    struct measured_overlap *items;
    size_t count, capacity;
};

/* Adds a file ("-": standard input) of at most 16 MiB; empty lines are left out. False after
 * adding every fault; a list without any line is one. */
bool overlap_list_read(struct overlap_list *list, const char *path, struct arena *arena,
                       struct error_list *errors);

/* The same from memory; `name` stands in messages. */
bool overlap_list_parse(struct overlap_list *list, const char *name, const struct text *text,
                        struct arena *arena, struct error_list *errors);

#endif
