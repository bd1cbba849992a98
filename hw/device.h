/* A GPU as its datasheet and its measurements describe it. */
#ifndef HW_DEVICE_H
#define HW_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/kernel.h"

enum { DEVICE_TILES_MAX = 32, DEVICE_IMPLEMENTATIONS_MAX = 8, DEVICE_ELEMENT_RATES_MAX = 16 };
enum { DEVICE_MACHINES_MAX = 16 };

/* Levels between the compute units and HBM, and how streams fill them. */
struct device_memory {
    int64_t l2_domains; /* chiplets with an L2 of their own (MI300X: 8 XCDs), else 1 */
    double l2_bytes;    /* of all domains together */
    double l2_bytes_per_s;
    double last_level_bytes; /* a cache on the memory's side (Infinity Cache); 0: none */
    double last_level_bytes_per_s;
    double unit_bytes_per_s; /* the most that one compute unit draws from beyond its L2 */

    /* One stream alone on a device full of threads. */
    double hbm_read_bytes_per_s;
    double hbm_write_bytes_per_s;
    double mixed_fraction;      /* of what both would take one after the other, side by side */
    double write_only_fraction; /* of its rate that writing reaches with no reads between */
    double latency_s;           /* from the first request to HBM until its bytes are there */
    double warm_bytes; /* a kernel of fewer finds them in L2, where the last one left them */
    double warm_bytes_per_s; /* what a stream draws from L2 (tiles of products share loads) */
    /* Of a new result that L2 could hold, what overwrites the last one there. */
    double result_kept_fraction;
    double reread_bytes; /* rows in flight that L2 holds for a second pass over them */
    /* rows^p + bytes^p = time^p: how waiting of rows and moving of bytes overlap. */
    double row_overlap_exponent;
};

/* A macro-tile of a matrix library: one workgroup's part of the result, how deep a slab of A and B
 * it loads a step, and as how many of them a unit holds; 0: as of others. */
struct device_tile {
    double m, n, depth_bytes, held;
};

struct device_tiles {
    struct device_tile items[DEVICE_TILES_MAX];
    int64_t count;
};

/* A machine that published products were timed on, whose units ran at another clock than the
 * device's numbers are for: matrix rates, what power allows, L2; not memory, not launches. */
struct device_machine {
    const char *measured_in; /* a part of the `source` of its rows in measured lists */
    double clock_fraction;
};

