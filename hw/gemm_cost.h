/* What products of matrices cost: one, a batch, one an expert, or the triangle of a symmetric
 * one. */
#ifndef HW_GEMM_COST_H
#define HW_GEMM_COST_H

#include "hw/kernel_cost.h"

/* Products that share one launch. A layout enters only by how rows lie in memory. */
struct gemm_work {
    const struct device_tiles *tiles; /* that the library chooses from; NULL: its dtype's */
    const int64_t *rows;              /* of each product; NULL: all have m */
    int64_t groups;                   /* products, empty ones included */
    double m, n, k;                   /* m: rows of each, where rows is NULL */
    enum dtype dtype;
    double sustained_flop_per_s; /* what power allows; 0: the dtype's */
    bool has_whole_k;            /* k is never split */
    bool is_triangle;            /* a symmetric result: tiles on and under the diagonal only */
    int turned;                  /* operands that lie across k: 0 to 2 */
    /* From one row in memory to the next; 0 where nothing is known of it. */
    double a_pitch_bytes, b_pitch_bytes, c_pitch_bytes;
    double switch_s;       /* of a unit, from one product to the next */
    double rate_fraction;  /* of the rate that a plain product reaches */
    double hbm_fraction;   /* of the HBM bandwidth that it reaches */
    double clock_fraction; /* of the clock that the device's numbers are for; 0: that */
};

/* Fills all of cost but relative_sigma's kind: the device's for a product of that duration. */
void gemm_work_cost(const struct device *device, const struct gemm_work *work,
                    struct kernel_cost *cost);

/* Of the machine that rows of that source (NULL: nobody knows) were timed on, over the clock that
 * the device's numbers are for; 0: the device file does not know it. */
double gemm_clock_fraction(const struct device *device, const char *source);

/* The device must have a rate for the dtype. */
void gemm_cost(const struct device *device, const struct kernel *kernel,
               struct kernel_cost *cost);
void grouped_gemm_cost(const struct device *device, const struct kernel *kernel,
                       struct kernel_cost *cost);

#endif
