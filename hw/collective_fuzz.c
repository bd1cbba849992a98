/* Any bytes as a line of a collective list: priced at a time that is a time, or refused. */
#include <assert.h>
#include <math.h>

#include "hw/collective.h"
#include "sim/base/check_arena.h"

static const struct cluster CLUSTER = {
    .name = "fuzz",
    .nodes = 4,
    .gpus_per_node = 8,
    .fabric = {.node_topology = NODE_MESH,
               .link_bytes_per_s = 48e9,
               .link_efficiency = 1,
               .network_topology = NETWORK_RAILS_ONLY,
               .forwards_cross_rail = true,
               .nic_bytes_per_s = 50e9,
               .packet_payload_bytes = 4096,
               .nic_efficiency = 1,
               .protocols = {{.name = "p",
                              .nic_hop_s = 1e-6,
                              .bandwidth_fraction = 1,
                              .kinds = (1U << COLLECTIVE_KIND_COUNT) - 1}},
               .protocol_count = 1,
               .oversubscription_ratio = 1,
               .tree_efficiency = 1,
               .part_efficiency = 1,
               .tunings = {{.efficiency = 1},
                           {.efficiency = 1},
                           {.efficiency = 1},
                           {.efficiency = 1},
                           {.efficiency = 1},
                           {.efficiency = 1},
                           {.efficiency = 1}}},
};

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct collective collective;
    struct collective_cost cost;
    const struct json *object =
        json_read_text(arena, "fuzz.jsonl", 1, (const char *)data, size, &errors);
    bool is_priced = object && collective_read(object, &collective, arena, &errors) &&
                     collective_cost(&CLUSTER, &collective, &cost, &errors);
    assert(is_priced == (errors.count == 0));
    if (is_priced)
        assert(isfinite(cost.latency_s + cost.transfer_s) && cost.transfer_s >= 0);
    arena_free(arena);
    return 0;
}
