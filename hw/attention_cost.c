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
 *              keys
 *
 * An implementation without sums of the queries' gradients has two kernels backward: one like that
 * for keys, whose workgroup walks over the queries of every head that shares them, and one for
 * queries. */
#include "hw/attention_cost.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "hw/memory_cost.h"

/* Queries of a workgroup whose keys are split: kBlockM of FlashAttention-2's
 * run_mha_fwd_splitkv_dispatch; assumed of all. */
static const double SPLIT_QUERIES = 64;

/* Keys that a part of a split walk has at least: two of FlashAttention-2's steps at 128 wide. */
static const double SPLIT_KEYS = 128;

/* Heads wider than this take the registers of two: a unit holds half as many walks or, where it
 * holds one, own tiles are half as long (FlashAttention-2's tiles at 192 and 256). */
static const double WIDE_HEAD = 128;

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

static const struct device_attention *
implementation_asked_for(const struct device *device, const struct attention *attention)
{
    for (int64_t i = 0; i < device->attention_count; i++) {
        const char *library = device->attention[i].library;
        if (attention->implementation == NULL && attention->library != NULL &&
            library != NULL && strcmp(library, attention->library) == 0)
            return &device->attention[i];
    }
    return attention_implementation(device, attention->implementation);
}

const struct device_attention *
attention_runs_on(const struct device *device, const struct attention *attention)
{
    const struct device_attention *named = implementation_asked_for(device, attention);
    bool is_whole = attention->window == 0 && attention->q_len > 1 &&
                    attention->head_dim >= named->head_dim_minimum;
    return is_whole || named->otherwise == NULL
               ? named
               : attention_implementation(device, named->otherwise);
}

/* How the walks divide: workgroups, and pairs of a query and a key that a walk computes. */
struct walks {
    double workgroups;
    double mean_pairs, longest_pairs;
    double tiles;     /* of queries by keys, all walks */
    double unit_most; /* workgroups that a unit holds */
    double parts;     /* of a walk that was split */
    double products;  /* of a pair */
};

/* The two sides of one head's square of tiles, in elements: each walk owns a tile of `own` and
 * passes over a stretch of `walked`. The stretch of tile i begins `behind` before the tile's
 * place on the walked side and ends `ahead` after it; infinite where no mask ends it. */
struct sides {
    double heads;
    double own_tile, own_tiles, rows; /* rows: computed for a tile, padding included */
    double walked_tile, walked;       /* whole tiles */
    double shift;                     /* place of own 0 on the walked side */
    double behind, ahead;
};

/* Keys that a query sees before its own place, and after. */
static double
past_keys(const struct attention *attention)
{
    return attention->window > 0 ? (double)attention->window - 1 : (double)INFINITY;
}

static double
future_keys(const struct attention *attention)
{
    return attention->is_causal ? 0 : (double)INFINITY;
}

static bool
is_wide(const struct attention *attention)
{
    return (double)attention->head_dim > WIDE_HEAD;
}

/* One query of each head of a group that shares keys: they are walked together, as rows of one
 * tile (FlashAttention-2's mha_fwd swaps them; assumed of all). */
static bool
is_packed(const struct attention *attention)
{
    return attention->q_len == 1;
}

static struct sides
forward_sides(const struct attention *attention, const struct device_attention_pass *pass,
              double query_tile)
{
    double q_len = (double)attention->q_len, kv_len = (double)attention->kv_len;
    double key_tile = (double)pass->key_tile;
    double heads = (double)attention->q_heads;
    double own_tile = query_tile;
    if (is_packed(attention)) {
        double group = heads / (double)attention->kv_heads;
        heads = (double)attention->kv_heads * ceil(group / query_tile);
        own_tile = 1;
    }
    return (struct sides){.heads = heads * (double)attention->batch,
                          .own_tile = own_tile,
                          .own_tiles = ceil(q_len / own_tile),
                          .rows = query_tile,
                          .walked_tile = key_tile,
                          .walked = key_tile * ceil(kv_len / key_tile),
                          .shift = kv_len - q_len,
                          .behind = past_keys(attention),
                          .ahead = future_keys(attention)};
}

