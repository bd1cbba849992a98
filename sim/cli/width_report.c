/* Advice on a width, in words and as JSON. */
#include <string.h>

#include "sim/base/json_writer.h"
#include "sim/base/units.h"
#include "sim/cli/width_advice.h"

static const char *
verdict_word(enum sizing_verdict verdict)
{
    static const char *const words[] = {"holds", "broken", "-"};
    return words[verdict];
}

static void
print_products(const struct width_advice *advice, struct text *out)
{
    const struct step *step = advice->explanation->step;
    if (advice->product_count > 0)
        text_format(out, "\n%-29s %9s %8s %6s\n",
                    advice->is_field ? "products that change with it" : "the product", "time",
                    "", "times");
    for (int i = 0; i < advice->product_count; i++) {
        const struct width_product *product = &advice->products[i];
        text_format(
            out, "  %-27s %9s %8s %6lld  %s\n", product->found->work->name,
            units_format_s(units_s_from_ps(product->found->ps)).text,
            units_format_fraction((double)product->found->ps / (double)step->step_ps).text,
            (long long)product->found->count, product->waves);
    }
}

/* "+3.1 %" */
static const char *
difference(double value, double now, struct arena *arena)
{
    return arena_format(arena, "%+.1f %%", 100 * (value / now - 1));
}

static void
print_point(const struct width_advice *advice, const char *label,
            const struct width_point *point, struct text *out)
{
    const struct width_point *now = advice->now;
    if (!point) {
        text_format(out, "  %-6s %8s  none is better\n", label, "");
        return;
    }
    text_format(out, "  %-6s %8lld %9s", label, (long long)point->width,
                units_format_s(point->seconds_s).text);
    text_format(out, " %8s %11s/s",
                point == now ? "" : difference(point->seconds_s, now->seconds_s, out->arena),
                units_format_flop(point->flop_per_s).text);
    text_format(out, " %8s %8s",
                point == now ? "" : difference(point->flop_per_s, now->flop_per_s, out->arena),
                units_format_count(point->parameters).text);
    text_format(out, " %8s",
                point == now ? "" : difference(point->parameters, now->parameters, out->arena));
    if (advice->is_field)
        text_format(out, " %8s %8s %9s", units_format_count(point->active_parameters).text,
                    point == now ? ""
                                 : difference(point->active_parameters, now->active_parameters,
                                              out->arena),
                    units_format_bytes(point->memory_bytes).text);
    text_format(out, "\n");
}

static void
print_points(const struct width_advice *advice, struct text *out)
{
    size_t refused = 0;
    for (size_t i = 0; i < advice->count; i++)
        refused += advice->points[i].reason != NULL;
    text_format(out, "\n%-6s %10s %9s %8s %13s %8s %8s %8s", "better", "width",
                advice->is_field ? "step" : "time", "", "FLOP/s", "", "weights", "");
    text_format(out, advice->is_field ? " %8s %8s %9s\n" : "\n", "active", "", "memory");
    print_point(advice, "now", advice->now, out);
    print_point(advice, "down", advice->down, out);
    print_point(advice, "up", advice->up, out);
    if (advice->best != advice->now && advice->best != advice->down &&
        advice->best != advice->up)
        print_point(advice, "best", advice->best, out);
    text_format(out, "  (of %zu widths from %lld to %lld", advice->count,
                (long long)advice->points[0].width,
                (long long)advice->points[advice->count - 1].width);
    if (refused > 0)
        text_format(out, "; %zu cannot be run", refused);
    text_format(out, ")\n");
}

static void
print_rules(const struct width_advice *advice, struct text *out)
{
    if (advice->rule_count == 0)
        return;
    const char *source = "";
    for (int i = 0; i < advice->rule_count; i++) {
        const struct sizing_rule *rule = &advice->rules[i];
        if (strcmp(rule->source, source) != 0)
            text_format(out, "\nsizing rules (%s)\n", rule->source);
        source = rule->source;
        text_format(out, "  %-6s  %-48s  %s\n", verdict_word(rule->verdict), rule->rule,
                    rule->found);
    }
}

