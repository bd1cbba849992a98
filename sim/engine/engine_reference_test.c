/* Does the engine agree with the plainest simulator that can be written, on random graphs?
 *
 * The reference keeps time in doubles and rounds nothing. At every step it looks at every task,
 * finds all rates from the beginning and moves all to the next end. The engine rounds each end to
 * a picosecond, so the two drift apart by about one picosecond a task on a path. */
#include "sim/engine/engine.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_often.h"
#include "sim/base/check_random.h"

enum {
    CASES = 400,
    LANES_MAX = 6,
    LANES_A_TASK_MAX = 3,
    RESOURCES_MAX = 5,
    DEMANDS_MAX = 5,
    USAGES_MAX = 3,
    TASKS_MAX = 40,
    DEPENDENCIES_A_TASK_MAX = 2
};

static const double DRIFT_PS_A_TASK = 1;
static const double PS_PER_S = 1e12;
static const double SMALLEST_STEP_PS = 1e-6; /* of the reference: shorter rests are rounding */

static struct arena *arena;

static void
begin(void)
{
    arena = check_arena_new();
}

static void
end(void)
{
    arena_free(arena);
}

struct scenario_task {
    struct task task;
    size_t lane_count;
    uint32_t lanes[LANES_A_TASK_MAX];
    size_t before_count;
    uint32_t before[DEPENDENCIES_A_TASK_MAX];
};

struct scenario {
    size_t lane_count, resource_count, demand_count, task_count;
    double capacity_per_s[RESOURCES_MAX];
    struct task_demand demands[DEMANDS_MAX];
    struct task_usage usages[DEMANDS_MAX][USAGES_MAX];
    struct scenario_task tasks[TASKS_MAX];
};

static void
random_demand(struct scenario *s, size_t index, uint64_t *state)
{
    struct task_demand *demand = &s->demands[index];
    demand->top_rate_per_s = 1e9 * (1 + check_random_below(state, 10));
    demand->weight = 1 + check_random_below(state, 3);
    demand->usage_count = check_random_below(state, USAGES_MAX + 1);
    for (size_t i = 0; i < demand->usage_count; i++) {
        /* Bases go up to 1, so that base + resource stays in range. */
        uint32_t resource = check_random_below(state, (uint32_t)s->resource_count - 1);
        s->usages[index][i] =
            (struct task_usage){resource, 0.25 * (1 + check_random_below(state, 8))};
    }
}

static void
random_lanes(const struct scenario *s, struct scenario_task *task, uint64_t *state)
{
    size_t wanted = check_random_below(state, 4) > 0 ? 1 : LANES_A_TASK_MAX;
    uint32_t first = check_random_below(state, (uint32_t)s->lane_count);
    for (size_t i = 0; i < wanted && i < s->lane_count; i++) {
        task->lanes[task->lane_count++] = (first + (uint32_t)i) % (uint32_t)s->lane_count;
    }
}

static void
random_task(const struct scenario *s, size_t index, struct scenario_task *task, uint64_t *state)
{
    random_lanes(s, task, state);
    task->task.demand = (int32_t)check_random_below(state, (uint32_t)s->demand_count + 1) - 1;
    task->task.delay_ps = check_random_below(state, 2) ? check_random_below(state, 2000000) : 0;
    task->task.work = check_random_below(state, 8) * 777.7;
    task->task.resource_base = check_random_below(state, 2);
    size_t wanted = index > 0 ? check_random_below(state, DEPENDENCIES_A_TASK_MAX + 1) : 0;
    for (size_t i = 0; i < wanted; i++) {
        task->before[task->before_count++] = check_random_below(state, (uint32_t)index);
    }
}

static struct scenario *
random_scenario(uint64_t *state)
{
    struct scenario *s = arena_alloc(arena, 1, sizeof *s);
    s->lane_count = 1 + check_random_below(state, LANES_MAX);
    s->resource_count = 2 + check_random_below(state, RESOURCES_MAX - 1);
    s->demand_count = 1 + check_random_below(state, DEMANDS_MAX);
    s->task_count = 1 + check_random_below(state, TASKS_MAX);
    for (size_t i = 0; i < s->resource_count; i++) {
        s->capacity_per_s[i] = 1e9 * (1 + check_random_below(state, 12));
    }
    for (size_t i = 0; i < s->demand_count; i++) {
        random_demand(s, i, state);
        s->demands[i].usages = s->usages[i];
    }
    for (size_t i = 0; i < s->task_count; i++) {
        random_task(s, i, &s->tasks[i], state);
    }
    return s;
}

