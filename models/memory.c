/* What a step keeps in a GPU's memory. */
#include "models/memory.h"

#include <math.h>

static double
larger(double a, double b)
{
    return a > b ? a : b;
}

/* What the hungriest of all operators takes beside what is kept. */
static double
transient_bytes(const struct workload *workload, struct arena *arena)
{
    double bytes = 0;
    for (int block = 0; block < BLOCK_COUNT; block++) {
        struct operator_list list = operators_of(workload, (enum block)block, arena);
        for (int64_t i = 0; i < list.count; i++)
            bytes = larger(bytes, list.items[i].transient_bytes);
    }
    return bytes;
}

static double
saved_bytes(const struct workload *workload, enum block block, struct arena *arena)
{
    struct operator_list list = operators_of(workload, block, arena);
    double bytes = 0;
    for (int64_t i = 0; i < list.count; i++)
        bytes += list.items[i].saved_bytes;
    return bytes;
}

/* Full recomputation keeps the input of each block, and all of the one block that is run again. */
double
memory_activation_bytes(const struct workload *workload, struct arena *arena)
{
    const struct arch *arch = workload->arch;
    double of_block[BLOCK_COUNT], largest = 0, all = 0;
    for (int block = 0; block < BLOCK_COUNT; block++) {
        of_block[block] = saved_bytes(workload, (enum block)block, arena);
        if (operators_is_of_layer((enum block)block))
            largest = larger(largest, of_block[block]);
    }
    double ends =
        of_block[BLOCK_EMBEDDING] + of_block[BLOCK_HEAD] + transient_bytes(workload, arena);
    if (workload->plan->recompute == RECOMPUTE_FULL)
        return ends + (double)arch->layers * 2 * operators_input_bytes(workload) + largest;
    for (int64_t layer = 0; layer < arch->layers; layer++)
        all += of_block[operators_attention_block(arch, layer)] +
               of_block[operators_feed_forward_block(arch, layer)];
    return ends + all;
}

/* X, its product B X, A = X X^T and A A: (m, n) twice and (m, m) twice, in the compute dtype. */
static double
newton_schulz_bytes(const struct optimizer_share *share, double element_bytes)
{
    double bytes = 0;
    for (int i = 0; i < share->matrix_sizes; i++) {
        double rows = (double)share->matrices[i].rows,
               columns = (double)share->matrices[i].columns;
        double m = rows < columns ? rows : columns;
        bytes = larger(bytes, element_bytes * 2 * (rows * columns + m * m));
    }
    return bytes;
}

static void
add_shares(struct memory *memory, const struct optimizer_share *shares, int64_t ranks,
           double element_bytes)
{
    for (int64_t i = 0; i < ranks; i++) {
        const struct optimizer_share *share = &shares[i];
        int64_t pieces = share->exchange_before_elements + share->exchange_after_elements;
        memory->optimizer = larger(memory->optimizer, optimizer_state_bytes(share));
        memory->communication = larger(memory->communication, element_bytes * (double)pieces);
        memory->workspace =
            larger(memory->workspace, newton_schulz_bytes(share, element_bytes));
    }
}

struct memory
memory_of(const struct workload *workload, const struct tensor_list *tensors,
          const struct cluster *cluster, struct arena *arena)
{
    const struct plan *plan = workload->plan;
    double parameters = (double)tensors_count(workload->arch, tensors).every;
    double element_bytes = dtype_bytes(plan->compute_dtype);
    int64_t ranks = plan_data_degree(plan, cluster);
    struct memory memory = {.weights = parameters * element_bytes,
                            .gradients = parameters * dtype_bytes(plan->gradient_dtype),
                            .activations = memory_activation_bytes(workload, arena),
                            .runtime = workload->software->runtime_bytes,
                            .capacity = cluster->device->hbm_bytes};
    add_shares(&memory, optimizer_shares(tensors, plan, ranks, arena), ranks, element_bytes);
    double allocated = memory.weights + memory.gradients + memory.optimizer +
                       memory.activations + memory.communication + memory.workspace;
    memory.fragmentation = floor(workload->software->fragmentation_fraction * allocated);
    memory.peak = allocated + memory.fragmentation + memory.runtime;
    return memory;
}

void
memory_classes(const struct memory *memory, struct memory_class classes[MEMORY_CLASS_COUNT])
{
    const struct memory_class all[MEMORY_CLASS_COUNT] = {
        {"weights", memory->weights},
        {"gradients", memory->gradients},
        {"optimizer", memory->optimizer},
        {"activations", memory->activations},
        {"communication", memory->communication},
        {"workspace", memory->workspace},
        {"runtime", memory->runtime},
        {"fragmentation", memory->fragmentation},
    };
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++)
        classes[i] = all[i];
}
