/* Memory by class, stacked over time, stage by stage. */
#include "sim/cli/memory_picture.h"

#include "models/step_passes.h"
#include "sim/base/units.h"
#include "sim/cli/step_rows.h"
#include "sim/cli/version.h"

enum {
    LAYER_WEIGHTS,
    LAYER_GRADIENTS,
    LAYER_OPTIMIZER,
    LAYER_BUFFERS,
    LAYER_ACTIVATIONS,
    LAYER_COUNT,
    STAGES_MAX = 4
};

/* From what is always there to what comes and goes. */
static const struct area_chart_kind KINDS[LAYER_COUNT] = {
    {"weights", STYLE_OTHER, 0},          {"gradients", STYLE_OTHER, -0.45},
    {"optimizer", STYLE_OPTIMIZER, 0},    {"buffers", STYLE_HOST, -0.2},
    {"activations", STYLE_FORWARD, -0.5},
};

static double
kept_bytes(const struct memory *memory, int layer)
{
    if (layer == LAYER_WEIGHTS)
        return memory->weights;
    if (layer == LAYER_GRADIENTS)
        return memory->gradients;
    if (layer == LAYER_OPTIMIZER)
        return memory->optimizer;
    return memory->communication + memory->workspace + memory->runtime + memory->fragmentation;
}

static struct area_chart_layer
make_layer(const struct step_memory *memory, int layer, struct arena *arena)
{
    double *heights = arena_alloc(arena, memory->count + 1, sizeof *heights), most = 0;
    for (size_t i = 0; i < memory->count; i++) {
        heights[i] = layer == LAYER_ACTIVATIONS ? memory->moments[i].activations_bytes
                                                : kept_bytes(&memory->memory, layer);
        most = heights[i] > most ? heights[i] : most;
    }
    return (struct area_chart_layer){heights, arena_format(arena, "%s %s", KINDS[layer].name,
                                                           units_format_bytes(most).text)};
}

static struct area_chart_panel
make_panel(const struct step *step, int64_t stage, struct arena *arena)
{
    struct step_memory memory = step_memory(step, step_rows_stage_slot(step, stage), arena);
    struct area_chart_layer *layers = arena_alloc(arena, LAYER_COUNT, sizeof *layers);
    double *x = arena_alloc(arena, memory.count + 1, sizeof *x);
    for (size_t i = 0; i < memory.count; i++)
        x[i] = units_s_from_ps(memory.moments[i].at_ps);
    for (int i = 0; i < LAYER_COUNT; i++)
        layers[i] = make_layer(&memory, i, arena);
    bool is_alone = step->run->inputs.workload.plan->pipeline == 1;
    const char *title = arena_format(arena, "stage %lld, peak %s", (long long)stage,
                                     units_format_bytes(memory.memory.peak).text);
    return (struct area_chart_panel){is_alone ? NULL : title, x, memory.count, layers};
}

/* The first, middle and last stage, and the one that needs most, each once and in order. */
static size_t
choose_stages(const struct step *step, int64_t stages[STAGES_MAX])
{
    int64_t count = step->run->inputs.workload.plan->pipeline;
    size_t used = 0;
    for (int64_t stage = 0; stage < count; stage++)
        if (stage == 0 || stage == count / 2 || stage == count - 1 ||
            stage == step->memory.stage)
            stages[used++] = stage;
    return used;
}

static const char *
make_title(const struct step *step, double capacity_bytes, struct arena *arena)
{
    const struct memory *memory = &step->memory;
    const char *peak = arena_format(arena, "%s", units_format_bytes(memory->peak).text);
    double left_bytes = capacity_bytes - memory->peak;
    const char *stage = "";
    if (step->run->inputs.workload.plan->pipeline > 1)
        stage = arena_format(arena, " on stage %lld", (long long)memory->stage);
    if (left_bytes < 0)
        return arena_format(arena, "Does not fit: %s at the peak%s, %s more than a GPU has",
                            peak, stage, units_format_bytes(-left_bytes).text);
    return arena_format(arena, "Fits: %s at the peak%s, %s are left", peak, stage,
                        units_format_bytes(left_bytes).text);
}

const struct area_chart *
memory_picture(const struct step *step, double capacity_bytes, struct arena *arena)
{
    const struct step_inputs *inputs = &step->run->inputs;
    struct area_chart *chart = arena_alloc(arena, 1, sizeof *chart);
    struct area_chart_panel *panels = arena_alloc(arena, STAGES_MAX, sizeof *panels);
    int64_t stages[STAGES_MAX];
    size_t count = choose_stages(step, stages);
    for (size_t i = 0; i < count; i++)
        panels[i] = make_panel(step, stages[i], arena);
    *chart = (struct area_chart){
        .title = make_title(step, capacity_bytes, arena),
        .subtitle = arena_format(
            arena, "predicted: %s on %lld %s, %s · what one GPU keeps over a step of %s",
            inputs->workload.arch->name, (long long)cluster_gpus(inputs->cluster),
            inputs->cluster->device->name, inputs->workload.plan->name,
            units_format_s(step->step_s).text),
        .footer = arena_format(arena, "stepcast %s: %s", STEPCAST_VERSION, step->heading),
        .x_name = "time",
        .x_unit = "s",
        .y_name = "memory",
        .y_unit = "B",
        .limit = capacity_bytes,
        .limit_name =
            arena_format(arena, "a GPU has %s", units_format_bytes(capacity_bytes).text),
        .kinds = KINDS,
        .kind_count = LAYER_COUNT,
        .panels = panels,
        .panel_count = count,
    };
    return chart;
}
