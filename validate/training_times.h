/* How long each piece of work of a step took, in the order they ran, least of several steps.
 *
 * Every step runs the same pieces in the same order. On a machine that others use, a piece waits
 * for its core and shares the memory: so pieces are timed by the clock of their core alone, and of
 * each the least over some steps counts. The sum of those is what a step of one process would take
 * undisturbed; of several, training_replay.h plays them again. In an exchange a process that waits
 * for another asks over and over whether it is there, on its core: the least of all its members,
 * that of the last to come, is what the exchange itself takes. */
#ifndef VALIDATE_TRAINING_TIMES_H
#define VALIDATE_TRAINING_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "validate/measure_times.h"

/* Parts of a step, one behind the other, as models/step.h has them. */
enum training_phase {
    TRAINING_PASSES,
    TRAINING_REDUCTION,
    TRAINING_OPTIMIZER,
    TRAINING_GATHER,
    TRAINING_PHASE_COUNT
};

struct training_time {
    const char *name; /* the prediction's name for such work: "gate_up.weight_gradient" */
    enum training_phase phase;
    uint64_t peers; /* of an exchange: a bit for each process of the world that meets in it */
    double last_s, least_s; /* in the step before, over all steps */
    size_t from, to;        /* of marks */
};

/* The clock of a machine that works behind the host's back: a mark is put where the work is, what
 * lies between two is known when all is done. Marks of a step are numbered from 0. */
struct training_marks {
    void *context;
    void (*set)(void *context, size_t mark);
    double (*between_s)(void *context, size_t from, size_t to);
};

struct training_times {
    struct measure_clock clock, core_clock;
    const struct training_marks *marks; /* instead of the core's clock, unless NULL */
    size_t mark_count;                  /* of this step */
    struct arena *arena;
    enum training_phase phase; /* of what runs now */
    double begin_s;
    size_t begin_mark;
    struct training_time *items;
    size_t count, capacity;
    size_t next;   /* the item that comes next in this step */
    int64_t steps; /* begun */
};

/* With a machine's marks, or NULL. */
struct training_times training_times_new(const struct training_marks *marks,
                                         struct arena *arena);

/* From here on the items come again. */
void training_times_begin_step(struct training_times *times);
/* The step's work is done: what lies between its marks is taken. */
void training_times_end_step(struct training_times *times);

void training_times_begin(struct training_times *times);
/* What has passed since begin, or since the last end, is the next item's; the name must last. */
void training_times_end(struct training_times *times, const char *name);
void training_times_end_exchange(struct training_times *times, const char *name,
                                 uint64_t peers);

double training_times_now_s(const struct training_times *times);

/* Times of all items in the step before. */
double training_times_last_s(const struct training_times *times);

/* Least times of all items of a name, and how many there are. */
double training_times_name_s(const struct training_times *times, const char *name,
                             int64_t *runs);
/* Whether an item before this one has the same name. */
bool training_times_is_repeated(const struct training_times *times, size_t item);

#endif
