/* Boxes of one colour that follow each other become one path. */
#include "plots/inline_svg.h"

#include <math.h>

#include "plots/display_list.h"
#include "plots/style.h"
#include "sim/base/markup.h"

static const double px_per_pt = 4.0 / 3.0; /* CSS pixels */
static const double hatch_step_pt = 3.0;
static const double hatch_line_pt = 0.6;

struct inline_svg {
    const struct canvas *canvas;
    const struct display_list *list;
    const char *prefix;
    struct text *out;
    int hatch_count, clip_count;
};

/* Two decimals, without zeros at the end. */
static void
write_number(struct text *out, double value)
{
    int64_t hundredths = llround(value * 100);
    uint64_t size = (uint64_t)(hundredths < 0 ? -hundredths : hundredths);
    const char *sign = hundredths < 0 ? "-" : "";
    if (size % 100 == 0)
        text_format(out, "%s%llu", sign, (unsigned long long)(size / 100));
    else if (size % 10 == 0)
        text_format(out, "%s%llu.%llu", sign, (unsigned long long)(size / 100),
                    (unsigned long long)(size / 10 % 10));
    else
        text_format(out, "%s%llu.%02llu", sign, (unsigned long long)(size / 100),
                    (unsigned long long)(size % 100));
}

static void
write_attribute(struct text *out, const char *name, double value)
{
    text_format(out, " %s=\"", name);
    write_number(out, value);
    text_format(out, "\"");
}

/* "Mx yhwvhh-wz". */
static void
write_box_path(struct text *out, struct canvas_box box)
{
    text_format(out, "M");
    write_number(out, box.x_pt);
    text_format(out, " ");
    write_number(out, box.y_pt);
    text_format(out, "h");
    write_number(out, box.width_pt);
    text_format(out, "v");
    write_number(out, box.height_pt);
    text_format(out, "h");
    write_number(out, -box.width_pt);
    text_format(out, "z");
}

static void
write_points(struct text *out, const struct canvas_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        text_format(out, i == 0 ? "M" : i == 1 ? "L" : " ");
        write_number(out, points[i].x_pt);
        text_format(out, " ");
        write_number(out, points[i].y_pt);
    }
}

/* The pattern first, then what is filled with it. */
static void
write_hatch_fill(struct inline_svg *svg, uint32_t rgb)
{
    struct text *out = svg->out;
    int number = svg->hatch_count++;
    text_format(out, "<pattern id=\"%sh%d\" patternUnits=\"userSpaceOnUse\"", svg->prefix,
                number);
    write_attribute(out, "width", hatch_step_pt / sqrt(2));
    write_attribute(out, "height", hatch_step_pt / sqrt(2));
    text_format(out, " patternTransform=\"rotate(45)\"><path d=\"M0 0v9\" stroke=\"#%06X\"",
                rgb);
    write_attribute(out, "stroke-width", 2 * hatch_line_pt);
    text_format(out, "/></pattern><path fill=\"url(#%sh%d)\" d=\"", svg->prefix, number);
}

/* Boxes to fill or hatch in one colour from the index-th on; returns how many they are. */
static size_t
write_boxes(struct inline_svg *svg, size_t index)
{
    const struct display_item *first = &svg->list->items[index];
    size_t count = 0;
    if (first->kind == DISPLAY_HATCH)
        write_hatch_fill(svg, first->rgb);
    else
        text_format(svg->out, "<path fill=\"#%06X\" d=\"", first->rgb);
    while (index + count < svg->list->count && first[count].kind == first->kind &&
           first[count].rgb == first->rgb)
        write_box_path(svg->out, first[count++].shape.box);
    text_format(svg->out, "\"/>");
    return count;
}

static void
write_text(const struct inline_svg *svg, const struct display_item *item)
{
    const struct display_text *text = &item->shape.text;
    struct text *out = svg->out;
    double width = canvas_text_width_pt(svg->canvas, &text->font, text->text);
    text_format(out, "<text");
    write_attribute(out, "x", text->left_pt);
    write_attribute(out, "y", text->baseline_pt);
    write_attribute(out, "font-size", text->font.size_pt);
    if (text->font.is_bold)
        text_format(out, " font-weight=\"700\"");
    if (width > 0)
        write_attribute(out, "textLength", width);
    text_format(out, " lengthAdjust=\"spacingAndGlyphs\" fill=\"#%06X\">", item->rgb);
    markup_write(out, text->text);
    if (text->whole != NULL) {
        text_format(out, "<title>");
        markup_write(out, text->whole);
        text_format(out, "</title>");
    }
    text_format(out, "</text>");
}