static const struct trace *
run_engine(const struct scenario *s)
{
    struct task_graph *graph = task_graph_new(arena, s->task_count);
    for (size_t i = 0; i < s->lane_count; i++) {
        (void)task_graph_add_lane(graph, "lane", (uint32_t)i);
    }
    for (size_t i = 0; i < s->resource_count; i++) {
        (void)task_graph_add_resource(graph, "resource", s->capacity_per_s[i]);
    }
    for (size_t i = 0; i < s->demand_count; i++) {
        (void)task_graph_add_demand(graph, &s->demands[i]);
    }
    for (uint32_t i = 0; i < s->task_count; i++) {
        const struct scenario_task *task = &s->tasks[i];
        (void)task_graph_add_joint_task(graph, &task->task, task->lanes, task->lane_count);
        for (size_t b = 0; b < task->before_count; b++) {
            task_graph_add_dependency(graph, task->before[b], i);
        }
    }
    return engine_run(graph, arena);
}

enum state { STATE_WAITING, STATE_DELAY, STATE_DRAIN, STATE_ENDED };

struct reference {
    const struct scenario *s;
    double now_ps;
    enum state states[TASKS_MAX];
    double left[TASKS_MAX]; /* ps of the delay, or units of work */
    double rate_per_s[TASKS_MAX];
    double start_ps[TASKS_MAX], end_ps[TASKS_MAX];
};

static bool
must_precede(const struct scenario *s, size_t before, size_t after)
{
    const struct scenario_task *a = &s->tasks[before], *b = &s->tasks[after];
    bool must = false;
    for (size_t i = 0; i < b->before_count; i++) {
        must = must || b->before[i] == before;
    }
    for (size_t i = 0; i < a->lane_count * b->lane_count; i++) {
        must = must || a->lanes[i / b->lane_count] == b->lanes[i % b->lane_count];
    }
    return must && before < after;
}

static bool
is_ready(const struct reference *ref, size_t task)
{
    bool ready = ref->states[task] == STATE_WAITING;
    for (size_t i = 0; ready && i < task; i++) {
        ready = ref->states[i] == STATE_ENDED || !must_precede(ref->s, i, task);
    }
    return ready;
}

/* One step of one task's life, if it is due: true when there was one. */
static bool
advance_state(struct reference *ref, size_t i)
{
    const struct task *task = &ref->s->tasks[i].task;
    if (is_ready(ref, i)) {
        ref->states[i] = STATE_DELAY;
        ref->left[i] = (double)task->delay_ps;
        ref->start_ps[i] = ref->now_ps;
        return true;
    }
    if (ref->states[i] == STATE_DELAY && ref->left[i] == 0) {
        ref->states[i] = STATE_DRAIN;
        ref->left[i] = task->demand == TASK_NONE ? 0 : task->work;
        return true;
    }
    if (ref->states[i] == STATE_DRAIN && ref->left[i] == 0) {
        ref->states[i] = STATE_ENDED;
        ref->end_ps[i] = ref->now_ps;
        return true;
    }
    return false;
}

static double
amount_of(const struct scenario *s, size_t task, size_t resource)
{
    const struct task *t = &s->tasks[task].task;
    double sum = 0;
    for (size_t u = 0; u < s->demands[t->demand].usage_count; u++) {
        const struct task_usage *usage = &s->usages[t->demand][u];
        sum += usage->resource + t->resource_base == resource ? usage->amount : 0;
    }
    return sum;
}

/* The level at which the resource fills if those without a rate rise together; HUGE_VAL if none
 * of them uses it. */
static double
fill_level(const struct reference *ref, size_t resource)
{
    double left = ref->s->capacity_per_s[resource], slope = 0;
    for (size_t i = 0; i < ref->s->task_count; i++) {
        if (ref->states[i] != STATE_DRAIN) {
            continue;
        }
        double amount = amount_of(ref->s, i, resource);
        left -= ref->rate_per_s[i] > 0 ? amount * ref->rate_per_s[i] : 0;
        slope += ref->rate_per_s[i] > 0
                     ? 0
                     : amount * ref->s->demands[ref->s->tasks[i].task.demand].weight;
    }
    return slope > 0 ? left / slope : HUGE_VAL;
}

