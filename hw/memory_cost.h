/* What kernels cost that move bytes and do little with them. */
#ifndef HW_MEMORY_COST_H
#define HW_MEMORY_COST_H

#include "hw/kernel_cost.h"

/* Seconds of a stream on a device full of threads: HBM's, or of few bytes L2's. */
double memory_stream_s(const struct device *device, double read_bytes, double write_bytes);

/* The same of bytes that lie in L2. */
double memory_warm_s(const struct device *device, double bytes);

/* Of a second pass over rows, what L2 still holds of the first: all up to what it keeps for them,
 * nothing from twice as much in flight. */
double memory_reread_hit_fraction(const struct device *device, double in_flight_bytes);

/* What one kernel of a kind waits for; 0 where it does not. */
struct memory_parts {
    double fixed_s;
    double moving_s;                /* of its bytes */
    double rows_s;                  /* of all rows, as many at once as the device holds */
    double row_s;                   /* of one row: the least */
    double first_s;                 /* of the first rows, with no bytes beside them */
    double element_s;               /* of vector units or atomics */
    double behind_s;                /* of smaller kernels around it */
    double read_bytes, write_bytes; /* of HBM */
    bool is_warm;
};

/* The parts of a kernel that does no more than move bytes, all of operands that the caller owns. */
struct memory_parts memory_parts_of(const struct device *device,
                                    const struct device_stream *stream, double read_bytes,
                                    double write_bytes);

/* The same where the result is new: the allocator puts it where the last one lay, so that what is
 * read decides whether the kernel runs out of L2, and part of what is written never leaves it. */
struct memory_parts memory_result_parts_of(const struct device *device,
                                           const struct device_stream *stream,
                                           double read_bytes, double write_bytes);

void memory_parts_cost(const struct device *device, const struct device_stream *stream,
                       const struct memory_parts *parts, struct kernel_cost *cost);

/* One launch that moves bytes as the device's kernels of that kind and direction do. */
void memory_kernel_cost(const struct device *device, const struct kernel *kernel,
                        double read_bytes, double write_bytes, struct kernel_cost *cost);

/* Seconds for elements that kernels of that kind take one by one; 0 if they do not. */
double memory_by_element_s(const struct device *device, const struct kernel *kernel,
                           double elements);

/* elementwise, gather, scatter_add, transpose, adamw, copy. */
void memory_cost(const struct device *device, const struct kernel *kernel,
                 struct kernel_cost *cost);

#endif
