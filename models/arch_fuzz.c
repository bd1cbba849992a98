/* Does any config.json, however broken, end in sound counts, or in faults told? */
#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "models/arch_flop.h"
#include "models/tensors.h"
#include "sim/base/check_arena.h"

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEQUENCE_TOKENS = 4096, BYTES_PER_PARAMETER_MAX = 16 };

static void
check(const struct arch *arch)
{
    struct parameter_counts counts = tensors_count_of(arch);
    struct token_flop flop = arch_flop(arch, SEQUENCE_TOKENS);
    assert(arch->layers > 0 && arch->hidden > 0 && arch->head_dim > 0);
    assert(arch->query_heads % arch->kv_heads == 0);
    assert(counts.nonembedding_active > 0);
    assert(counts.nonembedding_active <= counts.nonembedding_total);
    assert(counts.embedding + counts.nonembedding_total <= counts.every);
    assert(counts.every <= INT64_MAX / BYTES_PER_PARAMETER_MAX);
    assert(isfinite(flop.train) && flop.train <= flop.train_full_mask);
    assert(arch_kv_cache_elements(arch, SEQUENCE_TOKENS) > 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct json *config =
        json_read_text(arena, "fuzz.json", 1, (const char *)data, size, &errors);
    const struct arch *arch = config ? arch_read(config, arena, &errors) : NULL;
    assert((arch != NULL) == (errors.count == 0));
    if (arch)
        check(arch);
    arena_free(arena);
    return 0;
}