/* Of the kernel for queries alone: backward's two tiles the other way round. */
static struct sides
query_gradient_sides(const struct attention *attention,
                     const struct device_attention_pass *pass)
{
    struct device_attention_pass turned = *pass;
    turned.key_tile = pass->query_tile;
    return forward_sides(attention, &turned, (double)pass->key_tile);
}

static struct sides
backward_sides(const struct attention *attention, const struct device_attention_pass *pass)
{
    double q_len = (double)attention->q_len, kv_len = (double)attention->kv_len;
    double query_tile = (double)pass->query_tile, key_tile = (double)pass->key_tile;
    if (is_wide(attention) && pass->unit_walks == 1)
        key_tile /= 2;
    return (struct sides){.heads = (double)attention->q_heads * (double)attention->batch,
                          .own_tile = key_tile,
                          .own_tiles = ceil(kv_len / key_tile),
                          .rows = key_tile,
                          .walked_tile = query_tile,
                          .walked = query_tile * ceil(q_len / query_tile),
                          .shift = q_len - kv_len,
                          .behind = future_keys(attention),
                          .ahead = past_keys(attention)};
}

/* Sum of first + step i over i = 0 .. count - 1, each term kept between 0 and most. */
static double
clamped_sum(double first, double step, double count, double most)
{
    double below = fmin(fmax(ceil(-first / step), 0), count);
    double inside_end = fmin(fmax(ceil((most - first) / step), below), count);
    double inside = inside_end - below;
    double middle = first + step * (below + inside_end - 1) / 2;
    return (inside > 0 ? inside * middle : 0) + (count - inside_end) * most;
}

/* The stretches' begins are rounded down to whole walked tiles and their ends up: exactly
 * where a walked tile divides an own one, by its mean where it is the longer. */
static struct walks
attention_walks(const struct sides *sides)
{
    double own = sides->own_tile, tile = sides->walked_tile, count = sides->own_tiles;
    double grain = fmin(own, tile), excess = fmax(0, tile - own) / 2;
    double begin = grain * floor((sides->shift - sides->behind) / grain) - excess;
    double end = grain * ceil((sides->shift + sides->ahead) / grain) + own + excess;
    double begins = isinf(begin) ? 0 : clamped_sum(begin, own, count, sides->walked);
    double ends =
        isinf(end) ? count * sides->walked : clamped_sum(end, own, count, sides->walked);
    double last_end = fmin(sides->walked, end + own * (count - 1));
    double longest = fmin(last_end, sides->walked - fmax(0, begin));
    longest = fmax(0, fmin(longest, end - begin));
    double mean = fmin(longest, (ends - begins) / count);
    double workgroups = sides->heads * count;
    return (struct walks){.workgroups = workgroups,
                          .mean_pairs = sides->rows * mean,
                          .longest_pairs = sides->rows * longest,
                          .tiles = workgroups * ceil(mean / tile),
                          .parts = 1};
}

/* Elements that the walk of one own tile passes over: as attention_walks rounds them. */
static double
stretch(const struct sides *sides, double own_index)
{
    double own = sides->own_tile, tile = sides->walked_tile;
    double grain = fmin(own, tile), excess = fmax(0, tile - own) / 2;
    double place = own * own_index;
    double begin = grain * floor((sides->shift - sides->behind) / grain) - excess + place;
    double end = grain * ceil((sides->shift + sides->ahead) / grain) + own + excess + place;
    return fmax(0, fmin(sides->walked, end) - fmax(0, begin));
}

/* The most that one unit gets where walks are given out by their number, tile by tile of one head
 * after the other: walk i of the first round to unit i, of the second likewise, while the units
 * have room; a walk begins with the work of begin_pairs. Walks that lie a number of units apart
 * may be of like length, so that some unit gets long ones alone. */
