/* The picture of a step: rows of spans to scale, phases above them, a window enlarged below, and a
 * bar that says where the time goes.
 *
 *      title: what the picture shows
 *      subtitle: of what
 *      [] forward  [] backward ...
 *        |-- forward --|-- backward --|
 *      host     ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪
 *      compute   ████████████████████
 *      network       ▒▒▒▒   ▒▒▒▒    ▒▒
 *      memory    ▁▂▃▄▅▆▇█▇▆▅▄▃▂▁
 *        0 ─── 100 ─── 200 ─── 300 ms
 *             /          \
 *      the same rows or others, enlarged
 *      where the time goes  ██████▒▒▓▓
 *      footer
 *
 * Drawn and written so:
 *
 *      struct canvas *canvas = canvas_new(arena, STYLE_FONTS);
 *      timeline_draw(&timeline, &STYLE_PAGE_WEB, canvas);
 *      struct text picture = text_new(arena);
 *      bool done = canvas_write(canvas, path, &picture, errors) &&
 *                  text_write_file(&picture, path, errors);
 *      canvas_free(canvas);
 *
 * All that is given is read while drawing and not kept. Any number of rows and spans is drawn;
 * labels show where they fit, and no two texts overlap. */
#ifndef PLOTS_TIMELINE_H
#define PLOTS_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plots/canvas.h"
#include "plots/style.h"

/* In which panels a row is. */
enum timeline_place { TIMELINE_BOTH, TIMELINE_WHOLE, TIMELINE_ZOOM };

struct timeline_row {
    const char *label;     /* "compute" */
    const char *sub_label; /* "busy 93 %"; may be NULL */
    enum timeline_place place;
    double weight;    /* its height beside the others'; 0 is 1 */
    bool is_attached; /* a strip under the row before, without a gap and a label */
};

/* Spans may come in any order. Of two that overlap in a row, the later is cut. */
struct timeline_span {
    int64_t start_ps, end_ps; /* 0 <= start_ps <= end_ps */
    uint32_t row;             /* index of a row */
    enum style_slot slot;     /* STYLE_BUBBLE is hatched */
    double shade;             /* nearer to white (< 0) or black (> 0), -1 to 1, in steps of 1/8:
                                 sorts of kernels of one slot; at most 63 (slot, shade) a chart */
    const char *label;        /* drawn where it fits; may be NULL */
    bool is_critical;         /* on the path that decides the end: outlined in black */
};

/* A stretch of the step that has a name: "forward". Phases ascend and do not overlap. */
struct timeline_phase {
    int64_t start_ps, end_ps;
    const char *label;
};

/* One part of the bar of causes. */
struct timeline_piece {
    const char *label;
    double seconds; /* 0 or more; what is not a positive number is left out */
    enum style_slot slot;
    double shade; /* as a span's */
};

/* What is stacked under the rows of the whole, over the same time: memory. */
struct timeline_layer {
    const char
        *name; /* drawn inside where it fits, else over the stack with a swatch; or NULL */
    enum style_slot slot;
    double shade;
    const double *values; /* one a moment; what is not a positive number counts as 0 */
};

struct timeline_curve {
    const char *label;
    const char *sub_label; /* "peak 84.7 GB"; may be NULL */
    const int64_t *at_ps;  /* moments, ascending; straight lines between */
    size_t count;
    const struct timeline_layer *layers; /* the lowest first */
    size_t layer_count;
    double limit;            /* a line across; 0: none */
    const char *limit_label; /* "192 GB of HBM" */
};

struct timeline {
    const char
        *title; /* the finding: "Step takes 1.04 s, of which 7 % waits for the network" */
    const char *subtitle; /* the set-up; may be NULL */
    const char *footer;   /* the source; may be NULL */
    int64_t end_ps;       /* the time axis ends here; spans beyond are cut */
    const struct timeline_row *rows;
    size_t row_count;
    const struct timeline_span *spans;
    size_t span_count;
    const struct timeline_phase *phases;
    size_t phase_count;
    const struct timeline_curve *curve;  /* NULL: none */
    const struct timeline_piece *pieces; /* none: no bar */
    size_t piece_count;
    const char *pieces_title;                 /* "Where the time goes"; may be NULL */
    int64_t zoom_start_ps, zoom_end_ps;       /* both 0: no second panel */
    const char *zoom_title;                   /* "layer 20, forward"; may be NULL */
    const char *slot_names[STYLE_SLOT_COUNT]; /* in the legend; NULL: style_slot_name */
    const char *legend_note;                  /* what shades mean; may be NULL */
};

/* Draws and sets the canvas's size: the page's width; its height, or less where a few rows would be
 * too high, or more where all does not fit. */
void timeline_draw(const struct timeline *timeline, const struct style_page *page,
                   struct canvas *canvas);

#endif
