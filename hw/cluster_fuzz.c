/* Any bytes as a cluster's file: read, or refused with a reason. */
#include <assert.h>

#include "hw/cluster.h"
#include "sim/base/check_arena.h"

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct json *object = json_read_text(arena, "configs/clusters/fuzz.json", 1,
                                               (const char *)data, size, &errors);
    const struct cluster *cluster = object ? cluster_read(object, arena, &errors) : NULL;
    assert((cluster == NULL) == (errors.count > 0));
    arena_free(arena);
    return 0;
}
