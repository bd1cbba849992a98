/* Products of a training step on a GPU: the BLAS's, each shape described once. Experts' products
 * follow one another, one for each expert that got a row. */
#include "validate/training_gpu_work.h"

static size_t
hash_of(const struct gemm *shape)
{
    const uint64_t parts[] = {(uint64_t)shape->m, (uint64_t)shape->n, (uint64_t)shape->k,
                              (uint64_t)shape->layout};
    uint64_t hash = 0;
    for (int i = 0; i < 4; i++) { /* as SplitMix64 mixes */
        hash = (hash ^ parts[i]) * 0xbf58476d1ce4e5b9U;
        hash ^= hash >> 29;
    }
    return (size_t)hash;
}

static bool
is_same(const struct gemm *a, const struct gemm *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->layout == b->layout;
}

/* Where the shape is, or is to be; an empty slot has no description. */
static struct gpu_product *
slot_of(const struct training_gpu_products *products, const struct gemm *shape)
{
    size_t mask = products->capacity - 1, at = hash_of(shape) & mask;
    while (products->slots[at].description != NULL &&
           !is_same(&products->slots[at].shape, shape))
        at = (at + 1) & mask;
    return &products->slots[at];
}

/* At most half full. */
static void
make_room(struct training_gpu_products *products)
{
    const size_t least = 256;
    if (2 * products->count < products->capacity)
        return;
    struct training_gpu_products larger = {
        .count = products->count,
        .capacity = products->capacity > 0 ? 2 * products->capacity : least,
        .arena = products->arena};
    larger.slots = arena_alloc(larger.arena, larger.capacity, sizeof *larger.slots);
    for (size_t i = 0; i < products->capacity; i++)
        if (products->slots[i].description != NULL)
            *slot_of(&larger, &products->slots[i].shape) = products->slots[i];
    *products = larger;
}

/* NULL after a fault. */
static const struct gpu_product *
product_of(struct training_gpu *machine, const struct gemm *shape)
{
    struct training_gpu_products *products = &machine->products;
    make_room(products);
    struct gpu_product *slot = slot_of(products, shape);
    if (slot->description != NULL)
        return slot;
    *slot = (struct gpu_product){.shape = *shape, .dtype = DTYPE_FP32};
    bool is_ready = gpu_product_prepare(machine->gpu, slot, &machine->errors);
    products->count += slot->description != NULL;
    return is_ready ? slot : NULL;
}

static void
run(struct training_gpu *machine, const struct gemm *shape,
    const struct gpu_product_operands *operands, bool is_added)
{
    if (!training_gpu_is_well(machine))
        return;
    const struct gpu_product *product = product_of(machine, shape);
    if (product != NULL)
        (void)gpu_product_run(machine->gpu, product, operands, is_added, &machine->errors);
}

static void
gemm(void *machine, const struct gemm *shape, const float *a, const float *b, float *c,
     bool is_added)
{
    run(machine, shape, &(struct gpu_product_operands){a, b, c}, is_added);
}

static void
grouped_gemm(void *machine, const struct grouped_gemm *shape, enum gemm_layout layout,
             const float *a, const float *b, float *c)
{
    int64_t n = shape->n, k = shape->k;
    for (int64_t expert = 0; expert < shape->experts; expert++) {
        int64_t rows = shape->rows[expert];
        if (rows > 0)
            run(machine, &(struct gemm){rows, n, k, 1, layout},
                &(struct gpu_product_operands){a, b + expert * k * n, c}, false);
        a += rows * k;
        c += rows * n;
    }
}

static void
grouped_weight_gradient(void *machine, const struct grouped_gemm *shape, const float *x,
                        const float *y_gradient, float *gradient)
{
    int64_t n = shape->n, k = shape->k;
    for (int64_t expert = 0; expert < shape->experts; expert++) {
        int64_t rows = shape->rows[expert];
        if (rows > 0)
            run(machine, &(struct gemm){k, n, rows, 1, GEMM_TN},
                &(struct gpu_product_operands){x, y_gradient, gradient + expert * k * n}, true);
        x += rows * k;
        y_gradient += rows * n;
    }
}

void
training_gpu_add_products(struct training_device *device)
{
    device->gemm = gemm;
    device->grouped_gemm = grouped_gemm;
    device->grouped_weight_gradient = grouped_weight_gradient;
}

void
training_gpu_free_products(struct training_gpu *machine)
{
    struct training_gpu_products *products = &machine->products;
    for (size_t i = 0; i < products->capacity; i++)
        if (products->slots[i].description != NULL)
            gpu_product_free(machine->gpu, &products->slots[i]);
    products->capacity = products->count = 0;
}
