/* Does any routing, however broken, end in loads that add up, or in faults told? */
#include <assert.h>
#include <setjmp.h>
#include <stddef.h>

#include "models/routing.h"

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
leave(void *context, size_t wanted_bytes)
{
    (void)wanted_bytes;
    longjmp(*(jmp_buf *)context, 1);
}

static void
check(const struct routing *routing, struct arena *arena)
{
    int64_t experts = routing->kind == ROUTING_HISTOGRAM ? routing->weight_count : 16;
    struct routed_tokens routed = {1000, experts > 1 ? 2 : 1, experts};
    struct expert_loads loads = routing_loads(routing, &routed, arena);
    int64_t rows = 0;
    for (int64_t i = 0; i < experts; i++) {
        assert(loads.rows[i] >= 0);
        rows += loads.rows[i];
    }
    assert(loads.copies + loads.dropped == routed.tokens * routed.per_token);
    assert(routing->is_capacity_padded || rows == loads.copies);
    assert(routing_imbalance(&loads, 1) > 0.999);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jmp_buf out;
    struct arena_policy policy = {256u << 20, leave, &out};
    struct arena *volatile arena = NULL;
    struct error_list errors = {0};
    if (setjmp(out) == 0) {
        arena = arena_new(&policy);
        const struct json *object =
            json_read_text(arena, "fuzz.json", 1, (const char *)data, size, &errors);
        const struct routing *routing = object ? routing_read(object, arena, &errors) : NULL;
        assert(routing || errors.count > 0);
        if (routing)
            check(routing, arena);
    }
    arena_free(arena);
    return 0;
}