/* The level at which this task stops rising, seen from now. */
static double
stop_level(const struct reference *ref, size_t i)
{
    const struct task_demand *demand = &ref->s->demands[ref->s->tasks[i].task.demand];
    double level = demand->top_rate_per_s / demand->weight;
    for (size_t r = 0; r < ref->s->resource_count; r++) {
        level = amount_of(ref->s, i, r) > 0 ? fmin(level, fill_level(ref, r)) : level;
    }
    return level;
}

/* The task that stops next gets its rate, and so on; all found anew each time. */
static void
find_rates(struct reference *ref)
{
    memset(ref->rate_per_s, 0, sizeof ref->rate_per_s);
    for (;;) {
        size_t next = TASKS_MAX;
        double lowest = HUGE_VAL;
        for (size_t i = 0; i < ref->s->task_count; i++) {
            bool rises = ref->states[i] == STATE_DRAIN && ref->rate_per_s[i] == 0;
            double level = rises ? stop_level(ref, i) : HUGE_VAL;
            next = level < lowest ? i : next;
            lowest = fmin(lowest, level);
        }
        if (next == TASKS_MAX) {
            return;
        }
        ref->rate_per_s[next] =
            lowest * ref->s->demands[ref->s->tasks[next].task.demand].weight;
    }
}

static double
rest_ps(const struct reference *ref, size_t i)
{
    if (ref->states[i] == STATE_DELAY) {
        return ref->left[i];
    }
    bool drains = ref->states[i] == STATE_DRAIN;
    return drains ? ref->left[i] / ref->rate_per_s[i] * PS_PER_S : HUGE_VAL;
}

static void
move_clock(struct reference *ref)
{
    double step_ps = HUGE_VAL;
    for (size_t i = 0; i < ref->s->task_count; i++) {
        step_ps = fmin(step_ps, rest_ps(ref, i));
    }
    for (size_t i = 0; i < ref->s->task_count; i++) {
        double per_ps = ref->states[i] == STATE_DELAY ? 1 : ref->rate_per_s[i] / PS_PER_S;
        bool is_over = rest_ps(ref, i) <= step_ps + SMALLEST_STEP_PS;
        ref->left[i] = is_over ? 0 : ref->left[i] - per_ps * step_ps;
    }
    ref->now_ps += step_ps;
}

static bool
has_ended(const struct reference *ref)
{
    bool ended = true;
    for (size_t i = 0; i < ref->s->task_count; i++) {
        ended = ended && ref->states[i] == STATE_ENDED;
    }
    return ended;
}

static const struct reference *
run_reference(const struct scenario *s)
{
    struct reference *ref = arena_alloc(arena, 1, sizeof *ref);
    ref->s = s;
    for (;;) {
        bool changed = false;
        for (size_t i = 0; i < s->task_count; i++) {
            changed = advance_state(ref, i) || changed;
        }
        if (!changed && has_ended(ref)) {
            return ref;
        }
        if (!changed) {
            find_rates(ref);
            move_clock(ref);
        }
    }
}

START_TEST(random_graphs_end_when_the_reference_says)
{
    uint64_t state = 20;
    uint64_t solve_count = 0;
    for (int c = 0; c < CASES; c++) {
        const struct scenario *s = random_scenario(&state);
        const struct trace *trace = run_engine(s);
        const struct reference *ref = run_reference(s);
        for (size_t i = 0; i < s->task_count; i++) {
            double off_ps = fmax(fabs((double)trace->entries[i].start_ps - ref->start_ps[i]),
                                 fabs((double)trace->entries[i].end_ps - ref->end_ps[i]));
            ck_assert_msg(off_ps <= DRIFT_PS_A_TASK * (double)(i + 1),
                          "case %d, task %zu of %zu: off by %g ps", c, i, s->task_count,
                          off_ps);
        }
        solve_count += trace->solve_count;
    }
    ck_assert_uint_gt(solve_count, CASES); /* else the cases would show nothing */
}
END_TEST

/* As long as nothing is in the way. */
static int64_t
shortest_ps(const struct scenario *s, size_t i)
{
    const struct task *task = &s->tasks[i].task;
    if (task->demand == TASK_NONE) {
        return task->delay_ps;
    }
    double rate_per_s = s->demands[task->demand].top_rate_per_s;
    return task->delay_ps + llround(task->work / rate_per_s * PS_PER_S);
}

