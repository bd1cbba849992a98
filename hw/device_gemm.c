/* Reads the section of matrix products of a device file. */
#include "hw/device_reading.h"

struct gemm_reading {
    struct device_gemm gemm;
    const struct json *tiles, *dtype_tiles, *grouped_tiles, *step_s, *stream_k_s;
    const struct json *crowded_fraction, *stray_per_root_byte, *result_scaled_fp8;
    const struct json *hidden_fill_fraction, *machine_clock_fraction;
    const struct json *dtype_exposed_fraction, *dtype_tile_s, *dtype_store_bytes_per_s;
    const struct json *dtype_split_s, *dtype_add_bytes_per_s, *dtype_load_bytes_per_s;
    const struct json *turned_fraction, *rewritten_fraction, *free_split_maximum;
    const struct json *boost_flop_per_s, *sustained_flop_per_s;
};
static const struct json_field gemm_fields[] = {
    FIELD_VALUE("tiles", gemm_reading, tiles),
    FIELD_OPTIONAL("dtype_tiles", gemm_reading, dtype_tiles),
    FIELD_OPTIONAL("grouped_tiles", gemm_reading, grouped_tiles),
    {.key = "grouped_one_by_one",
     .type = JSON_FIELD_BOOL,
     .offset = offsetof(struct gemm_reading, gemm.is_grouped_one_by_one),
     .flags = JSON_OPTIONAL},
    FIELD_VALUE("boost_flop_per_s", gemm_reading, boost_flop_per_s),
    FIELD_VALUE("sustained_flop_per_s", gemm_reading, sustained_flop_per_s),
    FIELD_SECONDS("launch_s", gemm_reading, gemm.launch_s),
    FIELD_SECONDS("grouped_launch_s", gemm_reading, gemm.grouped_launch_s),
    FIELD_SECONDS("tile_s", gemm_reading, gemm.tile_s),
    FIELD_VALUE("step_s", gemm_reading, step_s),
    FIELD_OPTIONAL("stream_k_s", gemm_reading, stream_k_s),
    FIELD_OPTIONAL("crowded_fraction", gemm_reading, crowded_fraction),
    FIELD_OPTIONAL("stray_per_root_byte", gemm_reading, stray_per_root_byte),
    FIELD_OPTIONAL("hidden_fill_fraction", gemm_reading, hidden_fill_fraction),
    FIELD_OPTIONAL("machine_clock_fraction", gemm_reading, machine_clock_fraction),
    FIELD_OPTIONAL("result_scaled_fp8", gemm_reading, result_scaled_fp8),
    FIELD_NUMBER_IF_ANY("result_scaled_sustained_flop_per_s", gemm_reading,
                        gemm.result_scaled_sustained_flop_per_s, RATE_MINIMUM, RATE_MAXIMUM),
    FIELD_SECONDS("hbm_ramp_s", gemm_reading, gemm.hbm_ramp_s),
    FIELD_RATE("store_bytes_per_s", gemm_reading, gemm.store_bytes_per_s),
    FIELD_NUMBER("unaligned_fraction", gemm_reading, gemm.unaligned_fraction, 0, 10),
    FIELD_NUMBER_IF_ANY("edge_fill_fraction", gemm_reading, gemm.edge_fill_fraction, 0, 1),
    FIELD_NUMBER_IF_ANY("crowded_pitch_bytes", gemm_reading, gemm.crowded_pitch_bytes, 0, 1e6),
    FIELD_NUMBER("power_exponent", gemm_reading, gemm.power_exponent, 1, 100),
    FIELD_NUMBER_IF_ANY("mixed_load_gain", gemm_reading, gemm.mixed_load_gain, 0, 2),
    FIELD_SECONDS("split_s", gemm_reading, gemm.split_s),
    FIELD_COUNT("split_maximum", gemm_reading, gemm.split_maximum, 64),
    FIELD_COUNT("resident_workgroups", gemm_reading, gemm.resident_workgroups, 32),
    FIELD_NUMBER_IF_ANY("peak_product_flop", gemm_reading, gemm.peak_product_flop, 1, 1e18),
    FIELD_NUMBER("drift_rounds", gemm_reading, gemm.drift_rounds, 1e-3, 1e9),
    FIELD_NUMBER("exposed_fraction", gemm_reading, gemm.exposed_fraction, 0, 1),
    FIELD_OPTIONAL("dtype_exposed_fraction", gemm_reading, dtype_exposed_fraction),
    FIELD_OPTIONAL("dtype_tile_s", gemm_reading, dtype_tile_s),
    FIELD_OPTIONAL("dtype_store_bytes_per_s", gemm_reading, dtype_store_bytes_per_s),
    FIELD_OPTIONAL("dtype_split_s", gemm_reading, dtype_split_s),
    FIELD_OPTIONAL("dtype_add_bytes_per_s", gemm_reading, dtype_add_bytes_per_s),
    FIELD_OPTIONAL("dtype_load_bytes_per_s", gemm_reading, dtype_load_bytes_per_s),
    FIELD_OPTIONAL("turned_fraction", gemm_reading, turned_fraction),
    FIELD_OPTIONAL("rewritten_fraction", gemm_reading, rewritten_fraction),
    FIELD_OPTIONAL("free_split_maximum", gemm_reading, free_split_maximum),
    FIELD_NUMBER("overlap_exponent", gemm_reading, gemm.overlap_exponent, 1, 100),
    FIELD_SECONDS("grouped_switch_s", gemm_reading, gemm.grouped_switch_s),
    FIELD_FRACTION("grouped_fraction", gemm_reading, gemm.grouped_fraction),
    FIELD_FRACTION("grouped_hbm_fraction", gemm_reading, gemm.grouped_hbm_fraction),
    FIELD_SECONDS("moe_launch_s", gemm_reading, gemm.moe_launch_s),
    FIELD_FRACTION("moe_fraction", gemm_reading, gemm.moe_fraction),
    FIELD_RATE("moe_row_bytes_per_s", gemm_reading, gemm.moe_row_bytes_per_s),
    FIELD_FRACTION("moe_relative_sigma", gemm_reading, gemm.moe_relative_sigma),
    FIELD_FRACTION("relative_sigma_long", gemm_reading, gemm.relative_sigma_long),
    FIELD_FRACTION("relative_sigma_medium", gemm_reading, gemm.relative_sigma_medium),
    FIELD_FRACTION("relative_sigma_short", gemm_reading, gemm.relative_sigma_short),
};

