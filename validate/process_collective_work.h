/* One collective between processes on its way: what its call, its check and its times share. */
#ifndef VALIDATE_PROCESS_COLLECTIVE_WORK_H
#define VALIDATE_PROCESS_COLLECTIVE_WORK_H

#include <stdbool.h>

#include "hw/collective.h"
#include "validate/process_group.h"

struct process_collective_work {
    const struct process_group *group;
    enum collective_kind kind;
    size_t block_bytes;         /* what one rank has for one other, where all have the same */
    size_t in_bytes, out_bytes; /* of this rank's whole buffers */
    int from, to;               /* of a send_recv */
    int64_t *in_parts, *out_parts; /* [ranks] of an all_to_all_v */
    const double *bytes_matrix;    /* [sender][receiver] of it */
};

/* This rank's part of it. False after adding ERROR_INPUT or ERROR_INFEASIBLE on every rank of the
 * world alike. The group is not set yet; out->ranks are those that it is to have. */
bool process_collective_plan(const struct collective *collective,
                             const struct process_group *world,
                             struct process_collective_work *work, int *ranks,
                             struct arena *arena, struct error_list *errors);

/* Once. */
void process_collective_call(const struct process_collective_work *work, void *in, void *out);

/* Random contents of this rank's `in`: whole numbers from -8 to 8 in fp32 where they are added,
 * whose sums are exact, else any bytes. A broadcast fills `out` of its root. */
void process_collective_fill(const struct process_collective_work *work, uint64_t seed,
                             void *in, void *out);

/* Of all ranks: norm(out - wanted) / norm(wanted) of sums, the wrong ones' part of moved bytes. */
double process_collective_error(const struct process_collective_work *work, uint64_t seed,
                                const void *out);

#endif
