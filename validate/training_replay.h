/* How long a step of several processes takes when each piece of its work takes its least time. */
#ifndef VALIDATE_TRAINING_REPLAY_H
#define VALIDATE_TRAINING_REPLAY_H

#include <stdint.h>

#include "sim/base/arena.h"
#include "validate/training_times.h"

/* A piece of one process's work, in the order they ran. */
struct training_piece {
    double least_s;
    uint64_t
        peers; /* a bit for each process that meets in an exchange, itself too; 0: a kernel */
    int32_t phase;
};

struct training_pieces {
    const struct training_piece *items;
    int64_t count;
};

/* An exchange begins when the last of its processes has come to it, and takes the least that it
 * took one of them, which is what it took the one that came last. phases_s gets the time from one
 * phase's end on all processes to the next one's; their sum comes back. All exchanges must have
 * their counterparts, as those of a step that has run have. */
double training_replay(const struct training_pieces *processes, int64_t process_count,
                       double phases_s[TRAINING_PHASE_COUNT], struct arena *arena);

#endif
