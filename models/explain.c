/* The chain that decides a step's end, task by task: each counts from the end of the task that
 * released it to its own, so that whole picoseconds add up to the step. */
#include "models/explain.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/units.h"

const char *
explain_cause_key(enum explain_cause cause)
{
    static const char *const keys[] = {"compute", "hbm", "cache",           "latency", "launch",
                                       "links",   "nic", "network_latency", "sharing", "host"};
    static_assert(sizeof keys / sizeof *keys == CAUSE_COUNT, "a key for each cause");
    return keys[cause];
}

const char *
explain_cause_label(enum explain_cause cause)
{
    static const char *const labels[] = {"kernels bound by compute",
                                         "kernels bound by HBM",
                                         "kernels bound by caches",
                                         "kernels bound by latency",
                                         "kernels bound by their launch",
                                         "collectives: links of the node",
                                         "collectives: NICs",
                                         "collectives: launch and hops",
                                         "slower beside others than alone",
                                         "host: launches"};
    static_assert(sizeof labels / sizeof *labels == CAUSE_COUNT, "a label for each cause");
    return labels[cause];
}

/* What the part of the work that has a rate waits for. A rank's matrices under Newton-Schulz are
 * one piece of work without a kernel: products. */
static enum explain_cause
rate_cause(const struct step_work *work)
{
    if (work->kernel_cost)
        return (enum explain_cause)work->kernel_cost->bound;
    if (work->collective_cost)
        return work->nic_fraction > 0 && work->nic_fraction >= work->link_fraction
                   ? CAUSE_NIC
                   : CAUSE_LINKS;
    return work->spent_on == CLASS_HOST ? CAUSE_HOST : CAUSE_COMPUTE;
}

static enum explain_cause
delay_cause(const struct step_work *work)
{
    return work->collective_cost ? CAUSE_NETWORK_LATENCY : rate_cause(work);
}

struct explainer {
    struct explanation *explanation;
    struct explain_operator *operators;
    size_t capacity;
    struct arena *arena;
};

static bool
is_same(const struct step_work *a, const struct step_work *b)
{
    return a == b || (a->spent_on == b->spent_on && a->work_s == b->work_s &&
                      a->delay_s == b->delay_s && strcmp(a->name, b->name) == 0);
}

static void
count_operator(struct explainer *explainer, const struct step_work *work, int64_t ps)
{
    struct explanation *explanation = explainer->explanation;
    int64_t i = 0;
    while (i < explanation->operator_count && !is_same(explainer->operators[i].work, work))
        i++;
    if (i == explanation->operator_count) {
        explainer->operators = arena_grow(explainer->arena, explainer->operators, (size_t)i,
                                          &explainer->capacity, sizeof *explainer->operators);
        enum explain_cause cause =
            work->delay_s > work->work_s ? delay_cause(work) : rate_cause(work);
        explainer->operators[i] = (struct explain_operator){work, cause, 0, 0};
        explanation->operator_count++;
    }
    explainer->operators[i].count++;
    explainer->operators[i].ps += ps;
}

static int64_t
lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* First its delay, then its work as long as it takes alone, then what sharing added: that counts as
 * in the breakdown for the class of overlap where a kernel was slowed. */
static void
count_work(struct explainer *explainer, const struct step_work *work, int64_t whole_ps,
           int64_t alone_ps)
{
    struct explanation *explanation = explainer->explanation;
    int64_t own_ps = lesser(alone_ps, whole_ps);
    int64_t delay_ps = lesser(units_ps_from_s(work->delay_s), own_ps);
    explanation->cause_ps[delay_cause(work)] += delay_ps;
    explanation->cause_ps[rate_cause(work)] += own_ps - delay_ps;
    explanation->cause_ps[CAUSE_SHARING] += whole_ps - own_ps;
    explanation->class_ps[work->spent_on] += own_ps;
    explanation->class_ps[work->collective ? work->spent_on : CLASS_OVERLAP] +=
        whole_ps - own_ps;
    count_operator(explainer, work, whole_ps);
}

static int64_t
scaled(int64_t ps, double ratio, int64_t left_ps)
{
    return lesser((int64_t)((double)ps * ratio), left_ps);
}

/* Kernels run as one: each its part, the last what rounding leaves too. */
static void
count_task(struct explainer *explainer, const struct step_work *work, int64_t whole_ps)
{
    int64_t alone_ps =
        lesser(units_ps_from_s(work->delay_s) + units_ps_from_s(work->work_s), whole_ps);
    if (!work->parts) {
        count_work(explainer, work, whole_ps, alone_ps);
        return;
    }
    int64_t whole_left_ps = whole_ps, alone_left_ps = alone_ps;
    for (int64_t i = 0; i < work->part_count; i++) {
        const struct step_work *part = work->parts[i];
        double ratio = work->work_s > 0 ? part->work_s / work->work_s : 0;
        bool is_last = i + 1 == work->part_count;
        int64_t part_ps = is_last ? whole_left_ps : scaled(whole_ps, ratio, whole_left_ps);
        int64_t own_ps = is_last ? alone_left_ps : scaled(alone_ps, ratio, alone_left_ps);
        count_work(explainer, part, part_ps, own_ps);
        whole_left_ps -= part_ps;
        alone_left_ps -= lesser(own_ps, part_ps);
    }
}

/* The longest first; of equals the name decides, so that the order repeats. */
static int
compare_operators(const void *a, const void *b)
{
    const struct explain_operator *left = a, *right = b;
    if (left->ps != right->ps)
        return left->ps > right->ps ? -1 : 1;
    return strcmp(left->work->name, right->work->name);
}

struct explanation
explain_step(const struct step *step, struct arena *arena)
{
    struct explanation explanation = {.step = step};
    struct explainer explainer = {.explanation = &explanation, .arena = arena};
    size_t length = trace_critical_path(step->trace, NULL, 0);
    uint32_t *chain = arena_alloc(arena, length, sizeof *chain);
    trace_critical_path(step->trace, chain, length);
    int64_t now_ps = 0;
    for (size_t i = length; i-- > 0;) {
        int64_t end_ps = step->trace->entries[chain[i]].end_ps;
        if (end_ps > now_ps)
            count_task(&explainer, step_work_of(step, chain[i]), end_ps - now_ps);
        now_ps = end_ps;
    }
    explanation.task_count = (int64_t)length;
    if (explanation.operator_count > 0)
        qsort(explainer.operators, (size_t)explanation.operator_count,
              sizeof *explainer.operators, compare_operators);
    explanation.operators = explainer.operators;
    return explanation;
}
