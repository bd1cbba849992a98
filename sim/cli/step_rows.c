/* Which row, colour and label each task of a step gets. */
#include "sim/cli/step_rows.h"

#include <string.h>

#include "models/step_account.h"
#include "models/step_passes.h"
#include "sim/base/units.h"
#include "sim/cli/step_picture.h"

/* Kernels that only move bytes are drawn nearer to white than products and attention. */
static const double MEMORY_BOUND_SHADE = -0.375;
/* Passes through the second and further chunks of a stage. */
static const double CHUNK_SHADE = -0.25;
/* Of a stage's row, what passes take; the rest says where compute waits. */
static const double PASSES_WEIGHT = 0.72;

struct step_rows
step_rows_new(const struct step *step, struct arena *arena)
{
    struct step_rows rows = {.step = step, .arena = arena};
    size_t length = trace_critical_path(step->trace, NULL, 0);
    uint32_t *chain = arena_alloc(arena, length + 1, sizeof *chain);
    trace_critical_path(step->trace, chain, length);
    rows.is_critical = arena_alloc(arena, step->trace->count + 1, sizeof *rows.is_critical);
    for (size_t i = 0; i < length; i++)
        rows.is_critical[chain[i]] = true;
    return rows;
}

static uint32_t
add_row(struct step_rows *rows, struct timeline_row row)
{
    rows->rows = arena_grow(rows->arena, rows->rows, rows->row_count, &rows->row_room,
                            sizeof *rows->rows);
    rows->rows[rows->row_count] = row;
    return (uint32_t)rows->row_count++;
}

static void
add_span(struct step_rows *rows, struct timeline_span span)
{
    rows->spans = arena_grow(rows->arena, rows->spans, rows->span_count, &rows->span_room,
                             sizeof *rows->spans);
    rows->spans[rows->span_count++] = span;
}

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
lane_slot(const struct step_item *item, const struct step_work *work)
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

static void
add_task(struct step_rows *rows, uint32_t row, uint32_t task)
{
    const struct step_item *item = step_item_of(rows->step, task);
    const struct step_work *work = step_work_of(rows->step, task);
    const struct trace_entry *entry = &rows->step->trace->entries[task];
    bool is_light = item->lane == LANE_COMPUTE && !is_matrix_work(work);
    add_span(rows, (struct timeline_span){.start_ps = entry->start_ps,
                                          .end_ps = entry->end_ps,
                                          .row = row,
                                          .slot = lane_slot(item, work),
                                          .shade = is_light ? MEMORY_BOUND_SHADE : 0,
                                          .label = label_of(work->name, rows->arena),
                                          .is_critical = rows->is_critical[task]});
}

static void
add_gap(struct step_rows *rows, uint32_t row, int64_t start_ps, int64_t end_ps)
{
    if (start_ps < end_ps)
        add_span(rows, (struct timeline_span){.start_ps = start_ps,
                                              .end_ps = end_ps,
                                              .row = row,
                                              .slot = STYLE_BUBBLE,
                                              .label = "waiting"});
}

/* Of a rank's rows. */
struct lanes {
    uint32_t slot;
    const char *name;
    enum timeline_place place;
};

/* A lane's tasks; gaps of the compute lane are hatched: what the breakdown calls exposed, host or
 * bubble. */
