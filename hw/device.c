/* Reads a device file: tables of keys, each number with its source, section by section. */
#include "hw/device.h"

#include <stddef.h>

#include "hw/calibration_record.h"

/* Wider than any machine's numbers, narrow enough that the cost's arithmetic stays finite. Rates
 * start at a megabyte or a million operations a second, a 30,000th of the slowest that is shipped
 * (PCIe 4.0 x16): what is below is a slip of unit, as 5300 for 5.3e12 bytes/s. */
#define RATE_MINIMUM    1e6
#define RATE_MAXIMUM    1e19
#define SECONDS_MAXIMUM 1.0
#define BYTES_MAXIMUM   1e15

#define FIELD_NUMBER(name, type_of, member, least, most)                                       \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_REAL, .offset = offsetof(struct type_of, member),    \
        .flags = JSON_SOURCED, .minimum = (least), .maximum = (most)                           \
    }
#define FIELD_COUNT(name, type_of, member, most)                                               \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_INTEGER, .offset = offsetof(struct type_of, member), \
        .flags = JSON_SOURCED, .minimum = 1, .maximum = (most)                                 \
    }
#define FIELD_RATE(name, type_of, member)                                                      \
    FIELD_NUMBER(name, type_of, member, RATE_MINIMUM, RATE_MAXIMUM)
#define FIELD_SECONDS(name, type_of, member)                                                   \
    FIELD_NUMBER(name, type_of, member, 0, SECONDS_MAXIMUM)
#define FIELD_FRACTION(name, type_of, member) FIELD_NUMBER(name, type_of, member, 1e-4, 1)
#define FIELD_NUMBER_IF_ANY(name, type_of, member, least, most)                                \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_REAL, .offset = offsetof(struct type_of, member),    \
        .flags = JSON_SOURCED | JSON_OPTIONAL, .minimum = (least), .maximum = (most)           \
    }
#define FIELD_VALUE(name, type_of, member)                                                     \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_VALUE, .offset = offsetof(struct type_of, member)    \
    }
#define FIELD_OPTIONAL(name, type_of, member)                                                  \
    {                                                                                          \
        .key = (name), .type = JSON_FIELD_VALUE, .offset = offsetof(struct type_of, member),   \
        .flags = JSON_OPTIONAL                                                                 \
    }
#define TYPE(words, table)                                                                     \
    (struct json_object_type)                                                                  \
    {                                                                                          \
        .noun = (words), .fields = (table), .field_count = sizeof(table) / sizeof((table)[0])  \
    }

/* The device and the sections that are read apart. */
struct device_reading {
    struct device device;
    const struct json *peak_flop_per_s, *memory, *gemm, *attention, *streams, *element_rates;
    const struct json *calibration;
};

static const struct json_field device_fields[] = {
    {.key = "name",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct device_reading, device.name)},
    {.key = "description",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct device_reading, device.description)},
    {.key = "is_fitted",
     .type = JSON_FIELD_BOOL,
     .offset = offsetof(struct device_reading, device.is_fitted)},
    FIELD_NUMBER("hbm_bytes", device_reading, device.hbm_bytes, 1, BYTES_MAXIMUM),
    FIELD_COUNT("compute_units", device_reading, device.compute_units, 1e5),
    FIELD_RATE("host_bytes_per_s", device_reading, device.host_bytes_per_s),
    FIELD_VALUE("peak_flop_per_s", device_reading, peak_flop_per_s),
    FIELD_VALUE("memory", device_reading, memory),
    FIELD_VALUE("gemm", device_reading, gemm),
    FIELD_VALUE("attention", device_reading, attention),
    FIELD_VALUE("streams", device_reading, streams),
    FIELD_VALUE("element_rates_per_s", device_reading, element_rates),
    {.key = "calibration",
     .type = JSON_FIELD_VALUE,
     .offset = offsetof(struct device_reading, calibration),
     .flags = JSON_OPTIONAL},
};

