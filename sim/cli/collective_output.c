/* Curves of a collective as text, JSON, CSV and a picture. */
#include <math.h>

#include "sim/base/units.h"
#include "sim/cli/collective_curves.h"
#include "sim/cli/version.h"

static double
cost_s(const struct collective_cost *cost)
{
    return cost->latency_s + cost->transfer_s;
}

/* rccl-tests counts the elements of one rank's part where ranks have parts. */
static double
count_of(const struct collective_curve *curve, double bytes)
{
    enum collective_kind kind = curve->collective.kind;
    bool has_parts = kind == COLLECTIVE_ALL_GATHER || kind == COLLECTIVE_REDUCE_SCATTER ||
                     kind == COLLECTIVE_ALL_TO_ALL;
    double elements = bytes / dtype_bytes(curve->collective.dtype);
    return floor(has_parts ? elements / (double)curve->placement.ranks : elements);
}

/* As rccl-tests writes types. */
static const char *
type_name(enum dtype dtype)
{
    static const char *const names[] = {
        [DTYPE_FP64] = "double",   [DTYPE_FP32] = "float", [DTYPE_TF32] = "float",
        [DTYPE_BF16] = "bfloat16", [DTYPE_FP16] = "half",  [DTYPE_FP8] = "fp8_e4m3",
        [DTYPE_INT8] = "int8",
    };
    return names[dtype];
}

static void
print_curve(const struct collective_curves *curves, const struct collective_curve *curve,
            struct text *out)
{
    double bus_sum = 0;
    text_format(out, "# %s of %lld ranks on %lld node%s of %s\n",
                collective_kind_name(curve->collective.kind), (long long)curve->placement.ranks,
                (long long)curve->placement.nodes, curve->placement.nodes == 1 ? "" : "s",
                curves->cluster->name);
    text_format(out, "#%12s %13s %9s %11s %8s %8s   %s\n#%12s %13s %9s %11s %8s %8s\n", "size",
                "count", "type", "time", "algbw", "busbw", "algorithm, protocol, bound by",
                "(B)", "(elements)", "", "(us)", "(GB/s)", "(GB/s)");
    for (size_t i = 0; i < curves->size_count; i++) {
        const struct collective_cost *cost = &curve->costs[i];
        double bytes = collective_curves_bytes(curves, i), time_s = cost_s(cost);
        text_format(out, "%13.0f %13.0f %9s %11.2f %8.2f %8.2f   %s, %s, %s\n", bytes,
                    count_of(curve, bytes), type_name(curve->collective.dtype), time_s * 1e6,
                    time_s > 0 ? bytes / time_s / 1e9 : 0, cost->bus_bytes_per_s / 1e9,
                    cost->algorithm, cost->protocol, cost->bound);
        bus_sum += cost->bus_bytes_per_s;
    }
    text_format(out, "# Avg bus bandwidth    : %g\n",
                bus_sum / (double)curves->size_count / 1e9);
}

static void
print_measured(const struct collective_curves *curves, const struct collective_curve *curve,
               struct text *out)
{
    double error_sum = 0;
    if (curve->measured_count == 0)
        return;
    text_format(out, "# measured:\n");
    for (size_t i = 0; i < curve->measured_count; i++) {
        const struct measured *row = curve->measured[i];
        struct collective_cost cost;
        struct error_list faults = {0};
        if (!collective_cost(curves->cluster, &row->collective, &cost, &faults))
            continue;
        double error = cost_s(&cost) / row->measured_s - 1;
        text_format(out, "%13.0f %13s %9s %11.2f %8s %8.2f   predicted %+.1f %%\n",
                    row->collective.bytes, "", type_name(row->collective.dtype),
                    row->measured_s * 1e6, "", collective_bus_of_row(row) / 1e9, 100 * error);
        error_sum += fabs(error);
    }
    text_format(out, "# MAPE                 : %.1f %%\n",
                100 * error_sum / (double)curve->measured_count);
}

void
collective_curves_print(const struct collective_curves *curves, struct text *out)
{
    for (size_t i = 0; i < curves->count; i++) {
        print_curve(curves, &curves->items[i], out);
        print_measured(curves, &curves->items[i], out);
    }
}

void
collective_cost_write(struct json_writer *writer, const struct collective_cost *cost)
{
    json_write_real_at(writer, "predicted_s", cost_s(cost));
    json_write_real_at(writer, "sigma", cost->relative_sigma);
    json_write_string_at(writer, "bound", cost->bound);
    json_write_string_at(writer, "algorithm", cost->algorithm);
    json_write_string_at(writer, "protocol", cost->protocol);
    json_write_real_at(writer, "latency_s", cost->latency_s);
    json_write_real_at(writer, "transfer_s", cost->transfer_s);
    json_write_real_at(writer, "bus_bytes_per_s", cost->bus_bytes_per_s);
}

