/* Feeds the reader of devices any text; a device that it accepts must price kernels in finite,
 * positive time. */
#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "hw/kernel_cost.h"
#include "sim/base/check_arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct kernel kernels[] = {
    {.kind = KERNEL_GEMM,
     .dtype = DTYPE_BF16,
     .gemm = {.m = 300, .n = 70, .k = 9000, .batch = 3}},
    {.kind = KERNEL_ATTENTION,
     .dtype = DTYPE_BF16,
     .direction = DIRECTION_BACKWARD,
     .attention = {2, 300, 400, 4, 2, 64, true, NULL, NULL, 128, 0}},
    {.kind = KERNEL_CROSS_ENTROPY, .dtype = DTYPE_FP32, .cross_entropy = {8192, 262272}},
    {.kind = KERNEL_COPY, .copy = {1e9, COPY_HOST, COPY_HBM}},
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct json *object =
        json_read_text(arena, "fuzz", 1, (const char *)data, size, &errors);
    const struct device *device = object ? device_read(object, arena, &errors) : NULL;
    assert((device != NULL) == (errors.count == 0));
    for (size_t i = 0; device && i < sizeof kernels / sizeof kernels[0]; i++) {
        struct kernel_cost cost;
        struct error_list faults = {0};
        if (kernel_cost(device, &kernels[i], &cost, &faults))
            assert(isfinite(cost.seconds_s) && cost.seconds_s > 0);
    }
    arena_free(arena);
    return 0;
}