static const struct json_field memory_fields[] = {
    FIELD_COUNT("l2_domains", device_memory, l2_domains, 1024),
    FIELD_NUMBER("l2_bytes", device_memory, l2_bytes, 1, BYTES_MAXIMUM),
    FIELD_RATE("l2_bytes_per_s", device_memory, l2_bytes_per_s),
    FIELD_NUMBER("last_level_bytes", device_memory, last_level_bytes, 0, BYTES_MAXIMUM),
    FIELD_NUMBER("last_level_bytes_per_s", device_memory, last_level_bytes_per_s, 0,
                 RATE_MAXIMUM),
    FIELD_RATE("unit_bytes_per_s", device_memory, unit_bytes_per_s),
    FIELD_RATE("hbm_read_bytes_per_s", device_memory, hbm_read_bytes_per_s),
    FIELD_RATE("hbm_write_bytes_per_s", device_memory, hbm_write_bytes_per_s),
    FIELD_NUMBER("mixed_fraction", device_memory, mixed_fraction, 0.1, 2),
    FIELD_SECONDS("latency_s", device_memory, latency_s),
    FIELD_NUMBER("warm_bytes", device_memory, warm_bytes, 0, BYTES_MAXIMUM),
    FIELD_NUMBER("reread_bytes", device_memory, reread_bytes, 1, BYTES_MAXIMUM),
    FIELD_NUMBER("row_overlap_exponent", device_memory, row_overlap_exponent, 1, 100),
};

struct gemm_reading {
    struct device_gemm gemm;
    const struct json *tiles, *dtype_tiles, *grouped_tiles, *step_s, *stream_k_s;
    const struct json *boost_flop_per_s, *sustained_flop_per_s;
};
static const struct json_field gemm_fields[] = {
    FIELD_VALUE("tiles", gemm_reading, tiles),
    FIELD_OPTIONAL("dtype_tiles", gemm_reading, dtype_tiles),
    FIELD_OPTIONAL("grouped_tiles", gemm_reading, grouped_tiles),
    FIELD_VALUE("boost_flop_per_s", gemm_reading, boost_flop_per_s),
    FIELD_VALUE("sustained_flop_per_s", gemm_reading, sustained_flop_per_s),
    FIELD_SECONDS("launch_s", gemm_reading, gemm.launch_s),
    FIELD_SECONDS("grouped_launch_s", gemm_reading, gemm.grouped_launch_s),
    FIELD_SECONDS("tile_s", gemm_reading, gemm.tile_s),
    FIELD_VALUE("step_s", gemm_reading, step_s),
    FIELD_OPTIONAL("stream_k_s", gemm_reading, stream_k_s),
    FIELD_SECONDS("hbm_ramp_s", gemm_reading, gemm.hbm_ramp_s),
    FIELD_RATE("store_bytes_per_s", gemm_reading, gemm.store_bytes_per_s),
    FIELD_NUMBER("unaligned_fraction", gemm_reading, gemm.unaligned_fraction, 0, 10),
    FIELD_NUMBER("power_exponent", gemm_reading, gemm.power_exponent, 1, 100),
    FIELD_NUMBER_IF_ANY("mixed_load_gain", gemm_reading, gemm.mixed_load_gain, 0, 2),
    FIELD_SECONDS("split_s", gemm_reading, gemm.split_s),
    FIELD_COUNT("split_maximum", gemm_reading, gemm.split_maximum, 64),
    FIELD_COUNT("resident_workgroups", gemm_reading, gemm.resident_workgroups, 32),
    FIELD_NUMBER("drift_rounds", gemm_reading, gemm.drift_rounds, 1e-3, 1e9),
    FIELD_NUMBER("exposed_fraction", gemm_reading, gemm.exposed_fraction, 0, 1),
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

struct attention_reading {
    struct device_attention attention;
    const struct json *passes[2];
};
static const struct json_field attention_fields[] = {
    {.key = "name",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct attention_reading, attention.name)},
    FIELD_COUNT("head_granule", attention_reading, attention.head_granule, 1024),
    FIELD_COUNT("split_maximum", attention_reading, attention.split_maximum, 1024),
    FIELD_VALUE("forward", attention_reading, passes[DIRECTION_FORWARD]),
    FIELD_VALUE("backward", attention_reading, passes[DIRECTION_BACKWARD]),
};
static const struct json_field pass_fields[] = {
    FIELD_COUNT("query_tile", device_attention_pass, query_tile, 1e6),
    FIELD_COUNT("key_tile", device_attention_pass, key_tile, 1e6),
    FIELD_COUNT("unit_walks", device_attention_pass, unit_walks, 64),
    FIELD_FRACTION("lone_fraction", device_attention_pass, lone_fraction),
    FIELD_FRACTION("rate_fraction", device_attention_pass, rate_fraction),
    FIELD_RATE("exponential_per_s", device_attention_pass, exponential_per_s),
    FIELD_SECONDS("walk_s", device_attention_pass, walk_s),
    FIELD_SECONDS("mask_s", device_attention_pass, mask_s),
    FIELD_NUMBER("end_fraction", device_attention_pass, end_fraction, 0, 1),
    FIELD_SECONDS("split_s", device_attention_pass, split_s),
    FIELD_SECONDS("fixed_s", device_attention_pass, fixed_s),
    FIELD_SECONDS("isolated_call_s", device_attention_pass, isolated_call_s),
    FIELD_FRACTION("relative_sigma", device_attention_pass, relative_sigma),
};

