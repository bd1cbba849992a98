/* Processes that compute together, and the collectives between them. */
#ifndef VALIDATE_PROCESS_GROUP_H
#define VALIDATE_PROCESS_GROUP_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"

/* Two implementations of this page; a program has the one that it is linked with:
 *   process_group_alone.c   in the library: one process, which is the world (build/measure)
 *   process_group_mpi.c     over MPI, and first on the linker's line (build/measure-mpi)
 *
 * No call here fails: where a process is lost, mpirun ends the others, and a process that exits
 * before process_world_close is lost. Every process of a group makes the same calls in the same
 * order, from one thread. Buffers do not overlap unless a line says so. */
struct process_group {
    int rank, size;
    void *communicator; /* of the implementation */
};

/* Most elements that one process gives to one other in a reduction, most bytes in a move. */
enum { PROCESS_BLOCK_MAX = INT_MAX };

/* All processes that were started together. Once in a process, before all else here; until
 * process_world_close. The groups live in the arena. */
struct process_group *process_world_open(struct arena *arena);
void process_world_close(void);

/* What moves the bytes: "Open MPI 4.1.4", "one process"; in the arena. */
const char *process_library(struct arena *arena);

/* Those of the group that call with the same color, in the order of their ranks; a negative color
 * belongs to none and gets NULL. All of the group call. */
struct process_group *process_group_split(const struct process_group *group, int color,
                                          struct arena *arena);

void process_barrier(const struct process_group *group);

/* Sums, element by element, in fp32. `out` may be `in`. */
void process_all_reduce(const struct process_group *group, const float *in, float *out,
                        size_t count);
/* in: size x count; out: the rank's own count of the sum. */
void process_reduce_scatter(const struct process_group *group, const float *in, float *out,
                            size_t count);
/* Of one number a process. */
double process_total(const struct process_group *group, double value);
double process_largest(const struct process_group *group, double value);

/* Moves of bytes, whatever they mean. */
void process_broadcast(const struct process_group *group, void *buffer, size_t bytes, int root);
/* in: bytes; out: size x bytes, by rank. */
void process_all_gather(const struct process_group *group, const void *in, void *out,
                        size_t bytes);
/* in: size x bytes, the i-th for rank i; out: size x bytes, the i-th from rank i. */
void process_all_to_all(const struct process_group *group, const void *in, void *out,
                        size_t bytes);
/* The same with a length for each: parts lie one behind the other, in and out, all of a side
 * within PROCESS_BLOCK_MAX. in_bytes[i] goes to rank i, where it is out_bytes[the sender]. */
void process_all_to_all_v(const struct process_group *group, const void *in,
                          const int64_t *in_bytes, void *out, const int64_t *out_bytes);

/* One message; the other side does the opposite. To itself only by process_exchange. */
void process_send(const struct process_group *group, int to, const void *in, size_t bytes);
void process_receive(const struct process_group *group, int from, void *out, size_t bytes);
/* Both at once, so that two neighbours cannot wait for each other. */
struct process_message {
    int rank; /* of the other side; negative: no message */
    size_t bytes;
};
void process_exchange(const struct process_group *group, struct process_message to,
                      const void *in, struct process_message from, void *out);

#endif
