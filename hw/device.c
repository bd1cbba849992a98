/* Reads a device file: tables of keys, each number with its source, section by section. */
#include "hw/device.h"

#include <string.h>

#include "hw/calibration_record.h"
#include "hw/device_reading.h"

/* The device and the sections that are read apart. */
struct device_reading {
    struct device device;
    const struct json *peak_flop_per_s, *memory, *gemm, *attention, *streams, *element_rates,
        *element_waits;
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
    FIELD_FLAG("has_plain_streams", device_reading, device.has_plain_streams),
    FIELD_NUMBER("hbm_bytes", device_reading, device.hbm_bytes, 1, BYTES_MAXIMUM),
    FIELD_COUNT("compute_units", device_reading, device.compute_units, 1e5),
    FIELD_RATE("host_bytes_per_s", device_reading, device.host_bytes_per_s),
    FIELD_VALUE("peak_flop_per_s", device_reading, peak_flop_per_s),
    FIELD_VALUE("memory", device_reading, memory),
    FIELD_VALUE("gemm", device_reading, gemm),
    FIELD_VALUE("attention", device_reading, attention),
    FIELD_VALUE("streams", device_reading, streams),
    FIELD_VALUE("element_rates_per_s", device_reading, element_rates),
    FIELD_OPTIONAL("element_waits_s", device_reading, element_waits),
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
    FIELD_NUMBER("write_only_fraction", device_memory, write_only_fraction, 0.1, 1),
    FIELD_SECONDS("latency_s", device_memory, latency_s),
    FIELD_NUMBER("warm_bytes", device_memory, warm_bytes, 0, BYTES_MAXIMUM),
    FIELD_RATE("warm_bytes_per_s", device_memory, warm_bytes_per_s),
    FIELD_NUMBER("result_kept_fraction", device_memory, result_kept_fraction, 0, 1),
    FIELD_NUMBER("reread_bytes", device_memory, reread_bytes, 1, BYTES_MAXIMUM),
    FIELD_NUMBER("row_overlap_exponent", device_memory, row_overlap_exponent, 1, 100),
};

struct attention_reading {
    struct device_attention attention;
    const struct json *passes[2];
};
static const struct json_field attention_fields[] = {
    {.key = "name",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct attention_reading, attention.name)},
    {.key = "library",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct attention_reading, attention.library),
     .flags = JSON_OPTIONAL},
    FIELD_COUNT("head_granule", attention_reading, attention.head_granule, 1024),
    FIELD_COUNT("split_maximum", attention_reading, attention.split_maximum, 1024),
    {.key = "otherwise",
     .type = JSON_FIELD_STRING,
     .offset = offsetof(struct attention_reading, attention.otherwise),
     .flags = JSON_OPTIONAL},
    {.key = "head_dim_minimum",
     .type = JSON_FIELD_INTEGER,
     .offset = offsetof(struct attention_reading, attention.head_dim_minimum),
     .flags = JSON_SOURCED | JSON_OPTIONAL,
     .minimum = 1,
     .maximum = 1024},
    FIELD_FLAG("is_placed_in_order", attention_reading, attention.is_placed_in_order),
    FIELD_FLAG("has_query_kernel", attention_reading, attention.has_query_kernel),
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
    FIELD_NUMBER_IF_ANY("narrow_element_s", device_stream, narrow_element_s, 0,
                        SECONDS_MAXIMUM),
    FIELD_NUMBER_IF_ANY("overlap_exponent", device_stream, overlap_exponent, 1, 100),
    FIELD_NUMBER_IF_ANY("lone_fraction", device_stream, lone_fraction, 1e-4, 1),
    FIELD_NUMBER_IF_ANY("sum_row_s", device_stream, sum_row_s, 0, SECONDS_MAXIMUM),
    FIELD_NUMBER_IF_ANY("group_s", device_stream, group_s, 0, SECONDS_MAXIMUM),
    FIELD_NUMBER_IF_ANY("turned_elements_per_s", device_stream, turned_elements_per_s,
                        RATE_MINIMUM, RATE_MAXIMUM),
    FIELD_NUMBER_IF_ANY("turned_weights_per_s", device_stream, turned_weights_per_s,
                        RATE_MINIMUM, RATE_MAXIMUM),
    FIELD_NUMBER_IF_ANY("elements_per_s", device_stream, elements_per_s, RATE_MINIMUM,
                        RATE_MAXIMUM),
    FIELD_NUMBER_IF_ANY("wide_elements_per_s", device_stream, wide_elements_per_s, RATE_MINIMUM,
                        RATE_MAXIMUM),
    FIELD_NUMBER_IF_ANY("clock_fraction", device_stream, clock_fraction, 0, 1),
    FIELD_NUMBER_IF_ANY("isolated_call_s", device_stream, isolated_call_s, 0, SECONDS_MAXIMUM),
    FIELD_FRACTION("relative_sigma", device_stream, relative_sigma),
};

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

