/* Display lists drawn by cairo, text laid out by pango. Foreign memory is freed here. */
#include "plots/render.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <pango/pangocairo.h>

#include "plots/png.h"

struct render_fonts {
    PangoFontMap *map;
    PangoContext *context;
    PangoLayout *layout;
    const char *families;
};

/* Two dots a CSS pixel of 1/96 inch, a point being 1/72. */
static const double png_dots_per_pt = 2.0 * 96.0 / 72.0;
/* cairo looks for all crossings of a path with itself: long ones are drawn in pieces. */
enum { POINTS_A_PATH = 512 };

static const double hatch_step_pt = 3.0;
static const double hatch_line_pt = 0.6;

/* Same glyph places in every format: no hinting, no rounding to whole units. */
static void
set_font_options(PangoContext *context)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(context, options);
    cairo_font_options_destroy(options);
    pango_context_set_round_glyph_positions(context, FALSE);
}

struct render_fonts *
render_fonts_new(struct arena *arena, const char *families)
{
    struct render_fonts *fonts = arena_alloc(arena, 1, sizeof *fonts);
    fonts->families = families;
    fonts->map = pango_cairo_font_map_new();
    fonts->context = pango_font_map_create_context(fonts->map);
    pango_cairo_context_set_resolution(fonts->context, 72.0); /* a point is a unit */
    set_font_options(fonts->context);
    fonts->layout = pango_layout_new(fonts->context);
    /* Figures of one width, so that columns of numbers stand straight. */
    PangoAttrList *attributes = pango_attr_list_new();
    pango_attr_list_insert(attributes, pango_attr_font_features_new("tnum=1"));
    pango_layout_set_attributes(fonts->layout, attributes);
    pango_attr_list_unref(attributes);
    pango_layout_set_single_paragraph_mode(fonts->layout, TRUE);
    return fonts;
}

void
render_fonts_free(struct render_fonts *fonts)
{
    g_object_unref(fonts->layout);
    g_object_unref(fonts->context);
    g_object_unref(fonts->map);
}