/* Exactly when the last of those before it ends, one of which is named. */
static void
check_start(const struct scenario *s, const struct trace *trace, size_t i)
{
    const struct trace_entry *entry = &trace->entries[i];
    int64_t latest_ps = 0;
    for (size_t b = 0; b < i; b++) {
        if (must_precede(s, b, i) && trace->entries[b].end_ps > latest_ps) {
            latest_ps = trace->entries[b].end_ps;
        }
    }
    ck_assert_int_eq(entry->start_ps, latest_ps);
    if (entry->released_by != TASK_NONE) {
        ck_assert(must_precede(s, (size_t)entry->released_by, i));
        ck_assert_int_eq(trace->entries[entry->released_by].end_ps, entry->start_ps);
    } else {
        ck_assert_int_eq(entry->start_ps, 0);
    }
}

START_TEST(random_graphs_start_each_task_as_soon_as_it_may)
{
    uint64_t state = 21;
    for (int c = 0; c < CASES; c++) {
        const struct scenario *s = random_scenario(&state);
        const struct trace *trace = run_engine(s);
        for (size_t i = 0; i < s->task_count; i++) {
            const struct trace_entry *entry = &trace->entries[i];
            check_start(s, trace, i);
            ck_assert_int_ge(entry->end_ps - entry->start_ps, shortest_ps(s, i));
            ck_assert_int_le(entry->end_ps, trace->end_ps);
        }
    }
}
END_TEST

START_TEST(random_graphs_with_room_for_all_take_their_critical_path)
{
    uint64_t state = 22;
    for (int c = 0; c < CASES; c++) {
        struct scenario *s = random_scenario(&state);
        for (size_t r = 0; r < s->resource_count; r++) {
            s->capacity_per_s[r] = 1e15;
        }
        const struct trace *trace = run_engine(s);
        for (size_t i = 0; i < s->task_count; i++) {
            const struct trace_entry *entry = &trace->entries[i];
            ck_assert_int_eq(entry->end_ps - entry->start_ps, shortest_ps(s, i));
        }
        ck_assert_uint_eq(trace->solve_count, 0);
    }
}
END_TEST

START_TEST(random_graphs_give_the_same_trace_twice)
{
    uint64_t state = 23;
    for (int c = 0; c < CASES; c++) {
        const struct scenario *s = random_scenario(&state);
        const struct trace *a = run_engine(s), *b = run_engine(s);
        ck_assert_mem_eq(a->entries, b->entries, a->count * sizeof *a->entries);
        ck_assert_uint_eq(a->event_count, b->event_count);
        ck_assert_uint_eq(a->solve_count, b->solve_count);
    }
}
END_TEST

START_TEST(random_graphs_at_double_speed_take_half_the_time)
{
    uint64_t state = 24;
    for (int c = 0; c < CASES; c++) {
        struct scenario *s = random_scenario(&state);
        for (size_t i = 0; i < s->task_count; i++) {
            s->tasks[i].task.delay_ps *= 2;
        }
        const struct trace *slow = run_engine(s);
        for (size_t i = 0; i < s->resource_count; i++) {
            s->capacity_per_s[i] *= 2;
        }
        for (size_t i = 0; i < s->demand_count; i++) {
            s->demands[i].top_rate_per_s *= 2;
        }
        for (size_t i = 0; i < s->task_count; i++) {
            s->tasks[i].task.delay_ps /= 2;
        }
        const struct trace *fast = run_engine(s);
        for (size_t i = 0; i < s->task_count; i++) {
            int64_t off_ps = slow->entries[i].end_ps - 2 * fast->entries[i].end_ps;
            CHECK_OFTEN(llabs(off_ps) <= 2 * ((int64_t)i + 1));
        }
    }
}
END_TEST

Suite *engine_reference_suite(void);

Suite *
engine_reference_suite(void)
{
    Suite *suite = suite_create("engine_reference");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, begin, end);
    tcase_set_timeout(facts, 60); /* seconds: sanitizers slow the reference down */
    tcase_add_test(facts, random_graphs_end_when_the_reference_says);
    tcase_add_test(facts, random_graphs_start_each_task_as_soon_as_it_may);
    tcase_add_test(facts, random_graphs_with_room_for_all_take_their_critical_path);
    tcase_add_test(facts, random_graphs_give_the_same_trace_twice);
    tcase_add_test(facts, random_graphs_at_double_speed_take_half_the_time);
    suite_add_tcase(suite, facts);
    return suite;
}
