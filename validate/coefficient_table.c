/* Every coefficient that a fit may move, with its bounds and their reasons. */
#include "validate/coefficient_table.h"

#define IN_DEVICE(member) offsetof(struct device, member)
#define IN_PASS(member)   offsetof(struct device_attention_pass, member)
#define IN_STREAM(member) offsetof(struct device_stream, member)

static const char LAUNCH[] = "no launch was seen under half a microsecond";
static const char LAUNCH_LONG[] = "a launch of more is the host's time, not the device's";
static const char NO_TIME[] = "no work takes negative time";
static const char ONE_TILE[] = "more than the whole of a small product takes";
static const char HOST_CALL[] = "the host's part of a call stays under a millisecond";
static const char MEMORY_SLOW[] = "a hundredth of the slowest memory of a training GPU";
static const char MEMORY_QUICK[] =
    "8 TB/s, the quickest memory of one device (AMD Instinct MI355X data sheet)";
static const char CACHE_SLOW[] = "no cache is slower than HBM";
static const char CACHE_QUICK[] = "128 bytes a clock of 2.5 GHz to each of 312 units";
static const char SMALL_PART[] = "a kernel that reaches less is another kernel";
static const char WHOLE[] = "no kernel beats the device's own bandwidth";
static const char ONE_LOAD[] = "less than a load from the nearest cache";
static const char ONE_ROW[] = "longer than the widest row takes";
static const char ONE_INSTRUCTION[] = "one instruction an element";
static const char PEAK[] = "the datasheet's peak";
static const char EXPONENTIALS_SLOW[] = "one exponential a unit in eight clocks";
static const char EXPONENTIALS_QUICK[] =
    "128 a clock of 2.5 GHz and unit, four times as many as NVIDIA's and AMD's units take";

