/* A step as a timeline: which row, colour and label each of its tasks gets. */
#include "sim/cli/step_picture.h"

#include <string.h>

#include "sim/base/units.h"
#include "sim/cli/version.h"

/* Kernels that only move bytes are drawn nearer to white than products and attention. */
static const double MEMORY_BOUND_SHADE = -0.375;

static bool
is_matrix_work(const struct step_work *work)
{
    if (!work->kernel)
        return true; /* Newton-Schulz of a share: products */
    enum kernel_kind kind = work->kernel->kind;
    return kind == KERNEL_GEMM || kind == KERNEL_GROUPED_GEMM || kind == KERNEL_ATTENTION ||
           kind == KERNEL_NEWTON_SCHULZ;
}

static enum style_slot
slot_of(const struct step_item *item, const struct step_work *work)
{
    switch (item->lane) {
    case LANE_HOST:
        return STYLE_HOST;
    case LANE_DATA:
        return STYLE_DATA_PARALLEL;
    case LANE_TENSOR:
    case LANE_CONTEXT:
        return STYLE_TENSOR_PARALLEL;
    case LANE_EXPERT:
        return STYLE_EXPERT_PARALLEL;
    case LANE_FORWARD_IN:
    case LANE_BACKWARD_IN:
        return STYLE_PIPELINE_PARALLEL;
    case LANE_COMPUTE:
    case STEP_LANE_COUNT:
        break;
    }
    if (item->phase == PHASE_OPTIMIZER)
        return STYLE_OPTIMIZER;
    if (item->phase == PHASE_FORWARD)
        return STYLE_FORWARD;
    return strstr(work->name, "weight_gradient") ? STYLE_WEIGHT_GRADIENT : STYLE_BACKWARD;
}

/* "reduce_gradients" as people write it. */
static const char *
label_of(const char *name, struct arena *arena)
{
    char *label = arena_format(arena, "%s", name);
    for (char *at = label; *at; at++)
        if (*at == '_' || *at == '.')
            *at = ' ';
    return label;
}

static const uint32_t *
lane_tasks(const struct step *step, enum step_lane lane, size_t *count)
{
    return trace_lane_tasks(step->trace, lowered_lane(&step->lowered, lane), count);
}

/* Lanes that have nothing to run get no row. */
static uint32_t
row_of(const struct step *step, enum step_lane lane)
{
    uint32_t row = 0;
    for (int before = 0; before < (int)lane; before++) {
        size_t count = 0;
        lane_tasks(step, (enum step_lane)before, &count);
        row += count > 0;
    }
    return row;
}

static struct timeline_span
span_of(const struct step *step, uint32_t task, struct arena *arena)
{
    const struct step_item *item = step_item_of(step, task);
    const struct step_work *work = step_work_of(step, task);
    bool is_light = item->lane == LANE_COMPUTE && !is_matrix_work(work);
    return (struct timeline_span){.start_ps = step->trace->entries[task].start_ps,
                                  .end_ps = step->trace->entries[task].end_ps,
                                  .row = row_of(step, item->lane),
                                  .slot = slot_of(item, work),
                                  .shade = is_light ? MEMORY_BOUND_SHADE : 0,
                                  .label = label_of(work->name, arena)};
}

/* Gaps of the compute row, hatched: what the breakdown calls exposed, host or bubble. */
static void
add_gaps(const struct step *step, struct timeline *timeline, struct timeline_span *spans)
{
    size_t count = 0;
    const uint32_t *tasks = lane_tasks(step, LANE_COMPUTE, &count);
    int64_t now_ps = 0;
    for (size_t i = 0; i <= count; i++) {
        const struct trace_entry *entry = i < count ? &step->trace->entries[tasks[i]] : NULL;
        int64_t until_ps = entry ? entry->start_ps : step->step_ps;
        if (until_ps > now_ps)
            spans[timeline->span_count++] =
                (struct timeline_span){.start_ps = now_ps,
                                       .end_ps = until_ps,
                                       .row = row_of(step, LANE_COMPUTE),
                                       .slot = STYLE_BUBBLE,
                                       .label = "waiting"};
        now_ps = entry ? entry->end_ps : now_ps;
    }
}

static void
add_spans(const struct step *step, struct timeline *timeline, struct arena *arena)
{
    size_t total = 0, count = 0;
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++) {
        lane_tasks(step, (enum step_lane)lane, &count);
        total +=
            lane == LANE_COMPUTE ? 2 * count + 1 : count; /* a gap before each, and a last */
    }
    struct timeline_span *spans = arena_alloc(arena, total, sizeof *spans);
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++) {
        const uint32_t *tasks = lane_tasks(step, (enum step_lane)lane, &count);
        for (size_t i = 0; i < count; i++)
            spans[timeline->span_count++] = span_of(step, tasks[i], arena);
    }
    add_gaps(step, timeline, spans);
    timeline->spans = spans;
}