static void
set_layout(const struct render_fonts *fonts, const struct canvas_font *font, const char *text)
{
    PangoFontDescription *description = pango_font_description_new();
    pango_font_description_set_family_static(description, fonts->families);
    pango_font_description_set_absolute_size(description, font->size_pt * PANGO_SCALE);
    pango_font_description_set_weight(description,
                                      font->is_bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango_layout_set_font_description(fonts->layout, description);
    pango_font_description_free(description);
    pango_layout_set_text(fonts->layout, text, -1);
}

struct render_extents
render_measure(const struct render_fonts *fonts, const struct canvas_font *font,
               const char *text)
{
    PangoRectangle ink, logical;
    set_layout(fonts, font, text);
    pango_layout_get_extents(fonts->layout, &ink, &logical);
    double baseline = pango_layout_get_baseline(fonts->layout);
    return (struct render_extents){
        .advance_pt = logical.width / (double)PANGO_SCALE,
        .ink = {ink.x / (double)PANGO_SCALE, (ink.y - baseline) / PANGO_SCALE,
                ink.width / (double)PANGO_SCALE, ink.height / (double)PANGO_SCALE}};
}

const char *
render_clean_text(struct arena *arena, const char *text)
{
    char *clean = arena_format(arena, "%s", text);
    const char *bad = NULL;
    while (!g_utf8_validate(clean, -1, &bad))
        clean[bad - clean] = '?';
    for (char *c = clean; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20u || *c == 0x7F)
            *c = ' ';
    return clean;
}

static void
set_source(cairo_t *cairo, uint32_t rgb)
{
    cairo_set_source_rgb(cairo, (rgb >> 16) / 255.0, ((rgb >> 8) & 0xFFu) / 255.0,
                         (rgb & 0xFFu) / 255.0);
}

static void
add_box_path(cairo_t *cairo, const struct canvas_box *box)
{
    cairo_rectangle(cairo, box->x_pt, box->y_pt, box->width_pt, box->height_pt);
}

/* Boxes of one colour that follow each other are one path: smaller files, and no seam of the
 * paper's colour where two of them touch. Returns how many were drawn. */
static size_t
draw_fills(cairo_t *cairo, const struct display_item *items, size_t count)
{
    size_t run = 0;
    while (run < count && items[run].kind == DISPLAY_FILL && items[run].rgb == items[0].rgb)
        add_box_path(cairo, &items[run++].shape.box);
    set_source(cairo, items[0].rgb);
    cairo_fill(cairo);
    return run;
}

static struct canvas_box
box_union(const struct canvas_box *a, const struct canvas_box *b)
{
    double left = fmin(a->x_pt, b->x_pt), top = fmin(a->y_pt, b->y_pt);
    double right = fmax(a->x_pt + a->width_pt, b->x_pt + b->width_pt);
    double bottom = fmax(a->y_pt + a->height_pt, b->y_pt + b->height_pt);
    return (struct canvas_box){left, top, right - left, bottom - top};
}

/* Lines x + y = a multiple of the step, so that neighbouring boxes match. */
static void
add_hatch_path(cairo_t *cairo, const struct canvas_box *box)
{
    double first = ceil((box->x_pt + box->y_pt) / hatch_step_pt) * hatch_step_pt;
    double last = box->x_pt + box->width_pt + box->y_pt + box->height_pt;
    for (int i = 0; first + i * hatch_step_pt < last; i++) {
        double sum = first + i * hatch_step_pt;
        cairo_move_to(cairo, sum - box->y_pt, box->y_pt);
        cairo_line_to(cairo, sum - box->y_pt - box->height_pt, box->y_pt + box->height_pt);
    }
}

/* Boxes that follow each other share one clip and one set of lines, as draw_fills does. */
static size_t
draw_hatches(cairo_t *cairo, const struct display_item *items, size_t count)
{
    size_t run = 0;
    struct canvas_box all = items[0].shape.box;
    cairo_save(cairo);
    while (run < count && items[run].kind == DISPLAY_HATCH && items[run].rgb == items[0].rgb) {
        all = box_union(&all, &items[run].shape.box);
        add_box_path(cairo, &items[run++].shape.box);
    }
    cairo_clip(cairo);
    add_hatch_path(cairo, &all);
    set_source(cairo, items[0].rgb);
    cairo_set_line_width(cairo, hatch_line_pt);
    cairo_stroke(cairo);
    cairo_restore(cairo);
    return run;
}

/* Dots of one colour and size that follow each other are one path of points, each of which the
 * round end of its line makes a disc: a tenth of the file that arcs would take. */
static size_t
draw_dots(cairo_t *cairo, const struct display_item *items, size_t count)
{
    size_t run = 0;
    double radius_pt = items[0].shape.dot.radius_pt;
    for (; run < count && run < POINTS_A_PATH && items[run].kind == DISPLAY_DOT &&
           items[run].rgb == items[0].rgb && items[run].shape.dot.radius_pt == radius_pt;
         run++) {
        const struct canvas_point *centre = &items[run].shape.dot.centre;
        cairo_move_to(cairo, centre->x_pt, centre->y_pt);
        cairo_line_to(cairo, centre->x_pt, centre->y_pt);
    }
    set_source(cairo, items[0].rgb);
    cairo_save(cairo);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_width(cairo, 2 * radius_pt);
    if (run == POINTS_A_PATH) /* a crowd: 17 shades for its edges do, in half of the time */
        cairo_set_antialias(cairo, CAIRO_ANTIALIAS_FAST);
    cairo_stroke(cairo);
    cairo_restore(cairo);
    return run;
}

static void
draw_outline(cairo_t *cairo, const struct display_item *item)
{
    const struct canvas_box *box = &item->shape.box;
    double inset = fmin(item->line_pt, fmin(box->width_pt, box->height_pt));
    cairo_rectangle(cairo, box->x_pt + inset / 2, box->y_pt + inset / 2, box->width_pt - inset,
                    box->height_pt - inset);
    set_source(cairo, item->rgb);
    cairo_set_line_width(cairo, item->line_pt);
    cairo_stroke(cairo);
}

/* The middle of a line whose edges then fall between dots. */
static double
snap(double at, double width)
{
    return round(at - width / 2) + width / 2;
}

/* On a grid of dots, upright and level lines keep whole dots: else they blur over two. */
static void
draw_snapped_line(cairo_t *cairo, const struct display_item *item)
{
    const struct canvas_point *p = item->shape.points;
    double x0 = p[0].x_pt, y0 = p[0].y_pt, x1 = p[1].x_pt, y1 = p[1].y_pt;
    double width = item->line_pt, height = 0.0;
    cairo_user_to_device_distance(cairo, &width, &height);
    double dots = fmax(1.0, round(width));
    cairo_user_to_device(cairo, &x0, &y0);
    cairo_user_to_device(cairo, &x1, &y1);
    if (x0 == x1)
        x0 = x1 = snap(x0, dots);
    if (y0 == y1)
        y0 = y1 = snap(y0, dots);
    cairo_save(cairo);
    cairo_identity_matrix(cairo);
    cairo_move_to(cairo, x0, y0);
    cairo_line_to(cairo, x1, y1);
    cairo_set_line_width(cairo, dots);
    cairo_stroke(cairo);
    cairo_restore(cairo);
}

static void
draw_line(cairo_t *cairo, const struct display_item *item, bool is_dots)
{
    const struct canvas_point *p = item->shape.points;
    bool is_straight = p[0].x_pt == p[1].x_pt || p[0].y_pt == p[1].y_pt;
    set_source(cairo, item->rgb);
    if (is_dots && is_straight) {
        draw_snapped_line(cairo, item);
        return;
    }
    cairo_move_to(cairo, p[0].x_pt, p[0].y_pt);
    cairo_line_to(cairo, p[1].x_pt, p[1].y_pt);
    cairo_set_line_width(cairo, item->line_pt);
    cairo_stroke(cairo);
}

static void
draw_quad(cairo_t *cairo, const struct display_item *item)
{
    for (int i = 0; i < 4; i++)
        cairo_line_to(cairo, item->shape.points[i].x_pt, item->shape.points[i].y_pt);
    set_source(cairo, item->rgb);
    cairo_fill(cairo);
}

static void
draw_polygon(cairo_t *cairo, const struct display_item *item)
{
    const struct canvas_path *path = &item->shape.path;
    for (size_t i = 0; i < path->count; i++)
        cairo_line_to(cairo, path->points[i].x_pt, path->points[i].y_pt);
    cairo_set_source_rgba(cairo, (item->rgb >> 16) / 255.0, ((item->rgb >> 8) & 0xFFu) / 255.0,
                          (item->rgb & 0xFFu) / 255.0, item->opaque_fraction);
    cairo_fill(cairo);
}

/* In pieces, whose round ends meet as its round corners would. */
static void
draw_curve(cairo_t *cairo, const struct display_item *item)
{
    const struct canvas_path *path = &item->shape.path;
    set_source(cairo, item->rgb);
    cairo_save(cairo);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_width(cairo, item->line_pt);
    for (size_t first = 0; first + 1 < path->count; first += POINTS_A_PATH) {
        for (size_t i = first; i < path->count && i <= first + POINTS_A_PATH; i++)
            cairo_line_to(cairo, path->points[i].x_pt, path->points[i].y_pt);
        cairo_stroke(cairo);
    }
    cairo_restore(cairo);
}

static void
draw_text(cairo_t *cairo, const struct render_fonts *fonts, const struct display_item *item)
{
    const struct display_text *text = &item->shape.text;
    set_source(cairo, item->rgb);
    set_layout(fonts, &text->font, text->text);
    cairo_move_to(cairo, text->left_pt, text->baseline_pt);
    pango_cairo_show_layout_line(cairo, pango_layout_get_line_readonly(fonts->layout, 0));
    cairo_new_path(cairo);
}

static void
draw_item(cairo_t *cairo, const struct render_fonts *fonts, const struct display_item *item,
          bool is_dots)
{
    switch (item->kind) {
    case DISPLAY_FILL: /* in runs, by draw_fills, draw_hatches and draw_dots */
    case DISPLAY_HATCH:
    case DISPLAY_DOT:
        break;
    case DISPLAY_CURVE:
        draw_curve(cairo, item);
        break;
    case DISPLAY_POLYGON:
        draw_polygon(cairo, item);
        break;
    case DISPLAY_OUTLINE:
        draw_outline(cairo, item);
        break;
    case DISPLAY_LINE:
        draw_line(cairo, item, is_dots);
        break;
    case DISPLAY_QUAD:
        draw_quad(cairo, item);
        break;
    case DISPLAY_TEXT:
        draw_text(cairo, fonts, item);
        break;
    case DISPLAY_CLIP:
        cairo_save(cairo);
        add_box_path(cairo, &item->shape.box);
        cairo_clip(cairo);
        break;
    case DISPLAY_UNCLIP:
        cairo_restore(cairo);
        break;
    }
}

static void
draw_list(cairo_surface_t *surface, const struct display_list *list,
          const struct render_fonts *fonts, bool is_dots)
{
    cairo_t *cairo = cairo_create(surface);
    cairo_set_source_rgb(cairo, 1.0, 1.0, 1.0);
    cairo_paint(cairo);
    double scale = list->enlarged_ratio * (is_dots ? png_dots_per_pt : 1.0);
    cairo_scale(cairo, scale, scale);
    for (size_t i = 0; i < list->count;) {
        const struct display_item *item = &list->items[i];
        if (item->kind == DISPLAY_FILL)
            i += draw_fills(cairo, item, list->count - i);
        else if (item->kind == DISPLAY_HATCH)
            i += draw_hatches(cairo, item, list->count - i);
        else if (item->kind == DISPLAY_DOT)
            i += draw_dots(cairo, item, list->count - i);
        else
            draw_item(cairo, fonts, &list->items[i++], is_dots);
    }
    cairo_destroy(cairo);
}

static cairo_status_t
append_bytes(void *closure, const unsigned char *bytes, unsigned int length)
{
    text_append(closure, (const char *)bytes, length);
    return CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *
surface_new(const struct display_list *list, enum render_format format, struct text *out)
{
    double width = list->width_pt * list->enlarged_ratio;
    double height = list->height_pt * list->enlarged_ratio;
    cairo_surface_t *surface = NULL;
    switch (format) {
    case RENDER_SVG:
        surface = cairo_svg_surface_create_for_stream(append_bytes, out, width, height);
        cairo_svg_surface_restrict_to_version(surface, CAIRO_SVG_VERSION_1_1);
        cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PT);
        break;
    case RENDER_PDF:
        surface = cairo_pdf_surface_create_for_stream(append_bytes, out, width, height);
        cairo_pdf_surface_restrict_to_version(surface, CAIRO_PDF_VERSION_1_5);
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, list->title);
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "stepcast");
        /* Else cairo writes today's date, and the same drawing would not be the same bytes. */
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE,
                                       "1970-01-01T00:00:00Z");
        break;
    case RENDER_PNG:
        surface =
            cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)lround(width * png_dots_per_pt),
                                       (int)lround(height * png_dots_per_pt));
        break;
    }
    return surface;
}

