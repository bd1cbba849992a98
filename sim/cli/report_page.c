/* The page's frame: style, what it begins with, its sections, and the parts that they share. */
#include "plots/inline_svg.h"
#include "sim/base/markup.h"
#include "sim/base/units.h"
#include "sim/cli/explain_picture.h"
#include "sim/cli/report.h"
#include "sim/cli/step_picture.h"
#include "sim/cli/version.h"

/* Colours by their part in the page; charts keep their paper in the dark. */
static const char style[] =
    ":root{--paper:#fff;--ink:#1a1a1a;--quiet:#595959;--line:#ddd;--lane:#f4f4f4}"
    "@media(prefers-color-scheme:dark){:root{--paper:#15181c;--ink:#e8e6e3;--quiet:#a9a7a3;"
    "--line:#3a3f45;--lane:#22262b}}"
    "*{box-sizing:border-box}html{color-scheme:light dark;-webkit-text-size-adjust:100%}"
    "body{margin:0 auto;padding:1rem;max-width:76rem;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;"
    "overflow-wrap:anywhere}"
    "h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0}"
    "h2{font-size:1.15rem;margin:0 0 .25rem;break-after:avoid}p{margin:.25rem 0 "
    ".75rem;max-width:46rem}"
    ".quiet,footer,th,summary small{color:var(--quiet)}section{margin:2rem 0}"
    ".facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.5rem;"
    "margin:1rem 0}.facts div{background:var(--lane);border-radius:.4rem;padding:.6rem .8rem}"
    ".facts b{display:block;font-size:1.35rem;line-height:1.2}.facts span{font-size:.85rem}"
    ".facts small{display:block;color:var(--quiet)}"
    ".columns{columns:2 24rem;column-gap:2.5rem}.columns section{break-inside:avoid;"
    "margin:0;padding-bottom:2rem}"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}"
    "th,td{padding:.3rem .5rem .3rem 0;text-align:right;vertical-align:top;"
    "border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}"
    "th{font-weight:400;font-size:.8rem;overflow-wrap:normal}th:first-child,td:first-child,td."
    "words{text-align:left}"
    "td+td{white-space:nowrap}td.words{white-space:normal}tbody tr:last-child "
    "td{border-bottom:0}"
    "i.bar{display:block;height:5px;margin-top:2px;border-radius:1px;min-width:1px}"
    ".scroll{overflow-x:auto;border:1px solid var(--line);border-radius:.4rem;background:#fff}"
    ".scroll svg{display:block;width:100%;min-width:60rem;height:auto}"
    ".chart{border:1px solid var(--line);border-radius:.4rem;background:#fff;overflow:hidden}"
    ".chart svg{display:block;width:100%;height:auto}.narrow{display:none}"
    "@media(max-width:40rem){.wide{display:none}.narrow{display:block}"
    "#operators>table :is(td,th):nth-child(3){display:none}}"
    "details{border-top:1px solid var(--line);padding:.4rem 0}summary{cursor:pointer}"
    "code{font-family:ui-monospace,'DejaVu Sans Mono',monospace;font-size:.85em}"
    "ul{padding-left:1.2rem}.warn{border-left:4px solid #d55e00;padding-left:.75rem}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.5rem 0}"
    "dt{color:var(--quiet)}dd{margin:0}"
    "@media print{body{max-width:none;padding:0;font-size:10pt}.scroll{overflow:visible;"
    "border:0}.scroll svg{min-width:0}section{break-inside:avoid-page}"
    "details:not([open])>*:not(summary){display:none}}";

void
report_words(const struct report *report, const char *tag, const char *words)
{
    text_format(report->out, "<%s>", tag);
    markup_write(report->out, words);
    text_format(report->out, "</%s>\n", tag);
}

void
report_begin(const struct report *report, const char *id, const char *title, const char *about)
{
    text_format(report->out, "<section id=\"%s\">\n", id);
    report_words(report, "h2", title);
    if (about)
        report_words(report, "p", about);
}

void
report_end(const struct report *report)
{
    text_format(report->out, "</section>\n");
}

void
report_begin_table(const struct report *report, const char *const *heads)
{
    text_format(report->out, "<table><thead><tr>");
    for (int i = 0; heads[i]; i++) {
        text_format(report->out, "<th scope=\"col\">");
        markup_write(report->out, heads[i]);
        text_format(report->out, "</th>");
    }
    text_format(report->out, "</tr></thead><tbody>\n");
}