static const struct json_field stream_fields[] = {
    FIELD_SECONDS("fixed_s", device_stream, fixed_s),
    FIELD_FRACTION("bandwidth_fraction", device_stream, bandwidth_fraction),
    FIELD_NUMBER_IF_ANY("row_s", device_stream, row_s, 0, SECONDS_MAXIMUM),
    FIELD_NUMBER_IF_ANY("element_s", device_stream, element_s, 0, SECONDS_MAXIMUM),
    FIELD_NUMBER_IF_ANY("wide_element_s", device_stream, wide_element_s, 0, SECONDS_MAXIMUM),
    FIELD_NUMBER_IF_ANY("lone_fraction", device_stream, lone_fraction, 1e-4, 1),
    FIELD_NUMBER_IF_ANY("sum_row_s", device_stream, sum_row_s, 0, SECONDS_MAXIMUM),
    FIELD_NUMBER_IF_ANY("elements_per_s", device_stream, elements_per_s, RATE_MINIMUM,
                        RATE_MAXIMUM),
    FIELD_NUMBER_IF_ANY("wide_elements_per_s", device_stream, wide_elements_per_s, RATE_MINIMUM,
                        RATE_MAXIMUM),
    FIELD_NUMBER_IF_ANY("isolated_call_s", device_stream, isolated_call_s, 0, SECONDS_MAXIMUM),
    FIELD_FRACTION("relative_sigma", device_stream, relative_sigma),
};

/* One rate a dtype, none for those that the device lacks. */
/* {"bf16": {"value": ..., "source": "..."}, ...}; 0 for those left out. */
static bool
read_by_dtype(const struct json *object, double numbers[DTYPE_COUNT], double minimum,
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
read_rates(const struct json *object, double rates[DTYPE_COUNT], struct error_list *errors)
{
    return read_by_dtype(object, rates, RATE_MINIMUM, RATE_MAXIMUM, errors);
}

static bool
read_tile(const struct json *list, struct device_tile *tile, struct error_list *errors)
{
    int64_t sides[3];
    if (json_count(list) != 3 || json_kind(list) != JSON_KIND_ARRAY)
        return json_fail(list, errors, "wanted a tile [m, n, depth_bytes]");
    for (size_t i = 0; i < 3; i++) {
        const struct json *side = json_element(list, i);
        if (json_kind(side) != JSON_KIND_INTEGER || json_as_integer(side) < 1 ||
            json_as_integer(side) > 65536)
            return json_fail(side, errors, "wanted a side from 1 to 65536");
        sides[i] = json_as_integer(side);
    }
    *tile = (struct device_tile){sides[0], sides[1], sides[2]};
    return true;
}

/* {"value": [[m, n, depth_bytes], ...], "source": "..."} */
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

static bool
read_gemm(const struct json *object, struct device_gemm *gemm, struct error_list *errors)
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
    if (reading.stream_k_s)
        is_right &= read_by_dtype(reading.stream_k_s, reading.gemm.stream_k_s, 0,
                                  SECONDS_MAXIMUM, errors);
    if (reading.step_s)
        is_right &=
            read_by_dtype(reading.step_s, reading.gemm.step_s, 0, SECONDS_MAXIMUM, errors);
    if (reading.boost_flop_per_s)
        is_right &= read_rates(reading.boost_flop_per_s, reading.gemm.boost_flop_per_s, errors);
    if (reading.sustained_flop_per_s)
        is_right &=
            read_rates(reading.sustained_flop_per_s, reading.gemm.sustained_flop_per_s, errors);
    *gemm = reading.gemm;
    return is_right;
}