static double
most_pairs_first(const struct sides *sides, const struct walks *walks, int64_t units,
                 double begin_pairs)
{
    double most = 0;
    for (int64_t unit = 0; unit < units && (double)unit < walks->workgroups; unit++) {
        double pairs = 0;
        for (int64_t held = 0; (double)held < walks->unit_most; held++) {
            double walk = (double)(unit + held * units);
            if (walk < walks->workgroups)
                pairs +=
                    begin_pairs + sides->rows * stretch(sides, fmod(walk, sides->own_tiles));
        }
        most = fmax(most, pairs);
    }
    return most;
}

/* Seconds of one unit for one pair: flop of so many products, and one exponential. */
static double
pair_s(const struct device *device, const struct device_attention *how,
       const struct kernel *kernel, double products)
{
    const struct device_attention_pass *pass = &how->passes[kernel->direction];
    double granule = (double)how->head_granule;
    double width = granule * ceil((double)kernel->attention.head_dim / granule);
    double units = (double)device->compute_units;
    double rate = pass->rate_fraction * device->peak_flop_per_s[kernel->dtype];
    return units * (products * 2 * width / rate + 1 / pass->exponential_per_s);
}

/* Of a pair of a query and a key: scores and results; backward scores again, and four gradients. */
static double
products_of(const struct kernel *kernel)
{
    return kernel->direction == DIRECTION_FORWARD ? 2 : 5;
}

/* What the walks take, and what each unit computes of that on average. */
struct computing {
    double seconds_s, busy_s;
};

/* What slows a unit down that holds `held` walks. */
static double
slowness(const struct kernel *kernel, const struct device_attention_pass *pass, double held)
{
    bool is_half_empty = is_wide(&kernel->attention) || 2 * held <= (double)pass->unit_walks;
    return is_half_empty ? 1 / pass->lone_fraction : 1;
}

/* Equal walks run in whole rounds, each unit holding as many as it can, the last round fewer.
 * Unequal ones even out: the mean load, and an end while other units have none; never more than
 * if all were as long as the longest. */
static struct computing
walks_computing(const struct device *device, const struct device_attention *how,
                const struct kernel *kernel, const struct walks *walks)
{
    const struct device_attention_pass *pass = &how->passes[kernel->direction];
    bool is_causal = kernel->attention.is_causal;
    double units = (double)device->compute_units;
    double one_pair_s = pair_s(device, how, kernel, walks->products);
    double begin_s = pass->walk_s + (is_causal ? pass->mask_s : 0);
    double mean_s = begin_s + walks->mean_pairs * one_pair_s;
    double longest_s = begin_s + walks->longest_pairs * one_pair_s;
    double full = floor(walks->workgroups / (units * walks->unit_most)) * walks->unit_most;
    double held = ceil(walks->workgroups / units - full), most = walks->unit_most;
    double alone_s = slowness(kernel, pass, 1) * longest_s;
    double rounds_s = full * slowness(kernel, pass, most) * longest_s +
                      held * slowness(kernel, pass, held) * longest_s;
    double busy_s = walks->workgroups / units * slowness(kernel, pass, most) * mean_s;
    if (!is_causal)
        return (struct computing){rounds_s, busy_s};
    double even_s = busy_s + pass->end_fraction * alone_s;
    return (struct computing){fmin(rounds_s, fmax(alone_s, even_s)), busy_s};
}

static double
unit_most(const struct kernel *kernel, const struct device_attention_pass *pass)
{
    double most = (double)pass->unit_walks;
    return is_wide(&kernel->attention) ? ceil(most / 2) : most;
}

/* All walks of one kernel. Unequal ones that are given out by their number do not even out before
 * more come than there is room for: the unit that got most at first decides. */
static struct computing
kernel_computing(const struct device *device, const struct device_attention *how,
                 const struct kernel *kernel, const struct sides *sides, struct walks *walks)
{
    const struct device_attention_pass *pass = &how->passes[kernel->direction];
    double units = (double)device->compute_units;
    walks->unit_most = unit_most(kernel, pass);
    struct computing evened = walks_computing(device, how, kernel, walks);
    if (!how->is_placed_in_order || !kernel->attention.is_causal)
        return evened;
    double one_pair_s = pair_s(device, how, kernel, walks->products);
    double begin_pairs = (pass->walk_s + pass->mask_s) / one_pair_s;
    double held = fmin(walks->unit_most, ceil(walks->workgroups / units));
    double first_s = slowness(kernel, pass, held) * one_pair_s *
                     most_pairs_first(sides, walks, device->compute_units, begin_pairs);
    bool is_more = walks->workgroups > units * walks->unit_most;
    return (struct computing){is_more ? fmax(first_s, evened.seconds_s) : first_s,
                              evened.busy_s};
}

