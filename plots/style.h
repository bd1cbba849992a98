/* The house style: colours with one meaning everywhere, sizes of letters and of pages. */
#ifndef PLOTS_STYLE_H
#define PLOTS_STYLE_H

#include <stdint.h>

/* What a colour stands for in every chart: the palette of Okabe and Ito (2008, "Color universal
 * design"), told apart by colour-blind readers, with compute in three shades of its blue. */
enum style_slot {
    STYLE_FORWARD,
    STYLE_BACKWARD, /* gradients of the inputs, or of both when they are one kernel */
    STYLE_WEIGHT_GRADIENT,
    STYLE_EXPERT_PARALLEL, /* all-to-all of tokens to experts and back */
    STYLE_DATA_PARALLEL,   /* gradients and parameters */
    STYLE_PIPELINE_PARALLEL,
    STYLE_TENSOR_PARALLEL, /* context parallel too */
    STYLE_OPTIMIZER,
    STYLE_BUBBLE,   /* waiting; always hatched */
    STYLE_HOST,     /* CPU and launches */
    STYLE_MEASURED, /* the world's own numbers */
    STYLE_OTHER,    /* grouped remainder */
    STYLE_SLOT_COUNT
};

/* 0xRRGGBB. */
uint32_t style_colour(enum style_slot slot);
/* What a legend calls it unless the chart knows better: "expert all-to-all". */
const char *style_slot_name(enum style_slot slot);

/* The colour nearer to white (shade < 0) or black (> 0) by that fraction, -1 to 1. */
uint32_t style_shade(uint32_t rgb, double shade);
/* Black or white, whichever reads better on the colour. */
uint32_t style_text_on(uint32_t rgb);
/* WCAG 2.1 contrast of two colours, 1 to 21; text wants 4.5. */
double style_contrast_ratio(uint32_t a, uint32_t b);

#define STYLE_PAPER 0xFFFFFFu
#define STYLE_INK   0x1A1A1Au /* titles, labels */
#define STYLE_QUIET 0x595959u /* set-up, sub-labels, axes: 7.0 on white */
#define STYLE_GRID  0xDDDDDDu
#define STYLE_LANE  0xF4F4F4u /* an empty row */
#define STYLE_GUIDE 0xEAEAEAu /* what links a zoom to its window */

/* Families in order of preference. */
#define STYLE_FONTS "DejaVu Sans"

/* Letters in points; none is smaller than STYLE_TINY_PT. */
#define STYLE_TITLE_PT        14.0
#define STYLE_NARROW_TITLE_PT 11.0 /* on a page of one column */
#define STYLE_SUBTITLE_PT     9.0
#define STYLE_LABEL_PT        9.0
#define STYLE_SMALL_PT        8.0
#define STYLE_TINY_PT         7.0

#define STYLE_HAIRLINE_PT 0.5

/* A page in points. Charts that need more height take it. What is drawn on it is enlarged
 * afterwards: a slide is read from farther off, 8 pt become 12. */
struct style_page {
    double width_pt;
    double height_pt;
    double enlarged_ratio; /* for canvas_enlarge */
};

extern const struct style_page STYLE_PAGE_SINGLE; /* a column of a paper: 3.33 in wide */
extern const struct style_page STYLE_PAGE_DOUBLE; /* both columns: 6.9 in */
extern const struct style_page STYLE_PAGE_SLIDE;  /* 10 by 5.6 in when enlarged */
extern const struct style_page STYLE_PAGE_WEB;    /* 1200 by 675 CSS pixels of 0.75 pt */

#endif