void
width_advice_text(const struct width_advice *advice, struct text *out)
{
    text_format(out, "%s\n\n%s is %lld\n", advice->explanation->step->heading,
                advice->request->what, (long long)advice->now->width);
    print_products(advice, out);
    print_points(advice, out);
    print_rules(advice, out);
}

static void
write_point(struct json_writer *writer, const struct width_advice *advice,
            const struct width_point *point)
{
    json_write_begin_object(writer);
    json_write_integer_at(writer, "width", point->width);
    if (point->reason) {
        json_write_string_at(writer, "reason", point->reason);
        json_write_end_object(writer);
        return;
    }
    json_write_real_at(writer, advice->is_field ? "step_s" : "kernel_s", point->seconds_s);
    json_write_real_at(writer, "flop_per_s", point->flop_per_s);
    json_write_real_at(writer, "parameters_count", point->parameters);
    if (advice->is_field) {
        json_write_real_at(writer, "active_parameters_count", point->active_parameters);
        json_write_real_at(writer, "mfu", point->mfu);
        json_write_real_at(writer, "memory_bytes", point->memory_bytes);
    }
    json_write_end_object(writer);
}

static void
write_width_at(struct json_writer *writer, const char *key, const struct width_point *point)
{
    json_write_key(writer, key);
    if (point)
        json_write_integer(writer, point->width);
    else
        json_write_string(writer, NULL);
}

static void
write_products(struct json_writer *writer, const struct width_advice *advice)
{
    const struct device *device = advice->explanation->step->run->inputs.cluster->device;
    json_write_key(writer, "products");
    json_write_begin_array(writer);
    for (int i = 0; i < advice->product_count; i++) {
        const struct explain_operator *found = advice->products[i].found;
        const struct kernel_cost *cost = found->work->kernel_cost;
        json_write_begin_object(writer);
        json_write_string_at(writer, "name", found->work->name);
        json_write_real_at(writer, "chain_s", units_s_from_ps(found->ps));
        json_write_integer_at(writer, "count", found->count);
        json_write_integer_at(writer, "tiles_count", cost->tiles);
        json_write_integer_at(writer, "waves_count", cost->waves);
        json_write_integer_at(writer, "tile_m", cost->tile_m);
        json_write_integer_at(writer, "tile_n", cost->tile_n);
        json_write_real_at(writer, "tile_fraction",
                           sizing_tile_fraction(found->work->kernel, cost));
        json_write_real_at(writer, "wave_fraction", sizing_wave_fraction(cost, device));
        json_write_string_at(writer, "why", advice->products[i].waves);
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}

static void
write_rules(struct json_writer *writer, const struct width_advice *advice)
{
    json_write_key(writer, "rules");
    json_write_begin_array(writer);
    for (int i = 0; i < advice->rule_count; i++) {
        const struct sizing_rule *rule = &advice->rules[i];
        json_write_begin_object(writer);
        json_write_string_at(writer, "rule", rule->key);
        json_write_string_at(writer, "text", rule->rule);
        json_write_string_at(writer, "found", rule->found);
        if (rule->verdict != SIZING_SILENT)
            json_write_bool_at(writer, "holds", rule->verdict == SIZING_HOLDS);
        json_write_string_at(writer, "source", rule->source);
        json_write_end_object(writer);
    }
    json_write_end_array(writer);
}

void
width_advice_json(const struct width_advice *advice, struct text *out)
{
    struct json_writer writer = json_writer_new(out, true);
    json_write_begin_object(&writer);
    json_write_string_at(&writer, "name", advice->explanation->step->heading);
    json_write_string_at(&writer, "what", advice->request->what);
    write_width_at(&writer, "width", advice->now);
    write_width_at(&writer, "better_down", advice->down);
    write_width_at(&writer, "better_up", advice->up);
    write_width_at(&writer, "best", advice->best);
    write_products(&writer, advice);
    json_write_key(&writer, "points");
    json_write_begin_array(&writer);
    for (size_t i = 0; i < advice->count; i++)
        write_point(&writer, advice, &advice->points[i]);
    json_write_end_array(&writer);
    write_rules(&writer, advice);
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
}