/* Few queries leave units idle; their keys may then be split among them (Dao et al.,
 * "Flash-Decoding", 2023). False where there is nothing to split for. */
static bool
split_walks(const struct device *device, const struct device_attention *how,
            const struct kernel *kernel, struct walks *walks)
{
    const struct attention *attention = &kernel->attention;
    const struct device_attention_pass *pass = &how->passes[DIRECTION_FORWARD];
    struct sides sides = forward_sides(attention, pass, SPLIT_QUERIES);
    *walks = attention_walks(&sides);
    walks->products = products_of(kernel);
    walks->unit_most = unit_most(kernel, pass);
    double room = floor((double)device->compute_units * walks->unit_most / walks->workgroups);
    double keys = floor(walks->longest_pairs / (sides.rows * SPLIT_KEYS));
    double most = (double)how->split_maximum;
    if (sides.own_tiles == 1)
        most = fmax(most, (double)device->compute_units);
    walks->parts = fmin(most, fmin(room, keys));
    if (walks->parts < 2)
        return false;
    walks->workgroups *= walks->parts;
    walks->mean_pairs /= walks->parts;
    walks->longest_pairs /= walks->parts;
    return true;
}

/* Partial results are written and read in fp32. */
static double
joining_s(const struct device *device, const struct kernel *kernel,
          const struct device_attention_pass *pass, double parts)
{
    const struct attention *attention = &kernel->attention;
    double results = (double)attention->batch * (double)attention->q_heads *
                     (double)attention->q_len * (double)attention->head_dim;
    double bytes = results * dtype_bytes(DTYPE_FP32) * parts;
    return pass->split_s + memory_stream_s(device, bytes, bytes);
}

/* Of keys whose walks serve all query heads that share them, and of queries. */
static struct computing
two_kernels_computing(const struct device *device, const struct device_attention *how,
                      const struct kernel *kernel, struct walks *walks)
{
    const double key_products = 4,
                 query_products = 3; /* both form the scores and their slopes */
    const struct attention *attention = &kernel->attention;
    const struct device_attention_pass *pass = &how->passes[DIRECTION_BACKWARD];
    double group = (double)attention->q_heads / (double)attention->kv_heads;
    struct sides keys = backward_sides(attention, pass);
    struct sides queries = query_gradient_sides(attention, pass);
    keys.heads /= group;
    keys.rows *= group;
    struct walks of_queries = attention_walks(&queries);
    *walks = attention_walks(&keys);
    walks->products = key_products;
    of_queries.products = query_products;
    struct computing first = kernel_computing(device, how, kernel, &keys, walks);
    struct computing second = kernel_computing(device, how, kernel, &queries, &of_queries);
    return (struct computing){first.seconds_s + second.seconds_s, first.busy_s + second.busy_s};
}

/* The library's choice, to split or not, is taken to be the quicker one. */
static struct computing
attention_computing(const struct device *device, const struct device_attention *how,
                    const struct kernel *kernel, struct walks *walks)
{
    const struct device_attention_pass *pass = &how->passes[kernel->direction];
    bool is_forward = kernel->direction == DIRECTION_FORWARD;
    struct sides sides = is_forward
                             ? forward_sides(&kernel->attention, pass, (double)pass->query_tile)
                             : backward_sides(&kernel->attention, pass);
    if (!is_forward && how->has_query_kernel)
        return two_kernels_computing(device, how, kernel, walks);
    *walks = attention_walks(&sides);
    walks->products = products_of(kernel);
    struct computing whole = kernel_computing(device, how, kernel, &sides, walks);
    struct walks parts;
    if (!is_forward || !split_walks(device, how, kernel, &parts))
        return whole;
    struct computing split = walks_computing(device, how, kernel, &parts);
    split.seconds_s += joining_s(device, kernel, pass, parts.parts);
    if (split.seconds_s >= whole.seconds_s)
        return whole;
    *walks = parts;
    return split;
}