/* The order is that of the fits: memory first, as all others stand on it. */
const struct coefficient_line coefficient_lines[] = {
    {"memory.hbm_read_bytes_per_s", SPAN_NONE, IN_DEVICE(memory.hbm_read_bytes_per_s),
     KERNEL_ELEMENTWISE, LOGARITHMIC, 1e10, 8e12, MEMORY_SLOW, MEMORY_QUICK},
    {"memory.hbm_write_bytes_per_s", SPAN_NONE, IN_DEVICE(memory.hbm_write_bytes_per_s),
     KERNEL_ELEMENTWISE, LOGARITHMIC, 1e10, 8e12, MEMORY_SLOW, MEMORY_QUICK},
    {"memory.mixed_fraction", SPAN_NONE, IN_DEVICE(memory.mixed_fraction), KERNEL_ELEMENTWISE,
     LINEAR, 0.5, 1.5, "turning the bus round costs less than a transfer",
     "reads and writes use the same wires"},
    {"memory.write_only_fraction", SPAN_NONE, IN_DEVICE(memory.write_only_fraction),
     KERNEL_ELEMENTWISE, LINEAR, 0.5, 1, "no bus is half as quick one way", WHOLE},
    {"memory.warm_bytes_per_s", SPAN_NONE, IN_DEVICE(memory.warm_bytes_per_s), KERNEL_RMS_NORM,
     LOGARITHMIC, 1e12, 1e14, CACHE_SLOW, CACHE_QUICK},
    {"memory.latency_s", SPAN_NONE, IN_DEVICE(memory.latency_s), KERNEL_ELEMENTWISE, LINEAR, 0,
     3e-6, NO_TIME, "several times the slowest pointer chase through HBM"},
    {"memory.row_overlap_exponent", SPAN_NONE, IN_DEVICE(memory.row_overlap_exponent),
     KERNEL_RMS_NORM, LOGARITHMIC, 1, 50, "no overlap at all", "perfect overlap within 2 %"},
    {"element_rates_per_s.*", SPAN_OPERATION,
     offsetof(struct device_element_rate, elements_per_s), KERNEL_ELEMENTWISE, LOGARITHMIC,
     1e10, 1e14, "a hundred instructions an element", ONE_INSTRUCTION},
    {"element_waits_s.*", SPAN_OPERATION, offsetof(struct device_element_rate, wait_s),
     KERNEL_ELEMENTWISE, LOGARITHMIC, 1e-8, 2e-5, ONE_LOAD, "longer than a small kernel takes"},
    {"gemm.sustained_flop_per_s.*", SPAN_RATE, IN_DEVICE(gemm.sustained_flop_per_s),
     KERNEL_GEMM, LOGARITHMIC, 1e12, 1, "slower than any matrix unit", PEAK},
    {"gemm.launch_s", SPAN_NONE, IN_DEVICE(gemm.launch_s), KERNEL_GEMM, LOGARITHMIC, 5e-7, 2e-5,
     LAUNCH, LAUNCH_LONG},
    {"gemm.tile_s", SPAN_NONE, IN_DEVICE(gemm.tile_s), KERNEL_GEMM, LINEAR, 0, 2e-5, NO_TIME,
     ONE_TILE},
    {"gemm.dtype_tile_s.*", SPAN_DTYPE, IN_DEVICE(gemm.dtype_tile_s), KERNEL_GEMM, LOGARITHMIC,
     1e-9, 2e-5, NO_TIME, ONE_TILE},
    {"gemm.boost_flop_per_s.*", SPAN_RATE, IN_DEVICE(gemm.boost_flop_per_s), KERNEL_GEMM,
     LOGARITHMIC, 1e12, 1, "slower than any matrix unit", PEAK},
    {"gemm.split_s", SPAN_NONE, IN_DEVICE(gemm.split_s), KERNEL_GEMM, LINEAR, 0, 5e-5, NO_TIME,
     ONE_TILE},
    {"gemm.dtype_split_s.*", SPAN_DTYPE, IN_DEVICE(gemm.dtype_split_s), KERNEL_GEMM,
     LOGARITHMIC, 1e-8, 5e-5, NO_TIME, ONE_TILE},
    {"gemm.dtype_add_bytes_per_s.*", SPAN_DTYPE, IN_DEVICE(gemm.dtype_add_bytes_per_s),
     KERNEL_GEMM, LOGARITHMIC, 1e8, 3e11,
     "a byte in twenty clocks, slower than one atomic a line", CACHE_QUICK},
    {"gemm.stream_k_s.*", SPAN_DTYPE, IN_DEVICE(gemm.stream_k_s), KERNEL_GEMM, LOGARITHMIC,
     1e-8, 5e-5, NO_TIME, ONE_TILE},
    {"memory.l2_bytes_per_s", SPAN_NONE, IN_DEVICE(memory.l2_bytes_per_s), KERNEL_GEMM,
     LOGARITHMIC, 1e12, 1e14, CACHE_SLOW, CACHE_QUICK},
    {"memory.unit_bytes_per_s", SPAN_CORE, IN_DEVICE(memory.unit_bytes_per_s), KERNEL_GEMM,
     LOGARITHMIC, 1e12, 1e14, CACHE_SLOW, CACHE_QUICK},
    {"gemm.overlap_exponent", SPAN_NONE, IN_DEVICE(gemm.overlap_exponent), KERNEL_GEMM,
     LOGARITHMIC, 1, 50, "no overlap at all", "perfect overlap within 2 %"},
    {"gemm.exposed_fraction", SPAN_NONE, IN_DEVICE(gemm.exposed_fraction), KERNEL_GEMM, LINEAR,
     0, 1, NO_TIME, "no overlap at all"},
    {"gemm.dtype_exposed_fraction.*", SPAN_DTYPE, IN_DEVICE(gemm.dtype_exposed_fraction),
     KERNEL_GEMM, LOGARITHMIC, 1e-3, 1, NO_TIME, "no overlap at all"},
    {"gemm.drift_rounds", SPAN_NONE, IN_DEVICE(gemm.drift_rounds), KERNEL_GEMM, LOGARITHMIC,
     0.1, 1e4, "units are even in the second round", "units keep step for ever"},
    {"gemm.hbm_ramp_s", SPAN_NONE, IN_DEVICE(gemm.hbm_ramp_s), KERNEL_GEMM, LINEAR, 0, 2e-5,
     NO_TIME, ONE_TILE},
    {"gemm.store_bytes_per_s", SPAN_NONE, IN_DEVICE(gemm.store_bytes_per_s), KERNEL_GEMM,
     LOGARITHMIC, 5e9, 3e11, "no unit stores slower than a CPU's core", CACHE_QUICK},
    {"gemm.dtype_store_bytes_per_s.*", SPAN_DTYPE, IN_DEVICE(gemm.dtype_store_bytes_per_s),
     KERNEL_GEMM, LOGARITHMIC, 5e9, 3e11, "no unit stores slower than a CPU's core",
     CACHE_QUICK},
    {"gemm.unaligned_fraction", SPAN_NONE, IN_DEVICE(gemm.unaligned_fraction), KERNEL_GEMM,
     LINEAR, 0, 1, NO_TIME, "a row within lines touches at most twice as many"},
    {"gemm.crowded_fraction.*", SPAN_DTYPE, IN_DEVICE(gemm.crowded_fraction), KERNEL_GEMM,
     LOGARITHMIC, 1e-3, 3, NO_TIME, "all rows on a quarter of the channels"},
    {"gemm.stray_per_byte.*", SPAN_DTYPE, IN_DEVICE(gemm.stray_per_byte), KERNEL_GEMM,
     LOGARITHMIC, 1e-8, 1e-3, NO_TIME, "a kilobyte apart, no load is shared"},
    {"gemm.power_exponent", SPAN_NONE, IN_DEVICE(gemm.power_exponent), KERNEL_GEMM, LOGARITHMIC,
     1, 50, "a sum", "a hard limit within 2 %"},
    {"gemm.step_s.*", SPAN_DTYPE, IN_DEVICE(gemm.step_s), KERNEL_GEMM, LINEAR, 0, 2e-6, NO_TIME,
     "longer than a step of the largest tile computes"},
    {"gemm.grouped_launch_s", SPAN_NONE, IN_DEVICE(gemm.grouped_launch_s), KERNEL_GROUPED_GEMM,
     LINEAR, 0, 5e-5, NO_TIME, LAUNCH_LONG},
    {"gemm.grouped_hbm_fraction", SPAN_NONE, IN_DEVICE(gemm.grouped_hbm_fraction),
     KERNEL_GROUPED_GEMM, LINEAR, 0.05, 1, SMALL_PART, WHOLE},
    {"gemm.grouped_fraction", SPAN_NONE, IN_DEVICE(gemm.grouped_fraction), KERNEL_GROUPED_GEMM,
     LINEAR, 0.05, 1, SMALL_PART, "grouped products are not quicker than alone"},
    {"gemm.grouped_switch_s", SPAN_NONE, IN_DEVICE(gemm.grouped_switch_s), KERNEL_GROUPED_GEMM,
     LINEAR, 0, 2e-5, NO_TIME, ONE_TILE},
    {"gemm.moe_launch_s", SPAN_NONE, IN_DEVICE(gemm.moe_launch_s), KERNEL_FUSED_MOE,
     LOGARITHMIC, 5e-7, 1e-4, LAUNCH, LAUNCH_LONG},
    {"gemm.moe_row_bytes_per_s", SPAN_NONE, IN_DEVICE(gemm.moe_row_bytes_per_s),
     KERNEL_FUSED_MOE, LOGARITHMIC, 1e10, 1e14, MEMORY_SLOW, CACHE_QUICK},
    {"gemm.moe_fraction", SPAN_NONE, IN_DEVICE(gemm.moe_fraction), KERNEL_FUSED_MOE, LINEAR,
     0.05, 1, SMALL_PART, "a fused kernel's products are not quicker than alone"},
    {"attention.*.rate_fraction", SPAN_PASS, IN_PASS(rate_fraction), KERNEL_ATTENTION, LINEAR,
     0.05, 1, SMALL_PART, PEAK},
    {"attention.*.fixed_s", SPAN_PASS, IN_PASS(fixed_s), KERNEL_ATTENTION, LOGARITHMIC, 5e-7,
     1e-3, LAUNCH, HOST_CALL},
    {"attention.*.walk_s", SPAN_PASS, IN_PASS(walk_s), KERNEL_ATTENTION, LINEAR, 0, 5e-5,
     NO_TIME, "longer than a small attention takes"},
    {"attention.*.mask_s", SPAN_PASS, IN_PASS(mask_s), KERNEL_ATTENTION, LINEAR, 0, 5e-5,
     NO_TIME, "longer than a small attention takes"},
    {"attention.*.end_fraction", SPAN_PASS, IN_PASS(end_fraction), KERNEL_ATTENTION, LINEAR, 0,
     1, "units may end together", "no list of tasks ends later (Graham, 1969)"},
    {"attention.*.lone_fraction", SPAN_PASS, IN_PASS(lone_fraction), KERNEL_ATTENTION, LINEAR,
     0.2, 1, "a walk hides most of its own latencies", "no unit is quicker half empty"},
    {"attention.*.split_s", SPAN_PASS, IN_PASS(split_s), KERNEL_ATTENTION, LINEAR, 0, 5e-5,
     NO_TIME, LAUNCH_LONG},
    {"attention.*.isolated_call_s", SPAN_PASS, IN_PASS(isolated_call_s), KERNEL_ATTENTION,
     LINEAR, 0, 1e-3, NO_TIME, HOST_CALL},
    {"attention.*.exponential_per_s", SPAN_PASS, IN_PASS(exponential_per_s), KERNEL_ATTENTION,
     LOGARITHMIC, 1e11, 1e14, EXPONENTIALS_SLOW, EXPONENTIALS_QUICK},
    {"streams.*.bandwidth_fraction", SPAN_STREAM, IN_STREAM(bandwidth_fraction),
     KERNEL_KIND_COUNT, LOGARITHMIC, 0.01, 1, SMALL_PART, WHOLE},
    {"memory.result_kept_fraction", SPAN_NONE, IN_DEVICE(memory.result_kept_fraction),
     KERNEL_GATHER, LINEAR, 0, 1, NO_TIME, "all of it"},
    {"streams.*.fixed_s", SPAN_STREAM, IN_STREAM(fixed_s), KERNEL_KIND_COUNT, LOGARITHMIC, 5e-7,
     1e-3, LAUNCH, HOST_CALL},
    {"streams.*.row_s", SPAN_STREAM, IN_STREAM(row_s), KERNEL_KIND_COUNT, LOGARITHMIC, 1e-8,
     1e-4, ONE_LOAD, ONE_ROW},
    {"streams.*.element_s", SPAN_STREAM, IN_STREAM(element_s), KERNEL_KIND_COUNT, LOGARITHMIC,
     1e-12, 1e-7, ONE_LOAD, ONE_ROW},
    {"streams.*.wide_element_s", SPAN_STREAM, IN_STREAM(wide_element_s), KERNEL_KIND_COUNT,
     LOGARITHMIC, 1e-12, 1e-7, ONE_LOAD, ONE_ROW},
    {"streams.*.sum_row_s", SPAN_STREAM, IN_STREAM(sum_row_s), KERNEL_KIND_COUNT, LOGARITHMIC,
     1e-12, 1e-5, ONE_LOAD, ONE_ROW},
    {"streams.*.group_s", SPAN_STREAM, IN_STREAM(group_s), KERNEL_KIND_COUNT, LOGARITHMIC, 1e-8,
     1e-4, ONE_LOAD, LAUNCH_LONG},
    {"streams.*.turned_elements_per_s", SPAN_STREAM, IN_STREAM(turned_elements_per_s),
     KERNEL_KIND_COUNT, LOGARITHMIC, 1e8, 1e14, "a unit takes an element in a thousand clocks",
     ONE_INSTRUCTION},
    {"streams.*.lone_fraction", SPAN_STREAM, IN_STREAM(lone_fraction), KERNEL_KIND_COUNT,
     LOGARITHMIC, 0.1, 1, SMALL_PART, "no unit is quicker with fewer workgroups"},
    {"streams.*.isolated_call_s", SPAN_STREAM, IN_STREAM(isolated_call_s), KERNEL_KIND_COUNT,
     LOGARITHMIC, 1e-6, 1e-3, LAUNCH, HOST_CALL},
    {"streams.*.elements_per_s", SPAN_STREAM, IN_STREAM(elements_per_s), KERNEL_KIND_COUNT,
     LOGARITHMIC, 1e8, 1e14, "a unit takes an element in a thousand clocks", ONE_INSTRUCTION},
    {"streams.*.wide_elements_per_s", SPAN_STREAM, IN_STREAM(wide_elements_per_s),
     KERNEL_KIND_COUNT, LOGARITHMIC, 1e8, 1e14, "a unit takes an element in a thousand clocks",
     ONE_INSTRUCTION},
    {"host_bytes_per_s", SPAN_NONE, IN_DEVICE(host_bytes_per_s), KERNEL_COPY, LOGARITHMIC, 1e9,
     1e12, "slower than PCIe 1.0 x4", "NVLink-C2C's 900 GB/s (NVIDIA GH200 data sheet)"},
};

const size_t coefficient_line_count = sizeof coefficient_lines / sizeof coefficient_lines[0];