static void
add_lane(struct step_rows *rows, const struct lanes *lanes, enum step_lane lane)
{
    static const char *const labels[STEP_LANE_COUNT] = {
        "host",   "compute",          "data parallel", "tensor parallel",
        "expert", "context parallel", "forward in",    "backward in"};
    static const char *const short_labels[STEP_LANE_COUNT] = {
        "host", "compute", "data", "tensor", "expert", "context", "forward", "backward"};
    const struct step *step = rows->step;
    size_t count = 0;
    const uint32_t *tasks =
        trace_lane_tasks(step->trace, lanes->slot * STEP_LANE_COUNT + (uint32_t)lane, &count);
    if (count == 0)
        return;
    const char *label = labels[lane];
    if (*lanes->name)
        label = arena_format(rows->arena, "%s %s", lanes->name, short_labels[lane]);
    uint32_t row = add_row(rows, (struct timeline_row){.label = label, .place = lanes->place});
    int64_t busy_ps = 0, now_ps = 0;
    for (size_t i = 0; i < count; i++) {
        const struct trace_entry *entry = &step->trace->entries[tasks[i]];
        if (lane == LANE_COMPUTE)
            add_gap(rows, row, now_ps, entry->start_ps);
        add_task(rows, row, tasks[i]);
        now_ps = entry->end_ps;
        busy_ps += entry->end_ps - entry->start_ps;
    }
    if (lane == LANE_COMPUTE)
        add_gap(rows, row, now_ps, step->step_ps);
    rows->rows[row].sub_label = arena_format(rows->arena, "busy %.0f %%",
                                             100 * (double)busy_ps / (double)step->step_ps);
}

void
step_rows_add_lanes(struct step_rows *rows, int64_t rank, const char *name,
                    enum timeline_place place)
{
    const struct lanes lanes = {lowered_slot(&rows->step->lowered, rank), name, place};
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++)
        add_lane(rows, &lanes, (enum step_lane)lane);
}

uint32_t
step_rows_stage_slot(const struct step *step, int64_t stage)
{
    const struct program *program = step->lowered.program;
    int64_t among = program_kind(program, step->lowered.representative)->expert_place;
    const struct rank_program *kind = &program->kinds[stage * program->expert_places + among];
    return lowered_slot(&step->lowered, kind->slowest_rank);
}

/* A stage as its row shows it. */
struct stage_passes {
    uint32_t row, slot;
    const struct step_pass *passes;
    size_t count;
    int64_t *critical_ps; /* of each pass, what lies on the chain */
};

/* Kernels of one pass behind each other, or of none and one phase without a gap. */
struct pass_run {
    int64_t start_ps, end_ps;
    const struct step_item *item; /* NULL: none yet */
};

/* Kernels and exchanges of passes that lie on the chain. */
static void
count_critical(const struct step_rows *rows, struct stage_passes *stage)
{
    const struct step *step = rows->step;
    stage->critical_ps = arena_alloc(rows->arena, stage->count + 1, sizeof *stage->critical_ps);
    for (uint32_t lane = LANE_COMPUTE; lane < STEP_LANE_COUNT; lane++) {
        size_t count = 0;
        const uint32_t *tasks =
            trace_lane_tasks(step->trace, stage->slot * STEP_LANE_COUNT + lane, &count);
        for (size_t i = 0; i < count; i++) {
            const struct trace_entry *entry = &step->trace->entries[tasks[i]];
            int32_t pass = step_item_of(step, tasks[i])->pass;
            if (pass != STEP_NONE && rows->is_critical[tasks[i]])
                stage->critical_ps[pass] += entry->end_ps - entry->start_ps;
        }
    }
}

static enum style_slot
pass_slot(const struct step_item *item, const struct step_pass *passes)
{
    if (item->pass == STEP_NONE)
        return item->phase == PHASE_OPTIMIZER ? STYLE_OPTIMIZER : STYLE_FORWARD;
    switch (passes[item->pass].step.pass) {
    case PASS_FORWARD:
        return STYLE_FORWARD;
    case PASS_WEIGHT_GRADIENT:
        return STYLE_WEIGHT_GRADIENT;
    case PASS_BACKWARD:
    case PASS_INPUT_GRADIENT:
        break;
    }
    return STYLE_BACKWARD;
}

