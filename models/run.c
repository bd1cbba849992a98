/* A run: reading its files and putting single values in place of theirs. */
#include "models/run.h"

#include <stddef.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/base/spelling.h"
#include "sim/base/text.h"

enum part { PART_MODEL, PART_CLUSTER, PART_PLAN, PART_SOFTWARE, PART_DEVICE, PARTS };

static const char *const PART_NAMES[] = {"model", "cluster", "plan", "software", "device"};

struct run_reader {
    const struct run_request *request;
    struct arena *arena;
    struct error_list *errors;
    const char *name; /* of the run file; NULL without one */
    const char *paths[PARTS];
    const struct json *objects[PARTS];
    const struct run *base; /* whose parts stay where is_kept; NULL: none does */
    bool is_kept[PARTS];
};

/* What the file names, for the parts that are not given beside it. */
static bool
read_run_file(struct run_reader *reader)
{
    static const struct json_field fields[] = {
        {"name", JSON_FIELD_STRING, offsetof(struct run_reader, name), JSON_OPTIONAL, 0, 0,
         NULL},
        {"model", JSON_FIELD_STRING, offsetof(struct run_reader, paths[PART_MODEL]), 0, 0, 0,
         NULL},
        {"cluster", JSON_FIELD_STRING, offsetof(struct run_reader, paths[PART_CLUSTER]), 0, 0,
         0, NULL},
        {"plan", JSON_FIELD_STRING, offsetof(struct run_reader, paths[PART_PLAN]), 0, 0, 0,
         NULL},
        {"software", JSON_FIELD_STRING, offsetof(struct run_reader, paths[PART_SOFTWARE]), 0, 0,
         0, NULL},
    };
    static const struct json_object_type type = {"a run", fields,
                                                 sizeof fields / sizeof *fields, NULL};
    const char *file = reader->request->file;
    const struct json *object = json_read_file(reader->arena, file, reader->errors);
    if (!object || !json_read_object(object, &type, reader, reader->errors))
        return false;
    for (int part = PART_MODEL; part <= PART_SOFTWARE; part++)
        reader->paths[part] = path_beside(file, reader->paths[part], reader->arena);
    return true;
}

static bool
find_paths(struct run_reader *reader)
{
    const struct run_request *request = reader->request;
    const char *const given[] = {request->model, request->cluster, request->plan,
                                 request->software};
    if (request->file && !read_run_file(reader))
        return false;
    bool is_whole = true;
    for (int part = PART_MODEL; part <= PART_SOFTWARE; part++) {
        if (given[part])
            reader->paths[part] = given[part];
        if (!reader->paths[part])
            is_whole = error_add(reader->errors, ERROR_INPUT, "",
                                 "no %s: name a run file or give --%s FILE", PART_NAMES[part],
                                 PART_NAMES[part]);
    }
    return is_whole;
}

/* The device's file is named by the cluster. */
static void
read_objects(struct run_reader *reader)
{
    for (int part = PART_MODEL; part <= PART_SOFTWARE; part++)
        reader->objects[part] =
            json_read_file(reader->arena, reader->paths[part], reader->errors);
    const struct json *cluster = reader->objects[PART_CLUSTER];
    const struct json *device = cluster ? json_member(cluster, "device") : NULL;
    if (device && json_kind(device) == JSON_KIND_STRING) {
        const char *path =
            path_beside(reader->paths[PART_CLUSTER], json_as_string(device), reader->arena);
        reader->paths[PART_DEVICE] = path;
        reader->objects[PART_DEVICE] = json_read_file(reader->arena, path, reader->errors);
    }
}

/* The part that a setting is of; PARTS when there is no such part. */
static int
part_of(const char *setting)
{
    size_t length = strcspn(setting, ".=");
    int part = 0;
    while (part < PARTS && (strlen(PART_NAMES[part]) != length ||
                            strncmp(PART_NAMES[part], setting, length) != 0))
        part++;
    return part;
}