struct tiles_reading {
    const struct json *value;
    const char *source;
};
static const struct json_field tiles_fields[] = {
    FIELD_VALUE("value", tiles_reading, value),
    {.key = "source",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct tiles_reading, source)},
};

/* {"bf16": {"value": ..., "source": "..."}, ...}; 0 for those left out. */
bool
device_read_by_dtype(const struct json *object, double numbers[DTYPE_COUNT], double minimum,
                     double maximum, struct error_list *errors)
{
    struct json_field fields[DTYPE_COUNT];
    for (size_t i = 0; i < DTYPE_COUNT; i++)
        fields[i] = (struct json_field){.key = dtype_name((enum dtype)i),
                                        .type = JSON_FIELD_REAL,
                                        .offset = i * sizeof(double),
                                        .flags = JSON_SOURCED | JSON_OPTIONAL,
                                        .minimum = minimum,
                                        .maximum = maximum};
    struct json_object_type type = {
        .noun = "numbers by dtype", .fields = fields, .field_count = DTYPE_COUNT};
    return json_read_object(object, &type, numbers, errors);
}

static bool
read_tile(const struct json *list, struct device_tile *tile, struct error_list *errors)
{
    double sides[4] = {0};
    size_t count = json_count(list);
    if ((count != 3 && count != 4) || json_kind(list) != JSON_KIND_ARRAY)
        return json_fail(list, errors, "wanted a tile [m, n, depth_bytes] or one with `held`");
    for (size_t i = 0; i < count; i++) {
        const struct json *side = json_element(list, i);
        if (json_kind(side) != JSON_KIND_INTEGER || json_as_integer(side) < 1 ||
            json_as_integer(side) > 65536)
            return json_fail(side, errors, "wanted a side from 1 to 65536");
        sides[i] = (double)json_as_integer(side);
    }
    *tile = (struct device_tile){sides[0], sides[1], sides[2], sides[3]};
    return true;
}