static void
write_path(struct text *out, const struct display_item *item, const struct canvas_point *points,
           size_t count)
{
    bool is_filled = item->kind == DISPLAY_QUAD || item->kind == DISPLAY_POLYGON;
    text_format(out, "<path d=\"");
    write_points(out, points, count);
    if (is_filled) {
        text_format(out, "z\" fill=\"#%06X\"", item->rgb);
        if (item->kind == DISPLAY_POLYGON && item->opaque_fraction < 1)
            write_attribute(out, "fill-opacity", item->opaque_fraction);
    } else {
        text_format(out, "\" fill=\"none\" stroke=\"#%06X\" stroke-linejoin=\"round\"",
                    item->rgb);
        write_attribute(out, "stroke-width", item->line_pt);
    }
    text_format(out, "/>");
}

/* The line inside the box. */
static void
write_outline(struct text *out, const struct display_item *item)
{
    struct canvas_box box = item->shape.box;
    double half = item->line_pt / 2;
    box.x_pt += half;
    box.y_pt += half;
    box.width_pt = fmax(0, box.width_pt - item->line_pt);
    box.height_pt = fmax(0, box.height_pt - item->line_pt);
    text_format(out, "<path fill=\"none\" stroke=\"#%06X\"", item->rgb);
    write_attribute(out, "stroke-width", item->line_pt);
    text_format(out, " d=\"");
    write_box_path(out, box);
    text_format(out, "\"/>");
}

static void
write_dot(struct text *out, const struct display_item *item)
{
    text_format(out, "<circle");
    write_attribute(out, "cx", item->shape.dot.centre.x_pt);
    write_attribute(out, "cy", item->shape.dot.centre.y_pt);
    write_attribute(out, "r", item->shape.dot.radius_pt);
    text_format(out, " fill=\"#%06X\"/>", item->rgb);
}

static void
write_clip(struct inline_svg *svg, struct canvas_box box)
{
    int number = svg->clip_count++;
    text_format(svg->out, "<clipPath id=\"%sc%d\"><path d=\"", svg->prefix, number);
    write_box_path(svg->out, box);
    text_format(svg->out, "\"/></clipPath><g clip-path=\"url(#%sc%d)\">", svg->prefix, number);
}

/* The index-th shape, or several that go together; returns how many. */
static size_t
write_shape(struct inline_svg *svg, size_t index)
{
    const struct display_item *item = &svg->list->items[index];
    switch (item->kind) {
    case DISPLAY_FILL:
    case DISPLAY_HATCH:
        return write_boxes(svg, index);
    case DISPLAY_OUTLINE:
        write_outline(svg->out, item);
        break;
    case DISPLAY_LINE:
        write_path(svg->out, item, item->shape.points, 2);
        break;
    case DISPLAY_QUAD:
        write_path(svg->out, item, item->shape.points, 4);
        break;
    case DISPLAY_CURVE:
    case DISPLAY_POLYGON:
        write_path(svg->out, item, item->shape.path.points, item->shape.path.count);
        break;
    case DISPLAY_DOT:
        write_dot(svg->out, item);
        break;
    case DISPLAY_TEXT:
        write_text(svg, item);
        break;
    case DISPLAY_CLIP:
        write_clip(svg, item->shape.box);
        break;
    case DISPLAY_UNCLIP:
        text_format(svg->out, "</g>");
        break;
    }
    return 1;
}

void
inline_svg_write(const struct canvas *canvas, const char *prefix, struct text *out)
{
    struct inline_svg svg = {
        .canvas = canvas, .list = canvas_display_list(canvas), .prefix = prefix, .out = out};
    double width = svg.list->width_pt, height = svg.list->height_pt;
    text_format(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 ");
    write_number(out, width);
    text_format(out, " ");
    write_number(out, height);
    text_format(out, "\"");
    write_attribute(out, "width", px_per_pt * width);
    write_attribute(out, "height", px_per_pt * height);
    text_format(out, " font-family=\"DejaVu Sans,Verdana,sans-serif\"><title>");
    markup_write(out, svg.list->title != NULL ? svg.list->title : "");
    text_format(out, "</title><rect width=\"100%%\" height=\"100%%\" fill=\"#%06X\"/>",
                STYLE_PAPER);
    for (size_t i = 0; i < svg.list->count;)
        i += write_shape(&svg, i);
    text_format(out, "</svg>");
}