struct device_gemm {
    struct device_machine machines[DEVICE_MACHINES_MAX];
    int64_t machine_count;
    struct device_tiles tiles;
    /* Where a library of its own serves a data type, or grouped products; count 0: as all. */
    struct device_tiles dtype_tiles[DTYPE_COUNT], grouped_tiles;
    double launch_s; /* of a product */
    /* A grouped product is a launch an expert, as of a library that has none; what follows of
     * grouped products is then not looked at. */
    bool is_grouped_one_by_one;
    /* What a grouped product adds: its groups' sizes lie on the device. */
    double grouped_launch_s;
    double grouped_switch_s; /* of a unit, from one group's matrices to the next's */
    /* Of a product's rate, and of the HBM bandwidth, that a grouped product reaches. */
    double grouped_fraction, grouped_hbm_fraction;
    double tile_s; /* filling the pipeline and storing the result, once per resident wave */
    double step_s[DTYPE_COUNT]; /* book-keeping of one step of the k loop */
    double exposed_fraction;    /* of the shorter of loading and multiplying, not overlapped */
    /* The same, `tile_s`, `store_bytes_per_s` and `split_s`, of data types that a library of its
     * own serves; 0: as all. */
    double dtype_exposed_fraction[DTYPE_COUNT], dtype_tile_s[DTYPE_COUNT];
    double dtype_store_bytes_per_s[DTYPE_COUNT], dtype_split_s[DTYPE_COUNT];
    /* Of results, one compute unit, where it adds its part of k to what others left; 0: as storing
     * (the parts lie apart, `split_s` brings them together). */
    double dtype_add_bytes_per_s[DTYPE_COUNT];
    /* What one unit draws for its multipliers, all units; 0: as L2 gives. Vector instructions
     * draw each tile through shared memory to registers, which their multiplying waits for. */
    double dtype_load_bytes_per_s[DTYPE_COUNT];
    /* What multiplying takes more of a matrix unit that takes operands along k alone: where one
     * lies across k, to be turned on its way through registers, and once more where the other does
     * too, which is written again before. */
    double turned_fraction[DTYPE_COUNT], rewritten_fraction[DTYPE_COUNT];
    double hbm_ramp_s; /* until HBM streams at its rate, of a product that moves for longer */
    double store_bytes_per_s; /* of results, one compute unit */
    /* Of a tile past the operand's edge, what filling it with zeros takes of loading it: a copy
     * engine writes whole slabs to shared memory, loads by threads are left out. */
    double edge_fill_fraction;
    double unaligned_fraction; /* what moving a row takes more that begins within a line */
    /* What loading rows takes more whose distance is a multiple of `crowded_pitch_bytes`: they
     * meet on few of the channels of memory. 0: all distances are alike. */
    double crowded_fraction[DTYPE_COUNT];
    double crowded_pitch_bytes;
    /* What loading takes more for the root of the bytes of a row that a workgroup walks down:
     * neighbours stray apart, as walkers at random do, and find less of each other's loads in
     * L2. */
    double stray_per_root_byte[DTYPE_COUNT];
    double split_s; /* meeting again after a split of k */
    /* Meeting again after steps of all tiles were dealt out evenly; 0: the library never does. */
    double stream_k_s[DTYPE_COUNT];
    int64_t split_maximum;
    /* Of data types whose kernels take any number of parts, however many tiles there are: the
     * most; 0: a power of two, while units are idle. */
    double free_split_maximum[DTYPE_COUNT];
    /* Of one compute unit, at once: while one loads another multiplies. */
    int64_t resident_workgroups;
    double peak_product_flop; /* of the least product that reaches peak rate; 0: not known */
    double drift_rounds;      /* until half of the units no longer keep step with the others */
    /* Of filling and storing, what the others' multiplying hides once none keeps step. */
    double hidden_fill_fraction[DTYPE_COUNT];
    /* What the loop issues at the boost clock, all units; what power allows while every unit
     * multiplies. 0: the device has no such unit. */
    double boost_flop_per_s[DTYPE_COUNT];
    double sustained_flop_per_s[DTYPE_COUNT];
    /* issue^q + power^q = compute^q: infinity is a hard limit, 1 a sum. */
    double power_exponent;
    /* Whose numbers products in fp8 take that scale the result alone: those of another type of a
     * byte, where fp8's were measured with block scales. fp64, which is 0: fp8's. */
    enum dtype result_scaled_fp8;
    double result_scaled_sustained_flop_per_s; /* of those; 0: what that type's sustain */
    /* In a step, where other kernels leave power over, products run 1 + this x the others' part of
     * the time faster than alone (models/mixed_load.h); 0: not known. */
    double mixed_load_gain;
    /* compute^p + memory^p = time^p: infinity is perfect overlap; one power budget that both
     * share lowers it. */
    double overlap_exponent;
    /* Of a fused MoE layer: what a kernel of it adds, the part of the sustained rate that its
     * products reach, and at what rate rows are gathered to experts and added back to tokens. */
    double moe_launch_s;
    double moe_fraction;
    double moe_row_bytes_per_s;
    double moe_relative_sigma;
    double relative_sigma_long;   /* over 100 microseconds */
    double relative_sigma_medium; /* 10 to 100 */
    double relative_sigma_short;  /* under 10 */
};

/* One direction of an attention implementation: workgroups own a tile of one side and walk over
 * the other (hw/attention_cost.c). */
struct device_attention_pass {
    int64_t query_tile, key_tile;
    int64_t unit_walks;       /* workgroups that one unit holds, of heads up to 128 wide */
    double lone_fraction;     /* of its rate that a unit reaches which holds half as many */
    double rate_fraction;     /* of the peak matrix rate */
    double exponential_per_s; /* softmax's exponentials, all units together */
    double walk_s;            /* beginning and ending one walk */
    double mask_s;            /* what a causal mask adds to a walk */
    double end_fraction;      /* of the longest walk, what unequal walks leave units waiting */
    double split_s;           /* joining the parts of walks that were split */
    double fixed_s;           /* launches and smaller kernels around it, on the device */
    double isolated_call_s;   /* the host's part when nothing was enqueued ahead */
    double relative_sigma;
};

