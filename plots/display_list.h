/* What a canvas holds and a renderer reads: shapes in the order they are drawn. */
#ifndef PLOTS_DISPLAY_LIST_H
#define PLOTS_DISPLAY_LIST_H

#include "plots/canvas.h"

enum display_kind {
    DISPLAY_FILL,
    DISPLAY_HATCH,
    DISPLAY_OUTLINE,
    DISPLAY_LINE,
    DISPLAY_QUAD,
    DISPLAY_CURVE,
    DISPLAY_POLYGON,
    DISPLAY_DOT,
    DISPLAY_TEXT,
    DISPLAY_CLIP,
    DISPLAY_UNCLIP,
};

struct display_text {
    const char *text;  /* valid UTF-8, one line */
    const char *whole; /* what it is short for; NULL: it is all */
    struct canvas_font font;
    double left_pt; /* where it starts, after alignment */
    double baseline_pt;
    struct canvas_box ink; /* what it covers */
};

struct display_dot {
    struct canvas_point centre;
    double radius_pt;
};

struct display_item {
    enum display_kind kind;
    uint32_t rgb;
    double line_pt;
    double opaque_fraction; /* of a polygon; the others are opaque */
    union {
        struct canvas_box box;
        struct canvas_point points[4]; /* line: 2, quad: 4 */
        struct canvas_path path;       /* curve, polygon */
        struct display_dot dot;
        struct display_text text;
    } shape;
};

struct display_list {
    struct display_item *items;
    size_t count;
    size_t capacity;
    double width_pt, height_pt;
    double enlarged_ratio; /* of the picture to what is drawn */
    const char *title;
};

/* As it is now: good until more is drawn. */
const struct display_list *canvas_display_list(const struct canvas *canvas);

#endif
