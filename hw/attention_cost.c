/* Attention by tiles of queries and keys.
 *
 * Forward, a workgroup owns a tile of queries of one head and walks over the keys; backward it
 * owns a tile of keys and walks over the queries. Causal masking leaves the walks of unequal
 * length, from one tile to all:
 *
 *     queries |#        forward: each row of tiles is one workgroup
 *             |##       backward: each column
 *             |###
 *             |####     # a tile that some query of it sees
 *              keys  */
#include "hw/attention_cost.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Rows of the matrix instructions that attention is written in: v_mfma_f32_16x16x16 (AMD CDNA3
 * ISA) and mma.m16n8k16 (NVIDIA PTX ISA). That a library with fewer queries than its tile pads
 * them to this is assumed. */
static const double INSTRUCTION_ROWS = 16;

/* Of the longest walk, what the device waits at the end while unequal walks run out. Assumed: a
 * list of tasks may end up to a whole one late (Graham, "Bounds on multiprocessing timing
 * anomalies", 1969), and the middle is taken. */
static const double UNEVEN_END_FRACTION = 0.5;

const struct device_attention *
attention_implementation(const struct device *device, const char *name)
{
    if (name == NULL)
        return device->attention_count > 0 ? &device->attention[0] : NULL;
    for (int64_t i = 0; i < device->attention_count; i++) {
        if (strcmp(device->attention[i].name, name) == 0)
            return &device->attention[i];
    }
    return NULL;
}

/* How the walks divide: workgroups, and pairs of a query and a key that a walk computes. */
struct walks {
    double workgroups;
    double mean_pairs, longest_pairs;
    double tiles; /* of queries by keys, all walks */
};

/* Own and walked lengths are whole tiles. Causal, the walks of a square of s tiles have 1 to s;
 * what the walked side has beyond the square is walked by all. */
static struct walks
attention_walks(const struct attention *attention, const struct device_attention *how,
                enum direction direction)
{
    double padded = INSTRUCTION_ROWS * ceil((double)attention->q_len / INSTRUCTION_ROWS);
    double query_tile = fmin((double)how->query_tile, padded);
    double key_tile = (double)how->key_tile;
    double q = query_tile * ceil((double)attention->q_len / query_tile);
    double kv = key_tile * ceil((double)attention->kv_len / key_tile);
    bool is_forward = direction == DIRECTION_FORWARD;
    double own_tile = is_forward ? query_tile : key_tile, own = is_forward ? q : kv;
    double walked = is_forward ? kv : q, walked_tile = is_forward ? key_tile : query_tile;
    double heads = (double)attention->batch * (double)attention->q_heads;
    double mean = walked;
    if (attention->is_causal) {
        double square = fmin(q, kv);
        double triangle = (square + fmax(own_tile, walked_tile)) / 2;
        mean = is_forward ? fmax(walked - square, 0) + fmin(triangle, walked)
                          : (square * fmin(triangle, walked) + (own - square) * walked) / own;
    }
    double workgroups = heads * own / own_tile;
    return (struct walks){.workgroups = workgroups,
                          .mean_pairs = own_tile * mean,
                          .longest_pairs = own_tile * walked,
                          .tiles = workgroups * ceil(mean / walked_tile)};
}

/* Seconds of one unit for one pair: the products' flop, and one exponential. */
static double
pair_s(const struct device *device, const struct kernel *kernel,
       const struct device_attention_pass *pass)
{
    double products = kernel->direction == DIRECTION_FORWARD ? 2 : 5;
    double flop = products * 2 * (double)kernel->attention.head_dim;
    double units = (double)device->compute_units;
    double rate = pass->rate_fraction * device->peak_flop_per_s[kernel->dtype];
    return units * (flop / rate + 1 / pass->exponential_per_s);
}

/* What the walks take, and what each unit computes of that on average. */
struct computing {
    double seconds_s, busy_s;
};

/* Equal walks run in whole rounds, the last partly empty. Unequal ones even out: the mean load,
 * and an end while other units have none; never more than if all were as long as the longest. */
