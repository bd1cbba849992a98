/* What spans of a timeline's row are called, on them where there is room. */
#ifndef PLOTS_SPAN_LABELS_H
#define PLOTS_SPAN_LABELS_H

#include "plots/panel.h"

/* On the row's bar; another row may be attached below it. */
void span_labels_draw(const struct panel *panel, size_t row, bool has_attached,
                      struct canvas_box bar, struct canvas *canvas);

#endif
