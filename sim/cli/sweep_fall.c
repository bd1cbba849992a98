/* Both steps are simulated once more. Each operator of the second should take as long as in the
 * first, times its work over that of the first; what it takes beyond that is its part of the fall.
 * A wait should grow as the step does. */
#include "sim/cli/sweep_fall.h"

#include <string.h>

#include "sim/base/units.h"

enum { OPERATORS_MAX = 256 };

/* Less of the whole excess than this does not explain it. */
static const double TELLING_FRACTION = 0.2;

/* Everything of one name on the representative rank. */
struct operator_sum {
    const char *name;
    double seconds_s, flop, hbm_bytes;
    int64_t waves; /* of one launch, the most of any */
};

struct profile {
    const struct step *step;
    struct operator_sum sums[OPERATORS_MAX];
    size_t count;
};

static void
add_work(struct profile *profile, const struct step_work *work)
{
    size_t i = 0;
    while (i < profile->count && strcmp(profile->sums[i].name, work->name) != 0)
        i++;
    if (!work->kernel_cost || i == OPERATORS_MAX)
        return;
    if (i == profile->count)
        profile->sums[profile->count++] = (struct operator_sum){.name = work->name};
    struct operator_sum *sum = &profile->sums[i];
    sum->seconds_s += work->delay_s + work->work_s;
    sum->flop += work->kernel_cost->flop;
    sum->hbm_bytes += work->kernel_cost->hbm_bytes;
    if (work->kernel_cost->waves > sum->waves)
        sum->waves = work->kernel_cost->waves;
}

static void
add_all(struct profile *profile)
{
    size_t count = 0;
    const struct step *step = profile->step;
    const uint32_t *tasks =
        trace_lane_tasks(step->trace, lowered_lane(&step->lowered, LANE_COMPUTE), &count);
    for (size_t i = 0; i < count; i++) {
        const struct step_work *work = step_work_of(step, tasks[i]);
        add_work(profile, work);
        for (int64_t part = 0; part < work->part_count; part++)
            add_work(profile, work->parts[part]);
    }
}

/* NULL where the row cannot be simulated again. */
static const struct profile *
profile_of(const struct run *base, const struct sweep_row *row, struct arena *arena)
{
    struct error_list errors = {0};
    struct profile *profile = arena_alloc(arena, 1, sizeof *profile);
    const struct run *run = run_again(base, &row->settings, arena, &errors);
    profile->step = run ? step_simulate(run, RANKS_FOLDED, arena, &errors) : NULL;
    if (!profile->step)
        return NULL;
    add_all(profile);
    return profile;
}

static const struct operator_sum *
find_sum(const struct profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->count; i++)
        if (strcmp(profile->sums[i].name, name) == 0)
            return &profile->sums[i];
    return NULL;
}

/* Beyond what its work explains. */
static double
operator_excess_s(const struct operator_sum *before, const struct operator_sum *after)
{
    double growth = before->flop > 0        ? after->flop / before->flop
                    : before->hbm_bytes > 0 ? after->hbm_bytes / before->hbm_bytes
                                            : 1;
    return after->seconds_s - before->seconds_s * growth;
}

/* "expert_up.weight_gradient" as people write it. */
static const char *
plain_name(const char *name, struct arena *arena)
{
    char *plain = arena_format(arena, "%s", name);
    for (char *at = plain; *at; at++)
        if (*at == '_' || *at == '.')
            *at = ' ';
    return plain;
}

struct finding {
    double excess_s;
    const char *text;
};

static void
find_operator(const struct profile *before, const struct profile *after,
              struct finding *finding, struct arena *arena)
{
    for (size_t i = 0; i < after->count; i++) {
        const struct operator_sum *now = &after->sums[i];
        const struct operator_sum *then = find_sum(before, now->name);
        double excess_s = then ? operator_excess_s(then, now) : now->seconds_s;
        if (excess_s <= finding->excess_s)
            continue;
        const char *name = plain_name(now->name, arena);
        finding->excess_s = excess_s;
        if (then && now->waves > then->waves)
            finding->text = arena_format(arena, "%s in %lld waves, not %lld", name,
                                         (long long)now->waves, (long long)then->waves);
        else
            finding->text = arena_format(arena, "%s +%s", name, units_format_s(excess_s).text);
    }
}

static void
find_wait(const struct step *before, const struct step *after, struct finding *finding,
          struct arena *arena)
{
    double growth = after->step_s / before->step_s;
    for (int i = 0; i < STEP_CLASS_COUNT; i++) {
        enum step_class spent_on = (enum step_class)i;
        enum step_group group = step_class_group(spent_on);
        double excess_s =
            units_s_from_ps(after->class_ps[i]) - growth * units_s_from_ps(before->class_ps[i]);
        if (group == GROUP_COMPUTE || group == GROUP_OPTIMIZER || excess_s <= finding->excess_s)
            continue;
        finding->excess_s = excess_s;
        finding->text =
            arena_format(arena, "%s%s +%s", group == GROUP_OVERLAP ? "" : "waiting for ",
                         step_class_label(spent_on), units_format_s(excess_s).text);
    }
}

const char *
sweep_fall_reason(const struct run *base, const struct sweep_row *before,
                  const struct sweep_row *after, struct arena *arena)
{
    struct arena *scratch = arena_new_beside(arena);
    struct finding finding = {0};
    const struct profile *then = profile_of(base, before, scratch);
    const struct profile *now = profile_of(base, after, scratch);
    const char *text = NULL;
    if (then && now) {
        find_operator(then, now, &finding, scratch);
        find_wait(then->step, now->step, &finding, scratch);
        double growth =
            now->step->model_flop_per_s_per_gpu > 0
                ? then->step->model_flop_per_s_per_gpu / now->step->model_flop_per_s_per_gpu
                : 1;
        double whole_s = now->step->step_s * (1 - 1 / growth);
        if (finding.text && finding.excess_s >= TELLING_FRACTION * whole_s)
            text = arena_format(arena, "%s", finding.text);
    }
    arena_free(scratch);
    return text;
}