static bool
read_implementation(const struct json *object, struct device_attention *attention,
                    struct error_list *errors)
{
    struct attention_reading reading = {0};
    struct json_object_type type = TYPE("an attention implementation", attention_fields);
    struct json_object_type pass = TYPE("a pass", pass_fields);
    bool is_right = json_read_object(object, &type, &reading, errors);
    for (int i = 0; i < 2; i++) {
        if (reading.passes[i])
            is_right &= json_read_object(reading.passes[i], &pass, &reading.attention.passes[i],
                                         errors);
    }
    *attention = reading.attention;
    return is_right;
}

static bool
read_attention(const struct json *list, struct device *device, struct error_list *errors)
{
    size_t count = json_count(list);
    if (json_kind(list) != JSON_KIND_ARRAY || count < 1 || count > DEVICE_IMPLEMENTATIONS_MAX)
        return json_fail(list, errors, "wanted a list of 1 to %d implementations",
                         DEVICE_IMPLEMENTATIONS_MAX);
    bool is_right = true;
    for (size_t i = 0; i < count; i++)
        is_right &= read_implementation(json_element(list, i), &device->attention[i], errors);
    device->attention_count = (int64_t)count;
    return is_right;
}

/* Keys of the section: a kind, and what its backward pass is called where it has one of its own. */
struct stream_key {
    const char *name;
    enum kernel_kind kind;
    enum direction direction;
};
static const struct stream_key stream_keys[] = {
    {"elementwise", KERNEL_ELEMENTWISE, DIRECTION_FORWARD},
    {"rms_norm", KERNEL_RMS_NORM, DIRECTION_FORWARD},
    {"rms_norm_backward", KERNEL_RMS_NORM, DIRECTION_BACKWARD},
    {"softmax", KERNEL_SOFTMAX, DIRECTION_FORWARD},
    {"softmax_backward", KERNEL_SOFTMAX, DIRECTION_BACKWARD},
    {"gather", KERNEL_GATHER, DIRECTION_FORWARD},
    {"scatter_add", KERNEL_SCATTER_ADD, DIRECTION_FORWARD},
    {"transpose", KERNEL_TRANSPOSE, DIRECTION_FORWARD},
    {"top_k", KERNEL_TOP_K, DIRECTION_FORWARD},
    {"cross_entropy", KERNEL_CROSS_ENTROPY, DIRECTION_FORWARD},
    {"cross_entropy_backward", KERNEL_CROSS_ENTROPY, DIRECTION_BACKWARD},
    {"convolution", KERNEL_CONVOLUTION, DIRECTION_FORWARD},
    {"convolution_backward", KERNEL_CONVOLUTION, DIRECTION_BACKWARD},
    {"adamw", KERNEL_ADAMW, DIRECTION_FORWARD},
    {"copy", KERNEL_COPY, DIRECTION_FORWARD},
};
enum { STREAM_KEY_COUNT = sizeof stream_keys / sizeof stream_keys[0] };

/* {"elementwise": {...}, ...}: each kind that streams. */
static bool
read_streams(const struct json *object, struct device *device, struct error_list *errors)
{
    struct json_field fields[STREAM_KEY_COUNT];
    const struct json *sections[STREAM_KEY_COUNT] = {NULL};
    for (size_t i = 0; i < STREAM_KEY_COUNT; i++)
        fields[i] = (struct json_field){.key = stream_keys[i].name,
                                        .type = JSON_FIELD_VALUE,
                                        .offset = i * sizeof sections[0]};
    struct json_object_type type = {
        .noun = "the streams", .fields = fields, .field_count = STREAM_KEY_COUNT};
    struct json_object_type stream = TYPE("a stream", stream_fields);
    bool is_right = json_read_object(object, &type, sections, errors);
    for (size_t i = 0; i < STREAM_KEY_COUNT; i++) {
        const struct stream_key *key = &stream_keys[i];
        if (sections[i])
            is_right &= json_read_object(sections[i], &stream,
                                         &device->streams[key->kind][key->direction], errors);
    }
    return is_right;
}

