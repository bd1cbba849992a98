/* What the files of a training step on a GPU share: the machine, and one launch of it. */
#ifndef VALIDATE_TRAINING_GPU_WORK_H
#define VALIDATE_TRAINING_GPU_WORK_H

#include "validate/gpu_product.h"
#include "validate/gpu_stream.h"
#include "validate/training_gpu.h"

/* What one kernel leaves for the next: attention's slopes, norms' scales, parts of sums, counts
 * that leave and come. */
enum training_gpu_room_name {
    TRAINING_GPU_SLOPES,
    TRAINING_GPU_SCALES,
    TRAINING_GPU_PARTS,
    TRAINING_GPU_SENT,
    TRAINING_GPU_RECEIVED,
    TRAINING_GPU_ROOMS
};

/* Products that were described once, found by their shape: open addressing. */
struct training_gpu_products {
    struct gpu_product *slots;
    size_t count, capacity; /* a power of two */
    struct arena *arena;
};

struct training_gpu {
    struct gpu *gpu;
    struct arena *arena;
    struct training_device device;
    struct training_marks marks;
    struct error_list errors; /* at most one */
    void **memory;            /* of new_memory */
    size_t memory_count, memory_capacity;
    void **events; /* one a mark */
    size_t event_count, event_capacity;
    struct training_gpu_products products;
    struct {
        void *memory;
        size_t bytes;
    } rooms[TRAINING_GPU_ROOMS];
    struct training_gpu_meeting *meeting; /* NULL: alone */
    int rank;                             /* there */
};

/* One launch: its arguments are pointers, then sizes of 64 bits, then reals. */
struct training_launch {
    const char *name; /* in gpu_kernels.cu or gpu_training.cu */
    struct gpu_shape shape;
    const void *pointers[8];
    int pointer_count;
    int64_t sizes[8];
    int size_count;
    float reals[4];
    int real_count;
};

/* True unless something went wrong before, here or where it meets others: who fails tells them. */
bool training_gpu_is_well(const struct training_gpu *machine);
void training_gpu_launch(struct training_gpu *machine, const struct training_launch *launch);
/* A kernel of the vocabulary, as measure launches it. */
void training_gpu_run(struct training_gpu *machine, const struct kernel *kernel,
                      const union cpu_array *operands, int operand_count);

/* Memory that is kept from one call to the next; NULL after a fault. */
void *training_gpu_room(struct training_gpu *machine, enum training_gpu_room_name room,
                        size_t bytes);

/* A thread for each element. */
struct gpu_shape training_gpu_flat(int64_t count);

/* The kernels of training_device. */
void training_gpu_add_kernels(struct training_device *device);
void training_gpu_add_optimizers(struct training_device *device);
/* Exchanges with those that it meets. */
void training_gpu_add_exchanges(struct training_device *device);
/* Products, alone and for each expert. */
void training_gpu_add_products(struct training_device *device);
void training_gpu_free_products(struct training_gpu *machine);

#endif