/* One that runs everything itself must be there to run the rest. */
static bool
check_otherwise(const struct json *list, const struct device *device, struct error_list *errors)
{
    bool is_right = true;
    for (int64_t i = 0; i < device->attention_count; i++) {
        const char *name = device->attention[i].otherwise;
        bool is_there = name == NULL;
        for (int64_t j = 0; j < device->attention_count && !is_there; j++)
            is_there = device->attention[j].name && device->attention[j].otherwise == NULL &&
                       strcmp(device->attention[j].name, name) == 0;
        if (!is_there)
            is_right =
                json_fail(json_member(json_element(list, (size_t)i), "otherwise"), errors,
                          "\"%.60s\" is no implementation of this list that runs "
                          "everything itself",
                          name);
    }
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
    return check_otherwise(list, device, errors) && is_right;
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

/* A member of the device's operations, each under its own key: `field` is the first one's. */
static bool
read_operations(const struct json *object, struct json_field field, struct device *device,
                struct error_list *errors)
{
    struct json_field fields[DEVICE_ELEMENT_RATES_MAX];
    for (int64_t i = 0; i < device->element_rate_count; i++) {
        fields[i] = field;
        fields[i].key = device->element_rates[i].op;
        fields[i].offset += offsetof(struct device, element_rates) +
                            (size_t)i * sizeof device->element_rates[0];
    }
    struct json_object_type type = {.noun = "the operations",
                                    .fields = fields,
                                    .field_count = (size_t)device->element_rate_count};
    return json_read_object(object, &type, device, errors);
}

/* {"gelu": {"value": ..., "source": ...}, ...}: the keys are free. */
static bool
read_element_rates(const struct json *object, struct device *device, struct error_list *errors)
{
    size_t count = json_count(object);
    if (json_kind(object) != JSON_KIND_OBJECT || count > DEVICE_ELEMENT_RATES_MAX)
        return json_fail(object, errors, "wanted an object of at most %d operations",
                         DEVICE_ELEMENT_RATES_MAX);
    for (size_t i = 0; i < count; i++)
        device->element_rates[i].op = json_key(object, i);
    device->element_rate_count = (int64_t)count;
    struct json_field rate = {.type = JSON_FIELD_REAL,
                              .offset = offsetof(struct device_element_rate, elements_per_s),
                              .flags = JSON_SOURCED,
                              .minimum = RATE_MINIMUM,
                              .maximum = RATE_MAXIMUM};
    return read_operations(object, rate, device, errors);
}

/* The same of waits, of those operations alone that have a rate. */
static bool
read_element_waits(const struct json *object, struct device *device, struct error_list *errors)
{
    struct json_field wait = {.type = JSON_FIELD_REAL,
                              .offset = offsetof(struct device_element_rate, wait_s),
                              .flags = JSON_SOURCED | JSON_OPTIONAL,
                              .maximum = SECONDS_MAXIMUM};
    return read_operations(object, wait, device, errors);
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
        is_right &= device_read_by_dtype(reading->peak_flop_per_s, device->peak_flop_per_s,
                                         RATE_MINIMUM, RATE_MAXIMUM, errors);
    if (reading->memory)
        is_right &= json_read_object(reading->memory, &memory, &device->memory, errors);
    if (reading->gemm)
        is_right &= device_read_gemm(reading->gemm, &device->gemm, errors);
    if (reading->attention)
        is_right &= read_attention(reading->attention, device, errors);
    if (reading->streams)
        is_right &= read_streams(reading->streams, device, errors);
    if (reading->element_rates)
        is_right &= read_element_rates(reading->element_rates, device, errors);
    if (reading->element_waits)
        is_right &= read_element_waits(reading->element_waits, device, errors);
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
