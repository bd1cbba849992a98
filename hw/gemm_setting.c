/* Bytes and flop of a product, and the device's rates for it as seconds. */
#include "hw/gemm_setting.h"

#include <math.h>

static double
count_rows(const struct gemm_work *work)
{
    if (!work->rows)
        return work->m * (double)work->groups;
    double rows = 0;
    for (int64_t i = 0; i < work->groups; i++)
        rows += (double)work->rows[i];
    return rows;
}

static double
count_products(const struct gemm_work *work)
{
    if (!work->rows)
        return (double)work->groups;
    double products = 0;
    for (int64_t i = 0; i < work->groups; i++)
        products += work->rows[i] > 0;
    return products;
}

/* Of the results that are kept; padding up to whole tiles draws next to no power. */
static double
work_flop(const struct gemm_work *work, double rows)
{
    double flop = 2 * rows * work->n * work->k;
    return work->is_triangle ? flop / 2 : flop;
}

/* Of A and B, each once; of a symmetric product B is A again. */
static double
operand_bytes(const struct gemm_work *work, double rows, double products)
{
    double b_columns = work->is_triangle ? 0 : products * work->n;
    return (rows + b_columns) * work->k * dtype_bytes(work->dtype);
}

/* Cache lines of both vendors' devices (AMD CDNA 3 architecture white paper; NVIDIA H100
 * architecture white paper). */
static const double LINE_BYTES = 128;

/* What storing rows takes for the distance between them: one that does not begin with a line
 * touches one more. */
static double
pitch_ratio(const struct device_gemm *gemm, double pitch_bytes)
{
    return is_multiple(pitch_bytes, LINE_BYTES) ? 1 : 1 + gemm->unaligned_fraction;
}

/* The same of loading, for which rows may lie on too few of the channels of memory. */
static double
load_pitch_ratio(const struct device_gemm *gemm, enum dtype dtype, double pitch_bytes)
{
    double crowded_fraction = gemm->crowded_fraction[dtype];
    bool is_crowded = crowded_fraction > 0 && pitch_bytes > 0 &&
                      is_multiple(pitch_bytes, gemm->crowded_pitch_bytes);
    return is_crowded ? 1 + crowded_fraction : pitch_ratio(gemm, pitch_bytes);
}

static const struct device_tiles *
tiles_of(const struct device_gemm *gemm, const struct gemm_work *work)
{
    if (work->tiles)
        return work->tiles;
    const struct device_tiles *tiles = &gemm->dtype_tiles[work->dtype];
    return tiles->count > 0 ? tiles : &gemm->tiles;
}

/* What a data type or the work has of its own, or what all have. */
static double
own_or(double own, double all)
{
    return own > 0 ? own : all;
}

static double
clock_fraction(const struct gemm_work *work)
{
    return own_or(work->clock_fraction, 1);
}

/* Multiplying, on one unit at the boost clock. */
static double
boost_s_per_flop(const struct device *device, const struct gemm_work *work)
{
    const struct device_gemm *gemm = &device->gemm;
    double s_per_flop =
        (double)device->compute_units /
        (gemm->boost_flop_per_s[work->dtype] * work->rate_fraction * clock_fraction(work));
    if (work->turned > 0)
        s_per_flop *= 1 + gemm->turned_fraction[work->dtype];
    if (work->turned > 1)
        s_per_flop *= 1 + gemm->rewritten_fraction[work->dtype];
    return s_per_flop;
}

/* Loading to one unit, of rows that lie well. */
static double
load_s_per_byte(const struct device *device, const struct gemm_work *work)
{
    const struct device_gemm *gemm = &device->gemm;
    double walk_bytes = work->k * dtype_bytes(work->dtype);
    double bytes_per_s =
        own_or(gemm->dtype_load_bytes_per_s[work->dtype], device->memory.l2_bytes_per_s);
    return (double)device->compute_units / (bytes_per_s * clock_fraction(work)) *
           (1 + sqrt(walk_bytes) * gemm->stray_per_root_byte[work->dtype]);
}

