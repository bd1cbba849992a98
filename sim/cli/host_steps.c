/* Training steps on this machine: the runs of a list, simulated and measured. */
#include "sim/cli/host_steps.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/cluster.h"
#include "sim/base/path.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "sim/cli/measure_child.h"

enum { LIST_BYTES_MAX = 1 << 20 };

/* When there is no cluster: of cores, of which there is one, and of GPUs. */
static const char FABRIC_PATH[] = "configs/fabrics/host-shared.json";
static const char GPU_FABRIC_PATH[] = "configs/fabrics/h200-nvlink.json";

struct taking {
    const struct host_steps_question *question;
    const char *cluster_path, *stem;
    struct host_steps *steps;
    size_t capacity;
    struct arena *arena;
    struct error_list *errors;
};

/* "build/host" of "build/host.json" and of "build/host.cluster.json". */
static const char *
stem_of(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return arena_format(arena, "%.*s%.*s", (int)(name - path), path, (int)strcspn(name, "."),
                        name);
}

/* A cluster of the one device, in a file beside it. */
static bool
write_cluster(struct taking *taking)
{
    const char *device = taking->question->device_path, *slash = strrchr(device, '/');
    struct text text = text_new(taking->arena);
    struct json_writer writer = json_writer_new(&text, true);
    const char *backend = taking->question->backend;
    bool is_gpu = *backend && strcmp(backend, "cpu") != 0;
    const struct json *fabric =
        json_read_file(taking->arena, is_gpu ? GPU_FABRIC_PATH : FABRIC_PATH, taking->errors);
    if (!fabric)
        return false;
    taking->cluster_path = arena_format(taking->arena, "%s.alone.json", taking->stem);
    json_write_begin_object(&writer);
    json_write_string_at(&writer, "name", "host-alone");
    json_write_integer_at(&writer, "nodes", 1);
    json_write_integer_at(&writer, "gpus_per_node", 1);
    json_write_string_at(&writer, "device", slash ? slash + 1 : device);
    json_write_key(&writer, "fabric");
    json_write_value(&writer, fabric);
    json_write_end_object(&writer);
    text_format(&text, "\n");
    return text_write_file(&text, taking->cluster_path, taking->errors);
}

/* The run on this machine, with as many ranks as it has on its own cluster. */
static const struct run *
read_run(struct taking *taking, const struct training_question *asked)
{
    struct arena *arena = taking->arena;
    struct run_request request = {
        .file = asked->run, .settings = asked->settings, .setting_count = asked->setting_count};
    struct training_shape shape;
    const struct run *own = run_read(&request, arena, taking->errors);
    if (!own || !training_question_shape(own, &shape, taking->errors))
        return NULL;
    const char **settings = arena_alloc(arena, asked->setting_count + 2, sizeof *settings);
    for (size_t i = 0; i < asked->setting_count; i++)
        settings[i] = asked->settings[i];
    settings[asked->setting_count] = "cluster.nodes=1";
    settings[asked->setting_count + 1] = arena_format(
        arena, "cluster.gpus_per_node=%lld", (long long)cluster_gpus(own->inputs.cluster));
    request.cluster = taking->cluster_path;
    request.settings = settings;
    request.setting_count += 2;
    return run_read(&request, arena, taking->errors);
}

/* "host-moe model.hidden=128" */
static const char *
name_of(const struct run *run, const struct training_question *asked, struct arena *arena)
{
    const char *name = run->name;
    for (size_t i = 0; i < asked->setting_count; i++)
        name = arena_format(arena, "%s %s", name, asked->settings[i]);
    return name;
}

static bool
add_line(struct taking *taking, const struct json *line)
{
    struct host_steps *steps = taking->steps;
    struct training_question asked;
    if (!training_question_parse(line, &asked, taking->arena, taking->errors))
        return false;
    const struct run *run = read_run(taking, &asked);
    const struct step *predicted =
        run ? step_simulate(run, RANKS_FOLDED, taking->arena, taking->errors) : NULL;
    if (!predicted)
        return false;
    steps->items = arena_grow(taking->arena, steps->items, steps->count, &taking->capacity,
                              sizeof *steps->items);
    steps->items[steps->count++] = (struct host_step){
        .name = name_of(run, &asked, taking->arena),
        .asked = asked,
        .ranks = cluster_gpus(run->inputs.cluster),
        .predicted = predicted,
    };
    return true;
}

static bool
read_list(struct taking *taking)
{
    const char *path = taking->question->list_path;
    struct text text = text_new(taking->arena);
    int faults_before = taking->errors->count, line = 1;
    if (!text_read_file(&text, path, LIST_BYTES_MAX, taking->errors))
        return false;
    for (size_t start = 0; start < text.length; line++) {
        const char *bytes = text.bytes + start;
        size_t length = strcspn(bytes, "\n");
        start += length + 1;
        if (strspn(bytes, " \t\r") >= length)
            continue;
        const struct json *object =
            json_read_text(taking->arena, path, line, bytes, length, taking->errors);
        if (object)
            add_line(taking, object);
    }
    if (taking->errors->count == faults_before && taking->steps->count == 0)
        return error_add(taking->errors, ERROR_INPUT, path, "no line, wanted training steps");
    return taking->errors->count == faults_before;
}

/* ---- Measuring */

/* The run from the root: the list may lie anywhere. */
static void
write_question(const struct training_question *asked, struct text *out)
{
    char path[PATH_MAX];
    struct json_writer writer = json_writer_new(out, false);
    json_write_begin_object(&writer);
    json_write_string_at(&writer, "run", realpath(asked->run, path) ? path : asked->run);
    json_write_key(&writer, "settings");
    json_write_begin_array(&writer);
    for (size_t i = 0; i < asked->setting_count; i++)
        json_write_string(&writer, asked->settings[i]);
    json_write_end_array(&writer);
    json_write_end_object(&writer);
    text_format(out, "\n");
}