/* {"value": [[m, n, depth_bytes], [m, n, depth_bytes, held], ...], "source": "..."} */
static bool
read_tiles(const struct json *object, struct device_tiles *tiles, struct error_list *errors)
{
    struct tiles_reading reading = {0};
    struct json_object_type type = TYPE("the tiles", tiles_fields);
    if (!json_read_object(object, &type, &reading, errors))
        return false;
    size_t count = json_count(reading.value);
    if (json_kind(reading.value) != JSON_KIND_ARRAY || count < 1 || count > DEVICE_TILES_MAX)
        return json_fail(reading.value, errors, "wanted a list of 1 to %d tiles",
                         DEVICE_TILES_MAX);
    bool is_right = true;
    for (size_t i = 0; i < count; i++)
        is_right &= read_tile(json_element(reading.value, i), &tiles->items[i], errors);
    tiles->count = (int64_t)count;
    return is_right;
}

/* {"fp8": {"value": ..., "source": "..."}, ...} */
static bool
read_dtype_tiles(const struct json *object, struct device_tiles tiles[DTYPE_COUNT],
                 struct error_list *errors)
{
    const struct json *lists[DTYPE_COUNT] = {0};
    struct json_field fields[DTYPE_COUNT];
    for (size_t i = 0; i < DTYPE_COUNT; i++)
        fields[i] = (struct json_field){.key = dtype_name((enum dtype)i),
                                        .type = JSON_FIELD_VALUE,
                                        .offset = i * sizeof lists[0],
                                        .flags = JSON_OPTIONAL};
    struct json_object_type type = {
        .noun = "tiles by dtype", .fields = fields, .field_count = DTYPE_COUNT};
    bool is_right = json_read_object(object, &type, lists, errors);
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        if (lists[i])
            is_right &= read_tiles(lists[i], &tiles[i], errors);
    }
    return is_right;
}

/* {"value": "int8", "source": "..."} */
struct dtype_reading {
    enum dtype value;
    const char *source;
};
static const struct json_field dtype_fields[] = {
    {.key = "value",
     .type = JSON_FIELD_CHOICE,
     .offset = offsetof(struct dtype_reading, value),
     .choices = dtype_names},
    {.key = "source",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct dtype_reading, source)},
};

static bool
read_result_scaled(const struct gemm_reading *reading, enum dtype *out,
                   struct error_list *errors)
{
    struct dtype_reading dtype = {.value = DTYPE_FP8};
    struct json_object_type type = TYPE("a dtype with its source", dtype_fields);
    if (!json_read_object(reading->result_scaled_fp8, &type, &dtype, errors))
        return false;
    *out = dtype.value;
    if (dtype_bytes(dtype.value) > dtype_bytes(DTYPE_FP8) ||
        !(reading->gemm.sustained_flop_per_s[dtype.value] > 0))
        return json_fail(json_member(reading->result_scaled_fp8, "value"), errors,
                         "%s: wanted a dtype of a byte that the device multiplies",
                         dtype_name(dtype.value));
    return true;
}

