/* Finds the machine, runs build/measure on one of its cores, keeps what it printed. */
#include "sim/cli/host_measurement.h"

#include <stdio.h>
#include <string.h>

#include "hw/device.h"
#include "sim/cli/measure_child.h"
#include "validate/host_device.h"
#include "validate/host_list.h"

static const struct json *
device_of(const struct host_question *question, const struct host_topology *topology,
          struct arena *arena, struct error_list *errors)
{
    struct text text = text_new(arena);
    const struct json *begin = json_read_file(arena, question->device_path, errors);
    if (!begin || !host_device_write(begin, topology, &text, errors))
        return NULL;
    const struct json *device =
        json_read_text(arena, question->device_path, 1, text.bytes, text.length, errors);
    /* Before a minute is spent on it. */
    return device && device_read(device, arena, errors) ? device : NULL;
}

/* The path without its ending. */
static const char *
stem(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    bool has_ending = dot && (!slash || dot > slash + 1);
    return arena_format(arena, "%.*s", has_ending ? (int)(dot - path) : (int)strlen(path),
                        path);
}

static bool
measure(const struct host_question *question, const struct host_topology *topology,
        struct text *measured, struct error_list *errors)
{
    struct arena *arena = measured->arena;
    struct text list = text_new(arena), answers = text_new(arena);
    int count = host_list_write(&list);
    struct measure_child child = {
        .program = question->measure_program,
        .seconds = question->budget_s / count,
        .cold_bytes = host_device_cold_bytes(topology),
        .log_path = arena_format(arena, "%s.log", stem(question->output_path, arena)),
    };
    fprintf(stderr, "stepcast calibrate: %d kernels on one core of %s, about %.0f s\n", count,
            topology->processor, question->budget_s);
    return measure_child_run(&child, &list, &answers, errors) &&
           host_list_quietest(&answers, measured, errors);
}

bool
host_measurement_take(const struct host_question *question,
                      struct host_measurement *measurement, struct arena *arena,
                      struct error_list *errors)
{
    struct host_topology topology;
    struct text measured = text_new(arena);
    if (!host_topology_find(&topology, arena, errors))
        return false;
    measurement->device = device_of(question, &topology, arena, errors);
    measurement->list_path =
        arena_format(arena, "%s.kernels.jsonl", stem(question->output_path, arena));
    return measurement->device && measure(question, &topology, &measured, errors) &&
           text_write_file(&measured, measurement->list_path, errors);
}
