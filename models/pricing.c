/* Prices from hw, as work that a program can hold: kernels, collectives, blocks. */
#include "models/pricing.h"

const struct step_work *
pricing_kernel(const struct pricing *pricing, const char *name, enum step_class spent_on,
               const struct kernel *kernel)
{
    struct kernel_cost cost = {0};
    const struct device *device = pricing->inputs->cluster->device;
    if (!kernel_cost(device, kernel, &cost, pricing->errors))
        return NULL;
    struct step_work work = {.name = name,
                             .spent_on = spent_on,
                             .work_s = cost.seconds_s -
                                       cost.host_s, /* launches are a lane of their own */
                             .relative_sigma = cost.relative_sigma,
                             .compute_fraction = cost.compute_fraction,
                             .hbm_fraction = cost.hbm_fraction,
                             .kernel = arena_copy(pricing->arena, kernel, sizeof *kernel),
                             .kernel_cost = arena_copy(pricing->arena, &cost, sizeof cost)};
    return arena_copy(pricing->arena, &work, sizeof work);
}

const struct step_work *
pricing_collective(const struct pricing *pricing, const char *name, enum step_class spent_on,
                   const struct collective *collective)
{
    struct collective_cost cost = {0};
    if (!collective_cost(pricing->inputs->cluster, collective, &cost, pricing->errors))
        return NULL;
    struct step_work work = {
        .name = name,
        .spent_on = spent_on,
        .delay_s = cost.latency_s,
        .work_s = cost.transfer_s,
        .relative_sigma = cost.relative_sigma,
        .compute_fraction = cost.compute_fraction,
        .hbm_fraction = cost.hbm_fraction,
        .link_fraction = cost.link_fraction,
        .nic_fraction = cost.nic_fraction,
        .collective = arena_copy(pricing->arena, collective, sizeof *collective),
        .collective_cost = arena_copy(pricing->arena, &cost, sizeof cost),
    };
    return arena_copy(pricing->arena, &work, sizeof work);
}

const struct step_work *
pricing_host(const struct pricing *pricing, int64_t launches)
{
    const struct software *software = pricing->inputs->workload.software;
    struct step_work work = {.name = "launches",
                             .spent_on = CLASS_HOST,
                             .delay_s = (double)launches * software->host_launch_s,
                             .relative_sigma = software->host_launch_relative_sigma};
    return arena_copy(pricing->arena, &work, sizeof work);
}

const struct step_work *
pricing_pass(const struct pricing *pricing, const struct pricing_pass *pass)
{
    struct kernel kernel = {.kind = KERNEL_ELEMENTWISE,
                            .dtype = DTYPE_FP32,
                            .elementwise = {.op = pass->name,
                                            .elements = pass->elements,
                                            .read_bytes = pass->read * (double)pass->elements,
                                            .write_bytes = pass->write * (double)pass->elements,
                                            .launches = pass->launches}};
    struct step_work nothing = {.name = pass->name, .spent_on = pass->spent_on};
    if (pass->elements == 0)
        return arena_copy(pricing->arena, &nothing, sizeof nothing);
    return pricing_kernel(pricing, pass->name, pass->spent_on, &kernel);
}

/* Appends the kernels of one operator; false after a fault. */
static bool
price_operations(const struct pricing *pricing, const struct operation *operations, int count,
                 struct priced_block *out)
{
    for (int i = 0; i < count; i++) {
        const struct operation *operation = &operations[i];
        const struct step_work *work =
            pricing_kernel(pricing, operation->name, operation->spent_on, &operation->kernel);
        if (!work)
            return false;
        const struct kernel *kernel = &operation->kernel;
        bool is_elementwise = kernel->kind == KERNEL_ELEMENTWISE;
        out->launches += is_elementwise ? kernel->elementwise.launches : 1;
        out->items[out->count++] = work;
    }
    return true;
}

static bool
price_direction(const struct pricing *pricing, const struct operator_list *list,
                enum direction direction, struct priced_block *out)
{
    bool is_priced = true;
    for (int64_t i = 0; i < list->count && is_priced; i++) {
        if (direction == DIRECTION_FORWARD) {
            const struct model_operator *item = &list->items[i];
            is_priced = price_operations(pricing, item->forward, item->forward_count, out);
        } else {
            const struct model_operator *item = &list->items[list->count - 1 - i];
            is_priced = price_operations(pricing, item->backward, item->backward_count, out);
        }
    }
    return is_priced;
}

/* With full recomputation a layer's block runs forward again before its backward. */
bool
pricing_block(const struct pricing *pricing, enum block block, enum direction direction,
              struct priced_block *out)
{
    const struct workload *workload = &pricing->inputs->workload;
    struct operator_list list = operators_of(workload, block, pricing->arena);
    bool is_repeated = direction == DIRECTION_BACKWARD && operators_is_of_layer(block) &&
                       workload->plan->recompute == RECOMPUTE_FULL;
    size_t room = (size_t)list.count * 2 * OPERATOR_KERNELS_MAX;
    *out = (struct priced_block){arena_alloc(pricing->arena, room, sizeof *out->items), 0, 0};
    if (is_repeated && !price_direction(pricing, &list, DIRECTION_FORWARD, out))
        return false;
    return price_direction(pricing, &list, direction, out);
}
