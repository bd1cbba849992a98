/* Display lists to pictures, and how wide text is: all that knows cairo and pango. */
#ifndef PLOTS_RENDER_H
#define PLOTS_RENDER_H

#include "plots/display_list.h"

/* Fonts of one family list, ready to measure and draw; holds memory of pango's own. */
struct render_fonts;

struct render_fonts *render_fonts_new(struct arena *arena, const char *families);
void render_fonts_free(struct render_fonts *fonts);

struct render_extents {
    double advance_pt;     /* how far the next letter would start */
    struct canvas_box ink; /* from the start of the baseline */
};

struct render_extents render_measure(const struct render_fonts *fonts,
                                     const struct canvas_font *font, const char *text);

/* Text without control characters and broken UTF-8, in the arena. */
const char *render_clean_text(struct arena *arena, const char *text);

enum render_format { RENDER_SVG, RENDER_PDF, RENDER_PNG };

/* Appends the picture; false with ERROR_IO naming `path` when cairo refuses. */
bool render_write(const struct display_list *list, const struct render_fonts *fonts,
                  enum render_format format, struct text *out);

#endif
