/* Finds the machine, runs build/measure on one of its cores, keeps what it printed. */
#include "sim/cli/host_measurement.h"

#include <stdio.h>
#include <string.h>

#include "hw/device.h"
#include "sim/cli/measure_child.h"
#include "validate/host_device.h"
#include "validate/host_list.h"

const char *
host_stem(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    bool has_ending = dot && (!slash || dot > slash + 1);
    return arena_format(arena, "%.*s", has_ending ? (int)(dot - path) : (int)strlen(path),
                        path);
}

static const struct json *
read_device(const char *path, const struct text *text, struct arena *arena,
            struct error_list *errors)
{
    const struct json *device =
        json_read_text(arena, path, 1, text->bytes, text->length, errors);
    /* Before a minute is spent on it. */
    return device && device_read(device, arena, errors) ? device : NULL;
}

static const char *
path_or(const char *path, const char *otherwise)
{
    return *path ? path : otherwise;
}

struct measure_child
host_child(const struct host_question *question, struct arena *arena)
{
    return (struct measure_child){
        .command = "calibrate",
        .program = question->measure_program,
        .backend = question->backend,
        .library_path = question->library_path,
        .log_path = arena_format(arena, "%s.log", host_stem(question->output_path, arena)),
    };
}

/* ---- A core */

static const struct json *
core_of(const struct host_question *question, const struct host_topology *topology,
        struct arena *arena, struct error_list *errors)
{
    const char *path = path_or(question->device_path, "configs/devices/cpu-core.json");
    struct text text = text_new(arena);
    const struct json *begin = json_read_file(arena, path, errors);
    if (!begin || !host_device_write(begin, topology, &text, errors))
        return NULL;
    return read_device(path, &text, arena, errors);
}

/* A run in twenty is of a quiet moment on the busiest machine seen. What is not rounds is operands
 * and their check: 10 s on a core of 2.4 GHz. */
enum { CORE_ROUNDS = 100 };
static const double ROUNDS_SHARE = 0.75;

static bool
measure_core(const struct host_question *question, const struct host_topology *topology,
             struct text *measured, struct error_list *errors)
{
    struct arena *arena = measured->arena;
    struct text list = text_new(arena), answers = text_new(arena);
    int count = host_list_write(&list);
    struct measure_child child = host_child(question, arena);
    child.seconds = question->budget_s * ROUNDS_SHARE / count;
    child.rounds = CORE_ROUNDS;
    child.cold_bytes = host_device_cold_bytes(topology);
    fprintf(stderr, "stepcast calibrate: %d kernels on one core of %s, about %.0f s\n", count,
            topology->processor, question->budget_s);
    return measure_child_run(&child, &list, &answers, errors) &&
           host_list_quietest(&answers, measured, errors);
}

static const struct json *
take_core(const struct host_question *question, struct text *measured,
          struct error_list *errors)
{
    struct host_topology topology;
    if (!host_topology_find(&topology, measured->arena, errors))
        return NULL;
    const struct json *device = core_of(question, &topology, measured->arena, errors);
    return device && measure_core(question, &topology, measured, errors) ? device : NULL;
}

/* ---- A GPU */

/* What the driver calls it: measured on the smallest of lists. NULL after adding a fault. */
static const char *
gpu_name(const struct host_question *question, struct arena *arena, struct error_list *errors)
{
    struct text list = text_new(arena), answer = text_new(arena);
    struct measure_child child = host_child(question, arena);
    text_format(&list, "{\"kernel\": \"copy\", \"bytes\": 1048576, \"from\": \"hbm\", "
                       "\"to\": \"hbm\"}\n");
    if (!measure_child_run(&child, &list, &answer, errors))
        return NULL;
    const struct json *line =
        answer.length > 0
            ? json_read_text(arena, "measure", 1, answer.bytes, answer.length, errors)
            : NULL;
    const struct json *name = line ? json_member(line, "measured_device") : NULL;
    if (name && json_kind(name) == JSON_KIND_STRING)
        return json_as_string(name);
    error_add(errors, ERROR_INFEASIBLE, "", "the GPU does not even copy: measure says why");
    return NULL;
}

/* The file of its kind, or of the kind that is nearest to what stepcast knows. */
static const char *
nearest_device(const char *backend, const char *name)
{
    static const struct {
        const char *part, *path;
    } known[] = {{"MI300X", "configs/devices/mi300x.json"},
                 {"MI325X", "configs/devices/mi325x.json"},
                 {"H200", "configs/devices/h200.json"},
                 {"H100", "configs/devices/h100-sxm.json"},
                 {"A100", "configs/devices/a100-80gb.json"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(name, known[i].part))
            return known[i].path;
    return strcmp(backend, "hip") == 0 ? known[0].path : known[2].path;
}

/* What a kernel's operands and check take on an H200, and the share of its time that replays of its
 * graph take, eleven of a fortieth each (validate/measure_main.c). */
static const double GPU_CHECK_S = 0.13, GPU_REPLAYS_SHARE = 11.0 / 40;

static const struct json *
take_gpu(const struct host_question *question, struct text *measured, struct error_list *errors)
{
    struct arena *arena = measured->arena;
    struct text list = text_new(arena), text = text_new(arena);
    const char *name = gpu_name(question, arena, errors);
    if (!name)
        return NULL;
    const char *path = path_or(question->device_path, nearest_device(question->backend, name));
    const struct json *begin = json_read_file(arena, path, errors);
    const struct json *plain =
        json_read_file(arena, "configs/devices/h200-own-kernels.json", errors);
    if (!begin || !plain || !host_device_write_gpu(begin, plain, name, &text, errors))
        return NULL;
    struct measure_child child = host_child(question, arena);
    int count = host_list_write_gpu(&list);
    child.seconds = question->budget_s / count;
    fprintf(stderr, "stepcast calibrate: %d kernels on %s, from %s on, about %.0f s\n", count,
            name, path, question->budget_s * GPU_REPLAYS_SHARE + count * GPU_CHECK_S);
    const struct json *device = read_device(path, &text, arena, errors);
    return device && measure_child_run(&child, &list, measured, errors) ? device : NULL;
}

bool
host_measurement_take(const struct host_question *question,
                      struct host_measurement *measurement, struct arena *arena,
                      struct error_list *errors)
{
    struct text measured = text_new(arena);
    bool is_gpu = *question->backend && strcmp(question->backend, "cpu") != 0;
    measurement->list_path =
        arena_format(arena, "%s.kernels.jsonl", host_stem(question->output_path, arena));
    measurement->device = (is_gpu ? take_gpu : take_core)(question, &measured, errors);
    return measurement->device && text_write_file(&measured, measurement->list_path, errors);
}
