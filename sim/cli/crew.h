/* Who computes the points: threads of this process and, where mpirun started several, those of the
 * other processes.
 *
 * An index becomes a question, the question an answer, and the answer is taken. A question is
 * plain bytes and says all that a process of the same command line needs, so that it makes no
 * difference who answers. Process 0 asks and answers too; the others only answer. One that is lost
 * loses nothing but time: what it was asked is asked again. */
#ifndef SIM_CLI_CREW_H
#define SIM_CLI_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/cli/ranks.h"

/* Appends the answer; several threads do so at the same time. */
typedef void crew_answer(const void *setup, const struct text *question, struct text *answer);

struct crew {
    struct arena *arena;
    int threads;                 /* of each process */
    crew_answer *const *answers; /* what can be asked: the same table in all processes */
    const void *setup;           /* what questions are about: each process has made its own */
    const char *identity;     /* of the setup: who has another one is not asked; may be NULL */
    bool (*is_stopped)(void); /* looked at before each question; may be NULL */
    double patience_s;        /* who is silent for longer is lost; 0: the usual */

    /* Set by crew_open. */
    struct arena **arenas; /* of each thread, and of who asks other processes */
    struct ranks *ranks;   /* NULL: there are none */
    struct crew_mate *mates;
    uint64_t shift; /* how often crew_run was called */
};

/* Threads of a process, unless its user says otherwise: its cores, which processes share. */
int crew_default_threads(void);

/* False in a process that answers, when there is nothing more to answer: it is through. Each crew
 * is opened once and, where that was true, closed once. */
bool crew_open(struct crew *crew);
void crew_close(struct crew *crew);

struct crew_work {
    int question; /* which of the crew's answers is wanted */
    size_t count;
    void *context;
    /* Appends the question of an index; false when there is no need to ask. By several threads,
     * each with its number, which is at most the crew's threads. */
    bool (*ask)(void *context, size_t index, int thread, struct text *question);
    /* By one thread at a time, in any order; of what was not asked the answer is NULL. False:
     * nothing more is asked. */
    bool (*take)(void *context, size_t index, const struct text *answer);
};

/* Asks every index once, returns when all answers are taken; false when it was stopped before. */
bool crew_run(struct crew *crew, const struct crew_work *work);

#endif