void
report_end_table(const struct report *report)
{
    text_format(report->out, "</tbody></table>\n");
}

void
report_label(const struct report *report, const char *words, struct report_bar bar)
{
    text_format(report->out, "<tr><td>");
    markup_write(report->out, words);
    if (bar.fraction >= 0)
        text_format(report->out,
                    "<i class=\"bar\" style=\"width:%.1f%%;background:#%06X\"></i>",
                    100 * (bar.fraction < 1 ? bar.fraction : 1), bar.rgb);
    text_format(report->out, "</td>");
}

void
report_cell(const struct report *report, const char *words)
{
    text_format(report->out, "<td>");
    markup_write(report->out, words);
    text_format(report->out, "</td>");
}

static void
write_fact(const struct report *report, const char *name, const char *value, const char *note)
{
    text_format(report->out, "<div><span>%s</span><b>", name);
    markup_write(report->out, value);
    text_format(report->out, "</b><small>");
    markup_write(report->out, note);
    text_format(report->out, "</small></div>\n");
}

static void
write_facts(const struct report *report)
{
    const struct step *step = report->step;
    const struct step_inputs *inputs = &step->run->inputs;
    struct arena *arena = report->arena;
    const char *dtype = dtype_name(inputs->workload.plan->compute_dtype);
    text_format(report->out, "<div class=\"facts\">\n");
    write_fact(report, "Step time", units_format_s(step->step_s).text,
               arena_format(arena, "90 %% interval %s to %s", units_format_s(step->low_s).text,
                            units_format_s(step->high_s).text));
    write_fact(
        report, "Tokens a second", units_format_count(step->tokens_per_s).text,
        arena_format(arena, "%s a GPU", units_format_count(step->tokens_per_s_per_gpu).text));
    write_fact(report, "Model FLOP utilisation", units_format_fraction(step->mfu).text,
               arena_format(arena, "%s a GPU, of the %s peak",
                            units_format_flop_per_s(step->model_flop_per_s_per_gpu).text,
                            dtype));
    write_fact(report, "Memory of a GPU", units_format_bytes(step->memory.peak).text,
               arena_format(arena, "of %s", units_format_bytes(step->memory.capacity).text));
    text_format(report->out, "</div>\n");
}

static void
write_term(const struct report *report, const char *name, const char *value)
{
    text_format(report->out, "<dt>%s</dt><dd>", name);
    markup_write(report->out, value);
    text_format(report->out, "</dd>\n");
}

static void
write_set_up(const struct report *report)
{
    const struct step *step = report->step;
    const struct step_inputs *inputs = &step->run->inputs;
    const struct plan *plan = inputs->workload.plan;
    const struct cluster *cluster = inputs->cluster;
    struct arena *arena = report->arena;
    text_format(report->out, "<dl>\n");
    write_term(
        report, "model",
        arena_format(arena, "%s: %s parameters, %s active without the embedding",
                     inputs->workload.arch->name,
                     units_format_count((double)step->parameters.every).text,
                     units_format_count((double)step->parameters.nonembedding_active).text));
    write_term(report, "cluster",
               arena_format(arena, "%s: %lld × %lld %s", cluster->name,
                            (long long)cluster->nodes, (long long)cluster->gpus_per_node,
                            cluster->device->description));
    write_term(
        report, "plan",
        arena_format(arena,
                     "%s: data %lld, tensor %lld, context %lld, pipeline %lld, expert %lld, "
                     "ZeRO-%lld; %lld × %lld sequences of %lld tokens a GPU, %s tokens a step",
                     plan->name, (long long)plan_data_degree(plan, cluster),
                     (long long)plan->tensor, (long long)plan->context,
                     (long long)plan->pipeline, (long long)plan->expert,
                     (long long)plan->zero_stage, (long long)plan_microbatches(plan, cluster),
                     (long long)plan->microbatch_sequences, (long long)plan->sequence_tokens,
                     units_format_count((double)plan_step_tokens(plan)).text));
    write_term(report, "software", inputs->workload.software->name);
    text_format(report->out, "</dl>\n");
}