/* {"gelu": {"value": ..., "source": ...}, ...}: the keys are free. */
static bool
read_element_rates(const struct json *object, struct device *device, struct error_list *errors)
{
    size_t count = json_count(object);
    if (json_kind(object) != JSON_KIND_OBJECT || count > DEVICE_ELEMENT_RATES_MAX)
        return json_fail(object, errors, "wanted an object of at most %d operations",
                         DEVICE_ELEMENT_RATES_MAX);
    struct json_field fields[DEVICE_ELEMENT_RATES_MAX];
    for (size_t i = 0; i < count; i++) {
        device->element_rates[i].op = json_key(object, i);
        fields[i] =
            (struct json_field){.key = json_key(object, i),
                                .type = JSON_FIELD_REAL,
                                .offset = offsetof(struct device, element_rates) +
                                          i * sizeof device->element_rates[0] +
                                          offsetof(struct device_element_rate, elements_per_s),
                                .flags = JSON_SOURCED,
                                .minimum = RATE_MINIMUM,
                                .maximum = RATE_MAXIMUM};
    }
    struct json_object_type type = {
        .noun = "the element rates", .fields = fields, .field_count = count};
    device->element_rate_count = (int64_t)count;
    return json_read_object(object, &type, device, errors);
}

/* Of each matrix unit that the device has: sustained rate <= boost rate <= peak. */
static bool
check_rates(const struct json *object, const struct device *device, struct error_list *errors)
{
    const struct device_gemm *gemm = &device->gemm;
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        double boost = gemm->boost_flop_per_s[i], sustained = gemm->sustained_flop_per_s[i];
        bool has_unit = boost > 0 && sustained > 0;
        if (has_unit != (boost > 0 || sustained > 0) || boost > device->peak_flop_per_s[i])
            return json_fail(json_member(object, "gemm"), errors,
                             "%s: wanted a boost and a sustained rate, at most the peak of %g",
                             dtype_name((enum dtype)i), device->peak_flop_per_s[i]);
    }
    return true;
}

/* A last level without bandwidth would take forever. */
static bool
check_last_level(const struct json *object, const struct device_memory *memory,
                 struct error_list *errors)
{
    if (memory->last_level_bytes == 0 || memory->last_level_bytes_per_s >= RATE_MINIMUM)
        return true;
    return json_fail(json_member(object, "memory"), errors,
                     "has a last level of %g bytes without last_level_bytes_per_s",
                     memory->last_level_bytes);
}

static bool
read_sections(const struct device_reading *reading, struct device *device,
              struct error_list *errors)
{
    bool is_right = true;
    struct json_object_type memory = TYPE("the memory section", memory_fields);
    if (reading->peak_flop_per_s)
        is_right &= read_rates(reading->peak_flop_per_s, device->peak_flop_per_s, errors);
    if (reading->memory)
        is_right &= json_read_object(reading->memory, &memory, &device->memory, errors);
    if (reading->gemm)
        is_right &= read_gemm(reading->gemm, &device->gemm, errors);
    if (reading->attention)
        is_right &= read_attention(reading->attention, device, errors);
    if (reading->streams)
        is_right &= read_streams(reading->streams, device, errors);
    if (reading->element_rates)
        is_right &= read_element_rates(reading->element_rates, device, errors);
    if (reading->calibration)
        is_right &= calibration_record_check(reading->calibration, errors);
    return is_right;
}

const struct device *
device_read(const struct json *object, struct arena *arena, struct error_list *errors)
{
    struct device_reading reading = {0};
    struct json_object_type type = TYPE("a device", device_fields);
    bool is_right = json_read_object(object, &type, &reading, errors);
    struct device *device = arena_alloc(arena, 1, sizeof *device);
    *device = reading.device;
    is_right &= read_sections(&reading, device, errors);
    if (!is_right || !check_rates(object, device, errors) ||
        !check_last_level(object, &device->memory, errors))
        return NULL;
    return device;
}
