/* The vocabulary of work on one device: what models ask for, cost models price, validation
 * measures. */
#ifndef HW_KERNEL_H
#define HW_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/json_writer.h"

enum dtype {
    DTYPE_FP64,
    DTYPE_FP32,
    DTYPE_TF32,
    DTYPE_BF16,
    DTYPE_FP16,
    DTYPE_FP8,
    DTYPE_INT8,
    DTYPE_COUNT
};

/* In the order of enum dtype, then NULL: the words of a JSON choice. */
extern const char *const dtype_names[DTYPE_COUNT + 1];

const char *dtype_name(enum dtype dtype);
double dtype_bytes(enum dtype dtype);

enum direction { DIRECTION_FORWARD, DIRECTION_BACKWARD };

enum kernel_kind {
    KERNEL_GEMM,
    KERNEL_GROUPED_GEMM,
    KERNEL_FUSED_MOE,
    KERNEL_ATTENTION,
    KERNEL_ELEMENTWISE,
    KERNEL_RMS_NORM,
    KERNEL_SOFTMAX,
    KERNEL_GATHER,
    KERNEL_SCATTER_ADD,
    KERNEL_TRANSPOSE,
    KERNEL_TOP_K,
    KERNEL_CROSS_ENTROPY,
    KERNEL_CONVOLUTION,
    KERNEL_ADAMW,
    KERNEL_NEWTON_SCHULZ,
    KERNEL_COPY,
    KERNEL_KIND_COUNT
};

const char *kernel_kind_name(enum kernel_kind kind); /* "grouped_gemm" */

/* Where the scales of a product in fp8 are multiplied in: as in the kernels that the device's
 * numbers are of; or once, into the result, which any scale of a tensor or a row allows, and which
 * a device may run quicker than scales of blocks within the loop. */
enum fp8_scales { SCALES_AS_MEASURED, SCALES_OF_RESULT };

enum gemm_layout { GEMM_NN, GEMM_NT, GEMM_TN };
enum copy_place { COPY_HBM, COPY_HOST };

struct gemm { /* C[m,n] = A[m,k] B[k,n], batch times */
    int64_t m, n, k, batch;
    enum gemm_layout layout;
};

struct grouped_gemm { /* one product of rows[i] x n x k for each expert, in one launch */
    const int64_t *rows;
    int64_t experts;
    int64_t n, k;
};

struct fused_moe { /* gate and up (width, 2 expert_ffn), SwiGLU, down (expert_ffn, width) */
    int64_t tokens, width, expert_ffn, experts, top_k;
};

struct attention {
    int64_t batch, q_len, kv_len, q_heads, kv_heads, head_dim;
    bool is_causal;
    const char *implementation; /* NULL: its library's, or else the device's default */
    const char *library;        /* whose time a measured row is; NULL: not said */
    int64_t window; /* keys that a query sees at most, itself the last; 0: no window; causal */
    int64_t shared_dim; /* of a key's channels, those that are the value as well and so are read
                           once (latent attention's cache); 0 in lists */
};

struct elementwise {
    const char *op;
    int64_t elements;
    double read_bytes, write_bytes; /* in all */
    int64_t launches; /* 0: bytes that another kernel moves beside its own; never in a list */
};

struct rows_by_width { /* rms_norm, softmax, gather, scatter_add, transpose */
    int64_t rows, width;
};

struct top_k {
    int64_t rows, experts, k;
};

struct cross_entropy {
    int64_t rows, vocab;
};

struct convolution { /* causal, along the sequence */
    int64_t tokens, channels, taps, groups;
};

struct adamw {
    int64_t parameters;
};

struct newton_schulz { /* orthogonalises one m x n matrix */
    int64_t m, n, steps;
    bool is_symmetric; /* the two symmetric products computed as triangles */
};

struct copy {
    double bytes;
    enum copy_place from, to;
};

struct kernel {
    enum kernel_kind kind;
    enum dtype dtype;
    enum direction direction; /* of the kinds that have one */
    enum fp8_scales scales;   /* of gemm and grouped_gemm in fp8 */
    const char *source;       /* of a gemm: where its measured time was published, or NULL */
    union {
        struct gemm gemm;
        struct grouped_gemm grouped_gemm;
        struct fused_moe fused_moe;
        struct attention attention;
        struct elementwise elementwise;
        struct rows_by_width rows_by_width;
        struct top_k top_k;
        struct cross_entropy cross_entropy;
        struct convolution convolution;
        struct adamw adamw;
        struct newton_schulz newton_schulz;
        struct copy copy;
    };
};

/* Multiplies and adds, each counted, that the kernel's result needs (a causal mask halves
 * them); 0 for kernels that only move bytes. Formulas: facts beside each in kernel.c. */
double kernel_flop(const struct kernel *kernel);

/* One line of a kernel list: {"kernel": "gemm", "m": ...}. Lists inside live in the arena. */
bool kernel_read(const struct json *object, struct kernel *kernel, struct arena *arena,
                 struct error_list *errors);

/* The same back: the object of one line, what kernel_read would take for its default left out. */
void kernel_write(const struct kernel *kernel, struct json_writer *writer);

#endif
