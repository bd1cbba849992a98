/* Recording a drawing, and reading back what was recorded. */
#include "plots/canvas.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/render.h"

struct canvas {
    struct arena *arena;
    struct render_fonts *fonts;
    struct display_list list;
};

struct canvas *
canvas_new(struct arena *arena, const char *fonts)
{
    struct canvas *canvas = arena_alloc(arena, 1, sizeof *canvas);
    canvas->arena = arena;
    canvas->fonts = render_fonts_new(arena, fonts);
    canvas->list.title = "";
    canvas->list.enlarged_ratio = 1.0;
    return canvas;
}

void
canvas_free(struct canvas *canvas)
{
    render_fonts_free(canvas->fonts);
}

void
canvas_set_size(struct canvas *canvas, double width_pt, double height_pt)
{
    assert(width_pt > 0.0 && height_pt > 0.0);
    canvas->list.width_pt = width_pt;
    canvas->list.height_pt = height_pt;
}

void
canvas_enlarge(struct canvas *canvas, double ratio)
{
    assert(ratio > 0.0);
    canvas->list.enlarged_ratio = ratio;
}

double
canvas_width_pt(const struct canvas *canvas)
{
    return canvas->list.width_pt;
}

double
canvas_height_pt(const struct canvas *canvas)
{
    return canvas->list.height_pt;
}

void
canvas_set_title(struct canvas *canvas, const char *title)
{
    canvas->list.title = render_clean_text(canvas->arena, title);
}

const struct display_list *
canvas_display_list(const struct canvas *canvas)
{
    return &canvas->list;
}

struct arena *
canvas_arena(const struct canvas *canvas)
{
    return canvas->arena;
}

static struct display_item *
add(struct canvas *canvas, enum display_kind kind, uint32_t rgb)
{
    struct display_list *list = &canvas->list;
    list->items = arena_grow(canvas->arena, list->items, list->count, &list->capacity,
                             sizeof *list->items);
    struct display_item *item = &list->items[list->count++];
    *item = (struct display_item){.kind = kind, .rgb = rgb};
    return item;
}

static void
add_box(struct canvas *canvas, enum display_kind kind, struct canvas_box box, uint32_t rgb)
{
    assert(isfinite(box.x_pt) && isfinite(box.y_pt));
    assert(box.width_pt >= 0.0 && box.height_pt >= 0.0);
    add(canvas, kind, rgb)->shape.box = box;
}

void
canvas_fill(struct canvas *canvas, struct canvas_box box, uint32_t rgb)
{
    add_box(canvas, DISPLAY_FILL, box, rgb);
}

void
canvas_hatch(struct canvas *canvas, struct canvas_box box, uint32_t rgb)
{
    add_box(canvas, DISPLAY_HATCH, box, rgb);
}

void
canvas_outline(struct canvas *canvas, struct canvas_box box, double line_pt, uint32_t rgb)
{
    add_box(canvas, DISPLAY_OUTLINE, box, rgb);
    canvas->list.items[canvas->list.count - 1].line_pt = line_pt;
}

void
canvas_line(struct canvas *canvas, struct canvas_point from, struct canvas_point to,
            double line_pt, uint32_t rgb)
{
    struct display_item *item = add(canvas, DISPLAY_LINE, rgb);
    item->line_pt = line_pt;
    item->shape.points[0] = from;
    item->shape.points[1] = to;
}

void
canvas_quad(struct canvas *canvas, const struct canvas_point corners[4], uint32_t rgb)
{
    struct display_item *item = add(canvas, DISPLAY_QUAD, rgb);
    memcpy(item->shape.points, corners, sizeof item->shape.points);
}

static void
add_path(struct canvas *canvas, enum display_kind kind, struct canvas_path path, uint32_t rgb)
{
    path.points = arena_copy(canvas->arena, path.points, path.count * sizeof *path.points);
    add(canvas, kind, rgb)->shape.path = path;
}

