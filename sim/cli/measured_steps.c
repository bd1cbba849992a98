/* Whole steps with the times that somebody measured: reading the list, simulating its runs. */
#include "sim/cli/measured_steps.h"

#include <string.h>

#include "models/step.h"
#include "sim/base/path.h"
#include "sim/base/units.h"

enum { LIST_BYTES_MAX = 1 << 20 };

struct measured_step {
    const char *run;
    const struct json *settings; /* a list of texts, as --set takes them; may be NULL */
    double measured_s;
    double parts_s[STEP_PART_COUNT]; /* 0: not measured */
    int part;                        /* of PART_NAMES */
};

#define PART(key, part)                                                                        \
    {                                                                                          \
        key, JSON_FIELD_REAL, offsetof(struct measured_step, parts_s[part]), JSON_OPTIONAL,    \
            1e-9, 1e6, NULL                                                                    \
    }
/* In the order of enum split_part. */
static const char *const PART_NAMES[] = {"fit", "held-out", NULL};

static const struct json_field FIELDS[] = {
    {"measured_part", JSON_FIELD_CHOICE, offsetof(struct measured_step, part), JSON_OPTIONAL, 0,
     0, PART_NAMES},
    {"run", JSON_FIELD_STRING, offsetof(struct measured_step, run), 0, 0, 0, NULL},
    {"settings", JSON_FIELD_VALUE, offsetof(struct measured_step, settings), JSON_OPTIONAL, 0,
     0, NULL},
    {"measured_s", JSON_FIELD_REAL, offsetof(struct measured_step, measured_s), 0, 1e-9, 1e6,
     NULL},
    PART("measured_forward_backward_s", STEP_FORWARD_BACKWARD),
    PART("measured_gradient_reduction_s", STEP_GRADIENT_REDUCTION),
    PART("measured_optimizer_s", STEP_OPTIMIZER),
    PART("measured_parameter_gather_s", STEP_PARAMETER_GATHER),
};
static const char *const IGNORED[] = {"measured_*", NULL};
static const struct json_object_type TYPE = {"a measured step", FIELDS,
                                             sizeof FIELDS / sizeof *FIELDS, IGNORED};

/* Parts stand where other groups have their size classes. */
static const char *const PART_SIZES[] = {"passes", "reduction", "optimizer", "gather"};

static void
add_sample(struct comparison *comparison, const struct error_sample *sample,
           struct arena *arena)
{
    comparison->samples = arena_grow(arena, comparison->samples, comparison->count,
                                     &comparison->capacity, sizeof *comparison->samples);
    comparison->samples[comparison->count++] = *sample;
}

/* The step itself and each of its parts that was measured. */
static void
add_samples(struct comparison *comparison, const struct measured_step *measured,
            const struct step *step, struct arena *arena)
{
    struct error_sample sample = {.group = {.kind = "step", .dtype = "", .size = "all"},
                                  .part = (enum split_part)measured->part,
                                  .measured_s = measured->measured_s,
                                  .predicted_s = step->step_s,
                                  .relative_sigma = step->sigma_s / step->step_s,
                                  .shape = arena_format(arena, "%s", step->run->name)};
    add_sample(comparison, &sample, arena);
    for (int part = 0; part < STEP_PART_COUNT; part++) {
        sample.group.size = PART_SIZES[part];
        sample.group.order = 1 + part;
        sample.measured_s = measured->parts_s[part];
        sample.predicted_s = units_s_from_ps(step->part_ps[part]);
        if (measured->parts_s[part] > 0)
            add_sample(comparison, &sample, arena);
    }
}

/* What the line changes of its run. */
static bool
read_settings(const struct json *list, struct run_request *request, struct arena *arena,
              struct error_list *errors)
{
    size_t count = list ? json_count(list) : 0;
    if (list && json_kind(list) != JSON_KIND_ARRAY)
        return json_fail(list, errors, "wanted a list of settings");
    const char **settings = arena_alloc(arena, count, sizeof *settings);
    for (size_t i = 0; i < count; i++) {
        const struct json *setting = json_element(list, i);
        if (json_kind(setting) != JSON_KIND_STRING)
            return json_fail(setting, errors, "wanted a setting, \"plan.pipeline=2\"");
        settings[i] = json_as_string(setting);
    }
    request->settings = settings;
    request->setting_count = count;
    return true;
}

/* The run of the line before, which most lines change; NULL where it is none without changes. */
struct base {
    const char *file;
    const struct run *run;
};

static const struct run *
read_line_run(struct base *base, const struct run_request *request, struct arena *arena,
              struct arena *own, struct error_list *errors)
{
    if (!base->file || strcmp(base->file, request->file) != 0) {
        struct run_request unchanged = {.file = request->file};
        struct error_list unheard = {0};
        *base = (struct base){request->file, run_read(&unchanged, arena, &unheard)};
    }
    struct run_settings settings = {request->settings, request->setting_count};
    return base->run ? run_again(base->run, &settings, own, errors)
                     : run_read(request, own, errors);
}

static bool
add_line(struct comparison *comparison, const struct json *object, struct base *base,
         struct arena *arena, struct error_list *errors)
{
    struct measured_step measured = {.part = SPLIT_HELD_OUT};
    if (!json_read_object(object, &TYPE, &measured, errors))
        return false;
    struct run_request request = {.file =
                                      path_beside(json_file_name(object), measured.run, arena)};
    if (!read_settings(measured.settings, &request, arena, errors))
        return false;
    struct arena *own = arena_new_beside(arena); /* a step of a pipeline takes 100 MB */
    const struct run *run = read_line_run(base, &request, arena, own, errors);
    const struct step *step = run ? step_simulate(run, RANKS_FOLDED, own, errors) : NULL;
    bool is_simulated = step != NULL;
    if (is_simulated)
        add_samples(comparison, &measured, step, arena);
    arena_free(own);
    return is_simulated;
}

bool
measured_steps_add(struct comparison *comparison, const char *path, struct arena *arena,
                   struct error_list *errors)
{
    struct text text = text_new(arena);
    struct base base = {0};
    int faults_before = errors->count, line = 1;
    if (!text_read_file(&text, path, LIST_BYTES_MAX, errors))
        return false;
    for (size_t start = 0; start < text.length; line++) {
        const char *bytes = text.bytes + start;
        const char *end = memchr(bytes, '\n', text.length - start);
        size_t length = end ? (size_t)(end - bytes) : text.length - start;
        start += length + 1;
        if (strspn(bytes, " \t\r") >= length)
            continue;
        const struct json *object = json_read_text(arena, path, line, bytes, length, errors);
        if (object)
            add_line(comparison, object, &base, arena, errors);
    }
    if (errors->count == faults_before && comparison->count == 0)
        return error_add(errors, ERROR_INPUT, path, "no line, wanted measured steps");
    return errors->count == faults_before;
}