static void
write_timeline(const struct report *report)
{
    struct canvas *canvas = canvas_new(report->arena, STYLE_FONTS);
    const struct zoom zoom = {.kind = ZOOM_AUTO};
    report_begin(
        report, "timeline", "The step over time",
        "Framed in black: what decides the end. Hatched: waiting. On a narrow screen the "
        "picture scrolls.");
    struct shown_ranks shown = shown_ranks_slowest(report->step, report->arena);
    timeline_draw(step_picture(report->step, zoom, &shown, report->arena), &STYLE_PAGE_WEB,
                  canvas);
    text_format(report->out, "<div class=\"scroll\" tabindex=\"0\">");
    inline_svg_write(canvas, "t", report->out);
    text_format(report->out, "</div>\n");
    canvas_free(canvas);
    report_end(report);
}

/* The same chart for a screen of any width: one of a column's for narrow ones. */
static void
write_roofline_as(const struct report *report, const struct style_page *page, const char *name)
{
    struct canvas *canvas = canvas_new(report->arena, STYLE_FONTS);
    scatter_chart_draw(explain_roofline(report->step, report->arena), page, canvas);
    text_format(report->out, "<div class=\"chart %s\">", name);
    inline_svg_write(canvas, name, report->out);
    text_format(report->out, "</div>\n");
    canvas_free(canvas);
}

static void
write_roofline(const struct report *report)
{
    report_begin(report, "roofline", "What kernels reach of what the device can", NULL);
    write_roofline_as(report, &STYLE_PAGE_WEB, "wide");
    write_roofline_as(report, &STYLE_PAGE_SINGLE, "narrow");
    report_end(report);
}

static void
write_tornado_as(const struct report *report, const struct tornado_chart *chart,
                 const struct style_page *page, const char *name)
{
    struct canvas *canvas = canvas_new(report->arena, STYLE_FONTS);
    tornado_chart_draw(chart, page, canvas);
    text_format(report->out, "<div class=\"chart %s\">", name);
    inline_svg_write(canvas, arena_format(report->arena, "%s-tornado", name), report->out);
    text_format(report->out, "</div>\n");
    canvas_free(canvas);
}

/* Left out where a number moved makes a step that cannot be. */
static void
write_tornado(const struct report *report)
{
    struct error_list errors = {0};
    struct sensitivity items[SENSITIVITY_COUNT];
    if (!sensitivity_all(report->step, items, report->arena, &errors))
        return;
    const struct tornado_chart *chart = explain_tornado(report->step, items, report->arena);
    report_begin(report, "tornado", "What moves the step", NULL);
    write_tornado_as(report, chart, &STYLE_PAGE_WEB, "wide");
    write_tornado_as(report, chart, &STYLE_PAGE_SINGLE, "narrow");
    report_end(report);
}

static void
write_head(const struct report *report)
{
    text_format(report->out,
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<link rel=\"icon\" href=\"data:,\">\n");
    report_words(report, "title",
                 arena_format(report->arena, "%s: %s a step", report->step->heading,
                              units_format_s(report->step->step_s).text));
    text_format(report->out, "<style>%s</style>\n</head>\n<body>\n", style);
}

static void
write_lead(const struct report *report)
{
    const struct step *step = report->step;
    report_words(report, "h1", step->heading);
    report_words(
        report, "p",
        arena_format(report->arena,
                     "Predicted, not measured: a training step takes %s (90 %% interval "
                     "%s to %s).",
                     units_format_s(step->step_s).text, units_format_s(step->low_s).text,
                     units_format_s(step->high_s).text));
    for (int i = 0; i < step->warning_count; i++) {
        text_format(report->out, "<p class=\"warn\">");
        markup_write(report->out, step->warnings[i]);
        text_format(report->out, "</p>\n");
    }
    write_facts(report);
    write_set_up(report);
}

void
report_write(const struct step *step, struct text *out, struct arena *arena)
{
    struct report report = {
        .step = step, .explanation = explain_step(step, arena), .out = out, .arena = arena};
    report.what_if_count = what_if_all(step, report.what_ifs, arena);
    write_head(&report);
    write_lead(&report);
    write_timeline(&report);
    text_format(out, "<div class=\"columns\">\n");
    report_breakdown(&report);
    report_memory(&report);
    report_causes(&report);
    report_what_ifs(&report);
    text_format(out, "</div>\n");
    write_roofline(&report);
    write_tornado(&report);
    report_operators(&report);
    report_trust(&report);
    report_inputs(&report);
    text_format(out,
                "<footer><p>Made by stepcast %s. The same numbers as JSON: "
                "<code>stepcast run --json</code>, <code>stepcast explain --json</code>; "
                "the step in Perfetto: <code>stepcast timeline -o step.pftrace</code>."
                "</p></footer>\n</body>\n</html>\n",
                STEPCAST_VERSION);
}