/* cairo numbers surfaces through the life of the process and writes the number into the SVG:
 * `id="surface12"`. Nothing refers to it, so it becomes 0s. */
static void
settle_surface_ids(struct text *svg, size_t begin)
{
    static const char prefix[] = "id=\"surface";
    for (char *at = svg->bytes + begin; (at = strstr(at, prefix)) != NULL;) {
        at += strlen(prefix);
        size_t digits = strspn(at, "0123456789");
        memmove(at + 1, at + digits, strlen(at + digits) + 1);
        at[0] = '0';
        svg->length -= digits - 1;
    }
}

/* What a shortened text is short for, over the place of its letters, which cairo writes as shapes:
 * `<rect ...><title>the whole</title></rect>`, invisible. */
static void
append_whole_texts(struct text *svg, size_t begin, const struct display_list *list)
{
    static const char end[] = "</svg>";
    size_t kept = svg->length;
    while (kept > begin && strncmp(svg->bytes + kept - 1, end, strlen(end)) != 0)
        kept--;
    if (kept == begin)
        return;
    svg->length = kept - 1;
    for (size_t i = 0; i < list->count; i++) {
        const struct display_text *text = &list->items[i].shape.text;
        if (list->items[i].kind != DISPLAY_TEXT || text->whole == NULL)
            continue;
        double ratio = list->enlarged_ratio;
        char *escaped = g_markup_escape_text(text->whole, -1);
        text_format(svg,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"none\" "
                    "pointer-events=\"all\"><title>%s</title></rect>\n",
                    ratio * text->ink.x_pt, ratio * text->ink.y_pt, ratio * text->ink.width_pt,
                    ratio * text->ink.height_pt, escaped);
        g_free(escaped);
    }
    text_format(svg, "%s\n", end);
}

