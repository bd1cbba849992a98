/* What commands that draw share: pages of a size, the picture's file, its data beside it. */
#ifndef SIM_CLI_PICTURE_H
#define SIM_CLI_PICTURE_H

#include "plots/canvas.h"
#include "plots/line_chart.h"
#include "plots/style.h"
#include "sim/cli/command.h"

/* Rows for a command's table of options. */
#define PICTURE_OPTIONS                                                                        \
    {"size", 0, OPTION_TEXT, "PAGE", "of a picture: paper, wide (two columns), slide or web"}, \
    {                                                                                          \
        "data", 0, OPTION_TEXT, "FILE.csv", "what a picture shows, as CSV beside it"           \
    }

/* Whether what the options say of pictures can be: EXIT_DONE, or EXIT_USAGE after saying why not.
 * Of a command without PICTURE_OPTIONS it can. */
int picture_check(const struct command *command, const struct options *options);

/* What --size names; the web's without. */
const struct style_page *picture_page(const struct options *options);

/* Whether --data asks for what a picture shows: of a million points that takes longer than the
 * drawing. */
bool picture_wants_data(const struct options *options);

/* Writes the drawing to -o and the data, if they are wanted, beside it; frees the canvas. */
int picture_output(const struct options *options, struct canvas *canvas,
                   const struct text *data);

/* The same of a chart that is yet to be drawn. */
int picture_line_chart(const struct options *options, const struct line_chart *chart,
                       struct arena *arena);

#endif
