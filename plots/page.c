/* Titles, legend lines and footer. */
#include "plots/page.h"

#include <string.h>

static const double narrow_page_pt = 360.0;
static const double subtitle_leading_pt = 12.0;
static const double swatch_gap_pt = 4.0; /* to its name */
static const double legend_gap_pt = 14.0;

double
page_content_width_pt(const struct page *page)
{
    return page->width_pt - 2 * PAGE_MARGIN_PT;
}

/* A space that may end a line: a number keeps its unit, a separating dot stays behind. */
static bool
is_good_end(const char *text, size_t at)
{
    static const char dot[] = "·";
    bool is_number = at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9';
    return text[at] == '\0' || (!is_number && strncmp(text + at + 1, dot, sizeof dot - 1) != 0);
}

/* How much of the text one line holds, ended at a space, best behind a separating dot: 0 when
 * not even the first word fits. */
static size_t
line_length(const struct canvas *canvas, const struct canvas_font *font, const char *text,
            double width_pt)
{
    const double full_enough = 0.6;
    size_t length = strlen(text), any = 0, words = 0, parts = 0;
    for (size_t i = 1; i <= length; i++) {
        if (text[i] != ' ' && text[i] != '\0')
            continue;
        const char *line = arena_format(canvas_arena(canvas), "%.*s", (int)i, text);
        if (canvas_text_width_pt(canvas, font, line) > width_pt)
            break;
        any = i;
        words = is_good_end(text, i) ? i : words;
        if (i >= 2 && memcmp(text + i - 2, "·", 2) == 0)
            parts = i;
    }
    words = words > 0 ? words : any;
    bool is_cut = words < length && (double)parts > full_enough * (double)words;
    return is_cut ? parts : words;
}

size_t
page_wrap(const struct canvas *canvas, const struct canvas_font *font, const char *text,
          double width_pt, const char *lines[PAGE_LINES_MAX])
{
    size_t count = 0;
    while (*text != '\0' && count < PAGE_LINES_MAX) {
        size_t length = line_length(canvas, font, text, width_pt);
        bool is_last = count + 1 == PAGE_LINES_MAX || length == 0;
        lines[count++] = is_last
                             ? canvas_text_cut(canvas, font, text, width_pt)
                             : arena_format(canvas_arena(canvas), "%.*s", (int)length, text);
        if (is_last || text[length] == '\0')
            break;
        text += length + 1;
    }
    return count;
}

static void
draw_paragraph(struct page *page, const struct canvas_font *font, const char *text,
               double leading_pt)
{
    const char *lines[PAGE_LINES_MAX];
    size_t count =
        text == NULL ? 0
                     : page_wrap(page->canvas, font, text, page_content_width_pt(page), lines);
    for (size_t i = 0; i < count; i++) {
        struct canvas_point at = {PAGE_MARGIN_PT, page->y_pt += leading_pt};
        bool is_cut = i + 1 == PAGE_LINES_MAX || strstr(lines[i], "…") != NULL;
        canvas_text_short(page->canvas, at, font, lines[i], is_cut ? text : lines[i]);
    }
}

void
page_draw_titles(struct page *page, const char *title, const char *subtitle)
{
    bool is_narrow = page->width_pt < narrow_page_pt;
    const struct canvas_font title_font = {is_narrow ? STYLE_NARROW_TITLE_PT : STYLE_TITLE_PT,
                                           true, STYLE_INK, CANVAS_LEFT};
    const struct canvas_font font = {STYLE_SUBTITLE_PT, false, STYLE_QUIET, CANVAS_LEFT};
    canvas_set_title(page->canvas, title);
    page->y_pt = PAGE_MARGIN_PT - 4.0;
    draw_paragraph(page, &title_font, title, 1.3 * title_font.size_pt);
    page->y_pt += 2.0;
    draw_paragraph(page, &font, subtitle, subtitle_leading_pt);
    page->y_pt += PAGE_SECTION_GAP_PT;
}

/* "12 labels have no room"; its width and a gap. */
static double
draw_left_out(const struct page *page, const struct canvas_font *font, double baseline_pt)
{
    struct canvas *canvas = page->canvas;
    if (page->left_out_count == 0)
        return 0.0;
    const char *text = page->left_out_count == 1
                           ? "1 label has no room"
                           : arena_format(canvas_arena(canvas), "%zu labels have no room",
                                          page->left_out_count);
    double width_pt = canvas_text_width_pt(canvas, font, text);
    canvas_text(canvas,
                (struct canvas_point){page->width_pt - PAGE_MARGIN_PT - width_pt, baseline_pt},
                font, text);
    return width_pt + legend_gap_pt;
}

void
page_draw_footer(const struct page *page, const char *footer)
{
    const struct canvas_font font = {STYLE_TINY_PT, false, STYLE_QUIET, CANVAS_LEFT};
    struct canvas_point at = {PAGE_MARGIN_PT,
                              canvas_height_pt(page->canvas) - PAGE_MARGIN_PT + 3.0};
    double room_pt = page_content_width_pt(page) - draw_left_out(page, &font, at.y_pt);
    if (footer != NULL)
        canvas_text_short(page->canvas, at, &font,
                          canvas_text_cut(page->canvas, &font, footer, room_pt), footer);
}

double
page_legend_x_pt(struct page *page, double x_pt, double width_pt)
{
    if (x_pt <= PAGE_MARGIN_PT || x_pt + width_pt <= page->width_pt - PAGE_MARGIN_PT)
        return x_pt;
    page->y_pt += PAGE_LEGEND_LEADING_PT;
    return PAGE_MARGIN_PT;
}

struct canvas_box
page_draw_legend_name(struct page *page, double x_pt, const char *name, double *next_x_pt)
{
    const struct canvas_font font = {STYLE_SMALL_PT, false, STYLE_INK, CANVAS_LEFT};
    double lead = PAGE_SWATCH_PT + swatch_gap_pt;
    const char *shown =
        canvas_text_cut_middle(page->canvas, &font, name, page_content_width_pt(page) - lead);
    double width = lead + canvas_text_width_pt(page->canvas, &font, shown);
    x_pt = page_legend_x_pt(page, x_pt, width);
    canvas_text_short(page->canvas, (struct canvas_point){x_pt + lead, page->y_pt}, &font,
                      shown, name);
    *next_x_pt = x_pt + width + legend_gap_pt;
    return (struct canvas_box){x_pt, page->y_pt - PAGE_SWATCH_PT + 0.8, PAGE_SWATCH_PT,
                               PAGE_SWATCH_PT};
}
