/* An operator's inputs, what it costs and why, and the numbers that the price depends on. */
#include "sim/cli/explain_operator.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/json_writer.h"
#include "sim/base/spelling.h"
#include "sim/base/units.h"

/* Work of that name: an item's, or one of the kernels that it is made of. */
static const struct step_work *
work_named(const struct step_work *work, const char *wanted)
{
    if (!work || strcmp(work->name, wanted) == 0)
        return work;
    for (int64_t i = 0; i < work->part_count; i++)
        if (strcmp(work->parts[i]->name, wanted) == 0)
            return work->parts[i];
    return NULL;
}

/* Of any kind of rank, on the chain or not. */
static const struct step_work *
find_work(const struct program *program, const char *wanted)
{
    for (int64_t i = 0; i < program->kind_count; i++) {
        const struct rank_program *kind = &program->kinds[i];
        for (int64_t j = 0; j < kind->count; j++) {
            const struct step_work *work =
                work_named(program_work(program, &kind->items[j], kind->slowest_rank), wanted);
            if (work)
                return work;
        }
    }
    return NULL;
}

const struct explain_operator *
explain_operator_find(const struct explanation *explanation, const char *wanted)
{
    if (isdigit((unsigned char)*wanted)) {
        char *end = NULL;
        long long number = strtoll(wanted, &end, 10);
        bool is_there = !*end && number >= 1 && number <= explanation->operator_count;
        return is_there ? &explanation->operators[number - 1] : NULL;
    }
    for (int64_t i = 0; i < explanation->operator_count; i++)
        if (strcmp(explanation->operators[i].work->name, wanted) == 0)
            return &explanation->operators[i];
    return NULL;
}

const struct explain_operator *
explain_operator_find_anywhere(const struct explanation *explanation, const char *wanted,
                               struct arena *arena)
{
    const struct explain_operator *on_chain = explain_operator_find(explanation, wanted);
    const struct step_work *work =
        on_chain ? NULL : find_work(explanation->step->lowered.program, wanted);
    if (!work)
        return on_chain;
    struct explain_operator *found = arena_alloc(arena, 1, sizeof *found);
    found->work = work;
    return found;
}

const char *
explain_operator_nearest(const struct explanation *explanation, const char *wanted,
                         struct arena *arena)
{
    size_t count = (size_t)explanation->operator_count;
    const char **names = arena_alloc(arena, count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = explanation->operators[i].work->name;
    return spelling_nearest(wanted, names, count);
}

static void
write_collective(struct json_writer *writer, const struct collective *collective,
                 const struct cluster *cluster)
{
    struct error_list errors = {0};
    struct rank_placement placement = {0};
    json_write_begin_object(writer);
    json_write_string_at(writer, "collective", collective_kind_name(collective->kind));
    if (collective->from != collective->to) {
        json_write_integer_at(writer, "from", collective->from);
        json_write_integer_at(writer, "to", collective->to);
    } else if (collective_place(cluster, collective, &placement, &errors)) {
        json_write_integer_at(writer, "ranks", placement.ranks);
        json_write_integer_at(writer, "nodes", placement.nodes);
    }
    json_write_real_at(writer, "bytes", collective->bytes);
    json_write_string_at(writer, "dtype", dtype_name(collective->dtype));
    json_write_end_object(writer);
}

/* As a line of a list for `stepcast kernel` or `stepcast collective`. */
static void
write_question(struct json_writer *writer, const struct explain_origin *origin)
{
    const struct step_work *work = origin->found->work;
    if (work->kernel)
        kernel_write(work->kernel, writer);
    else
        write_collective(writer, work->collective,
                         origin->explanation->step->run->inputs.cluster);
}

void
explain_operator_question(const struct explain_origin *origin, struct text *out)
{
    struct json_writer writer = json_writer_new(out, false);
    write_question(&writer, origin);
}

static void
print_kernel_cost(struct text *out, const struct kernel_cost *cost)
{
    text_format(out, "bound by     %s, %s, %s to and from HBM\n",
                kernel_bound_name(cost->bound), units_format_flop(cost->flop).text,
                units_format_bytes(cost->hbm_bytes).text);
    if (cost->tiles > 0)
        text_format(out, "tiles        %lld in %lld waves\n", (long long)cost->tiles,
                    (long long)cost->waves);
    text_format(out, "takes        %s of the compute units, %s of the HBM bandwidth\n",
                units_format_fraction(cost->compute_fraction).text,
                units_format_fraction(cost->hbm_fraction).text);
}

static void
print_collective_cost(struct text *out, const struct collective_cost *cost)
{
    text_format(out, "bound by     %s: %s, %s, bus bandwidth %s\n", cost->bound,
                cost->algorithm, cost->protocol,
                units_format_bytes_per_s(cost->bus_bytes_per_s).text);
    text_format(out, "             %s to start, %s to transfer\n",
                units_format_s(cost->latency_s).text, units_format_s(cost->transfer_s).text);
    text_format(out,
                "takes        %s of the GPU's links, %s of its NIC, %s of its compute, "
                "%s of its HBM\n",
                units_format_fraction(cost->link_fraction).text,
                units_format_fraction(cost->nic_fraction).text,
                units_format_fraction(cost->compute_fraction).text,
                units_format_fraction(cost->hbm_fraction).text);
}

/* Products are faster in a step than alone on a device whose power the other kernels leave over. */
static void
print_price(struct text *out, const struct explain_origin *origin)
{
    const struct step_work *work = origin->found->work;
    double price_s = origin->provenance.price_s, step_s = work->delay_s + work->work_s;
    text_format(out, "formula      %s (%s)\n", origin->provenance.words,
                origin->provenance.formula);
    text_format(out, "price        %s, %.1f %% standard deviation\n",
                units_format_s(price_s).text, 100 * work->relative_sigma);
    if (units_ps_from_s(price_s) != units_ps_from_s(step_s))
        text_format(out, "             %s in this step (models/mixed_load.h)\n",
                    units_format_s(step_s).text);
}

/* What the last name of a path ends in says the unit; parts of lists have that of the list. */
const char *
explain_operator_unit(const char *path)
{
    static const char *const units[][2] = {
        {"_bytes_per_s", "B/s"},
        {"_flop_per_s", "FLOP/s"},
        {"_per_s", "1/s"},
        {"_s", "s"},
        {"_bytes", "B"},

        {"_w", "W"},
        {"_flop", "FLOP"},
    };
    for (const char *end = path + strlen(path); end > path;) {
        const char *begin = end;
        while (begin > path && begin[-1] != '.')
            begin--;
        size_t length = (size_t)(end - begin);
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            size_t suffix = strlen(units[i][0]);
            if (length > suffix && strncmp(end - suffix, units[i][0], suffix) == 0)
                return units[i][1];
        }
        end = begin > path ? begin - 1 : path;
    }
    return "";
}