void
canvas_curve(struct canvas *canvas, struct canvas_path path, double line_pt, uint32_t rgb)
{
    if (path.count < 2)
        return;
    add_path(canvas, DISPLAY_CURVE, path, rgb);
    canvas->list.items[canvas->list.count - 1].line_pt = line_pt;
}

void
canvas_polygon(struct canvas *canvas, struct canvas_path path, uint32_t rgb,
               double opaque_fraction)
{
    if (path.count < 3)
        return;
    add_path(canvas, DISPLAY_POLYGON, path, rgb);
    canvas->list.items[canvas->list.count - 1].opaque_fraction = opaque_fraction;
}

void
canvas_area(struct canvas *canvas, struct canvas_path one, struct canvas_path other,
            uint32_t rgb, double opaque_fraction)
{
    size_t count = one.count + other.count;
    struct canvas_point *points = arena_alloc(canvas->arena, count, sizeof *points);
    for (size_t i = 0; i < one.count; i++)
        points[i] = one.points[i];
    for (size_t i = 0; i < other.count; i++)
        points[one.count + i] = other.points[other.count - 1 - i];
    canvas_polygon(canvas, (struct canvas_path){points, count}, rgb, opaque_fraction);
}

void
canvas_dot(struct canvas *canvas, struct canvas_point centre, double radius_pt, uint32_t rgb)
{
    assert(isfinite(centre.x_pt) && isfinite(centre.y_pt));
    add(canvas, DISPLAY_DOT, rgb)->shape.dot = (struct display_dot){centre, radius_pt};
}

void
canvas_clip(struct canvas *canvas, struct canvas_box box)
{
    add_box(canvas, DISPLAY_CLIP, box, 0);
}

void
canvas_unclip(struct canvas *canvas)
{
    add(canvas, DISPLAY_UNCLIP, 0);
}

/* How much of the width lies left of the point. */
static double
align_fraction(enum canvas_align align)
{
    switch (align) {
    case CANVAS_LEFT:
        return 0.0;
    case CANVAS_CENTRE:
        return 0.5;
    case CANVAS_RIGHT:
        return 1.0;
    }
    return 0.0;
}

void
canvas_text(struct canvas *canvas, struct canvas_point at, const struct canvas_font *font,
            const char *text)
{
    canvas_text_short(canvas, at, font, text, text);
}

void
canvas_text_short(struct canvas *canvas, struct canvas_point at, const struct canvas_font *font,
                  const char *text, const char *whole)
{
    const char *clean = render_clean_text(canvas->arena, text);
    if (clean[0] == '\0')
        return;
    struct render_extents extents = render_measure(canvas->fonts, font, clean);
    double left_pt = at.x_pt - align_fraction(font->align) * extents.advance_pt;
    struct canvas_box ink = extents.ink;
    ink.x_pt += left_pt;
    ink.y_pt += at.y_pt;
    whole = render_clean_text(canvas->arena, whole);
    add(canvas, DISPLAY_TEXT, font->rgb)->shape.text =
        (struct display_text){.text = clean,
                              .whole = strcmp(clean, whole) == 0 ? NULL : whole,
                              .font = *font,
                              .left_pt = left_pt,
                              .baseline_pt = at.y_pt,
                              .ink = ink};
}

double
canvas_text_width_pt(const struct canvas *canvas, const struct canvas_font *font,
                     const char *text)
{
    const char *clean = render_clean_text(canvas->arena, text);
    return render_measure(canvas->fonts, font, clean).advance_pt;
}

/* The nearest start of a UTF-8 character at or before the offset. */
static size_t
character_start(const char *text, size_t offset)
{
    while (offset > 0 && ((unsigned char)text[offset] & 0xC0u) == 0x80u)
        offset--;
    return offset;
}

/* So many bytes of the text and an ellipsis: of its beginning, or half of them of its end. Words
 * are kept whole where that costs less than half of a side. */
