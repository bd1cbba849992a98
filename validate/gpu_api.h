/* The entry points of a GPU vendor's libraries, opened at run time, and the numbers of its enums.
 *
 * CUDA and HIP have the same functions under other names: one table of names (gpu_api.c) is all
 * that tells them apart. What the vendors declare as handles of their own are plain pointers here,
 * statuses and enums are ints; a CUdeviceptr is a 64-bit integer that x86-64 and AArch64 pass as
 * they pass a pointer. No header of a vendor is included. */
#ifndef VALIDATE_GPU_API_H
#define VALIDATE_GPU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"

enum gpu_vendor { GPU_CUDA, GPU_HIP, GPU_VENDOR_COUNT };

enum gpu_library {
    GPU_DRIVER,      /* libcuda, libamdhip64 */
    GPU_COMPILER,    /* NVRTC, hipRTC */
    GPU_BLAS,        /* cuBLASLt, hipBLASLt */
    GPU_COLLECTIVES, /* NCCL, RCCL */
    GPU_LIBRARY_COUNT
};

/* All but the texts return 0 when they worked. */
struct gpu_api {
    int (*init)(unsigned flags);
    int (*driver_version)(int *version);
    int (*error_text)(int status, const char **text);
    int (*device_count)(int *count);
    int (*device_get)(int *device, int ordinal);
    int (*device_name)(char *name, int size_bytes, int device);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*context_retain)(void **context, int device);
    int (*context_release)(int device);
    int (*context_set)(void *context);
    int (*memory_left)(size_t *free_bytes, size_t *total_bytes);
    int (*memory_new)(void **memory, size_t size_bytes);
    int (*memory_free)(void *memory);
    int (*host_memory_new)(void **memory, size_t size_bytes, unsigned flags); /* pinned */
    int (*host_memory_free)(void *memory);
    int (*copy_to_device)(void *to, const void *from, size_t size_bytes);
    int (*copy_to_host)(void *to, const void *from, size_t size_bytes);
    int (*enqueue_copy)(void *to, const void *from, size_t size_bytes, void *stream);
    int (*enqueue_copy_in)(void *to, const void *from, size_t size_bytes, void *stream);
    int (*enqueue_copy_out)(void *to, const void *from, size_t size_bytes, void *stream);
    int (*enqueue_set)(void *memory, unsigned char byte, size_t size_bytes, void *stream);
    int (*stream_new)(void **stream, unsigned flags);
    int (*stream_free)(void *stream);
    int (*stream_wait)(void *stream);
    int (*stream_query)(void *stream); /* 0: it is empty; GPU_STATUS_NOT_READY */
    int (*event_new)(void **event, unsigned flags);
    int (*event_free)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_wait)(void *event);
    int (*event_elapsed)(float *milliseconds, void *start, void *end);
    int (*capture_begin)(void *stream, int mode);
    int (*capture_end)(void *stream, void **graph);
    int (*graph_ready)(void **ready, void *graph, unsigned long long flags);
    int (*graph_launch)(void *ready, void *stream);
    int (*graph_ready_free)(void *ready);
    int (*graph_free)(void *graph);
    int (*module_load)(void **module, const void *image);
    int (*module_free)(void *module);
    int (*module_function)(void **function, void *module, const char *name);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                  void *stream, void **arguments, void **extra);

    int (*compiler_version)(int *major, int *minor);
    const char *(*compiler_error_text)(int status);
    int (*program_new)(void **program, const char *source, const char *name, int header_count,
                       const char *const *headers, const char *const *header_names);
    int (*program_compile)(void *program, int option_count, const char *const *options);
    int (*program_log_size)(void *program, size_t *size_bytes);
    int (*program_log)(void *program, char *log);
    int (*program_code_size)(void *program, size_t *size_bytes);
    int (*program_code)(void *program, char *code);
    int (*program_free)(void **program);

    /* Its arguments differ (gpu_api_blas_version calls it). */
    void (*blas_version)(void);
    int (*blas_new)(void **blas);
    int (*blas_free)(void *blas);
    int (*product_new)(void **product, int compute_type, int scale_type);
    int (*product_free)(void *product);
    int (*product_set)(void *product, int attribute, const void *value, size_t size_bytes);
    int (*matrix_new)(void **matrix, int type, uint64_t rows, uint64_t columns, int64_t stride);
    int (*matrix_free)(void *matrix);
    int (*matrix_set)(void *matrix, int attribute, const void *value, size_t size_bytes);
    int (*preference_new)(void **preference);
    int (*preference_free)(void *preference);
    int (*preference_set)(void *preference, int attribute, const void *value,
                          size_t size_bytes);
    int (*choose)(void *blas, void *product, void *a, void *b, void *c, void *d,
                  void *preference, int wanted, void *choices, int *found);
    int (*multiply)(void *blas, void *product, const void *alpha, const void *a, void *a_matrix,
                    const void *b, void *b_matrix, const void *beta, const void *c,
                    void *c_matrix, void *d, void *d_matrix, const void *choice,
                    void *workspace, size_t workspace_bytes, void *stream);

    int (*collectives_version)(int *version);
    const char *(*collectives_error_text)(int status);
    int (*communicators_new)(void **communicators, int count, const int *devices);
    int (*communicator_free)(void *communicator);
    int (*communicator_abort)(void *communicator); /* frees it too */
    /* What went wrong on the way, after the call had returned. */
    int (*communicator_error)(void *communicator, int *status);
    int (*group_start)(void);
    int (*group_end)(void);
    int (*all_reduce)(const void *from, void *to, size_t count, int type, int operation,
                      void *communicator, void *stream);
    int (*all_gather)(const void *from, void *to, size_t count_each, int type,
                      void *communicator, void *stream);
    int (*reduce_scatter)(const void *from, void *to, size_t count_each, int type,
                          int operation, void *communicator, void *stream);
    int (*broadcast)(const void *from, void *to, size_t count, int type, int root,
                     void *communicator, void *stream);
    int (*send)(const void *from, size_t count, int type, int peer, void *communicator,
                void *stream);
    int (*receive)(void *to, size_t count, int type, int peer, void *communicator,
                   void *stream);
};

