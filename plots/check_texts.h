/* For tests: is everything that a picture says readable? */
#ifndef PLOTS_CHECK_TEXTS_H
#define PLOTS_CHECK_TEXTS_H

#include <check.h>
#include <stdbool.h>

#include "plots/canvas.h"
#include "plots/check_marks.h"
#include "plots/style.h"
#include "sim/base/check_often.h"

static inline bool
check_boxes_overlap(const struct canvas_box *a, const struct canvas_box *b)
{
    return a->x_pt < b->x_pt + b->width_pt && b->x_pt < a->x_pt + a->width_pt &&
           a->y_pt < b->y_pt + b->height_pt && b->y_pt < a->y_pt + a->height_pt;
}

/* The next text of the list from the index-th shape on; NULL past the last. */
static inline const struct display_text *
check_next_text(const struct display_list *list, size_t *index)
{
    while (*index < list->count && list->items[*index].kind != DISPLAY_TEXT)
        (*index)++;
    return *index < list->count ? &list->items[(*index)++].shape.text : NULL;
}

/* Every text lies on the page, is large enough and touches no other. */
static inline void
check_texts(const struct canvas *canvas)
{
    const struct display_list *list = canvas_display_list(canvas);
    const struct display_text *text, *other;
    for (size_t i = 0; (text = check_next_text(list, &i)) != NULL;) {
        const struct canvas_box *box = &text->ink;
        CHECK_OFTEN(text->font.size_pt >= 7.0);
        ck_assert_msg(box->x_pt >= 0.0 && box->x_pt + box->width_pt <= list->width_pt &&
                          box->y_pt >= 0.0 && box->y_pt + box->height_pt <= list->height_pt,
                      "'%s' leaves the page", text->text);
        for (size_t k = i; (other = check_next_text(list, &k)) != NULL;)
            if (check_boxes_overlap(box, &other->ink))
                ck_abort_msg("'%s' and '%s' overlap", text->text, other->text);
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

/* All texts readable, off every mark, and a file comes of it: cairo found no fault. */
static inline void
check_drawing(const struct canvas *canvas, struct arena *arena)
{
    struct text svg = text_new(arena);
    struct error_list errors = {0};
    check_texts(canvas);
    check_marks(canvas);
    ck_assert(canvas_write(canvas, "x.svg", &svg, &errors));
    ck_assert_uint_gt(svg.length, 0);
}

#endif