static const char *
cut_to(const struct canvas *canvas, const char *text, size_t kept, bool is_middle)
{
    size_t length = strlen(text), tail = is_middle ? kept / 2 : 0, word = 0;
    size_t head = character_start(text, kept - tail), from = length - tail;
    while (from < length && ((unsigned char)text[from] & 0xC0u) == 0x80u)
        from++;
    if (is_middle) {
        for (word = head; word > head / 2 && text[word - 1] != ' '; word--)
            ;
        head = word > head / 2 ? word : head;
        for (word = from; word < length - tail / 2 && text[word] != ' '; word++)
            ;
        from = word < length - tail / 2 ? word : from;
    }
    return arena_format(canvas->arena, "%.*s…%s", (int)head, text, text + from);
}

static const char *
text_cut(const struct canvas *canvas, const struct canvas_font *font, const char *text,
         double width_pt, bool is_middle)
{
    const char *clean = render_clean_text(canvas->arena, text);
    if (canvas_text_width_pt(canvas, font, clean) <= width_pt)
        return clean;
    const char *best = "";
    size_t fits = 0, too_long = strlen(clean);
    while (fits < too_long) {
        size_t middle = (fits + too_long) / 2;
        const char *cut = cut_to(canvas, clean, middle, is_middle);
        if (canvas_text_width_pt(canvas, font, cut) <= width_pt) {
            best = cut;
            fits = middle + 1;
        } else
            too_long = middle;
    }
    return best;
}

const char *
canvas_text_cut(const struct canvas *canvas, const struct canvas_font *font, const char *text,
                double width_pt)
{
    return text_cut(canvas, font, text, width_pt, false);
}

const char *
canvas_text_cut_middle(const struct canvas *canvas, const struct canvas_font *font,
                       const char *text, double width_pt)
{
    return text_cut(canvas, font, text, width_pt, true);
}

bool
canvas_text_split(const struct canvas *canvas, const char *text, const char *lines[2])
{
    const char *middle = text + strlen(text) / 2, *best = NULL;
    for (const char *c = text; *c != '\0'; c++)
        if (*c == ' ' && (best == NULL || labs(c - middle) < labs(best - middle)))
            best = c;
    if (best == NULL)
        return false;
    lines[0] = arena_format(canvas->arena, "%.*s", (int)(best - text), text);
    lines[1] = best + 1;
    return true;
}

/* The format that the path's ending asks for; false for none of ours. */
static bool
format_of_path(const char *path, enum render_format *format)
{
    static const char endings[3][5] = {
        [RENDER_SVG] = ".svg", [RENDER_PDF] = ".pdf", [RENDER_PNG] = ".png"};
    size_t length = strlen(path);
    for (int i = 0; i < 3; i++) {
        size_t ending = strlen(endings[i]);
        if (length < ending || strcmp(path + length - ending, endings[i]) != 0)
            continue;
        *format = (enum render_format)i;
        return true;
    }
    return false;
}

bool
canvas_write(const struct canvas *canvas, const char *path, struct text *out,
             struct error_list *errors)
{
    enum render_format format = RENDER_SVG;
    assert(canvas->list.width_pt > 0.0);
    if (!format_of_path(path, &format))
        return error_add(errors, ERROR_INPUT, path,
                         "a picture ends in .svg, .pdf or .png, which this does not");
    if (!render_write(&canvas->list, canvas->fonts, format, out))
        return error_add(errors, ERROR_IO, path, "a picture of %.0f x %.0f pt is too large",
                         canvas->list.width_pt, canvas->list.height_pt);
    return true;
}

static void
dump_box(struct text *out, const char *name, const struct display_item *item)
{
    const struct canvas_box *box = &item->shape.box;
    text_format(out, "%s %.2f %.2f %.2f %.2f", name, box->x_pt, box->y_pt, box->width_pt,
                box->height_pt);
    if (item->kind != DISPLAY_CLIP)
        text_format(out, " #%06X", item->rgb);
    if (item->kind == DISPLAY_OUTLINE)
        text_format(out, " %.2f", item->line_pt);
}

