/* One product of a GPU's BLAS: described once, run on any operands. */
#ifndef VALIDATE_GPU_PRODUCT_H
#define VALIDATE_GPU_PRODUCT_H

#include "validate/gpu.h"

/* C[m,n] = A[m,k] B[k,n], rows one after another; zero-initialised but for the first line. */
struct gpu_product {
    struct gemm shape;
    enum dtype dtype;
    const void *one; /* on the device, of fp8: the scale of its operands */
    void *description, *first, *second, *third;
    unsigned char choice[GPU_CHOICE_BYTES];
    size_t workspace_bytes;
};

/* What a dtype is to the library: of the operands, the result, the sum, the scalars. */
struct gpu_product_types {
    int operand, result, compute, scalar;
    double result_bytes;
};
struct gpu_product_types gpu_product_types(const struct gpu_numbers *numbers, enum dtype dtype);

/* Describes it and takes the library's own first choice; its BLAS is open. False after adding why
 * not; it is to be given back all the same. */
bool gpu_product_prepare(const struct gpu *gpu, struct gpu_product *product,
                         struct error_list *errors);

struct gpu_product_operands {
    const void *a, *b;
    void *c;
};

/* Puts it on the GPU's stream; c is overwritten, or added to. */
bool gpu_product_run(const struct gpu *gpu, const struct gpu_product *product,
                     const struct gpu_product_operands *operands, bool is_added,
                     struct error_list *errors);

void gpu_product_free(const struct gpu *gpu, const struct gpu_product *product);

#endif