static double
busy_fraction(const struct step *step, enum step_lane lane)
{
    size_t count = 0;
    const uint32_t *tasks = lane_tasks(step, lane, &count);
    int64_t busy_ps = 0;
    for (size_t i = 0; i < count; i++)
        busy_ps +=
            step->trace->entries[tasks[i]].end_ps - step->trace->entries[tasks[i]].start_ps;
    return (double)busy_ps / (double)step->step_ps;
}

static void
add_rows(const struct step *step, struct timeline *timeline, struct arena *arena)
{
    static const char *const labels[STEP_LANE_COUNT] = {
        "host",   "compute",          "data parallel", "tensor parallel",
        "expert", "context parallel", "forward in",    "backward in"};
    struct timeline_row *rows = arena_alloc(arena, STEP_LANE_COUNT, sizeof *rows);
    timeline->rows = rows;
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++) {
        size_t count = 0;
        lane_tasks(step, (enum step_lane)lane, &count);
        double busy = busy_fraction(step, (enum step_lane)lane);
        if (count > 0)
            rows[timeline->row_count++] = (struct timeline_row){
                labels[lane], arena_format(arena, "busy %.0f %%", 100 * busy)};
    }
}

/* The compute lane's phases: a new one where the phase or, of forward and backward, the microbatch
 * changes. A phase lasts until the next begins. */
static void
add_phases(const struct step *step, struct timeline *timeline, struct arena *arena)
{
    size_t count = 0;
    const uint32_t *tasks = lane_tasks(step, LANE_COMPUTE, &count);
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

static enum style_slot
class_slot(enum step_class spent_on)
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
    enum style_slot slot_a = class_slot((enum step_class)a),
                    slot_b = class_slot((enum step_class)b);
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
    struct timeline_piece *pieces = arena_alloc(arena, STEP_CLASS_COUNT, sizeof *pieces);
    bool is_done[STEP_CLASS_COUNT] = {false};
    for (int i = next_class(step, is_done); i >= 0; i = next_class(step, is_done)) {
        enum step_class spent_on = (enum step_class)i;
        const char *label = step_class_label(spent_on);
        if (step_class_is_communication(spent_on))
            label = arena_format(arena, "exposed %s", label);
        pieces[timeline->piece_count++] =
            (struct timeline_piece){label, units_s_from_ps(step->class_ps[i]),
                                    class_slot(spent_on), class_shade(spent_on)};
        is_done[i] = true;
    }
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

static void
add_words(const struct step *step, struct timeline *timeline, struct arena *arena)
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
        "predicted: %s on %lld %s, %s: %s tokens a step, %s tokens/s per GPU, MFU %s; shown is "
        "rank %lld, the slowest",
        inputs->workload.arch->name, (long long)cluster_gpus(inputs->cluster),
        inputs->cluster->device->name, plan->name,
        units_format_count((double)plan_step_tokens(plan)).text,
        units_format_count(step->tokens_per_s_per_gpu).text,
        units_format_fraction(step->mfu).text, (long long)step->lowered.representative);
    timeline->footer =
        arena_format(arena, "stepcast %s: %s; software %s, cluster %s", STEPCAST_VERSION,
                     step->heading, inputs->workload.software->name, inputs->cluster->name);
    timeline->legend_note = "lighter: kernels that only move bytes";
}

/* By itself: the last eighth of the step, where backward, reductions and optimizer meet. */
static void
add_zoom(const struct step *step, struct timeline *timeline, struct zoom_window zoom)
{
    timeline->zoom_start_ps = units_ps_from_s(zoom.from_s);
    timeline->zoom_end_ps = units_ps_from_s(zoom.to_s);
    if (zoom.to_s > 0)
        return;
    timeline->zoom_start_ps = step->step_ps - step->step_ps / 8;
    timeline->zoom_end_ps = step->step_ps;
    timeline->zoom_title = "the last eighth of the step, enlarged";
}

const struct timeline *
step_picture(const struct step *step, struct zoom_window zoom, struct arena *arena)
{
    struct timeline *timeline = arena_alloc(arena, 1, sizeof *timeline);
    timeline->end_ps = step->step_ps;
    add_words(step, timeline, arena);
    add_rows(step, timeline, arena);
    add_spans(step, timeline, arena);
    add_phases(step, timeline, arena);
    add_pieces(step, timeline, arena);
    add_zoom(step, timeline, zoom);
    timeline->slot_names[STYLE_BACKWARD] = "backward, input gradients";
    timeline->slot_names[STYLE_BUBBLE] = "waiting";
    return timeline;
}
