/* A sweep as a file: the same fields, values and formulas as on the command line. */
#include <stddef.h>

#include "sim/base/json_writer.h"
#include "sim/base/path.h"
#include "sim/cli/sweep_front.h"
#include "sim/cli/sweep_space.h"

struct sweep_file {
    const char *run, *name, *note;
    const struct json *set, *over, *link, *where, *inference, *pareto;
    int64_t samples, seed;
    double slack_fraction;
};

static const struct json_field FIELDS[] = {
    {"run", JSON_FIELD_STRING, offsetof(struct sweep_file, run), 0, 0, 0, NULL},
    {"set", JSON_FIELD_VALUE, offsetof(struct sweep_file, set), JSON_OPTIONAL, 0, 0, NULL},
    {"over", JSON_FIELD_VALUE, offsetof(struct sweep_file, over), 0, 0, 0, NULL},
    {"link", JSON_FIELD_VALUE, offsetof(struct sweep_file, link), JSON_OPTIONAL, 0, 0, NULL},
    {"where", JSON_FIELD_VALUE, offsetof(struct sweep_file, where), JSON_OPTIONAL, 0, 0, NULL},
    {"samples", JSON_FIELD_INTEGER, offsetof(struct sweep_file, samples), JSON_OPTIONAL, 1,
     SWEEP_SAMPLES_MAX, NULL},
    {"seed", JSON_FIELD_INTEGER, offsetof(struct sweep_file, seed), JSON_OPTIONAL, 0, 1e15,
     NULL},
    {"inference", JSON_FIELD_VALUE, offsetof(struct sweep_file, inference), JSON_OPTIONAL, 0, 0,
     NULL},
    {"pareto", JSON_FIELD_VALUE, offsetof(struct sweep_file, pareto), JSON_OPTIONAL, 0, 0,
     NULL},
    {"slack_fraction", JSON_FIELD_REAL, offsetof(struct sweep_file, slack_fraction),
     JSON_OPTIONAL, 0, 1, NULL},
    {"name", JSON_FIELD_STRING, offsetof(struct sweep_file, name), JSON_OPTIONAL, 0, 0, NULL},
    {"note", JSON_FIELD_STRING, offsetof(struct sweep_file, note), JSON_OPTIONAL, 0, 0, NULL},
};
static const struct json_object_type TYPE = {"a sweep", FIELDS, sizeof FIELDS / sizeof *FIELDS,
                                             NULL};

static void
append_value(struct text *out, const struct json *value)
{
    struct json_writer writer = json_writer_new(out, false);
    if (json_kind(value) == JSON_KIND_STRING)
        text_format(out, "%s", json_as_string(value));
    else
        json_write_value(&writer, value);
}

/* "FIELD=VALUE", of a list "FIELD=VALUE,VALUE": what the command line would say. */
static const char *
make_text(const char *field, const struct json *value, bool is_values, struct arena *arena)
{
    struct text text = text_new(arena);
    bool is_list = is_values && json_kind(value) == JSON_KIND_ARRAY;
    text_format(&text, "%s=", field);
    for (size_t i = 0; is_list && i < json_count(value); i++) {
        text_format(&text, "%s", i > 0 ? "," : "");
        append_value(&text, json_element(value, i));
    }
    if (!is_list)
        append_value(&text, value);
    return text.bytes;
}

static bool
read_axes(struct sweep_space *space, const struct json *over, struct arena *arena,
          struct error_list *errors)
{
    if (json_kind(over) != JSON_KIND_OBJECT || json_count(over) == 0)
        return json_fail(over, errors,
                         "is empty, wanted fields and their values, such as "
                         "{\"plan.microbatch_sequences\": [1, 2, 4]}");
    for (size_t i = 0; i < json_count(over); i++) {
        const struct json *values = json_value_at(over, i);
        const char *fault = NULL, *text = make_text(json_key(over, i), values, true, arena);
        if (!sweep_space_add_axis(space, text, arena, &fault))
            return json_fail(values, errors, "%s", fault);
    }
    return true;
}

