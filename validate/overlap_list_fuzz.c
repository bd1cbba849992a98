/* Fuzz target: no list of measured pairs, however broken, breaks its reader. */
#include "validate/overlap_list.h"

#include <stdint.h>
#include <stdlib.h>

#include "sim/base/check_arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = check_arena_new();
    struct overlap_list list = {0};
    struct error_list errors = {0};
    struct text text = text_new(arena);
    text_append(&text, (const char *)data, size);
    bool is_right = overlap_list_parse(&list, "fuzz", &text, arena, &errors);
    if (is_right != (errors.count == 0))
        abort();
    for (size_t i = 0; i < list.count; i++)
        if (!(list.items[i].kernels_s > 0) || list.items[i].pair.kernel_count < 1)
            abort();
    arena_free(arena);
    return 0;
}