/* Enum values that the vendors chose apart; -1 where one has no such thing. */
struct gpu_numbers {
    int attribute_multiprocessors, attribute_clock_khz, attribute_memory_clock_khz,
        attribute_cache_bytes, attribute_major, attribute_minor;
    int type_fp32, type_fp64, type_fp16, type_bf16, type_fp8, type_int8, type_int32;
    int compute_fp32, compute_tf32, compute_fp64, compute_int32;
    int product_transpose_a, product_transpose_b, product_scale_a, product_scale_b,
        product_fast_sum;
    int operation_plain, operation_transposed;
    int matrix_batch, matrix_batch_stride;
    int preference_workspace_bytes;
    int choice_workspace_offset; /* bytes from the start of a choice to its workspace's size */
};

const struct gpu_numbers *gpu_numbers(enum gpu_vendor vendor);

/* The same for both. Driver statuses: CUresult of cuda.h 13.0, hipError_t of ROCm 6.
 * ncclResult_t, ncclDataType_t and ncclRedOp_t: nccl.h 2.28, RCCL's are the same. */
enum {
    GPU_STATUS_OUT_OF_MEMORY = 2,
    GPU_STATUS_NO_DEVICE = 100,
    GPU_STATUS_NOT_READY = 600,
    GPU_CAPTURE_THREAD = 1,         /* CU_STREAM_CAPTURE_MODE_THREAD_LOCAL */
    GPU_STREAM_APART = 1,           /* CU_STREAM_NON_BLOCKING, hipStreamNonBlocking */
    GPU_COLLECTIVE_IN_PROGRESS = 7, /* no fault */
    GPU_COLLECTIVE_SUM = 0,
    GPU_COLLECTIVE_INT8 = 0,
    GPU_COLLECTIVE_FP16 = 6,
    GPU_COLLECTIVE_FP32 = 7,
    GPU_COLLECTIVE_FP64 = 8,
    GPU_COLLECTIVE_BF16 = 9,
    GPU_CHOICE_BYTES = 256, /* more than either vendor's result of a choice (96 and 56) */
};

/* Libraries that are open; zero-initialised by its owner. */
struct gpu_libraries {
    enum gpu_vendor vendor;
    const char *path; /* "DIR:DIR", looked through before the usual places; NULL: none */
    void *handles[GPU_LIBRARY_COUNT];
    struct gpu_api api;
};

/* Opens the library unless it is open and fills its part of the api. False with ERROR_IO: no such
 * library, or it lacks a function, which is named. */
bool gpu_library_open(struct gpu_libraries *libraries, enum gpu_library library,
                      struct error_list *errors);

void gpu_libraries_close(struct gpu_libraries *libraries);

/* "cuBLASLt", "RCCL" */
const char *gpu_library_name(enum gpu_vendor vendor, enum gpu_library library);

/* The version of an open BLAS, whole: 130200. */
int64_t gpu_api_blas_version(const struct gpu_libraries *libraries, void *blas);

/* For tests: the index-th name that the vendor's library must have; NULL past the last. */
const char *gpu_api_name(enum gpu_vendor vendor, enum gpu_library library, int index);

#endif
