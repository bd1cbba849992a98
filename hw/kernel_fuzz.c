/* Feeds the reader of kernels any text; what it accepts must have a finite price of flop. */
#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "hw/kernel.h"
#include "sim/base/check_arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct kernel kernel;
    const struct json *object =
        json_read_text(arena, "fuzz", 1, (const char *)data, size, &errors);
    bool is_right = object && kernel_read(object, &kernel, arena, &errors);
    assert(is_right == (errors.count == 0));
    if (is_right)
        assert(isfinite(kernel_flop(&kernel)) && kernel_flop(&kernel) >= 0);
    arena_free(arena);
    return 0;
}