static void
add_run(struct step_rows *rows, const struct stage_passes *stage, const struct pass_run *run)
{
    const struct step_item *item = run->item;
    if (!item)
        return;
    struct timeline_span span = {.start_ps = run->start_ps,
                                 .end_ps = run->end_ps,
                                 .row = stage->row,
                                 .slot = pass_slot(item, stage->passes)};
    if (item->pass != STEP_NONE) {
        const struct step_pass *pass = &stage->passes[item->pass];
        span.label = arena_format(rows->arena, "%d", item->microbatch + 1);
        span.shade = pass->step.chunk > 0 ? CHUNK_SHADE : 0;
        span.is_critical = 2 * stage->critical_ps[item->pass] > pass->end_ps - pass->start_ps;
    } else if (item->phase == PHASE_OPTIMIZER)
        span.label = "optimizer";
    add_span(rows, span);
}

/* The compute lane as passes. Two that run beside each other alternate. */
static void
add_passes(struct step_rows *rows, const struct stage_passes *stage)
{
    const struct step *step = rows->step;
    size_t count = 0;
    const uint32_t *tasks =
        trace_lane_tasks(step->trace, stage->slot * STEP_LANE_COUNT + LANE_COMPUTE, &count);
    struct pass_run run = {.item = NULL};
    for (size_t i = 0; i < count; i++) {
        const struct step_item *item = step_item_of(step, tasks[i]);
        const struct trace_entry *entry = &step->trace->entries[tasks[i]];
        bool is_near = item->pass != STEP_NONE || entry->start_ps == run.end_ps;
        bool goes_on = run.item && is_near && run.item->pass == item->pass &&
                       run.item->phase == item->phase;
        if (!goes_on) {
            add_run(rows, stage, &run);
            run = (struct pass_run){.start_ps = entry->start_ps, .item = item};
        }
        run.end_ps = entry->end_ps;
    }
    add_run(rows, stage, &run);
}

/* In the strip beneath, what the rank waits for; bubbles fill the row above too, behind passes.
 * Returns how long it waits for other ranks. */
static int64_t
add_waits(struct step_rows *rows, const struct stage_passes *stage)
{
    size_t count = 0;
    const struct step_stretch *list =
        step_account_list(rows->step, stage->slot, rows->arena, &count);
    int64_t bubble_ps = 0;
    for (size_t i = 0; i < count; i++) {
        enum step_group group = step_class_group(list[i].spent_on);
        struct timeline_span span = {.start_ps = list[i].start_ps,
                                     .end_ps = list[i].end_ps,
                                     .row = stage->row + 1,
                                     .slot = step_picture_class_slot(list[i].spent_on)};
        if (group == GROUP_NETWORK || group == GROUP_HOST || group == GROUP_BUBBLE)
            add_span(rows, span);
        if (group != GROUP_BUBBLE)
            continue;
        bubble_ps += span.end_ps - span.start_ps;
        span.row = stage->row;
        add_span(rows, span);
    }
    return bubble_ps;
}

void
step_rows_add_stages(struct step_rows *rows, enum timeline_place place)
{
    const struct step *step = rows->step;
    const struct step_inputs *inputs = &step->run->inputs;
    const struct memory *memories = memory_of_stages(inputs, rows->arena);
    for (int64_t i = 0; i < inputs->workload.plan->pipeline; i++) {
        struct stage_passes stage = {.slot = step_rows_stage_slot(step, i)};
        stage.passes = step_passes(step, stage.slot, rows->arena, &stage.count);
        const char *label = arena_format(rows->arena, "stage %lld", (long long)i);
        stage.row = add_row(rows, (struct timeline_row){
                                      .label = label, .place = place, .weight = PASSES_WEIGHT});
        add_row(rows, (struct timeline_row){.label = "",
                                            .place = place,
                                            .weight = 1 - PASSES_WEIGHT,
                                            .is_attached = true});
        count_critical(rows, &stage);
        add_passes(rows, &stage);
        double bubble = (double)add_waits(rows, &stage) / (double)step->step_ps;
        rows->rows[stage.row].sub_label =
            arena_format(rows->arena, "bubble %.0f %%, %s", 100 * bubble,
                         units_format_bytes(memories[i].peak).text);
    }
}