static void
print_numbers(struct text *out, const struct provenance *provenance)
{
    text_format(out, "\n%-46s %12s %15s\n", "the price comes from", "value", "1 % more");
    for (int64_t i = 0; i < provenance->count; i++) {
        const struct provenance_number *number = &provenance->numbers[i];
        text_format(out, "  %-44s %12.6g %-6s%+9.3f %%\n    %s\n", number->path, number->value,
                    explain_operator_unit(number->path), number->elasticity, number->where);
        if (number->source)
            text_format(out, "    %s\n", number->source);
    }
}

void
explain_operator_text(const struct explain_origin *origin, struct text *out)
{
    const struct explain_operator *found = origin->found;
    const struct step *step = origin->explanation->step;
    text_format(out, "%s\n\n", step->heading);
    text_format(out, "operator     %s (%s)\n", found->work->name,
                step_class_label(found->work->spent_on));
    text_format(out, "on the chain %lld time%s, %s: %s of the step\n", (long long)found->count,
                found->count == 1 ? "" : "s", units_format_s(units_s_from_ps(found->ps)).text,
                units_format_fraction((double)found->ps / (double)step->step_ps).text);
    text_format(out, "asked        ");
    explain_operator_question(origin, out);
    text_format(out, "\n");
    print_price(out, origin);
    if (found->work->kernel_cost)
        print_kernel_cost(out, found->work->kernel_cost);
    if (found->work->collective_cost)
        print_collective_cost(out, found->work->collective_cost);
    print_numbers(out, &origin->provenance);
}

static void
write_cost(struct json_writer *writer, const struct step_work *work)
{
    const struct kernel_cost *cost = work->kernel_cost;
    json_write_string_at(writer, "bound",
                         cost ? kernel_bound_name(cost->bound) : work->collective_cost->bound);
    if (cost) {
        json_write_real_at(writer, "flop", cost->flop);
        json_write_real_at(writer, "hbm_bytes", cost->hbm_bytes);
        json_write_integer_at(writer, "tiles_count", cost->tiles);
        json_write_integer_at(writer, "waves_count", cost->waves);
    } else {
        json_write_string_at(writer, "algorithm", work->collective_cost->algorithm);
        json_write_string_at(writer, "protocol", work->collective_cost->protocol);
        json_write_real_at(writer, "latency_s", work->collective_cost->latency_s);
        json_write_real_at(writer, "transfer_s", work->collective_cost->transfer_s);
    }
}

static void
write_numbers(struct json_writer *writer, const struct provenance *provenance)
{
    json_write_key(writer, "numbers");
    json_write_begin_array(writer);
    for (int64_t i = 0; i < provenance->count; i++) {
        const struct provenance_number *number = &provenance->numbers[i];
        json_write_begin_object(writer);
        json_write_string_at(writer, "path", number->path);
        json_write_string_at(writer, "where", number->where);
        json_write_real_at(writer, "value", number->value);
        json_write_string_at(writer, "unit", explain_operator_unit(number->path));
        json_write_real_at(writer, "elasticity_ratio", number->elasticity);
        json_write_string_at(writer, "source", number->source);
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}

void
explain_operator_json(const struct explain_origin *origin, struct text *out)
{
    const struct explain_operator *found = origin->found;
    struct json_writer writer = json_writer_new(out, true);
    json_write_begin_object(&writer);
    json_write_string_at(&writer, "name", found->work->name);
    json_write_string_at(&writer, "class", step_class_key(found->work->spent_on));
    json_write_integer_at(&writer, "count", found->count);
    json_write_real_at(&writer, "chain_s", units_s_from_ps(found->ps));
    json_write_key(&writer, "question");
    write_question(&writer, origin);
    json_write_string_at(&writer, "formula", origin->provenance.formula);
    json_write_string_at(&writer, "formula_words", origin->provenance.words);
    json_write_real_at(&writer, "price_s", origin->provenance.price_s);
    json_write_real_at(&writer, "relative_sigma", found->work->relative_sigma);
    write_cost(&writer, found->work);
    write_numbers(&writer, &origin->provenance);
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
}