/* "plan.microbatch_sequences=2": the part, the path in its file, the value. */
static bool
apply_setting(struct run_reader *reader, const char *setting)
{
    struct arena *arena = reader->arena;
    const char *origin = arena_format(arena, "--set %s", setting);
    const char *equals = strchr(setting, '=');
    const char *dot = strchr(setting, '.');
    if (!equals || !dot || dot > equals)
        return error_add(reader->errors, ERROR_INPUT, origin,
                         "wanted PART.KEY=VALUE, such as plan.microbatch_sequences=2");
    const char *part_name = arena_format(arena, "%.*s", (int)(dot - setting), setting);
    const char *path = arena_format(arena, "%.*s", (int)(equals - dot - 1), dot + 1);
    int part = part_of(setting);
    if (part == PARTS) {
        const char *nearest = spelling_nearest(part_name, PART_NAMES, PARTS);
        return error_add(
            reader->errors, ERROR_INPUT, origin,
            "'%.40s' is no part of a run, wanted model, cluster, plan, software or "
            "device%s%s%s",
            part_name, nearest ? ": did you mean '" : "", nearest ? nearest : "",
            nearest ? "'?" : "");
    }
    if (reader->is_kept[part])
        return true; /* the base has it already */
    if (!reader->objects[part])
        return false; /* its file could not be read, which has been said */
    return json_set(reader->objects[part], path, equals + 1, origin, reader->errors);
}

static const struct device *
read_device(struct run_reader *reader)
{
    const struct json *device = reader->objects[PART_DEVICE];
    if (reader->is_kept[PART_DEVICE])
        return reader->base->inputs.cluster->device;
    return device ? device_read(device, reader->arena, reader->errors) : NULL;
}

static const struct cluster *
read_cluster(struct run_reader *reader)
{
    struct cluster *cluster = NULL;
    if (reader->is_kept[PART_CLUSTER])
        return reader->base->inputs.cluster;
    if (reader->objects[PART_CLUSTER])
        cluster = cluster_read(reader->objects[PART_CLUSTER], reader->arena, reader->errors);
    const struct device *device = read_device(reader);
    if (!cluster || !device)
        return NULL;
    cluster->device = device;
    return cluster;
}

/* The key nearest to a setting's last among those that a reader has asked for beside it. */
static const char *
nearest_key(const struct json *model, const char *path, struct arena *arena)
{
    size_t length = strcspn(path, "="), parent = length;
    while (parent > 0 && path[parent] != '.')
        parent--;
    size_t begin = parent > 0 ? parent + 1 : 0;
    const char *key = arena_format(arena, "%.*s", (int)(length - begin), path + begin);
    const struct json *object =
        parent > 0 ? json_at(model, arena_format(arena, "%.*s", (int)parent, path)) : model;
    size_t count = json_kind(object) == JSON_KIND_OBJECT ? json_count(object) : 0, read = 0;
    const char **keys = arena_alloc(arena, count + 1, sizeof *keys);
    for (size_t i = 0; i < count; i++)
        if (json_is_read(json_value_at(object, i)))
            keys[read++] = json_key(object, i);
    return spelling_nearest(key, keys, read);
}

/* A model's file holds much that no reader asks for; what a user sets must not be of that kind. */
static bool
check_model_settings(struct run_reader *reader)
{
    const struct json *model = reader->objects[PART_MODEL];
    int faults_before = reader->errors->count;
    for (size_t i = 0; i < reader->request->setting_count; i++) {
        const char *setting = reader->request->settings[i];
        if (strncmp(setting, "model.", strlen("model.")) != 0)
            continue;
        const char *path = setting + strlen("model.");
        const struct json *value =
            json_at(model, arena_format(reader->arena, "%.*s", (int)strcspn(path, "="), path));
        if (!value || json_is_read(value))
            continue;
        const char *nearest = nearest_key(model, path, reader->arena);
        json_fail(value, reader->errors,
                  "has no effect: the reader of this dialect does not look at it%s%s%s",
                  nearest ? ", did you mean '" : "", nearest ? nearest : "",
                  nearest ? "'?" : "");
    }
    return reader->errors->count == faults_before;
}