/* What the main kernel moves, and the small ones around it. */
struct traffic {
    double read_bytes, write_bytes;
    double around_s, around_bytes;
};

/* Forward reads Q, K, V and writes O. Backward reads Q, K, V, dO and writes dK, dV and sums of
 * dQ in fp32; before it a kernel reads O and dO for their products, behind it one reads the
 * sums and writes dQ, and where heads share keys a third adds up the dK and dV of a group. Two
 * kernels read all of it twice and have no sums. */
static struct traffic
attention_traffic(const struct device *device, const struct device_attention *how,
                  const struct kernel *kernel)
{
    const struct attention *attention = &kernel->attention;
    double heads = (double)attention->q_heads, group = heads / (double)attention->kv_heads;
    double head = (double)attention->batch * (double)attention->head_dim;
    double element_bytes = dtype_bytes(kernel->dtype);
    double q_bytes = head * (double)attention->q_len * heads * element_bytes;
    double kv_channels = (double)(2 * attention->head_dim - attention->shared_dim);
    double kv_bytes = (double)attention->batch * kv_channels * (double)attention->kv_len *
                      heads / group * element_bytes;
    if (kernel->direction == DIRECTION_FORWARD)
        return (struct traffic){q_bytes + kv_bytes, q_bytes, 0, 0};
    if (how->has_query_kernel)
        return (struct traffic){2 * (2 * q_bytes + kv_bytes), q_bytes + kv_bytes,
                                memory_stream_s(device, 2 * q_bytes, 0), 2 * q_bytes};
    double sums_bytes = q_bytes / element_bytes * dtype_bytes(DTYPE_FP32);
    struct traffic traffic = {2 * q_bytes + kv_bytes, group * kv_bytes + sums_bytes, 0, 0};
    traffic.around_s =
        memory_stream_s(device, 2 * q_bytes, 0) + memory_stream_s(device, sums_bytes, q_bytes);
    traffic.around_bytes = 3 * q_bytes + sums_bytes;
    if (group > 1) {
        traffic.around_s += memory_stream_s(device, group * kv_bytes, kv_bytes);
        traffic.around_bytes += (group + 1) * kv_bytes;
    }
    return traffic;
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
    const struct device_attention *how = attention_runs_on(device, &kernel->attention);
    assert(how != NULL && device->peak_flop_per_s[kernel->dtype] > 0);
    const struct device_attention_pass *pass = &how->passes[kernel->direction];
    struct walks walks;
    struct computing computing = attention_computing(device, how, kernel, &walks);
    struct traffic traffic = attention_traffic(device, how, kernel);
    double main_s = memory_stream_s(device, traffic.read_bytes, traffic.write_bytes);
    double moving_s = main_s + traffic.around_s;
    double fixed_s = pass->fixed_s + pass->isolated_call_s;
    double seconds_s = fixed_s + fmax(computing.seconds_s, main_s) + traffic.around_s;
    double rounds = ceil(walks.workgroups / (double)device->compute_units);
    *cost = (struct kernel_cost){
        .seconds_s = seconds_s,
        .host_s = pass->isolated_call_s,
        .relative_sigma = pass->relative_sigma,
        .bound = attention_bound(fixed_s, computing.seconds_s, moving_s),
        .flop = kernel_flop(kernel),
        .hbm_bytes = traffic.read_bytes + traffic.write_bytes + traffic.around_bytes,
        .tiles = (int64_t)fmin(walks.tiles, 9e18),
        .waves = (int64_t)fmin(rounds, 9e18),
        .compute_fraction = fmin(1, computing.busy_s / seconds_s),
        .hbm_fraction = fmin(1, moving_s / seconds_s),
    };
}
