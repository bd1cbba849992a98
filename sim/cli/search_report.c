/* What a search found, and what it refused and why. */
#include "sim/cli/search_report.h"

#include "sim/base/csv.h"
#include "sim/base/json_writer.h"
#include "sim/base/units.h"
#include "sim/cli/version.h"

const char *
search_report_plan(const struct search *search, const struct search_plan *plan,
                   struct arena *arena)
{
    const char *settings = plan_space_settings(&search->space, &plan->point, arena);
    return *settings ? settings : "the plan as it is";
}

/* Combinations of values in all, legal or not. */
static double
combinations(const struct search *search)
{
    double count = (double)search->counts.legal_count;
    for (int i = 0; i < PLAN_REFUSAL_COUNT; i++)
        count += search->counts.refused_count[i];
    return count;
}

static void
print_counts(const struct search *search, struct text *out)
{
    static const char *const words[PLAN_REFUSAL_COUNT] = {
        [PLAN_REDUNDANT] = "do the same as another",
        [PLAN_TENSOR] = "tensor ranks do not divide heads or channels",
        [PLAN_SEQUENCE] = "the sequence cannot be cut so",
        [PLAN_LAYERS] = "stages would not be even",
        [PLAN_EXPERTS] = "expert ranks do not divide experts or their channels",
        [PLAN_GPUS] = "degrees do not divide the GPUs",
        [PLAN_BATCH] = "microbatches do not make up the batch",
        [PLAN_SCHEDULE] = "the schedule needs other microbatches or stages",
        [PLAN_UNCHECKED] = "refused by another check of plans"};
    text_format(out, "%15.0f combinations\n", combinations(search));
    for (int i = PLAN_REDUNDANT; i < PLAN_REFUSAL_COUNT; i++)
        if (search->counts.refused_count[i] > 0)
            text_format(out, "%15.0f   %s\n", -search->counts.refused_count[i], words[i]);
    text_format(out, "%15zu legal plans\n", search->counts.legal_count);
    if (search->slice.count > 0)
        text_format(out, "%15zu   are of other shards than %zu/%zu\n",
                    search->counts.legal_count - search->plan_count, search->slice.index + 1,
                    search->slice.count);
    text_format(out, "%15zu   cannot be better, says their bound\n", search->unseen_count);
    text_format(out, "%15zu   do not fit the memory\n", search->no_memory_count);
    if (search->no_price_count > 0)
        text_format(out, "%15zu   have no price or are too large\n", search->no_price_count);
    text_format(out, "%15zu simulated%s\n\n", search->simulated_count,
                search->was_stopped ? ", then the search was stopped" : "");
}

static void
print_plans(const struct search *search, struct search_plan *const *plans, size_t count,
            struct text *out)
{
    bool has_price = search->price_per_gpu_hour > 0;
    text_format(out, "     %9s %9s %10s %7s %9s %9s %9s  %s%s\n", "step", "+-", "tok/s/GPU",
                "MFU", "memory", "network", "bubble", has_price ? "a M tokens  " : "", "plan");
    for (size_t i = 0; i < count; i++) {
        const double *values = plans[i]->row.values;
        double half_s = (values[SWEEP_HIGH_S] - values[SWEEP_LOW_S]) / 2;
        text_format(out, "%4zu %9s %9s %10s", i + 1, units_format_s(values[SWEEP_STEP_S]).text,
                    units_format_s(half_s).text,
                    units_format_count(values[SWEEP_TOKENS_PER_S_PER_GPU]).text);
        text_format(out, " %7s %9s", units_format_fraction(values[SWEEP_MFU]).text,
                    units_format_bytes(values[SWEEP_MEMORY_BYTES]).text);
        text_format(out, " %9s %9s  ", units_format_s(values[SWEEP_NETWORK_S]).text,
                    units_format_s(values[SWEEP_BUBBLE_S]).text);
        if (has_price)
            text_format(out, "%10.4g  ", search_cost_per_million_tokens(search, plans[i]));
        text_format(out, "%s\n", search_report_plan(search, plans[i], out->arena));
    }
}

void
search_report_text(const struct search *search, struct text *out)
{
    text_format(out, "%s: plans for %s on %s, %lld sequences a step\n\n",
                run_heading(search->space.base, out->arena),
                search->space.base->inputs.workload.arch->name,
                search->space.base->inputs.cluster->name,
                (long long)search->space.base->inputs.workload.plan->global_batch_sequences);
    print_counts(search, out);
    if (search->best_count > 0)
        print_plans(search, search->best, search->best_count, out);
    if (!search->has_front || search->front_count == 0)
        return;
    text_format(out, "\nno plan beats these in both step and memory\n");
    print_plans(search, search->front, search->front_count, out);
}

/* All that makes the run the plan's: "" where it is the run itself. */
static const char *
settings_of(const struct search *search, const struct search_plan *plan, struct arena *arena)
{
    const char *settings = plan_space_settings(&search->space, &plan->point, arena);
    if (search->nodes == 0)
        return settings;
    return arena_format(arena, "--set cluster.nodes=%lld%s%s", (long long)search->nodes,
                        *settings ? " " : "", settings);
}

