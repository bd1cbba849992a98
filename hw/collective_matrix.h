/* An all-to-all whose pairs exchange different numbers of bytes: its load on the busiest wire. */
#ifndef HW_COLLECTIVE_MATRIX_H
#define HW_COLLECTIVE_MATRIX_H

#include "hw/collective.h"
#include "hw/collective_schedule.h"

/* Largest row of a matrix of ranks x ranks, its diagonal included: what rccl-tests calls the
 * size. */
double collective_matrix_bytes(const double *matrix, int64_t ranks);

/* Bytes over the busiest link and the busiest NIC, each pair by its own way: straight in a node;
 * on rails by the GPU of the receiver's rail. Between nodes a lower bound of the time, met when
 * what is not busiest can wait, and no equality: max-min sharing may leave the busiest wire idle at
 * the end; random matrices take at most 1.15 times as long (models/collective_hops_test.c). In a
 * node it is the time. False with ERROR_INFEASIBLE for groups that have other GPUs on each node.
 * Looks at each pair of each node's neighbours: O(ranks^2). */
bool collective_matrix_schedule(const struct cluster *cluster,
                                const struct collective *collective,
                                const struct rank_placement *placement,
                                struct collective_schedule *out, struct error_list *errors);

#endif
