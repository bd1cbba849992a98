/* A step as a timeline: its words, phases, bar of causes, memory, and what of it is enlarged. */
#include "sim/cli/step_picture.h"

#include "models/step_passes.h"
#include "sim/base/units.h"
#include "sim/cli/step_rows.h"
#include "sim/cli/version.h"

/* A smaller part of the step than this gets no name of its own in the bar of causes. */
static const double PIECE_FRACTION_MIN = 0.001;
/* From so many microbatches on the steady state says more than the end. */
enum { MICROBATCHES_MANY = 8 };

/* The compute lane's phases: a new one where the phase or, of forward and backward, the microbatch
 * changes. A phase lasts until the next begins. */
static void
add_phases(const struct step *step, int64_t rank, struct timeline *timeline,
           struct arena *arena)
{
    size_t count = 0;
    const uint32_t *tasks = trace_lane_tasks(
        step->trace, lowered_slot(&step->lowered, rank) * STEP_LANE_COUNT + LANE_COMPUTE,
        &count);
    struct timeline_phase *phases = arena_alloc(arena, count + 1, sizeof *phases);
    const struct step_item *before = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct step_item *item = step_item_of(step, tasks[i]);
        int64_t start_ps = step->trace->entries[tasks[i]].start_ps;
        if (before && before->phase == item->phase && before->microbatch == item->microbatch)
            continue;
        if (before)
            phases[timeline->phase_count - 1].end_ps = start_ps;
        const char *name = step_phase_name(item->phase);
        phases[timeline->phase_count++] = (struct timeline_phase){
            start_ps, step->step_ps,
            item->microbatch < 0 ? name
                                 : arena_format(arena, "%s %d", name, item->microbatch + 1)};
        before = item;
    }
    timeline->phases = phases;
}

enum style_slot
step_picture_class_slot(enum step_class spent_on)
{
    if (spent_on == CLASS_TENSOR_EXCHANGE || spent_on == CLASS_CONTEXT_EXCHANGE)
        return STYLE_TENSOR_PARALLEL;
    if (spent_on == CLASS_EXPERT_EXCHANGE)
        return STYLE_EXPERT_PARALLEL;
    if (spent_on == CLASS_PIPELINE_TRANSFER)
        return STYLE_PIPELINE_PARALLEL;
    if (step_class_is_communication(spent_on))
        return STYLE_DATA_PARALLEL;
    if (spent_on == CLASS_HOST)
        return STYLE_HOST;
    if (spent_on == CLASS_BUBBLE)
        return STYLE_BUBBLE;
    bool is_optimizer = spent_on == CLASS_NEWTON_SCHULZ || spent_on == CLASS_OPTIMIZER_UPDATE;
    return is_optimizer ? STYLE_OPTIMIZER : STYLE_FORWARD;
}

/* By colour in the order of the classes, within a colour the largest first. */
static bool
is_before(const struct step *step, int a, int b)
{
    enum style_slot slot_a = step_picture_class_slot((enum step_class)a),
                    slot_b = step_picture_class_slot((enum step_class)b);
    return slot_a == slot_b ? step->class_ps[a] > step->class_ps[b] : a < b;
}

static int
next_class(const struct step *step, const bool *is_done)
{
    int next = -1;
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        if (!is_done[i] && step->class_ps[i] > 0 && (next < 0 || is_before(step, i, next)))
            next = i;
    return next;
}

/* Each class has its shade in every picture; those of one colour differ. */
static double
class_shade(enum step_class spent_on)
{
    static const double shades[STEP_CLASS_COUNT] = {
        [CLASS_ATTENTION_CORE] = 0.25,
        [CLASS_EXPERT] = 0,
        [CLASS_HEAD] = -0.25,
        [CLASS_ATTENTION_PROJECTION] = -0.5,
        [CLASS_GRADIENT_ACCUMULATION] = 0.5,
        [CLASS_QUANTIZATION] = 0.625,
        [CLASS_ATTENTION_MIXING] = -0.625,
        [CLASS_ROUTER] = 0.375,
        [CLASS_NORM_RESIDUAL] = -0.375,
        [CLASS_DISPATCH] = 0.125,
        [CLASS_EMBEDDING] = -0.125,
        [CLASS_OVERLAP] = -0.75,
        [CLASS_OPTIMIZER_UPDATE] = -0.5,
        [CLASS_PARAMETER_GATHER] = -0.5,
        [CLASS_OPTIMIZER_EXCHANGE] = -0.25,
        [CLASS_GRADIENT_NORM] = -0.75,
    };
    return shades[spent_on];
}

