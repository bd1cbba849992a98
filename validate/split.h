/* Which measured rows a fit may see and which are held out to judge it, settled by shape.
 *
 * Every row of one shape falls on the same side, whatever its dtype, layout, direction, library
 * or implementation: a fit that saw a product in one layout has half seen it in the other. So
 * that any program can repeat the split, it is defined on text:
 *
 *     shape   the kind and the sizes, "gemm m=512 n=4096 k=1024 batch=1" (the functions below)
 *     hash    64-bit FNV-1a of those bytes (Fowler, Noll, Vo: draft-eastlake-fnv-17, section 2)
 *     mixed   SplitMix64's output function (Steele, Lea, Flood, OOPSLA 2014, figure 16) of
 *             hash + (seed + 1) * 0x9e3779b97f4a7c15, modulo 2^64
 *     part    held out when the top bit of mixed is set, fit otherwise: about half each */
#ifndef VALIDATE_SPLIT_H
#define VALIDATE_SPLIT_H

#include <stdint.h>

#include "hw/collective.h"
#include "hw/kernel.h"
#include "sim/base/text.h"

enum split_part { SPLIT_FIT, SPLIT_HELD_OUT, SPLIT_PART_COUNT };

/* The seed of the shipped device files. */
enum { SPLIT_SEED_DEFAULT = 1 };

const char *split_part_name(enum split_part part); /* "held-out" */

/* Appends the shape. An elementwise kernel's shape leaves out its op: only its bytes cost. */
void split_kernel_shape(const struct kernel *kernel, struct text *shape);
void split_collective_shape(const struct collective *collective, struct text *shape);

/* The part of a shape: a pure function of text and seed. */
enum split_part split_part(const char *shape, uint64_t seed);

#endif
