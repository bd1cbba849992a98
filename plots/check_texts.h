/* For tests: is everything that a picture says readable? */
#ifndef PLOTS_CHECK_TEXTS_H
#define PLOTS_CHECK_TEXTS_H

#include <check.h>
#include <stdbool.h>

#include "plots/canvas.h"
#include "plots/style.h"
#include "sim/base/check_often.h"

static inline bool
check_boxes_overlap(const struct canvas_box *a, const struct canvas_box *b)
{
    return a->x_pt < b->x_pt + b->width_pt && b->x_pt < a->x_pt + a->width_pt &&
           a->y_pt < b->y_pt + b->height_pt && b->y_pt < a->y_pt + a->height_pt;
}

/* Every text lies on the page, is large enough and touches no other. */
static inline void
check_texts(const struct canvas *canvas)
{
    struct canvas_box box, other;
    double size_pt = 0.0, other_size_pt = 0.0;
    for (size_t i = 0; canvas_text_box(canvas, i, &box, &size_pt); i++) {
        CHECK_OFTEN(size_pt >= 7.0);
        ck_assert_msg(box.x_pt >= 0.0 && box.x_pt + box.width_pt <= canvas_width_pt(canvas) &&
                          box.y_pt >= 0.0 &&
                          box.y_pt + box.height_pt <= canvas_height_pt(canvas),
                      "text %zu leaves the page", i);
        for (size_t k = 0; k < i; k++) {
            canvas_text_box(canvas, k, &other, &other_size_pt);
            if (check_boxes_overlap(&box, &other))
                ck_abort_msg("texts %zu and %zu overlap", k, i);
        }
    }
}

/* The sizes of a page in turn. */
static inline const struct style_page *
check_page(int turn)
{
    static const struct style_page *const pages[] = {&STYLE_PAGE_SINGLE, &STYLE_PAGE_DOUBLE,
                                                     &STYLE_PAGE_SLIDE, &STYLE_PAGE_WEB};
    return pages[turn % 4];
}

/* All texts readable, and a file comes of it: cairo found no fault. */
static inline void
check_drawing(const struct canvas *canvas, struct arena *arena)
{
    struct text svg = text_new(arena);
    struct error_list errors = {0};
    check_texts(canvas);
    ck_assert(canvas_write(canvas, "x.svg", &svg, &errors));
    ck_assert_uint_gt(svg.length, 0);
}

#endif
