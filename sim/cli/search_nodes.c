/* Searches on several numbers of nodes, their best plans in one table. */
#include "sim/cli/search_nodes.h"

#include <stdlib.h>

#include "sim/base/json_writer.h"
#include "sim/base/units.h"
#include "sim/cli/version.h"

struct ranked {
    size_t search; /* which of them */
    const struct search_plan *plan;
    double score;
    size_t place; /* among all, in order of nodes: settles ties */
};

struct ranking {
    struct ranked *plans;
    size_t count;
};

static int
compare_ranked(const void *a, const void *b)
{
    const struct ranked *one = a, *two = b;
    if (one->score < two->score || one->score > two->score)
        return one->score < two->score ? -1 : 1;
    return (one->place > two->place) - (one->place < two->place);
}

/* Legal plans of all searches before one. */
static size_t
plans_before(const struct search_nodes *all, size_t index)
{
    size_t before = 0;
    for (size_t i = 0; i < index; i++)
        before += all->reasons[i] ? 0 : all->searches[i].counts.legal_count;
    return before;
}

struct slice
search_nodes_slice(const struct search_nodes *all, size_t index)
{
    struct slice slice = all->slice;
    if (slice.count > 0)
        slice.index =
            (slice.index + slice.count - plans_before(all, index) % slice.count) % slice.count;
    return slice;
}

static void
add_ranked(struct ranking *ranking, const struct search_nodes *all, size_t index, bool is_front)
{
    const struct search *search = &all->searches[index];
    size_t count = is_front ? search->front_count : search->best_count;
    size_t before = plans_before(all, index);
    for (size_t i = 0; !all->reasons[index] && i < count; i++) {
        const struct search_plan *plan = is_front ? search->front[i] : search->best[i];
        ranking->plans[ranking->count++] = (struct ranked){
            index, plan, is_front ? plan->row.values[SWEEP_STEP_S] : search_score(search, plan),
            before + plan->place};
    }
}

/* Of plans by their steps those that take less memory than all before them. */
static void
keep_front(struct ranking *ranking)
{
    size_t kept = 0;
    for (size_t i = 0; i < ranking->count; i++)
        if (kept == 0 ||
            ranking->plans[i].plan->memory_bytes < ranking->plans[kept - 1].plan->memory_bytes)
            ranking->plans[kept++] = ranking->plans[i];
    ranking->count = kept;
}

/* The best of all, or the front of all. */
static struct ranking
rank_plans(const struct search_nodes *all, bool is_front, struct arena *arena)
{
    struct ranking ranking = {.count = 0};
    size_t most = 1;
    for (size_t i = 0; i < all->count; i++)
        most += all->searches[i].best_count + all->searches[i].front_count;
    ranking.plans = arena_alloc(arena, most, sizeof *ranking.plans);
    for (size_t i = 0; i < all->count; i++)
        add_ranked(&ranking, all, i, is_front);
    qsort(ranking.plans, ranking.count, sizeof *ranking.plans, compare_ranked);
    if (is_front)
        keep_front(&ranking);
    else
        ranking.count = ranking.count < all->top ? ranking.count : all->top;
    return ranking;
}

/* Of those that have run they all ask for the same. */
static const struct search *
any_search(const struct search_nodes *all)
{
    size_t i = 0;
    while (i + 1 < all->count && all->reasons[i])
        i++;
    return &all->searches[i];
}

static void
print_counts(const struct search_nodes *all, struct text *out)
{
    text_format(out, "%5s %7s %9s %9s %9s  %s\n", "nodes", "GPUs", "legal", "simulated",
                "no memory", "best");
    for (size_t i = 0; i < all->count; i++) {
        const struct search *search = &all->searches[i];
        if (all->reasons[i]) {
            text_format(out, "%5lld  - %s\n", (long long)all->nodes[i], all->reasons[i]);
            continue;
        }
        text_format(out, "%5lld %7lld %9zu %9zu %9zu  ", (long long)all->nodes[i],
                    (long long)cluster_gpus(search->space.base->inputs.cluster),
                    search->counts.legal_count, search->simulated_count,
                    search->no_memory_count);
        text_format(out, "%s\n",
                    search->best_count > 0
                        ? units_format_s(search->best[0]->row.values[SWEEP_STEP_S]).text
                        : "none fits");
    }
}