/* "cluster=h200-1.json" for a file given in place of the run's own. */
static void
note_changes(struct run_reader *reader, struct run *run)
{
    const struct run_request *request = reader->request;
    const struct run *base = reader->base;
    const char *const given[] = {request->model, request->cluster, request->plan,
                                 request->software};
    size_t known = base ? base->settings.count : 0, before = base ? base->change_count : 0;
    const char **changes =
        arena_alloc(reader->arena, request->setting_count + before + PARTS, sizeof *changes);
    for (size_t i = 0; i < before; i++)
        changes[run->change_count++] = base->changes[i];
    for (int part = PART_MODEL; request->file && part <= PART_SOFTWARE; part++)
        if (given[part])
            changes[run->change_count++] =
                arena_format(reader->arena, "%s=%s", PART_NAMES[part], given[part]);
    for (size_t i = known; i < request->setting_count; i++)
        changes[run->change_count++] = request->settings[i];
    run->changes = changes;
    run->settings = (struct run_settings){request->settings, request->setting_count};
    run->paths[0] = base ? base->paths[0] : request->file;
    for (int part = 0; part < PARTS; part++) {
        run->paths[part + 1] = reader->paths[part];
        run->objects[part + 1] = reader->objects[part];
    }
}

static const struct arch *
read_arch(struct run_reader *reader)
{
    const struct json *model = reader->objects[PART_MODEL];
    if (reader->is_kept[PART_MODEL])
        return reader->base->inputs.workload.arch;
    const struct arch *arch = model ? arch_read(model, reader->arena, reader->errors) : NULL;
    if (arch)
        check_model_settings(reader);
    return arch;
}

static const struct software *
read_software(struct run_reader *reader)
{
    const struct json *software = reader->objects[PART_SOFTWARE];
    if (reader->is_kept[PART_SOFTWARE])
        return reader->base->inputs.workload.software;
    return software ? software_read(software, reader->arena, reader->errors) : NULL;
}

static const struct tensor_list *
list_tensors(struct run_reader *reader, const struct arch *arch)
{
    if (reader->is_kept[PART_MODEL])
        return reader->base->inputs.tensors;
    struct tensor_list *tensors = arena_alloc(reader->arena, 1, sizeof *tensors);
    *tensors = tensors_of(arch, reader->arena);
    return tensors;
}

static const struct run *
read_parts(struct run_reader *reader)
{
    struct arena *arena = reader->arena;
    struct error_list *errors = reader->errors;
    const struct json *plan = reader->objects[PART_PLAN];
    struct run *run = arena_alloc(arena, 1, sizeof *run);
    struct workload *workload = &run->inputs.workload;
    workload->arch = read_arch(reader);
    workload->plan = plan ? plan_read(plan, arena, errors) : NULL;
    workload->software = read_software(reader);
    run->inputs.cluster = read_cluster(reader);
    run->plan_object = plan;
    if (errors->count > 0 || !workload->arch || !workload->plan || !workload->software ||
        !run->inputs.cluster)
        return NULL;
    run->name = reader->name ? reader->name : workload->plan->name;
    note_changes(reader, run);
    run->inputs.tensors = list_tensors(reader, workload->arch);
    return run;
}

/* Puts the settings in their places, and reads all that comes of it. */
/* The exchanges of context ranks are made for one kernel of attention. */
static bool
check_stack(const struct run *run, struct error_list *errors)
{
    const struct workload *workload = &run->inputs.workload;
    if (workload->plan->fp8_recipe != FP8_NONE && !workload->software->fp8)
        return error_add(
            errors, ERROR_INFEASIBLE, json_where(json_member(run->plan_object, "fp8_recipe")),
            "is %s, but the software stack %s says nothing of \"fp8\", wanted none, "
            "or a stack that does, such as torch-compile or megatron-fused",
            fp8_recipe_name(workload->plan->fp8_recipe), workload->software->name);
    if (workload->plan->context == 1 || !workload->software->keeps_attention_scores)
        return true;
    return json_fail(
        json_member(run->plan_object, "context"), errors,
        "is %lld, but the software stack keeps the scores of attention, which is not "
        "split over context ranks, wanted 1",
        (long long)workload->plan->context);
}