static struct computing
walks_computing(const struct device *device, const struct kernel *kernel,
                const struct walks *walks, const struct device_attention_pass *pass)
{
    double units = (double)device->compute_units;
    double one_pair_s = pair_s(device, kernel, pass);
    double mean_s = pass->tile_s + walks->mean_pairs * one_pair_s;
    double longest_s = pass->tile_s + walks->longest_pairs * one_pair_s;
    double rounds_s = ceil(walks->workgroups / units) * longest_s;
    double busy_s = walks->workgroups / units * mean_s;
    if (!kernel->attention.is_causal)
        return (struct computing){rounds_s, busy_s};
    double even_s = busy_s + UNEVEN_END_FRACTION * longest_s;
    return (struct computing){fmin(rounds_s, fmax(longest_s, even_s)), busy_s};
}

/* A few queries on many keys (decoding) leave units idle, so the keys are split among them; the
 * parts meet in a second small kernel, which fixed_s holds. */
static struct walks
split_walks(const struct device *device, const struct kernel *kernel,
            const struct device_attention *how, struct walks walks)
{
    const struct attention *attention = &kernel->attention;
    if (kernel->direction == DIRECTION_BACKWARD || attention->q_len > how->query_tile)
        return walks;
    double idle = floor((double)device->compute_units / walks.workgroups);
    double key_tiles = ceil((double)attention->kv_len / (double)how->key_tile);
    double parts = fmax(1, fmin(idle, key_tiles));
    walks.workgroups *= parts;
    walks.mean_pairs /= parts;
    walks.longest_pairs /= parts;
    return walks;
}

/* Forward reads Q, K, V and writes O. Backward reads Q, K, V, O, dO, writes dQ, dK, dV, and
 * sums dQ in fp32 on the way, written and read once. */
static void
attention_bytes(const struct kernel *kernel, double *read_bytes, double *write_bytes)
{
    const struct attention *attention = &kernel->attention;
    double head = (double)attention->batch * (double)attention->head_dim;
    double q = head * (double)attention->q_len * (double)attention->q_heads;
    double kv = head * (double)attention->kv_len * (double)attention->kv_heads;
    double element_bytes = dtype_bytes(kernel->dtype);
    *read_bytes = (q + 2 * kv) * element_bytes;
    *write_bytes = q * element_bytes;
    if (kernel->direction == DIRECTION_BACKWARD) {
        double sums_bytes = q * dtype_bytes(DTYPE_FP32);
        *read_bytes = (3 * q + 2 * kv) * element_bytes + sums_bytes;
        *write_bytes = (q + 2 * kv) * element_bytes + sums_bytes;
    }
}

static enum kernel_bound
attention_bound(double fixed_s, double computing_s, double hbm_s)
{
    if (fixed_s > fmax(computing_s, hbm_s))
        return BOUND_LAUNCH;
    return hbm_s > computing_s ? BOUND_HBM : BOUND_COMPUTE;
}

void
attention_cost(const struct device *device, const struct kernel *kernel,
               struct kernel_cost *cost)
{
    const struct device_attention *how =
        attention_implementation(device, kernel->attention.implementation);
    assert(how != NULL && device->peak_flop_per_s[kernel->dtype] > 0);
    const struct device_attention_pass *pass = &how->passes[kernel->direction];
    struct walks walks = attention_walks(&kernel->attention, how, kernel->direction);
    walks = split_walks(device, kernel, how, walks);
    struct computing computing = walks_computing(device, kernel, &walks, pass);
    double read_bytes, write_bytes;
    attention_bytes(kernel, &read_bytes, &write_bytes);
    double hbm_s = read_bytes / device->memory.hbm_read_bytes_per_s +
                   write_bytes / device->memory.hbm_write_bytes_per_s;
    double seconds_s = pass->fixed_s + fmax(computing.seconds_s, hbm_s);
    double rounds = ceil(walks.workgroups / (double)device->compute_units);
    *cost = (struct kernel_cost){
        .seconds_s = seconds_s,
        .relative_sigma = pass->relative_sigma,
        .bound = attention_bound(pass->fixed_s, computing.seconds_s, hbm_s),
        .flop = kernel_flop(kernel),
        .hbm_bytes = read_bytes + write_bytes,
        .tiles = (int64_t)fmin(walks.tiles, 9e18),
        .waves = (int64_t)fmin(rounds, 9e18),
        .compute_fraction = fmin(1, computing.busy_s / seconds_s),
        .hbm_fraction = fmin(1, hbm_s / seconds_s),
    };
}
