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

static struct ranking
rank_plans(const struct search_nodes *all, struct arena *arena)
{
    struct ranking ranking = {.count = 0};
    size_t most = 0;
    for (size_t i = 0; i < all->count; i++)
        most += all->reasons[i] ? 0 : all->searches[i].best_count;
    ranking.plans = arena_alloc(arena, most + 1, sizeof *ranking.plans);
    for (size_t i = 0; i < all->count; i++) {
        const struct search *search = &all->searches[i];
        for (size_t j = 0; !all->reasons[i] && j < search->best_count; j++) {
            ranking.plans[ranking.count] = (struct ranked){
                i, search->best[j], search_score(search, search->best[j]), ranking.count};
            ranking.count++;
        }
    }
    qsort(ranking.plans, ranking.count, sizeof *ranking.plans, compare_ranked);
    ranking.count = ranking.count < all->top ? ranking.count : all->top;
    return ranking;
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

void
search_nodes_text(const struct search_nodes *all, struct text *out)
{
    struct ranking ranking = rank_plans(all, out->arena);
    print_counts(all, out);
    if (ranking.count == 0)
        return;
    bool has_price = all->searches[ranking.plans[0].search].price_per_gpu_hour > 0;
    text_format(out, "\n     %5s %9s %9s %10s %7s %9s  %s%s\n", "nodes", "step", "tok/s",
                "tok/s/GPU", "MFU", "memory", has_price ? "a M tokens  " : "", "plan");
    for (size_t i = 0; i < ranking.count; i++) {
        const struct ranked *one = &ranking.plans[i];
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
search_nodes_json(const struct search_nodes *all, struct text *out)
{
    struct json_writer writer = json_writer_new(out, true);
    struct ranking ranking = rank_plans(all, out->arena);
    json_write_begin_object(&writer);
    json_write_integer_at(&writer, "schema_version", 1);
    json_write_string_at(&writer, "tool_version", STEPCAST_VERSION);
    json_write_key(&writer, "searches");
    json_write_begin_array(&writer);
    for (size_t i = 0; i < all->count; i++) {
        const struct search *search = &all->searches[i];
        json_write_begin_object(&writer);
        json_write_integer_at(&writer, "nodes_count", all->nodes[i]);
        if (all->reasons[i]) {
            json_write_string_at(&writer, "reason", all->reasons[i]);
        } else {
            json_write_string_at(&writer, "objective", search_objective_key(search->objective));
            json_write_integer_at(&writer, "legal_count", (int64_t)search->counts.legal_count);
            json_write_integer_at(&writer, "simulated_count", (int64_t)search->simulated_count);
        }
        json_write_end_object(&writer);
    }
    json_write_end_array(&writer);
    json_write_key(&writer, "best");
    json_write_begin_array(&writer);
    for (size_t i = 0; i < ranking.count; i++) {
        json_write_begin_object(&writer);
        json_write_integer_at(&writer, "nodes_count", all->nodes[ranking.plans[i].search]);
        search_report_write(&writer, &all->searches[ranking.plans[i].search],
                            ranking.plans[i].plan);
        json_write_end_object(&writer);
    }
    json_write_end_array(&writer);
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
}