void
search_report_write(struct json_writer *writer, const struct search *search,
                    const struct search_plan *plan)
{
    struct arena *arena = writer->out->arena;
    for (int field = 0; field < PLAN_FIELD_COUNT; field++)
        json_write_string_at(
            writer, plan_field_key((enum plan_field)field),
            plan_field_word((enum plan_field)field, plan->point.values[field], arena));
    json_write_real_at(writer, "bound_s", plan->bound_s);
    for (int i = 0; i < SWEEP_STEP_QUANTITIES; i++)
        json_write_real_at(writer, sweep_quantity_key((enum sweep_quantity)i),
                           plan->row.values[i]);
    if (search->price_per_gpu_hour > 0)
        json_write_real_at(writer, "cost_per_million_tokens",
                           search_cost_per_million_tokens(search, plan));
    json_write_string_at(writer, "settings", settings_of(search, plan, arena));
}

static void
write_plans(struct json_writer *writer, const struct search *search,
            struct search_plan *const *plans, size_t count)
{
    json_write_begin_array(writer);
    for (size_t i = 0; i < count; i++) {
        json_write_begin_object(writer);
        search_report_write(writer, search, plans[i]);
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}

void
search_report_json(const struct search *search, struct text *out)
{
    struct json_writer writer = json_writer_new(out, true);
    json_write_begin_object(&writer);
    json_write_integer_at(&writer, "schema_version", 1);
    json_write_string_at(&writer, "tool_version", STEPCAST_VERSION);
    json_write_string_at(&writer, "run", search->space.base->name);
    json_write_integer_at(&writer, "gpus_count",
                          cluster_gpus(search->space.base->inputs.cluster));
    json_write_string_at(&writer, "objective", search_objective_key(search->objective));
    json_write_key(&writer, "refused_count");
    json_write_begin_object(&writer);
    for (int i = PLAN_REDUNDANT; i < PLAN_REFUSAL_COUNT; i++)
        json_write_real_at(&writer, plan_refusal_key((enum plan_refusal)i),
                           search->counts.refused_count[i]);
    json_write_real_at(&writer, "memory", (double)search->no_memory_count);
    json_write_real_at(&writer, "bound", (double)search->unseen_count);
    json_write_real_at(&writer, "no_price", (double)search->no_price_count);
    json_write_end_object(&writer);
    json_write_integer_at(&writer, "legal_count", (int64_t)search->counts.legal_count);
    if (search->slice.count > 0)
        json_write_integer_at(&writer, "shard_count", (int64_t)search->plan_count);
    json_write_integer_at(&writer, "simulated_count", (int64_t)search->simulated_count);
    json_write_bool_at(&writer, "was_stopped", search->was_stopped);
    json_write_key(&writer, "best");
    write_plans(&writer, search, search->best, search->best_count);
    if (search->has_front) {
        json_write_key(&writer, "front");
        write_plans(&writer, search, search->front, search->front_count);
    }
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
}

/* Cost and tokens are merged by stores: rows say nothing of what is judged. */
static void
write_shard(const struct search *search, const struct slice *slice, struct text *out)
{
    if (slice->count > 0 && search->has_front)
        text_format(out, "shard %zu/%zu front,", slice->index + 1, slice->count);
    else if (slice->count > 0 && search->objective != OBJECTIVE_STEP)
        text_format(out, "plan,");
    else if (slice->count > 0)
        text_format(out, "shard %zu/%zu best %zu,", slice->index + 1, slice->count,
                    search->top);
}

void
search_report_csv_head(const struct search *search, const struct slice *slice,
                       const char *first, struct text *out)
{
    write_shard(search, slice, out);
    text_format(out, "%s", first);
    for (int i = 0; i < PLAN_FIELD_COUNT; i++)
        text_format(out, "%s,", plan_field_key((enum plan_field)i));
    for (int i = 0; i < SWEEP_STEP_QUANTITIES; i++)
        text_format(out, "%s,", sweep_quantity_key((enum sweep_quantity)i));
    text_format(out, "bound_s,settings\n");
}

void
search_report_csv_row(const struct search *search, const struct search_plan *plan,
                      struct text *out)
{
    for (int i = 0; i < PLAN_FIELD_COUNT; i++)
        text_format(out, "%s,",
                    plan_field_word((enum plan_field)i, plan->point.values[i], out->arena));
    for (int i = 0; i < SWEEP_STEP_QUANTITIES; i++) {
        csv_write_real(out, plan->row.values[i]);
        text_format(out, ",");
    }
    csv_write_real(out, plan->bound_s);
    text_format(out, ",");
    csv_write_text(out, settings_of(search, plan, out->arena));
    text_format(out, "\n");
}

void
search_report_csv(const struct search *search, struct text *out)
{
    struct search_plan *const *plans = search->has_front ? search->front : search->best;
    size_t count = search->has_front ? search->front_count : search->best_count;
    search_report_csv_head(search, &search->slice, "", out);
    for (size_t i = 0; i < count; i++) {
        if (search->slice.count > 0)
            text_format(out, "%zu,", plans[i]->place);
        search_report_csv_row(search, plans[i], out);
    }
}
