/* Kernels that run behind each other with nothing between them, as one piece of work. */
#include "models/pricing.h"

/* Where a run of kernels must not go on: at exchanges, and where one is waited for. */
static bool *
find_borders(const struct pricing *pricing, const struct priced_list *list)
{
    bool *borders = arena_alloc(pricing->arena, (size_t)list->count + 1, sizeof *borders);
    for (int64_t i = 0; i < list->count; i++) {
        if (list->steps[i].lane == LANE_COMPUTE)
            continue;
        borders[i] = borders[i + 1] = true;
        borders[list->steps[i].needed_at] = true;
    }
    return borders;
}

/* Shares and holds are averaged over time, what is moved and computed stays with the parts. */
static const struct step_work *
merge_works(const struct pricing *pricing, const struct priced_step *steps, int64_t count)
{
    struct step_work *sum = arena_alloc(pricing->arena, 1, sizeof *sum);
    const struct step_work **parts = arena_alloc(pricing->arena, (size_t)count, sizeof *parts);
    *sum = (struct step_work){.name = "kernels",
                              .spent_on = steps[0].work->spent_on,
                              .parts = parts,
                              .part_count = count};
    double longest_s = -1;
    for (int64_t i = 0; i < count; i++) {
        const struct step_work *part = parts[i] = steps[i].work;
        sum->work_s += part->work_s;
        double weight = sum->work_s > 0 ? part->work_s / sum->work_s : 0;
        sum->hold_s += (part->hold_s - sum->hold_s) * weight;
        sum->weight += ((part->weight > 0 ? part->weight : 1) - sum->weight) * weight;
        sum->compute_fraction += (part->compute_fraction - sum->compute_fraction) * weight;
        sum->hbm_fraction += (part->hbm_fraction - sum->hbm_fraction) * weight;
        if (part->work_s > longest_s)
            sum->spent_on = part->spent_on;
        longest_s = part->work_s > longest_s ? part->work_s : longest_s;
    }
    sum->name = step_class_key(sum->spent_on);
    return sum;
}

struct priced_list
pricing_merge(const struct pricing *pricing, const struct priced_list *list)
{
    bool *borders = find_borders(pricing, list);
    size_t room = (size_t)list->count + 1;
    struct priced_step *steps = arena_alloc(pricing->arena, room, sizeof *steps);
    int64_t *places = arena_alloc(pricing->arena, room, sizeof *places), count = 0;
    for (int64_t i = 0; i < list->count; count++) {
        int64_t end = i + 1;
        while (end < list->count && !borders[end])
            end++;
        for (int64_t j = i; j < end; j++)
            places[j] = count;
        steps[count] = list->steps[i];
        if (end - i > 1)
            steps[count].work = merge_works(pricing, &list->steps[i], end - i);
        i = end;
    }
    places[list->count] = count;
    for (int64_t i = 0; i < count; i++)
        steps[i].needed_at = places[steps[i].needed_at];
    return (struct priced_list){steps, count, list->launches};
}