void
collective_curves_write(const struct collective_curves *curves, struct json_writer *writer)
{
    json_write_begin_array(writer);
    for (size_t c = 0; c < curves->count; c++)
        for (size_t i = 0; i < curves->size_count; i++) {
            const struct collective_curve *curve = &curves->items[c];
            json_write_begin_object(writer);
            json_write_string_at(writer, "collective",
                                 collective_kind_name(curve->collective.kind));
            json_write_integer_at(writer, "ranks", curve->placement.ranks);
            json_write_integer_at(writer, "nodes", curve->placement.nodes);
            json_write_real_at(writer, "bytes", collective_curves_bytes(curves, i));
            collective_cost_write(writer, &curve->costs[i]);
            json_write_end_object(writer);
        }
    json_write_end_array(writer);
}

void
collective_curves_write_csv(const struct collective_curves *curves, struct text *out)
{
    text_format(out, "collective,ranks,nodes,bytes,predicted_s,sigma,bus_bytes_per_s,"
                     "algorithm,protocol,bound\n");
    for (size_t c = 0; c < curves->count; c++)
        for (size_t i = 0; i < curves->size_count; i++) {
            const struct collective_curve *curve = &curves->items[c];
            const struct collective_cost *cost = &curve->costs[i];
            text_format(out, "%s,%lld,%lld,%.17g,%.17g,%.17g,%.17g,\"%s\",%s,%s\n",
                        collective_kind_name(curve->collective.kind),
                        (long long)curve->placement.ranks, (long long)curve->placement.nodes,
                        collective_curves_bytes(curves, i), cost_s(cost), cost->relative_sigma,
                        cost->bus_bytes_per_s, cost->algorithm, cost->protocol, cost->bound);
        }
}

/* Bus bandwidth or time of a curve, with what was measured of it. */
static struct line_chart_series
make_series(const struct collective_curves *curves, const struct collective_curve *curve,
            bool is_time, struct arena *arena)
{
    struct line_chart_vertex *vertices =
        arena_alloc(arena, curves->size_count, sizeof *vertices);
    struct line_chart_point *points =
        arena_alloc(arena, curve->measured_count + 1, sizeof *points);
    for (size_t i = 0; i < curves->size_count; i++) {
        const struct collective_cost *cost = &curve->costs[i];
        double y = is_time ? cost_s(cost) : cost->bus_bytes_per_s;
        vertices[i] = (struct line_chart_vertex){collective_curves_bytes(curves, i), y,
                                                 y / (1 + cost->relative_sigma),
                                                 y * (1 + cost->relative_sigma)};
    }
    for (size_t i = 0; i < curve->measured_count; i++) {
        const struct measured *row = curve->measured[i];
        points[i] = (struct line_chart_point){
            row->collective.bytes, is_time ? row->measured_s : collective_bus_of_row(row),
            row->has_part && row->part == SPLIT_FIT};
    }
    const char *label = arena_format(arena, "%lld node%s", (long long)curve->placement.nodes,
                                     curve->placement.nodes == 1 ? "" : "s");
    return (struct line_chart_series){.label = label,
                                      .curve = vertices,
                                      .vertex_count = curves->size_count,
                                      .points = points,
                                      .point_count = curve->measured_count};
}

/* What links in a node and NICs offer, of which bus bandwidths are a part: between nodes of all
 * NICs of a node where data go round in rings, of a GPU's own where each rank sends its own to
 * another. */
static size_t
make_limits(const struct collective_curves *curves, struct line_chart_limit limits[2],
            struct arena *arena)
{
    const struct fabric *fabric = &curves->cluster->fabric;
    enum collective_kind kind = curves->items[0].collective.kind;
    bool is_send = kind == COLLECTIVE_SEND_RECV, is_one = false, is_more = false;
    bool is_own = is_send || kind == COLLECTIVE_ALL_TO_ALL || kind == COLLECTIVE_ALL_TO_ALL_V;
    int64_t gpus = curves->items[0].placement.gpus;
    for (size_t c = 0; c < curves->count; c++) {
        is_one |= curves->items[c].placement.nodes == 1;
        is_more |= curves->items[c].placement.nodes > 1;
    }
    double link = fabric->link_bytes_per_s * (is_send ? 1.0 : fabric_links(fabric, gpus));
    double nic = fabric->nic_bytes_per_s * (is_own ? 1.0 : (double)gpus);
    size_t count = 0;
    if (is_one && gpus > 1)
        limits[count++] = (struct line_chart_limit){
            link, arena_format(arena, "%s %s", is_send ? "link" : "links",
                               units_format_bytes_per_s(link).text)};
    if (is_more)
        limits[count++] =
            (struct line_chart_limit){nic, arena_format(arena, "%s %s", is_own ? "NIC" : "NICs",
                                                        units_format_bytes_per_s(nic).text)};
    return count;
}

