/* Puts what was found of the machine into the file that a calibration begins with. */
#include "validate/host_device.h"

#include <inttypes.h>
#include <math.h>

#include "sim/base/json_edit.h"
#include "sim/base/json_writer.h"

const char *const host_device_kept[] = {
    "memory.hbm_read_bytes_per_s",
    "memory.hbm_write_bytes_per_s",
    "memory.mixed_fraction",
    "memory.latency_s",
    "memory.l2_bytes_per_s",
    "gemm.overlap_exponent",
    "gemm.exposed_fraction",
    "gemm.hbm_ramp_s",
    "gemm.step_s.fp32",
};
const size_t host_device_kept_count = sizeof host_device_kept / sizeof host_device_kept[0];

static const char *
quoted(struct arena *arena, const char *string)
{
    struct text text = text_new(arena);
    struct json_writer writer = json_writer_new(&text, false);
    json_write_string(&writer, string);
    return text.bytes;
}

struct writing {
    const struct json *begin;
    struct json_edit edit;
    struct arena *arena;
};

static void
put_string(struct writing *writing, const char *key, const char *string)
{
    json_edit_replace(&writing->edit, json_member(writing->begin, key),
                      quoted(writing->arena, string), writing->arena);
}

/* {"value": ..., "source": ...}; a size that the system hides stays as assumed. */
static void
put_bytes(struct writing *writing, const char *path, double bytes, const char *source)
{
    const struct json *object = json_at(writing->begin, path);
    if (bytes <= 0)
        return;
    json_edit_replace(&writing->edit, json_member(object, "value"),
                      arena_format(writing->arena, "%.0f", bytes), writing->arena);
    json_edit_replace(&writing->edit, json_member(object, "source"),
                      quoted(writing->arena, source), writing->arena);
}

static bool
is_core(const struct json *begin)
{
    const struct json *units = json_at(begin, "compute_units.value");
    return units && json_kind(units) == JSON_KIND_INTEGER && json_as_integer(units) == 1 &&
           json_at(begin, "hbm_bytes.source") && json_at(begin, "memory.l2_bytes.source") &&
           json_member(begin, "name") && json_member(begin, "description");
}

bool
host_device_write(const struct json *begin, const struct host_topology *topology,
                  struct text *out, struct error_list *errors)
{
    struct writing writing = {.begin = begin, .arena = out->arena};
    if (!is_core(begin))
        return json_fail(begin, errors,
                         "a host's core wants a device of one compute unit to begin with");
    put_string(&writing, "name", "host-core");
    put_string(&writing, "description",
               arena_format(out->arena, "%s, one of %" PRId64 " cores", topology->processor,
                            topology->cores));
    put_bytes(&writing, "hbm_bytes", topology->memory_bytes / (double)topology->cores,
              "found by hwloc: the machine's memory over its cores");
    put_bytes(&writing, "memory.l2_bytes", topology->last_cache_bytes,
              "found by hwloc: the last cache");
    json_edit_apply(&writing.edit, begin, out);
    return true;
}

/* The streams of another device file, and that they are plain. */
static void
put_plain_streams(struct writing *writing, const struct json *plain)
{
    struct text text = text_new(writing->arena);
    struct json_writer writer = json_writer_new(&text, true);
    json_write_value(&writer, json_member(plain, "streams"));
    json_edit_replace(&writing->edit, json_member(writing->begin, "streams"), text.bytes,
                      writing->arena);
    json_edit_add(&writing->edit, writing->begin, "has_plain_streams", "true", writing->arena);
}

bool
host_device_write_gpu(const struct json *begin, const struct json *plain, const char *gpu,
                      struct text *out, struct error_list *errors)
{
    struct writing writing = {.begin = begin, .arena = out->arena};
    const struct json *gemm = json_member(begin, "gemm");
    if (!json_member(begin, "name") || !json_member(begin, "description") || !gemm ||
        !json_member(begin, "streams") || !json_member(plain, "streams"))
        return json_fail(begin, errors, "a host's GPU wants a device file to begin with");
    put_string(&writing, "name", "host-gpu");
    put_string(&writing, "description", gpu);
    if (!json_member(gemm, "grouped_one_by_one")) /* as validate/gpu_gemm.c runs them */
        json_edit_add(&writing.edit, gemm, "grouped_one_by_one", "true", out->arena);
    if (!json_member(begin, "has_plain_streams"))
        put_plain_streams(&writing, plain);
    json_edit_apply(&writing.edit, begin, out);
    return true;
}

double
host_device_cold_bytes(const struct host_topology *topology)
{
    const double step_bytes = 128e6, assumed_cache_bytes = 64e6;
    double cache_bytes = topology->last_cache_bytes;
    return fmin(cache_bytes > 0 ? cache_bytes : assumed_cache_bytes, step_bytes);
}
