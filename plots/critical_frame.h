/* The spans that decide the end, framed in black: neighbours of a row share a frame. */
#ifndef PLOTS_CRITICAL_FRAME_H
#define PLOTS_CRITICAL_FRAME_H

#include "plots/panel.h"

/* Frames the critical spans of the row whose bar is `bar`. */
void critical_frame_draw(const struct panel *panel, size_t row, struct canvas_box bar,
                         struct canvas *canvas);

#endif
