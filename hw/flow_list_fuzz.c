/* Any bytes as a list of flows: read into flows that can run, or refused with a reason. */
#include <assert.h>

#include "hw/flow_list.h"
#include "sim/base/check_arena.h"

enum { RANKS = 32 };

static void
check_flow(const struct flow_list *list, size_t index)
{
    const struct flow *flow = &list->flows[index];
    size_t length;
    (void)flow_list_id(list, index, &length);
    assert(length > 0);
    assert(flow->from < RANKS && flow->to < RANKS && flow->from != flow->to);
    assert(flow->start_s >= 0 && flow->bytes >= 0);
    assert(flow->dependency_begin <= flow[1].dependency_begin);
    for (uint32_t d = flow->dependency_begin; d < flow[1].dependency_begin; d++)
        assert(list->dependencies[d] < list->count);
    (void)flow;
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct text text = text_new(arena);
    text_append(&text, (const char *)data, size);
    const struct flow_list *list = flow_list_read("fuzz.csv", &text, RANKS, arena, &errors);
    assert((list == NULL) == (errors.count > 0));
    for (size_t i = 0; list && i < list->count; i++)
        check_flow(list, i);
    arena_free(arena);
    return 0;
}