static const struct run *
read_run(struct run_reader *reader)
{
    for (size_t i = 0; i < reader->request->setting_count; i++)
        apply_setting(reader, reader->request->settings[i]);
    const struct run *run = read_parts(reader);
    if (!run)
        return NULL;
    const struct workload *workload = &run->inputs.workload;
    bool is_fitting = plan_check(workload->plan, run->plan_object, workload->arch,
                                 run->inputs.cluster, reader->errors);
    is_fitting = check_stack(run, reader->errors) && is_fitting;
    return is_fitting ? run : NULL;
}

const struct run *
run_read(const struct run_request *request, struct arena *arena, struct error_list *errors)
{
    struct run_reader reader = {.request = request, .arena = arena, .errors = errors};
    if (!find_paths(&reader))
        return NULL;
    read_objects(&reader);
    return read_run(&reader);
}

/* Of the base, what no setting touches; the plan is always read again, since checking it marks what
 * was looked at. A device is a part of its cluster, which is made anew with it. */
static void
keep_parts(struct run_reader *reader, const struct run_settings *settings)
{
    for (int part = 0; part < PARTS; part++)
        reader->is_kept[part] = part != PART_PLAN;
    for (size_t i = 0; i < settings->count; i++) {
        int part = part_of(settings->texts[i]);
        if (part < PARTS)
            reader->is_kept[part] = false;
        if (part == PART_DEVICE)
            reader->is_kept[PART_CLUSTER] = false;
    }
    for (int part = 0; part < PARTS; part++) {
        const struct json *object = reader->base->objects[part + 1];
        reader->paths[part] = reader->base->paths[part + 1];
        reader->objects[part] = reader->is_kept[part]
                                    ? object
                                    : json_read_again(reader->arena, object, reader->errors);
    }
}

const struct run *
run_again(const struct run *base, const struct run_settings *settings, struct arena *arena,
          struct error_list *errors)
{
    size_t before = base->settings.count;
    const char **texts = arena_alloc(arena, before + settings->count + 1, sizeof *texts);
    for (size_t i = 0; i < before + settings->count; i++)
        texts[i] = i < before ? base->settings.texts[i] : settings->texts[i - before];
    struct run_request request = {.settings = texts, .setting_count = before + settings->count};
    struct run_reader reader = {.request = &request,
                                .arena = arena,
                                .errors = errors,
                                .name = base->name,
                                .base = base};
    keep_parts(&reader, settings);
    return read_run(&reader);
}

bool
run_number(const struct run *run, const char *field, double *value)
{
    int part = part_of(field);
    const char *path = strchr(field, '.');
    if (part == PARTS || !path)
        return false;
    const struct json *found = json_at(run->objects[part + 1], path + 1);
    if (found && json_kind(found) == JSON_KIND_OBJECT)
        found = json_at(found, "value"); /* a number with its source */
    if (!found || (json_kind(found) != JSON_KIND_INTEGER && json_kind(found) != JSON_KIND_REAL))
        return false;
    *value = json_as_real(found);
    return true;
}

const char *
run_heading(const struct run *run, struct arena *arena)
{
    struct text heading = text_new(arena);
    text_format(&heading, "%s", run->name);
    for (size_t i = 0; i < run->change_count; i++)
        text_format(&heading, "%s%s", i == 0 ? " (changed: " : ", ", run->changes[i]);
    text_format(&heading, "%s", run->change_count > 0 ? ")" : "");
    return heading.bytes;
}