/* The title as an element, which readers aloud say and browsers show; cairo writes none. */
static void
insert_svg_title(struct text *svg, size_t begin, const char *title)
{
    const char *root = strstr(svg->bytes + begin, "<svg");
    const char *root_end = root != NULL ? strchr(root, '>') : NULL;
    if (root_end == NULL || title[0] == '\0')
        return;
    char *escaped = g_markup_escape_text(title, -1);
    const char *element = arena_format(svg->arena, "\n<title>%s</title>", escaped);
    g_free(escaped);
    size_t at = (size_t)(root_end + 1 - svg->bytes), tail = svg->length - at;
    text_append(svg, element, strlen(element));
    memmove(svg->bytes + at + strlen(element), svg->bytes + at, tail);
    memcpy(svg->bytes + at, element, strlen(element));
}

static bool
append_png(cairo_surface_t *image, struct text *out)
{
    cairo_surface_flush(image);
    const struct png_dots dots = {.dots = (const void *)cairo_image_surface_get_data(image),
                                  .width = (uint32_t)cairo_image_surface_get_width(image),
                                  .height = (uint32_t)cairo_image_surface_get_height(image),
                                  .stride = (uint32_t)cairo_image_surface_get_stride(image) /
                                            sizeof *dots.dots};
    return png_append(&dots, out);
}

bool
render_write(const struct display_list *list, const struct render_fonts *fonts,
             enum render_format format, struct text *out)
{
    size_t begin = out->length;
    cairo_surface_t *surface = surface_new(list, format, out);
    draw_list(surface, list, fonts, format == RENDER_PNG);
    if (format != RENDER_PNG)
        cairo_surface_finish(surface);
    bool is_done = cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS &&
                   (format != RENDER_PNG || append_png(surface, out));
    cairo_surface_destroy(surface);
    if (is_done && format == RENDER_SVG) {
        settle_surface_ids(out, begin);
        insert_svg_title(out, begin, list->title);
        append_whole_texts(out, begin, list);
    }
    return is_done;
}