static bool
read_links(struct sweep_space *space, const struct json *link, struct arena *arena,
           struct error_list *errors)
{
    if (link && json_kind(link) != JSON_KIND_OBJECT)
        return json_fail(link, errors, "wanted fields and their formulas");
    for (size_t i = 0; link && i < json_count(link); i++) {
        const struct json *formula = json_value_at(link, i);
        const char *fault = NULL, *text = make_text(json_key(link, i), formula, false, arena);
        if (!sweep_space_add_link(space, text, arena, &fault))
            return json_fail(formula, errors, "%s", fault);
    }
    return true;
}

static bool
read_conditions(struct sweep_space *space, const struct json *where, struct arena *arena,
                struct error_list *errors)
{
    if (where && json_kind(where) != JSON_KIND_ARRAY)
        return json_fail(where, errors, "is no list of formulas");
    for (size_t i = 0; where && i < json_count(where); i++) {
        const struct json *formula = json_element(where, i);
        if (json_kind(formula) != JSON_KIND_STRING)
            return json_fail(formula, errors, "is no formula, such as \"active_ratio < 1.02\"");
        sweep_space_add_condition(space, json_as_string(formula), arena);
    }
    return true;
}

static bool
read_settings(struct run_settings *settings, const struct json *set, struct arena *arena,
              struct error_list *errors)
{
    if (set && json_kind(set) != JSON_KIND_OBJECT)
        return json_fail(set, errors, "wanted fields and their values");
    size_t count = set ? json_count(set) : 0;
    const char **texts = arena_alloc(arena, count + 1, sizeof *texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = make_text(json_key(set, i), json_value_at(set, i), false, arena);
    *settings = (struct run_settings){texts, count};
    return true;
}

static bool
read_inference(struct sweep_space *space, const struct json *object, struct error_list *errors)
{
    static const struct json_field fields[] = {
        {"batch", JSON_FIELD_INTEGER, offsetof(struct inference_request, batch), JSON_OPTIONAL,
         1, SWEEP_INFERENCE_MAX, NULL},
        {"prompt_tokens", JSON_FIELD_INTEGER, offsetof(struct inference_request, prompt_tokens),
         JSON_OPTIONAL, 1, SWEEP_INFERENCE_MAX, NULL},
        {"context_tokens", JSON_FIELD_INTEGER,
         offsetof(struct inference_request, context_tokens), JSON_OPTIONAL, 1,
         SWEEP_INFERENCE_MAX, NULL},
    };
    static const struct json_object_type type = {"what is asked of the model", fields,
                                                 sizeof fields / sizeof *fields, NULL};
    if (!object)
        return true;
    space->has_inference = true;
    space->inference = (struct inference_request){.batch = 1};
    return json_read_object(object, &type, &space->inference, errors);
}

static bool
read_front(struct sweep_space *space, const struct json *list, struct arena *arena,
           struct error_list *errors)
{
    const char *fault = NULL;
    if (!list)
        return true;
    const char *text = make_text("", list, true, arena); /* "=COLUMN,COLUMN" */
    return sweep_front_read(space, text + 1, arena, &fault) ||
           json_fail(list, errors, "%s", fault);
}

bool
sweep_space_read(struct sweep_space *space, const struct json *object,
                 struct run_settings *settings, const char **run_file, struct arena *arena,
                 struct error_list *errors)
{
    struct sweep_file file = {0};
    if (!json_read_object(object, &TYPE, &file, errors))
        return false;
    *run_file = path_beside(json_file_name(object), file.run, arena);
    space->samples = file.samples;
    space->seed = file.seed;
    space->slack_fraction = file.slack_fraction;
    return read_axes(space, file.over, arena, errors) &&
           read_links(space, file.link, arena, errors) &&
           read_conditions(space, file.where, arena, errors) &&
           read_inference(space, file.inference, errors) &&
           read_front(space, file.pareto, arena, errors) &&
           read_settings(settings, file.set, arena, errors);
}
