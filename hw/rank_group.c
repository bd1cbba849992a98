/* Which ranks take part in a collective, and how they lie on the nodes of a cluster. */
#include "hw/rank_group.h"

#include <stdlib.h>

/* Farther than any cluster reaches, near enough that products of two stay exact. */
static const int64_t NUMBER_MAX = 1000000000;

static int
compare_ranks(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

void
rank_list_sort(int64_t *ranks, int64_t count)
{
    qsort(ranks, (size_t)count, sizeof *ranks, compare_ranks);
}

int64_t
rank_group_count(const struct rank_group *group)
{
    return group->list || group->rows < 1 ? group->size : group->size * group->rows;
}

int64_t
rank_group_at(const struct rank_group *group, int64_t index)
{
    if (group->list)
        return group->list[index];
    int64_t row = index / group->size;
    return group->first + row * group->row_stride + index % group->size * group->stride;
}

static bool
check_list(const struct rank_group *group, struct error_list *errors)
{
    for (int64_t i = 1; i < group->size; i++) {
        if (group->list[i] == group->list[i - 1])
            return error_add(errors, ERROR_INPUT, "", "rank %lld is twice in the group",
                             (long long)group->list[i]);
        if (group->list[i] < group->list[i - 1])
            return error_add(errors, ERROR_INPUT, "", "rank %lld stands behind a higher one",
                             (long long)group->list[i]);
    }
    return true;
}

static bool
is_small(int64_t number)
{
    return number >= 0 && number <= NUMBER_MAX;
}

/* A row ends before the next begins, so that no rank is twice in the group. */
static bool
check_rows(const struct rank_group *group, struct error_list *errors)
{
    if (!is_small(group->size) || !is_small(group->rows) || !is_small(group->stride) ||
        !is_small(group->row_stride))
        return error_add(errors, ERROR_INPUT, "",
                         "a group of %lld ranks, or its steps, are beyond any cluster",
                         (long long)group->size);
    if (group->size > 1 && group->stride == 0)
        return error_add(errors, ERROR_INPUT, "", "rank %lld is twice in the group",
                         (long long)group->first);
    int64_t second = group->first + group->row_stride;
    bool is_apart = group->row_stride > (group->size - 1) * group->stride;
    if (group->rows > 1 && !is_apart)
        return error_add(errors, ERROR_INPUT, "",
                         "the second row of the group begins before its first ends, with "
                         "rank %lld",
                         (long long)second);
    return true;
}

static bool
check(const struct rank_group *group, const struct rank_space *space, struct error_list *errors)
{
    if (group->size < 1)
        return error_add(errors, ERROR_INPUT, "", "a group of %lld ranks, wanted some",
                         (long long)group->size);
    if (!(group->list ? check_list : check_rows)(group, errors))
        return false;
    int64_t ranks = space->nodes * space->gpus_per_node;
    int64_t lowest = rank_group_at(group, 0);
    int64_t highest = rank_group_at(group, rank_group_count(group) - 1);
    if (lowest >= 0 && highest < ranks)
        return true;
    return error_add(errors, ERROR_INPUT, "", "rank %lld, but %s has ranks 0 to %lld",
                     (long long)(lowest < 0 ? lowest : highest), space->name,
                     (long long)ranks - 1);
}

struct rank_placement
rank_placement_even(int64_t nodes, int64_t gpus)
{
    return (struct rank_placement){.ranks = nodes * gpus,
                                   .nodes = nodes,
                                   .gpus = gpus,
                                   .last_node = nodes - 1,
                                   .keeps_rails = true};
}

/* Of one row or several: GPUs of each node alike, told from the steps alone. 0 if the steps do
 * not tell. */
static int64_t
even_gpus(const struct rank_group *group, int64_t g)
{
    int64_t rows = group->rows < 1 ? 1 : group->rows, local = group->first % g;
    bool is_row_in_node = local + (group->size - 1) * group->stride < g;
    if (is_row_in_node && (rows == 1 || group->row_stride % g == 0))
        return group->size;
    if (rows > 1)
        return 0;
    if (group->stride % g == 0)
        return 1;
    bool is_filling = g % group->stride == 0 && local < group->stride;
    return is_filling && group->size % (g / group->stride) == 0 ? g / group->stride : 0;
}

/* Members of the node that begins with the index-th rank. */
static int64_t
count_node(const struct rank_group *group, int64_t index, int64_t g)
{
    int64_t count = 1, ranks = rank_group_count(group);
    int64_t node = rank_group_at(group, index) / g;
    while (index + count < ranks && rank_group_at(group, index + count) / g == node)
        count++;
    return count;
}

/* Whether the node that begins with the index-th rank has the GPUs of the first one. */
static void
compare_rails(const struct rank_group *group, int64_t index, int64_t count, int64_t g,
              struct rank_placement *out)
{
    int64_t firsts = count_node(group, 0, g);
    for (int64_t i = 0; i < count && i < firsts && out->keeps_rails; i++) {
        int64_t from = rank_group_at(group, i), to = rank_group_at(group, index + i);
        if (from % g == to % g)
            continue;
        out->keeps_rails = false;
        out->stray_from = from;
        out->stray_to = to;
    }
    if (out->keeps_rails &&
        count != firsts) { /* the one more has no partner on the other node */
        int64_t shorter = count < firsts ? count : firsts;
        out->keeps_rails = false;
        out->stray_from = rank_group_at(group, count < firsts ? shorter : 0);
        out->stray_to = rank_group_at(group, count < firsts ? index : index + shorter);
    }
}

static void
place_each(const struct rank_group *group, int64_t g, struct rank_placement *out)
{
    out->nodes = 0;
    out->gpus = g;
    for (int64_t index = 0; index < out->ranks; out->nodes++) {
        int64_t count = count_node(group, index, g);
        if (out->nodes > 0 && out->keeps_rails)
            compare_rails(group, index, count, g, out);
        if (count < out->gpus)
            out->gpus = count;
        index += count;
    }
}

bool
rank_group_place(const struct rank_group *group, const struct rank_space *space,
                 struct rank_placement *out, struct error_list *errors)
{
    int64_t g = space->gpus_per_node;
    if (!check(group, space, errors))
        return false;
    int64_t ranks = rank_group_count(group), gpus = group->list ? 0 : even_gpus(group, g);
    *out = (struct rank_placement){.ranks = ranks,
                                   .first_node = rank_group_at(group, 0) / g,
                                   .last_node = rank_group_at(group, ranks - 1) / g,
                                   .keeps_rails = true};
    if (gpus > 0) {
        out->gpus = gpus;
        out->nodes = ranks / gpus;
    } else {
        place_each(group, g, out);
    }
    return true;
}