struct device_attention {
    const char *name;      /* "flash2" */
    const char *library;   /* what measured lists call it that give no name, or NULL */
    int64_t head_granule;  /* heads are padded to a multiple of it */
    int64_t split_maximum; /* parts of a walk while units are idle; one query tile may always */
    /* Its kernels are of whole sequences without a window, of heads at least so wide; what else
     * there is, another of the device's runs, by name. NULL: it runs everything. */
    const char *otherwise;
    int64_t head_dim_minimum;
    bool is_placed_in_order; /* units get walks by their number, longest or shortest first */
    bool has_query_kernel;   /* backward, of one kernel for keys and one for queries */
    struct device_attention_pass passes[2]; /* by enum direction */
};

/* One direction of a kernel that streams: how near it comes to the device's bandwidth, and what
 * else it waits for. 0 where it does not. */
struct device_stream {
    double fixed_s; /* from launch to end with nothing to move */
    double bandwidth_fraction;
    /* From a row's first load to its last store, without its width. Of AdamW a workgroup's chunk
     * out of L2; of few rows of a scatter_add each after the other; of a copy to or
     * from the host one way along the link; of a convolution's groups the first one's kernels;
     * backward a step of a warp that adds up the weight's gradient. */
    double row_s;
    double element_s; /* what each element of the row adds to that; of a convolution's groups,
                              backward, each token */
    double wide_element_s;   /* the same where a whole workgroup shares the row */
    double narrow_element_s; /* and of two bytes, which is converted; 0: as element_s */
    double overlap_exponent; /* in place of the memory's row_overlap_exponent; 0: that */
    double lone_fraction;    /* of its rate that a unit reaches with one such workgroup */
    double sum_row_s; /* a row's part of a sum over all rows, whole device; of a loss one of a
                              single workgroup's steps; of AdamW's chunk what HBM adds */
    double group_s;   /* what a convolution's group of several channels adds ... */
    double turned_elements_per_s; /* ... which is turned to channels-last and back ... */
    double turned_weights_per_s;  /* ... and so are its weights */
    double elements_per_s;        /* whole device, of up to two bytes each ... */
    double wide_elements_per_s;   /* ... and of more */
    double clock_fraction;        /* of its time, what goes with the units' clock */
    double isolated_call_s;       /* the host's part when nothing was enqueued ahead */
    double relative_sigma;
};

/* An elementwise operation that the vector units, not the memory, may limit. */
struct device_element_rate {
    const char *op;
    double elements_per_s;
    double wait_s; /* of a launch: what its threads wait for one element after the other */
};

struct device {
    const char *name;        /* "mi300x" */
    const char *description; /* "AMD Instinct MI300X 192 GB" */
    bool is_fitted;          /* to measurements of this device; else datasheet and likeness */
    bool
        has_plain_streams; /* its streams are kernels as hw/plain_cost.h says, no framework's */
    double hbm_bytes;      /* capacity */
    double peak_flop_per_s[DTYPE_COUNT]; /* dense, datasheet; 0: the device has none */
    int64_t compute_units;
    struct device_memory memory;
    struct device_gemm gemm;
    /* The first is the default. */
    struct device_attention attention[DEVICE_IMPLEMENTATIONS_MAX];
    int64_t attention_count;
    struct device_stream streams[KERNEL_KIND_COUNT][2]; /* of the kinds that stream, by enum
                                                           direction */
    struct device_element_rate element_rates[DEVICE_ELEMENT_RATES_MAX];
    int64_t element_rate_count;
    double host_bytes_per_s; /* between HBM and the host's memory, one way */
};

/* Reads configs/devices/NAME.json; NULL after adding every fault. */
const struct device *device_read(const struct json *object, struct arena *arena,
                                 struct error_list *errors);

#endif
