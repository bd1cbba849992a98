/* Kernels of the vocabulary as the CPU really executes them, in fp32, products in bf16 as well
 * where it has that: operands, code, check. */
#ifndef VALIDATE_CPU_KERNEL_H
#define VALIDATE_CPU_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/kernel.h"
#include "sim/base/error.h"

enum { CPU_OPERANDS_MAX = 13 };

/* What an operand holds before the kernel runs. */
enum cpu_fill {
    CPU_FILL_ZERO,        /* a result */
    CPU_FILL_SIGNED,      /* reals, uniform from -1 to 1 */
    CPU_FILL_POSITIVE,    /* reals, uniform from 0 to 1 */
    CPU_FILL_BF16,        /* two to an element, from -1 to 1 in bf16 */
    CPU_FILL_PERMUTATION, /* the indices 0 to count - 1 in random order */
    CPU_FILL_INDEX,       /* random indices below index_end */
    CPU_FILL_ROOM,        /* no operand: where the check calculates; not there when timed */
};

struct cpu_operand {
    double
        count; /* elements of four bytes; a double, as sizes of a list may overflow integers */
    enum cpu_fill fill;
    int64_t index_end;
};

/* The operand in memory. */
union cpu_array {
    float *reals;
    int32_t *indices;
    uint16_t *halves; /* bf16 */
};

/* Sum of squares of result - reference and of reference, over what was checked. */
struct cpu_error {
    double difference_squared, reference_squared;
};

struct cpu_kernel {
    struct kernel kernel;
    struct cpu_operand operands[CPU_OPERANDS_MAX];
    int operand_count;
    void (*run)(const struct kernel *kernel, const union cpu_array *operands);
    /* Adds up the error of `after`, what run made of operands that were `before`, against a
     * plain calculation in fp64. */
    void (*check)(const struct kernel *kernel, const union cpu_array *before,
                  const union cpu_array *after, struct cpu_error *error);
};

/* False after adding ERROR_INPUT that says why this kernel is not one that the CPU runs. */
bool cpu_kernel_find(struct cpu_kernel *cpu, const struct kernel *kernel,
                     struct error_list *errors);

/* Of one set of operands, each rounded up to whole cache lines; and the room of its check. */
double cpu_kernel_bytes(const struct cpu_kernel *cpu);
double cpu_kernel_room_bytes(const struct cpu_kernel *cpu);

/* norm(result - reference) / norm(reference); NaN if anything is. */
double cpu_error_fraction(const struct cpu_error *error);

#endif