static void
set_work(struct gemm_setting *setting)
{
    const struct gemm_work *work = setting->work;
    double rows = count_rows(work), products = count_products(work);
    setting->rows = rows;
    setting->products = products;
    setting->mirrored = work->is_triangle ? 1 : 0;
    setting->element_bytes = dtype_bytes(work->dtype);
    /* Results of 8-bit products are written in 16 bits (bf16), others in their own type. */
    setting->result_bytes = most(setting->element_bytes, 2);
    setting->operand_bytes = operand_bytes(work, rows, products);
    setting->c_bytes = rows * work->n * setting->result_bytes;
}

static void
set_units(struct gemm_setting *setting)
{
    const struct device *device = setting->device;
    const struct device_gemm *gemm = &device->gemm;
    const struct gemm_work *work = setting->work;
    enum dtype dtype = work->dtype;
    double load = load_s_per_byte(device, work);
    double store = own_or(gemm->dtype_store_bytes_per_s[dtype], gemm->store_bytes_per_s);
    double store_ratio = pitch_ratio(gemm, work->c_pitch_bytes);
    setting->units = (double)device->compute_units;
    setting->held = (double)gemm->resident_workgroups;
    setting->boost_s_per_flop = boost_s_per_flop(device, work);
    setting->a_s_per_byte = load * load_pitch_ratio(gemm, dtype, work->a_pitch_bytes);
    setting->b_s_per_byte = load * load_pitch_ratio(gemm, dtype, work->b_pitch_bytes);
    setting->store_s_per_byte = store_ratio / store;
    setting->add_s_per_byte = store_ratio / own_or(gemm->dtype_add_bytes_per_s[dtype], store);
    setting->step_s = gemm->step_s[dtype];
    setting->tile_s = own_or(gemm->dtype_tile_s[dtype], gemm->tile_s);
    setting->exposed_fraction =
        own_or(gemm->dtype_exposed_fraction[dtype], gemm->exposed_fraction);
    setting->drift_rounds = gemm->drift_rounds;
    setting->hidden_fill_fraction = gemm->hidden_fill_fraction[dtype];
    setting->edge_fill_fraction = gemm->edge_fill_fraction;
}

static void
set_walks(struct gemm_setting *setting)
{
    const struct device_gemm *gemm = &setting->device->gemm;
    enum dtype dtype = setting->work->dtype;
    bool may_split = !setting->work->has_whole_k;
    setting->split_s = own_or(gemm->dtype_split_s[dtype], gemm->split_s);
    setting->split_maximum = may_split ? (double)gemm->split_maximum : 1;
    setting->free_split_maximum = may_split ? gemm->free_split_maximum[dtype] : 0;
    setting->stream_k_s = may_split ? gemm->stream_k_s[dtype] : 0;
}

static void
set_power(struct gemm_setting *setting)
{
    const struct device_gemm *gemm = &setting->device->gemm;
    const struct gemm_work *work = setting->work;
    double sustained_flop_per_s =
        own_or(work->sustained_flop_per_s, gemm->sustained_flop_per_s[work->dtype]);
    setting->power_s = work_flop(work, setting->rows) / work->rate_fraction /
                       (sustained_flop_per_s * clock_fraction(work));
    setting->power = norm_new(gemm->power_exponent);
    setting->overlap = norm_new(gemm->overlap_exponent);
}

static void
set_memory(struct gemm_setting *setting)
{
    const struct device_memory *memory = &setting->device->memory;
    double hbm_fraction = setting->work->hbm_fraction;
    setting->read_s_per_byte = 1 / (memory->hbm_read_bytes_per_s * hbm_fraction);
    setting->c_s = setting->c_bytes / memory->hbm_write_bytes_per_s;
    double least_hbm_s = setting->operand_bytes * setting->read_s_per_byte + setting->c_s;
    setting->least_memory_s =
        least_hbm_s + least(least_hbm_s, setting->device->gemm.hbm_ramp_s);
}

struct gemm_setting
gemm_setting_of(const struct device *device, const struct gemm_work *work)
{
    struct gemm_setting setting = {
        .device = device, .work = work, .tiles = tiles_of(&device->gemm, work)};
    set_work(&setting);
    set_units(&setting);
    set_walks(&setting);
    set_power(&setting);
    set_memory(&setting);
    return setting;
}
