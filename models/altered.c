/* Copies of a run's parts, and their rates and times scaled. */
#include "models/altered.h"

#include <math.h>

struct altered *
altered_new(const struct run *run, struct arena *arena)
{
    struct altered *altered =
        arena_copy(arena, &(struct altered){.run = *run}, sizeof *altered);
    struct step_inputs *inputs = &altered->run.inputs;
    altered->cluster = *inputs->cluster;
    altered->device = *altered->cluster.device;
    altered->software = *inputs->workload.software;
    altered->plan = *inputs->workload.plan;
    inputs->cluster = &altered->cluster;
    altered->cluster.device = &altered->device;
    inputs->workload.software = &altered->software;
    inputs->workload.plan = &altered->plan;
    return altered;
}

void
altered_lift_memory(struct altered *altered)
{
    const double boundless_bytes = 1e18;
    altered->device.hbm_bytes = boundless_bytes;
}

void
altered_scale_matrix(struct altered *altered, double ratio)
{
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        altered->device.peak_flop_per_s[dtype] *= ratio;
        altered->device.gemm.boost_flop_per_s[dtype] *= ratio;
        altered->device.gemm.sustained_flop_per_s[dtype] *= ratio;
    }
    altered->device.gemm.result_scaled_sustained_flop_per_s *= ratio;
}

void
altered_scale_hbm(struct altered *altered, double ratio)
{
    altered->device.memory.hbm_read_bytes_per_s *= ratio;
    altered->device.memory.hbm_write_bytes_per_s *= ratio;
    altered->cluster.fabric.hbm_fraction =
        fmin(1, altered->cluster.fabric.hbm_fraction / ratio);
}

void
altered_scale_links(struct altered *altered, double ratio)
{
    struct fabric *fabric = &altered->cluster.fabric;
    fabric->link_bytes_per_s *= ratio;
    fabric->hbm_fraction = fmin(1, fabric->hbm_fraction * ratio);
}

void
altered_scale_nics(struct altered *altered, double ratio)
{
    altered->cluster.fabric.nic_bytes_per_s *= ratio;
}

void
altered_scale_host_launches(struct altered *altered, double ratio)
{
    altered->software.host_launch_s *= ratio;
}

void
altered_scale_kernel_starts(struct altered *altered, double ratio)
{
    struct device *device = &altered->device;
    device->gemm.launch_s *= ratio;
    device->gemm.grouped_launch_s *= ratio;
    device->gemm.moe_launch_s *= ratio;
    for (int kind = 0; kind < KERNEL_KIND_COUNT; kind++)
        for (int direction = 0; direction < 2; direction++)
            device->streams[kind][direction].fixed_s *= ratio;
    for (int64_t i = 0; i < device->attention_count; i++)
        for (int direction = 0; direction < 2; direction++)
            device->attention[i].passes[direction].fixed_s *= ratio;
}

void
altered_scale_network_latency(struct altered *altered, double ratio)
{
    struct fabric *fabric = &altered->cluster.fabric;
    for (int i = 0; i < fabric->protocol_count; i++) {
        fabric->protocols[i].launch_s *= ratio;
        fabric->protocols[i].link_hop_s *= ratio;
        fabric->protocols[i].nic_hop_s *= ratio;
    }
    for (int i = 0; i < COLLECTIVE_KIND_COUNT; i++)
        fabric->tunings[i].launch_s *= ratio;
}

void
altered_scale_interference(struct altered *altered, double ratio)
{
    struct fabric *fabric = &altered->cluster.fabric;
    fabric->node_compute_fraction = fmin(1, fabric->node_compute_fraction * ratio);
    fabric->network_compute_fraction = fmin(1, fabric->network_compute_fraction * ratio);
    fabric->hbm_fraction = fmin(1, fabric->hbm_fraction * ratio);
    fabric->channel_fraction = fmin(1, fabric->channel_fraction * ratio);
    fabric->matrix_hold_ratio *= ratio;
    fabric->streaming_hold_ratio *= ratio;
}
