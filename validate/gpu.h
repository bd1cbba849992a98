/* One GPU behind its vendor's libraries: memory, kernels compiled at run time, times by graphs. */
#ifndef VALIDATE_GPU_H
#define VALIDATE_GPU_H

#include "hw/kernel.h"
#include "validate/cpu_kernel.h"
#include "validate/gpu_api.h"
#include "validate/measure_backend.h"

enum { GPU_OPERANDS_MAX = 8, GPU_STREAMS_USUAL = 32, GPU_STREAMS_MAX = 128 };

struct gpu_options {
    double graph_s;      /* of work in one replay of a graph */
    int64_t replays;     /* timed ones */
    int64_t sets_max;    /* of operands */
    double cache_bytes;  /* of the last cache, 0: what the device says */
    double memory_bytes; /* the most that operands may take, 0: what is free */
    double timeout_s;    /* a collective that lasts longer is aborted */
    uint64_t seed;
};

/* Twenty thousandths of a second a replay, nine replays, 16 sets, a minute. */
struct gpu_options gpu_options_new(void);

/* Beside the one that is timed (gpu_streams.h). */
struct gpu_streams {
    void *streams[GPU_STREAMS_MAX], *memory;
    int count;
};

struct gpu {
    struct gpu_libraries libraries;
    const struct gpu_numbers *numbers;
    struct gpu_options options;
    int device, device_count;
    void *context, *stream, *start, *end; /* the events before and after what is timed */
    struct gpu_streams others;
    void *modules[DTYPE_COUNT]; /* the kernels for each dtype, NULL until asked for */
    void *blas, *workspace;     /* NULL until asked for */
    const char *name, *library; /* device; driver and compiler with their versions */
};

/* Finds the device and opens its driver. False with ERROR_IO: no library, ERROR_INFEASIBLE: no
 * device. Names live in the arena. */
bool gpu_open(struct gpu *gpu, enum gpu_vendor vendor, const char *library_path, int device,
              struct arena *arena, struct error_list *errors);

/* Opens the BLAS and its workspace unless they are open. */
bool gpu_open_blas(struct gpu *gpu, struct error_list *errors);

/* Driver, compiler, open BLAS and, where it is open, the library of collectives, with their
 * versions, in the arena. */
const char *gpu_libraries_text(const struct gpu *gpu, struct arena *arena);

/* Gives back everything on the device; cannot fail. */
void gpu_close(struct gpu *gpu);

/* True for status 0; else adds what was being done and what the driver says. */
bool gpu_ok(const struct gpu *gpu, int status, const char *doing, struct error_list *errors);

/* The kernel of gpu_kernels.cu, compiled for the dtype on first use; NULL after adding why. */
void *gpu_function(struct gpu *gpu, enum dtype dtype, const char *name, struct arena *arena,
                   struct error_list *errors);

/* Blocks of threads in one row of `grid`; x counts within a row of threads. */
struct gpu_shape {
    int64_t grid_x;
    int grid_y, block_x, block_y;
};

bool gpu_launch(const struct gpu *gpu, void *function, struct gpu_shape shape, void **arguments,
                struct error_list *errors);

/* Operands of one kernel: `sets` of each, one after another in one piece of memory. */
struct gpu_operands {
    int count;
    int64_t sets;
    void *memory[GPU_OPERANDS_MAX];
    size_t stride_bytes[GPU_OPERANDS_MAX]; /* from one set to the next */
    double bytes;                          /* of one set */
};

/* How many sets of so many bytes rotate: more than three caches, at most options.sets_max. */
int64_t gpu_set_count(const struct gpu *gpu, double set_bytes);

/* Adds an operand of `sets` times so many bytes; false: out of device memory. */
bool gpu_operand_new(const struct gpu *gpu, struct gpu_operands *operands, double bytes,
                     struct error_list *errors);
void gpu_operands_free(const struct gpu *gpu, struct gpu_operands *operands);
void *gpu_operand(const struct gpu_operands *operands, int operand, int64_t set);

struct gpu_values {
    enum dtype dtype;
    bool is_uniform; /* from 0 to 1; else normal */
};

/* Fills all sets of an operand with random reals. */
bool gpu_fill(struct gpu *gpu, const struct gpu_operands *operands, int operand,
              struct gpu_values values, struct arena *arena, struct error_list *errors);

/* What is timed: enqueue puts one run on the stream, on operand set `set`. */
struct gpu_work {
    bool (*enqueue)(void *context, int64_t set, struct error_list *errors);
    void *context;
    int64_t sets;
    bool is_in_stream; /* not in a graph: the host keeps ahead of runs so long */
};

/* The other streams, warm-up, an estimate, then many runs at once again and again, a graph or each
 * for itself; times are of one run. */
bool gpu_times_take(const struct gpu *gpu, const struct gpu_work *work,
                    struct measure_times *times, struct arena *arena,
                    struct error_list *errors);

#endif