static void
print_plans(const struct search_nodes *all, const struct ranking *ranking, struct text *out)
{
    bool has_price = all->searches[ranking->plans[0].search].price_per_gpu_hour > 0;
    text_format(out, "     %5s %9s %9s %10s %7s %9s  %s%s\n", "nodes", "step", "tok/s",
                "tok/s/GPU", "MFU", "memory", has_price ? "a M tokens  " : "", "plan");
    for (size_t i = 0; i < ranking->count; i++) {
        const struct ranked *one = &ranking->plans[i];
        const struct search *search = &all->searches[one->search];
        const double *values = one->plan->row.values;
        text_format(out, "%4zu %5lld %9s", i + 1, (long long)all->nodes[one->search],
                    units_format_s(values[SWEEP_STEP_S]).text);
        text_format(out, " %9s %10s", units_format_count(values[SWEEP_TOKENS_PER_S]).text,
                    units_format_count(values[SWEEP_TOKENS_PER_S_PER_GPU]).text);
        text_format(out, " %7s %9s  ", units_format_fraction(values[SWEEP_MFU]).text,
                    units_format_bytes(values[SWEEP_MEMORY_BYTES]).text);
        if (has_price)
            text_format(out, "%10.4g  ", search_cost_per_million_tokens(search, one->plan));
        text_format(out, "%s\n", search_report_plan(search, one->plan, out->arena));
    }
}

void
search_nodes_text(const struct search_nodes *all, struct text *out)
{
    struct ranking best = rank_plans(all, false, out->arena);
    struct ranking front = rank_plans(all, true, out->arena);
    print_counts(all, out);
    if (best.count == 0)
        return;
    text_format(out, "\n");
    print_plans(all, &best, out);
    if (!any_search(all)->has_front)
        return;
    text_format(out, "\nno plan beats these in both step and memory\n");
    print_plans(all, &front, out);
}

static void
write_searches(struct json_writer *writer, const struct search_nodes *all)
{
    json_write_key(writer, "searches");
    json_write_begin_array(writer);
    for (size_t i = 0; i < all->count; i++) {
        const struct search *search = &all->searches[i];
        json_write_begin_object(writer);
        json_write_integer_at(writer, "nodes_count", all->nodes[i]);
        if (all->reasons[i]) {
            json_write_string_at(writer, "reason", all->reasons[i]);
        } else {
            json_write_string_at(writer, "objective", search_objective_key(search->objective));
            json_write_integer_at(writer, "legal_count", (int64_t)search->counts.legal_count);
            json_write_integer_at(writer, "simulated_count", (int64_t)search->simulated_count);
            json_write_bool_at(writer, "was_stopped", search->was_stopped);
        }
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}

static void
write_plans(struct json_writer *writer, const char *key, const struct search_nodes *all,
            const struct ranking *ranking)
{
    json_write_key(writer, key);
    json_write_begin_array(writer);
    for (size_t i = 0; i < ranking->count; i++) {
        const struct ranked *one = &ranking->plans[i];
        json_write_begin_object(writer);
        json_write_integer_at(writer, "nodes_count", all->nodes[one->search]);
        search_report_write(writer, &all->searches[one->search], one->plan);
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}

void
search_nodes_json(const struct search_nodes *all, struct text *out)
{
    struct json_writer writer = json_writer_new(out, true);
    struct ranking best = rank_plans(all, false, out->arena);
    struct ranking front = rank_plans(all, true, out->arena);
    json_write_begin_object(&writer);
    json_write_integer_at(&writer, "schema_version", 1);
    json_write_string_at(&writer, "tool_version", STEPCAST_VERSION);
    write_searches(&writer, all);
    write_plans(&writer, "best", all, &best);
    if (any_search(all)->has_front)
        write_plans(&writer, "front", all, &front);
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
}

void
search_nodes_csv(const struct search_nodes *all, struct text *out)
{
    struct ranking ranking = rank_plans(all, any_search(all)->has_front, out->arena);
    search_report_csv_head(any_search(all), &all->slice, "nodes,", out);
    for (size_t i = 0; i < ranking.count; i++) {
        const struct ranked *one = &ranking.plans[i];
        if (all->slice.count > 0)
            text_format(out, "%zu,", one->place);
        text_format(out, "%lld,", (long long)all->nodes[one->search]);
        search_report_csv_row(&all->searches[one->search], one->plan, out);
    }
}
