/* What every chart has around its picture: title and set-up above, the source below. */
#ifndef PLOTS_PAGE_H
#define PLOTS_PAGE_H

#include "plots/canvas.h"
#include "plots/style.h"

/* A page that is drawn from top to bottom. */
struct page {
    struct canvas *canvas;
    double width_pt;
    double y_pt;           /* how far down has been drawn */
    size_t left_out_count; /* labels without a place: the footer says how many */
};

#define PAGE_MARGIN_PT         15.0
#define PAGE_SECTION_GAP_PT    8.0
#define PAGE_FOOTER_PT         14.0
#define PAGE_LEGEND_LEADING_PT 13.0
#define PAGE_SWATCH_PT         7.5

double page_content_width_pt(const struct page *page);

/* The text in lines of a width, parted at spaces, best behind a separating dot: how many. The last
 * of PAGE_LINES_MAX, and a word that is too wide, are cut. */
enum { PAGE_LINES_MAX = 4 };
size_t page_wrap(const struct canvas *canvas, const struct canvas_font *font, const char *text,
                 double width_pt, const char *lines[PAGE_LINES_MAX]);

/* From the top, each in lines of the page's width; the subtitle may be NULL. */
void page_draw_titles(struct page *page, const char *title, const char *subtitle);

/* Above the lower edge of a canvas whose height is set; the footer may be NULL. At its right end
 * stands how many labels were left out, if any. */
void page_draw_footer(const struct page *page, const char *footer);

/* Where something of a legend that wide stands that would follow at x: there, or at the beginning
 * of the next line, which y_pt then is. */
double page_legend_x_pt(struct page *page, double x_pt, double width_pt);

/* A name with PAGE_SWATCH_PT of room and a gap before it, drawn on the legend's line from x or the
 * next; the place of its swatch. *next_x_pt is where the next one begins. */
struct canvas_box page_draw_legend_name(struct page *page, double x_pt, const char *name,
                                        double *next_x_pt);

#endif
