/* The kernels that a host is calibrated on: those of a small training step, at many sizes. */
#ifndef VALIDATE_HOST_LIST_H
#define VALIDATE_HOST_LIST_H

#include <stdbool.h>

#include "sim/base/error.h"
#include "sim/base/text.h"

/* Appends a list of kernels in fp32, one a line, always the same: every kind that build/measure
 * runs, forward and backward, at sizes of a small step spread evenly in their logarithms. Gives the
 * number of lines. */
int host_list_write(struct text *out);

/* The same for a GPU: bf16 and fp32, at sizes that fill one. */
int host_list_write_gpu(struct text *out);

/* Appends collectives of six kinds between so many processes or GPUs of one machine, at sizes from
 * 256 bytes to the most, with `dtype`. Gives the number of lines. */
struct host_collectives {
    int ranks;
    double most_bytes;
    const char *dtype;
};
int host_list_write_collectives(const struct host_collectives *collectives, struct text *out);

/* What measure printed, its least times as measured_s and its medians as measured_median_s: on
 * cores that others use as well, what a kernel takes undisturbed. False after adding a fault. */
bool host_list_quietest(const struct text *measured, struct text *out,
                        struct error_list *errors);

#endif