static void
add_pieces(const struct step *step, struct timeline *timeline, struct arena *arena)
{
    struct timeline_piece *pieces = arena_alloc(arena, STEP_CLASS_COUNT + 1, sizeof *pieces);
    bool is_done[STEP_CLASS_COUNT] = {false};
    int64_t rest_ps = 0;
    for (int i = next_class(step, is_done); i >= 0; i = next_class(step, is_done)) {
        enum step_class spent_on = (enum step_class)i;
        const char *label = step_class_label(spent_on);
        is_done[i] = true;
        if ((double)step->class_ps[i] < PIECE_FRACTION_MIN * (double)step->step_ps) {
            rest_ps += step->class_ps[i];
            continue;
        }
        if (step_class_is_communication(spent_on))
            label = arena_format(arena, "exposed %s", label);
        pieces[timeline->piece_count++] =
            (struct timeline_piece){label, units_s_from_ps(step->class_ps[i]),
                                    step_picture_class_slot(spent_on), class_shade(spent_on)};
    }
    if (2 * (double)rest_ps >= PIECE_FRACTION_MIN * (double)step->step_ps)
        pieces[timeline->piece_count++] =
            (struct timeline_piece){"all else", units_s_from_ps(rest_ps), STYLE_OTHER, 0};
    timeline->pieces = pieces;
    timeline->pieces_title = "Where the step goes";
}

static double
percent_of(const struct step *step, enum step_group group)
{
    return 100 * (double)step_group_ps(step, group) / (double)step->step_ps;
}

/* The largest of what is not computing: that is what a reader can do something about. */
static enum step_group
largest_wait(const struct step *step)
{
    enum step_group largest = GROUP_OVERLAP;
    for (int group = GROUP_OVERLAP; group < STEP_GROUP_COUNT; group++)
        if (step_group_ps(step, (enum step_group)group) > step_group_ps(step, largest))
            largest = (enum step_group)group;
    return largest;
}

static bool
is_pipeline(const struct step *step)
{
    return step->run->inputs.workload.plan->pipeline > 1;
}

static uint32_t
own_slot(const struct step *step)
{
    return lowered_slot(&step->lowered, step->lowered.representative);
}

static const char *
stage_of_representative(const struct step *step, struct arena *arena)
{
    return is_pipeline(step) ? arena_format(arena, ", stage %lld",
                                            (long long)step_slot_stage(step, own_slot(step)))
                             : "";
}

static bool
is_slowest_alone(const struct step *step, const struct shown_ranks *shown)
{
    return shown->count == 1 && shown->ranks[0] == step->lowered.representative;
}

/* Whose figures the words and the bar are: of lanes too, where no others were asked for. */
static const char *
whose_figures(const struct step *step, const struct shown_ranks *shown)
{
    if (!is_slowest_alone(step, shown))
        return "lanes by rank; bar: the slowest,";
    return is_pipeline(step) ? "lanes and bar:" : "shown is the slowest,";
}

static void
add_words(const struct step *step, const struct shown_ranks *shown, struct timeline *timeline,
          struct arena *arena)
{
    const struct step_inputs *inputs = &step->run->inputs;
    const struct plan *plan = inputs->workload.plan;
    enum step_group wait = largest_wait(step);
    timeline->title =
        arena_format(arena, "A step takes %s: %.1f %% computing, %.1f %% %s",
                     units_format_s(step->step_s).text,
                     percent_of(step, GROUP_COMPUTE) + percent_of(step, GROUP_OPTIMIZER),
                     percent_of(step, wait), step_group_label(wait));
    timeline->subtitle = arena_format(
        arena,
        "predicted: %s on %lld %s, %s: %s tokens a step, %s tokens/s per GPU, MFU %s; %s rank "
        "%lld%s",
        inputs->workload.arch->name, (long long)cluster_gpus(inputs->cluster),
        inputs->cluster->device->name, plan->name,
        units_format_count((double)plan_step_tokens(plan)).text,
        units_format_count(step->tokens_per_s_per_gpu).text,
        units_format_fraction(step->mfu).text, whose_figures(step, shown),
        (long long)step->lowered.representative, stage_of_representative(step, arena));
    timeline->footer =
        arena_format(arena, "stepcast %s: %s; software %s, cluster %s", STEPCAST_VERSION,
                     step->heading, inputs->workload.software->name, inputs->cluster->name);
    timeline->legend_note =
        plan_chunks(plan) > 1
            ? "lighter: kernels that only move bytes, passes of a second chunk"
            : "lighter: kernels that only move bytes";
}

/* From a forward in the middle to the second one behind it; false where there are not so many. */
static bool
find_steady(const struct step *step, struct timeline *timeline, struct arena *arena)
{
    size_t count = 0, forwards = 0;
    const struct step_pass *passes = step_passes(step, own_slot(step), arena, &count);
    int64_t *starts_ps = arena_alloc(arena, count + 1, sizeof *starts_ps);
    for (size_t i = 0; i < count; i++)
        if (passes[i].step.pass == PASS_FORWARD)
            starts_ps[forwards++] = passes[i].start_ps;
    if (forwards < 3)
        return false;
    size_t first = (forwards - 2) / 2;
    timeline->zoom_start_ps = starts_ps[first];
    timeline->zoom_end_ps = starts_ps[first + 2];
    timeline->zoom_title = "two microbatches";
    return starts_ps[first] < starts_ps[first + 2];
}

