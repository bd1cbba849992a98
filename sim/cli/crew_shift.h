/* A work while it is done: which indices are left. For crew*.c only; others see sim/cli/crew.h. */
#ifndef SIM_CLI_CREW_SHIFT_H
#define SIM_CLI_CREW_SHIFT_H

#include "sim/cli/crew.h"

struct crew_shift {
    struct crew *crew;
    const struct crew_work *work;
    struct parallel_lock *lock; /* of all below, and while an answer is taken */
    size_t next, taken_count;
    size_t *again; /* indices whose process was lost */
    size_t again_count;
    bool is_over; /* nothing more is asked */
};

/* The next index to ask; false when none is left, or none shall be asked. */
bool crew_shift_index(struct crew_shift *shift, size_t *index);
void crew_shift_take(struct crew_shift *shift, size_t index, const struct text *answer);

/* Asks and answers indices until none is left. */
void crew_shift_work(struct crew_shift *shift, int thread);

/* Indices to ask again; there is room for them. */
void crew_shift_return(struct crew_shift *shift, const size_t *indices, size_t count);
bool crew_shift_is_done(struct crew_shift *shift);

#endif