static void
dump_points(struct text *out, const char *name, const struct display_item *item)
{
    int count = item->kind == DISPLAY_LINE ? 2 : 4;
    text_format(out, "%s", name);
    for (int i = 0; i < count; i++)
        text_format(out, " %.2f,%.2f", item->shape.points[i].x_pt, item->shape.points[i].y_pt);
    text_format(out, " #%06X", item->rgb);
    if (item->kind == DISPLAY_LINE)
        text_format(out, " %.2f", item->line_pt);
}

static void
dump_path(struct text *out, const char *name, const struct display_item *item)
{
    const struct canvas_path *path = &item->shape.path;
    text_format(out, "%s", name);
    for (size_t i = 0; i < path->count; i++)
        text_format(out, " %.2f,%.2f", path->points[i].x_pt, path->points[i].y_pt);
    text_format(out, " #%06X", item->rgb);
    text_format(out, " %.2f",
                item->kind == DISPLAY_CURVE ? item->line_pt : item->opaque_fraction);
}

static void
dump_text(struct text *out, const struct display_item *item)
{
    const struct display_text *text = &item->shape.text;
    text_format(out, "text %.2f %.2f #%06X %.1f%s '%s'", text->left_pt, text->baseline_pt,
                item->rgb, text->font.size_pt, text->font.is_bold ? " bold" : "", text->text);
}

static void
dump_item(struct text *out, const struct display_item *item)
{
    switch (item->kind) {
    case DISPLAY_FILL:
        dump_box(out, "fill", item);
        break;
    case DISPLAY_HATCH:
        dump_box(out, "hatch", item);
        break;
    case DISPLAY_OUTLINE:
        dump_box(out, "outline", item);
        break;
    case DISPLAY_CLIP:
        dump_box(out, "clip", item);
        break;
    case DISPLAY_LINE:
        dump_points(out, "line", item);
        break;
    case DISPLAY_QUAD:
        dump_points(out, "quad", item);
        break;
    case DISPLAY_CURVE:
        dump_path(out, "curve", item);
        break;
    case DISPLAY_POLYGON:
        dump_path(out, "polygon", item);
        break;
    case DISPLAY_DOT:
        text_format(out, "dot %.2f,%.2f %.2f #%06X", item->shape.dot.centre.x_pt,
                    item->shape.dot.centre.y_pt, item->shape.dot.radius_pt, item->rgb);
        break;
    case DISPLAY_TEXT:
        dump_text(out, item);
        break;
    case DISPLAY_UNCLIP:
        text_format(out, "unclip");
        break;
    }
    text_format(out, "\n");
}

void
canvas_dump(const struct canvas *canvas, struct text *out)
{
    text_format(out, "canvas %.2f %.2f\n", canvas->list.width_pt, canvas->list.height_pt);
    for (size_t i = 0; i < canvas->list.count; i++)
        dump_item(out, &canvas->list.items[i]);
}

bool
canvas_text_box(const struct canvas *canvas, size_t index, struct canvas_box *box,
                double *size_pt)
{
    for (size_t i = 0; i < canvas->list.count; i++) {
        const struct display_item *item = &canvas->list.items[i];
        if (item->kind != DISPLAY_TEXT || index-- > 0)
            continue;
        *box = item->shape.text.ink;
        *size_pt = item->shape.text.font.size_pt;
        return true;
    }
    return false;
}

double
canvas_filled_area_pt2(const struct canvas *canvas, uint32_t rgb)
{
    double area_pt2 = 0.0;
    for (size_t i = 0; i < canvas->list.count; i++) {
        const struct display_item *item = &canvas->list.items[i];
        if (item->kind == DISPLAY_FILL && item->rgb == rgb)
            area_pt2 += item->shape.box.width_pt * item->shape.box.height_pt;
    }
    return area_pt2;
}