static void
add_zoom(const struct step *step, struct timeline *timeline, struct zoom zoom,
         struct arena *arena)
{
    bool is_long =
        is_pipeline(step) || plan_microbatches(step->run->inputs.workload.plan,
                                               step->run->inputs.cluster) >= MICROBATCHES_MANY;
    bool is_steady = zoom.kind == ZOOM_STEADY || (zoom.kind == ZOOM_AUTO && is_long);
    timeline->zoom_start_ps = units_ps_from_s(zoom.from_s);
    timeline->zoom_end_ps = units_ps_from_s(zoom.to_s);
    if (zoom.kind == ZOOM_WINDOW || (is_steady && find_steady(step, timeline, arena)))
        return;
    timeline->zoom_start_ps = step->step_ps - step->step_ps / 8;
    timeline->zoom_end_ps = step->step_ps;
    timeline->zoom_title = "the last eighth of the step";
}

/* Of the stage that needs most: what is kept through the step, and activations on top. */
static void
add_memory(const struct step *step, struct timeline *timeline, struct arena *arena)
{
    struct step_memory memory =
        step_memory(step, step_rows_stage_slot(step, step->memory.stage), arena);
    struct timeline_curve *curve = arena_alloc(arena, 1, sizeof *curve);
    struct timeline_layer *layers = arena_alloc(arena, 2, sizeof *layers);
    double *kept = arena_alloc(arena, memory.count, sizeof *kept);
    double *activations = arena_alloc(arena, memory.count, sizeof *activations);
    int64_t *at_ps = arena_alloc(arena, memory.count, sizeof *at_ps);
    for (size_t i = 0; i < memory.count; i++) {
        at_ps[i] = memory.moments[i].at_ps;
        kept[i] = memory.kept_bytes;
        activations[i] = memory.moments[i].activations_bytes;
    }
    layers[0] = (struct timeline_layer){"weights, gradients, optimizer, buffers", STYLE_OTHER,
                                        -0.5, kept};
    layers[1] = (struct timeline_layer){"activations", STYLE_FORWARD, -0.5, activations};
    *curve = (struct timeline_curve){.label = "memory",
                                     .at_ps = at_ps,
                                     .count = memory.count,
                                     .layers = layers,
                                     .layer_count = 2,
                                     .limit = memory.memory.capacity};
    curve->sub_label =
        arena_format(arena, "peak %s", units_format_bytes(memory.memory.peak).text);
    if (is_pipeline(step)) {
        curve->sub_label = arena_format(arena, "stage %lld, %s", (long long)memory.memory.stage,
                                        units_format_bytes(memory.memory.peak).text);
    }
    curve->limit_label =
        arena_format(arena, "%s of a %s", units_format_bytes(memory.memory.capacity).text,
                     step->run->inputs.cluster->device->name);
    timeline->curve = curve;
}

static void
add_rows(const struct step *step, const struct shown_ranks *shown, struct timeline *timeline,
         struct arena *arena)
{
    struct step_rows rows = step_rows_new(step, arena);
    if (is_pipeline(step))
        step_rows_add_stages(&rows, TIMELINE_BOTH);
    else
        add_phases(step, shown->ranks[shown->own], timeline, arena);
    for (size_t i = 0; i < shown->count; i++) {
        const char *name = is_slowest_alone(step, shown)
                               ? ""
                               : arena_format(arena, "%lld", (long long)shown->ranks[i]);
        step_rows_add_lanes(&rows, shown->ranks[i], name,
                            is_pipeline(step) ? TIMELINE_ZOOM : TIMELINE_BOTH);
    }
    timeline->rows = rows.rows;
    timeline->row_count = rows.row_count;
    timeline->spans = rows.spans;
    timeline->span_count = rows.span_count;
}

const struct timeline *
step_picture(const struct step *step, struct zoom zoom, const struct shown_ranks *shown,
             struct arena *arena)
{
    struct timeline *timeline = arena_alloc(arena, 1, sizeof *timeline);
    timeline->end_ps = step->step_ps;
    add_words(step, shown, timeline, arena);
    add_rows(step, shown, timeline, arena);
    add_pieces(step, timeline, arena);
    add_memory(step, timeline, arena);
    add_zoom(step, timeline, zoom, arena);
    timeline->slot_names[STYLE_BACKWARD] = "backward, input gradients";
    timeline->slot_names[STYLE_BUBBLE] = "waiting";
    return timeline;
}
