/* Kernels beside collectives, through the engine, by the shares and holds that a step has. */
#include "models/overlap.h"

#include "models/lower.h"
#include "models/pricing.h"
#include "sim/base/units.h"
#include "sim/engine/engine.h"

enum pair_resource { PAIR_COMPUTE, PAIR_HBM, PAIR_RESOURCES };

/* Adds a stream of equal tasks: `alone_s` each, of which the work's delay is not shared. */
static void
add_stream(struct task_graph *graph, uint32_t lane, const struct step_work *work,
           double alone_s, int64_t count)
{
    const struct task_usage usages[PAIR_RESOURCES] = {{PAIR_COMPUTE, work->compute_fraction},
                                                      {PAIR_HBM, work->hbm_fraction}};
    double priced_s = work->delay_s + work->work_s;
    double ratio = priced_s > 0 ? alone_s / priced_s : 1;
    struct task_demand demand = {.top_rate_per_s = 1,
                                 .weight = work->weight > 0 ? work->weight : 1,
                                 .usages = usages,
                                 .usage_count = PAIR_RESOURCES};
    struct task task = {.delay_ps = units_ps_from_s(work->delay_s * ratio),
                        .work = work->work_s * ratio,
                        .demand = task_graph_add_demand(graph, &demand)};
    task_graph_set_hold(graph, task.demand, units_ps_from_s(work->hold_s * ratio));
    for (int64_t i = 0; i < count; i++)
        (void)task_graph_add_task(graph, &task, lane);
}

static double
end_of_lane_s(const struct trace *trace, uint32_t lane)
{
    uint32_t end = trace->lane_tasks.begins[lane + 1];
    return units_s_from_ps(trace->entries[trace->lane_tasks.items[end - 1]].end_ps);
}

static bool
check_counts(const struct overlap_pair *pair, struct error_list *errors)
{
    if (pair->kernel_count > 0 && pair->collective_count > 0)
        return true;
    return error_add(errors, ERROR_INPUT, "",
                     "%lld kernels beside %lld collectives, wanted some",
                     (long long)pair->kernel_count, (long long)pair->collective_count);
}

bool
overlap_find(const struct cluster *cluster, const struct overlap_pair *pair,
             struct overlap_times *out, struct arena *arena, struct error_list *errors)
{
    const struct step_inputs inputs = {.cluster = cluster};
    const struct pricing pricing = {&inputs, arena, errors, {1, 1}};
    if (!check_counts(pair, errors))
        return false;
    const struct step_work *kernel =
        pricing_kernel(&pricing, "kernel", CLASS_EXPERT, &pair->kernel);
    const struct step_work *collective =
        pricing_collective(&pricing, "collective", CLASS_GRADIENT_REDUCTION, &pair->collective);
    if (!kernel || !collective)
        return false;
    double kernel_s = kernel->delay_s + kernel->work_s;
    double collective_s = collective->delay_s + collective->work_s;
    if (pair->kernels_alone_s > 0)
        kernel_s = pair->kernels_alone_s / (double)pair->kernel_count;
    if (pair->collectives_alone_s > 0)
        collective_s = pair->collectives_alone_s / (double)pair->collective_count;
    struct task_graph *graph =
        task_graph_new(arena, (size_t)pair->kernel_count + (size_t)pair->collective_count);
    uint32_t kernels = task_graph_add_lane(graph, "kernels", 0);
    uint32_t collectives = task_graph_add_lane(graph, "collectives", 0);
    task_graph_put_behind(graph, collectives, kernels);
    (void)task_graph_add_resource(graph, "compute", 1);
    (void)task_graph_add_resource(graph, "hbm", 1);
    add_stream(graph, kernels, kernel, kernel_s, pair->kernel_count);
    add_stream(graph, collectives, collective, collective_s, pair->collective_count);
    const struct trace *trace = engine_run(graph, arena);
    *out = (struct overlap_times){end_of_lane_s(trace, kernels),
                                  end_of_lane_s(trace, collectives)};
    return true;
}