static bool
take_real(const struct json *row, const char *key, double *value, struct error_list *errors)
{
    const struct json *member = json_member(row, key);
    if (!member || json_kind(member) != JSON_KIND_REAL || !(json_as_real(member) > 0))
        return json_fail(row, errors, "lacks '%s', a time", key);
    *value = json_as_real(member);
    return true;
}

static bool
is_on_gpu(const struct host_steps_question *question)
{
    return *question->backend && strcmp(question->backend, "cpu") != 0;
}

static bool
take_row(const struct host_steps_question *question, struct host_step *step,
         const struct json *row, struct error_list *errors)
{
    const char *key = is_on_gpu(question) ? "measured_s" : "measured_quiet_s";
    step->measured = row;
    return take_real(row, key, &step->quiet_s, errors) &&
           take_real(row, "measured_core_s", &step->core_s, errors) &&
           take_real(row, "measured_s", &step->wall_s, errors);
}

/* Answers come in the order of the questions; of those that are missing the child has said why. */
static bool
take_answers(struct taking *taking, int64_t ranks, const struct text *answers)
{
    size_t start = 0;
    for (size_t i = 0; i < taking->steps->count; i++) {
        struct host_step *step = &taking->steps->items[i];
        if (step->ranks != ranks)
            continue;
        size_t length = start < answers->length ? strcspn(answers->bytes + start, "\n") : 0;
        const struct json *row =
            length > 0 ? json_read_text(taking->arena, "measure", (int)i + 1,
                                        answers->bytes + start, length, taking->errors)
                       : NULL;
        if (!row)
            return error_add(taking->errors, ERROR_INPUT, step->name, "was not measured");
        if (!take_row(taking->question, step, row, taking->errors))
            return false;
        start += length + 1;
    }
    return true;
}

/* All steps of so many ranks, by one child. */
static bool
measure_ranks(struct taking *taking, int64_t ranks, struct text *measured)
{
    struct text list = text_new(taking->arena), answers = text_new(taking->arena);
    struct measure_child child = {
        .command = "validate",
        .program = taking->question->measure_program,
        .seconds = taking->question->budget_s,
        .ranks = ranks > 1 && !is_on_gpu(taking->question) ? (int)ranks : 0,
        .backend = taking->question->backend,
        .library_path = taking->question->library_path,
        .log_path = arena_format(taking->arena, "%s.steps.log", taking->stem),
    };
    for (size_t i = 0; i < taking->steps->count; i++)
        if (taking->steps->items[i].ranks == ranks)
            write_question(&taking->steps->items[i].asked, &list);
    if (list.length == 0)
        return true;
    fprintf(stderr, "stepcast validate: training steps on %lld %s%s\n", (long long)ranks,
            is_on_gpu(taking->question) ? "GPU" : "core", ranks == 1 ? "" : "s");
    if (!measure_child_run(&child, &list, &answers, taking->errors) ||
        !take_answers(taking, ranks, &answers))
        return false;
    text_format(measured, "%s", answers.length > 0 ? answers.bytes : "");
    return true;
}

static bool
measure(struct taking *taking)
{
    struct text measured = text_new(taking->arena);
    int64_t most = 1;
    for (size_t i = 0; i < taking->steps->count; i++)
        if (taking->steps->items[i].ranks > most)
            most = taking->steps->items[i].ranks;
    for (int64_t ranks = 1; ranks <= most; ranks++)
        if (!measure_ranks(taking, ranks, &measured))
            return false;
    return text_write_file(
        &measured, arena_format(taking->arena, "%s.steps.jsonl", taking->stem), taking->errors);
}

/* ---- What to make of it */

static double
error_of(const struct host_step *step)
{
    return step->predicted->step_s / step->quiet_s - 1;
}

static int
compare_reals(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Kendall's tau: pairs in the same order less those in the opposite one, over all pairs. */
static double
rank_correlation(const struct host_steps *steps)
{
    double agreeing = 0, pairs = 0;
    for (size_t i = 0; i < steps->count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct host_step *a = &steps->items[i], *b = &steps->items[j];
            double predicted = a->predicted->step_s - b->predicted->step_s;
            double measured = a->quiet_s - b->quiet_s;
            agreeing += predicted * measured > 0 ? 1 : -1;
            pairs++;
        }
    return pairs > 0 ? agreeing / pairs : 1;
}

static void
judge(struct host_steps *steps, double order_least, struct arena *arena)
{
    double *errors = arena_alloc(arena, steps->count, sizeof *errors);
    for (size_t i = 0; i < steps->count; i++)
        errors[i] = fabs(error_of(&steps->items[i]));
    qsort(errors, steps->count, sizeof *errors, compare_reals);
    steps->median_fraction = (errors[(steps->count - 1) / 2] + errors[steps->count / 2]) / 2;
    steps->tau = rank_correlation(steps);
    steps->keeps_order = steps->tau >= order_least;
}

bool
host_steps_take(const struct host_steps_question *question, struct host_steps *steps,
                struct arena *arena, struct error_list *errors)
{
    bool has_cluster = *question->cluster_path != '\0';
    struct taking taking = {.question = question,
                            .cluster_path = question->cluster_path,
                            .steps = steps,
                            .arena = arena,
                            .errors = errors};
    *steps = (struct host_steps){0};
    taking.stem = stem_of(has_cluster ? question->cluster_path : question->device_path, arena);
    if (!has_cluster && !write_cluster(&taking))
        return false;
    if (!read_list(&taking) || !measure(&taking))
        return false;
    judge(steps, question->order_least, arena);
    return true;
}