/* {"a part of the source of rows": {"value": ..., "source": "..."}, ...}: the keys are free. */
static bool
read_machines(const struct json *object, struct device_gemm *gemm, struct error_list *errors)
{
    size_t count = json_count(object);
    if (json_kind(object) != JSON_KIND_OBJECT || count > DEVICE_MACHINES_MAX)
        return json_fail(object, errors, "wanted an object of at most %d machines",
                         DEVICE_MACHINES_MAX);
    struct json_field fields[DEVICE_MACHINES_MAX];
    for (size_t i = 0; i < count; i++) {
        gemm->machines[i].measured_in = json_key(object, i);
        if (*gemm->machines[i].measured_in == '\0')
            return json_fail(object, errors, "wanted a part of a source as key, not \"\"");
        fields[i] =
            (struct json_field){.key = gemm->machines[i].measured_in,
                                .type = JSON_FIELD_REAL,
                                .offset = i * sizeof gemm->machines[0] +
                                          offsetof(struct device_machine, clock_fraction),
                                .flags = JSON_SOURCED,
                                .minimum = 0.5,
                                .maximum = 2};
    }
    gemm->machine_count = (int64_t)count;
    struct json_object_type type = {
        .noun = "the machines", .fields = fields, .field_count = count};
    return json_read_object(object, &type, gemm->machines, errors);
}

static bool
read_gemm_by_dtype(struct gemm_reading *reading, struct error_list *errors)
{
    struct device_gemm *gemm = &reading->gemm;
    const struct {
        const struct json *object;
        double *numbers, minimum, maximum;
    } fields[] = {
        {reading->boost_flop_per_s, gemm->boost_flop_per_s, RATE_MINIMUM, RATE_MAXIMUM},
        {reading->sustained_flop_per_s, gemm->sustained_flop_per_s, RATE_MINIMUM, RATE_MAXIMUM},
        {reading->step_s, gemm->step_s, 0, SECONDS_MAXIMUM},
        {reading->stream_k_s, gemm->stream_k_s, 0, SECONDS_MAXIMUM},
        {reading->crowded_fraction, gemm->crowded_fraction, 0, 10},
        {reading->stray_per_root_byte, gemm->stray_per_root_byte, 0, 1},
        {reading->hidden_fill_fraction, gemm->hidden_fill_fraction, 0, 1},
        {reading->dtype_exposed_fraction, gemm->dtype_exposed_fraction, 0, 1},
        {reading->dtype_tile_s, gemm->dtype_tile_s, 0, SECONDS_MAXIMUM},
        {reading->dtype_store_bytes_per_s, gemm->dtype_store_bytes_per_s, RATE_MINIMUM,
         RATE_MAXIMUM},
        {reading->dtype_split_s, gemm->dtype_split_s, 0, SECONDS_MAXIMUM},
        {reading->dtype_add_bytes_per_s, gemm->dtype_add_bytes_per_s, RATE_MINIMUM,
         RATE_MAXIMUM},
        {reading->dtype_load_bytes_per_s, gemm->dtype_load_bytes_per_s, RATE_MINIMUM,
         RATE_MAXIMUM},
        {reading->turned_fraction, gemm->turned_fraction, 0, 10},
        {reading->rewritten_fraction, gemm->rewritten_fraction, 0, 10},
        {reading->free_split_maximum, gemm->free_split_maximum, 1, 64},
    };
    bool is_right = true;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].object)
            is_right &= device_read_by_dtype(fields[i].object, fields[i].numbers,
                                             fields[i].minimum, fields[i].maximum, errors);
    return is_right;
}

bool
device_read_gemm(const struct json *object, struct device_gemm *gemm, struct error_list *errors)
{
    struct gemm_reading reading = {0};
    struct json_object_type type = TYPE("the gemm section", gemm_fields);
    bool is_right = json_read_object(object, &type, &reading, errors);
    if (reading.tiles)
        is_right &= read_tiles(reading.tiles, &reading.gemm.tiles, errors);
    if (reading.dtype_tiles)
        is_right &= read_dtype_tiles(reading.dtype_tiles, reading.gemm.dtype_tiles, errors);
    if (reading.grouped_tiles)
        is_right &= read_tiles(reading.grouped_tiles, &reading.gemm.grouped_tiles, errors);
    is_right &= read_gemm_by_dtype(&reading, errors);
    if (reading.machine_clock_fraction)
        is_right &= read_machines(reading.machine_clock_fraction, &reading.gemm, errors);
    if (reading.result_scaled_fp8)
        is_right &= read_result_scaled(&reading, &reading.gemm.result_scaled_fp8, errors);
    *gemm = reading.gemm;
    return is_right;
}