/* What the curves reach at their last size, or take at their first. */
static const char *
make_title(const struct collective_curves *curves, struct arena *arena)
{
    struct text title = text_new(arena);
    size_t at = curves->draws_time ? 0 : curves->size_count - 1;
    text_format(&title, "%s on %s: ", collective_kind_name(curves->items[0].collective.kind),
                curves->cluster->name);
    for (size_t c = 0; c < curves->count; c++) {
        const struct collective_cost *cost = &curves->items[c].costs[at];
        struct units_text value = curves->draws_time
                                      ? units_format_s(cost_s(cost))
                                      : units_format_bytes_per_s(cost->bus_bytes_per_s);
        text_format(&title, "%s%s on %lld", c == 0 ? "" : ", ", value.text,
                    (long long)curves->items[c].placement.nodes);
    }
    text_format(&title, " node%s",
                curves->items[curves->count - 1].placement.nodes == 1 ? "" : "s");
    return title.bytes;
}

/* What is not the same for all pairs of an exchange. */
static const char *
parts_words(const struct collective_curves *curves, struct arena *arena)
{
    if (curves->routed.experts > 0)
        return arena_format(arena, ", each token to %lld of %lld experts, once to a node",
                            (long long)curves->routed.per_token,
                            (long long)curves->routed.experts);
    return curves->skew > 0 ? arena_format(arena, ", rank i gets (i + 1)^-%.3g", curves->skew)
                            : "";
}

static const char *
make_subtitle(const struct collective_curves *curves, struct arena *arena)
{
    const struct collective_curve *curve = &curves->items[0];
    size_t measured = 0;
    for (size_t c = 0; c < curves->count; c++)
        measured += curves->items[c].measured_count;
    const char *what = curves->draws_time ? "time" : "bus bandwidth as rccl-tests counts it";
    bool is_send = curve->collective.kind == COLLECTIVE_SEND_RECV;
    const char *text = arena_format(arena, "%s, from one GPU to another", what);
    if (!is_send || curve->placement.ranks > 2)
        text = arena_format(arena, "%s, %lld GPU%s a node%s", what,
                            (long long)curve->placement.gpus,
                            curve->placement.gpus == 1 ? "" : "s",
                            is_send ? ", each sends to the next" : parts_words(curves, arena));
    return measured == 0 ? text : arena_format(arena, "%s · %zu measured", text, measured);
}

/* Bus bandwidths over times, which tell small sizes apart; or times alone. */
const struct line_chart *
collective_curves_picture(const struct collective_curves *curves, struct arena *arena)
{
    static const struct line_chart_axis bandwidth = {"bus bandwidth", "B/s", LINE_CHART_LINEAR};
    static const struct line_chart_axis time = {"time", "s", LINE_CHART_LOG};
    struct line_chart *chart = arena_alloc(arena, 1, sizeof *chart);
    struct line_chart_series *series = arena_alloc(arena, 2 * curves->count, sizeof *series);
    struct line_chart_limit *limits = arena_alloc(arena, 2, sizeof *limits);
    *chart = (struct line_chart){
        .title = make_title(curves, arena),
        .subtitle = make_subtitle(curves, arena),
        .footer =
            arena_format(arena, "stepcast %s: %s, fabric %s%s", STEPCAST_VERSION,
                         curves->cluster->name, curves->cluster->fabric.name, curves->settings),
        .x = {"size", "B", LINE_CHART_LOG_BINARY},
        .y = curves->draws_time ? time : bandwidth,
        .series = series,
        .series_a_panel = curves->count,
        .curve_name = "predicted",
        .band_name = "one standard deviation",
        .point_name = "measured, held out of the fit",
        .hollow_name = "measured, seen by the fit",
    };
    for (int panel = curves->draws_time; panel < 2; panel++)
        for (size_t c = 0; c < curves->count; c++) {
            struct line_chart_series *one = &series[chart->series_count++];
            *one = make_series(curves, &curves->items[c], panel == 1, arena);
            one->y = panel == 1 && !curves->draws_time ? &time : NULL;
        }
    if (!curves->draws_time) {
        chart->limits = limits;
        chart->limit_count = make_limits(curves, limits, arena);
    }
    return chart;
}
