/* A drawing: shapes and text recorded in points, then written as SVG, PDF or PNG.
 *
 * The origin is the top left corner, y grows downwards. Later shapes cover earlier ones. What is
 * recorded is a plain list, so tests read it as text and the three formats show the same picture.
 * Drawing cannot fail; what the world refuses is said once, by canvas_write. */
#ifndef PLOTS_CANVAS_H
#define PLOTS_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

/* Its list lies in the arena; its fonts do not, so that it must be freed before the arena. */
struct canvas;

/* `fonts`: families in order of preference, STYLE_FONTS but in tests. */
struct canvas *canvas_new(struct arena *arena, const char *fonts);
void canvas_free(struct canvas *canvas);

/* To be set before writing; may come after drawing, when the height is known. */
void canvas_set_size(struct canvas *canvas, double width_pt, double height_pt);
double canvas_width_pt(const struct canvas *canvas);
double canvas_height_pt(const struct canvas *canvas);
/* The pictures are that much larger than what is drawn; 1 unless this is called. */
void canvas_enlarge(struct canvas *canvas, double ratio);
/* Stands in the PDF's properties and is the SVG's <title>. */
void canvas_set_title(struct canvas *canvas, const char *title);
struct arena *canvas_arena(const struct canvas *canvas);

struct canvas_box {
    double x_pt, y_pt, width_pt, height_pt;
};

struct canvas_point {
    double x_pt, y_pt;
};

void canvas_fill(struct canvas *canvas, struct canvas_box box, uint32_t rgb);
/* Parallel lines at 45 degrees, nothing between them. */
void canvas_hatch(struct canvas *canvas, struct canvas_box box, uint32_t rgb);
/* The line runs inside the box. */
void canvas_outline(struct canvas *canvas, struct canvas_box box, double line_pt, uint32_t rgb);
void canvas_line(struct canvas *canvas, struct canvas_point from, struct canvas_point to,
                 double line_pt, uint32_t rgb);
/* Filled, four corners in order. */
void canvas_quad(struct canvas *canvas, const struct canvas_point corners[4], uint32_t rgb);
/* A path of points, copied: a line through them with round corners, and what they go round,
 * filled, opaque or as much as a fraction says. Fewer than two, or three, draw nothing. */
struct canvas_path {
    const struct canvas_point *points;
    size_t count;
};
void canvas_curve(struct canvas *canvas, struct canvas_path path, double line_pt, uint32_t rgb);
void canvas_polygon(struct canvas *canvas, struct canvas_path path, uint32_t rgb,
                    double opaque_fraction);
/* What lies between two paths that both go from left to right: along the one, and back along the
 * other. */
void canvas_area(struct canvas *canvas, struct canvas_path one, struct canvas_path other,
                 uint32_t rgb, double opaque_fraction);
/* Filled. */
void canvas_dot(struct canvas *canvas, struct canvas_point centre, double radius_pt,
                uint32_t rgb);

enum canvas_align { CANVAS_LEFT, CANVAS_CENTRE, CANVAS_RIGHT };

struct canvas_font {
    double size_pt;
    bool is_bold;
    uint32_t rgb;
    enum canvas_align align;
};

/* One line of text whose baseline starts, is centred or ends at the point. Line ends and control
 * characters become spaces, what is not UTF-8 becomes "?". */
void canvas_text(struct canvas *canvas, struct canvas_point at, const struct canvas_font *font,
                 const char *text);
/* The same of a text that stands for a longer one, which an SVG says to who points at it. */
void canvas_text_short(struct canvas *canvas, struct canvas_point at,
                       const struct canvas_font *font, const char *text, const char *whole);
double canvas_text_width_pt(const struct canvas *canvas, const struct canvas_font *font,
                            const char *text);
/* The text, or as much of its beginning as fits with an ellipsis; "" if not even that fits. */
const char *canvas_text_cut(const struct canvas *canvas, const struct canvas_font *font,
                            const char *text, double width_pt);
/* The same with as much of its end, where names differ. */
const char *canvas_text_cut_middle(const struct canvas *canvas, const struct canvas_font *font,
                                   const char *text, double width_pt);

/* The text in two lines, parted at the space nearest to its middle; false when it has none. */
bool canvas_text_split(const struct canvas *canvas, const char *text, const char *lines[2]);

/* What is drawn from here on shows only inside the box, until canvas_unclip; not nested. */
void canvas_clip(struct canvas *canvas, struct canvas_box box);
void canvas_unclip(struct canvas *canvas);

/* The picture in the format of the path's ending (.svg .pdf .png), appended to `out`: write it with
 * text_write_file. The same drawing gives the same bytes. PNG has two dots a CSS pixel, that is
 * 2.667 a point. False with ERROR_INPUT for another ending, ERROR_IO if the picture is too
 * large. */
bool canvas_write(const struct canvas *canvas, const char *path, struct text *out,
                  struct error_list *errors);

/* The list as text, one shape a line, for tests. */
void canvas_dump(const struct canvas *canvas, struct text *out);

/* Where ink of the index-th text lies and how large its letters are; false when there are fewer. */
bool canvas_text_box(const struct canvas *canvas, size_t index, struct canvas_box *box,
                     double *size_pt);
/* Sum of the filled area of a colour. */
double canvas_filled_area_pt2(const struct canvas *canvas, uint32_t rgb);

#endif
