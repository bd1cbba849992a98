/* Options of pictures, and their two files. */
#include "sim/cli/picture.h"

#include <string.h>

#include "plots/chart_csv.h"

struct named_page {
    const char *name;
    const struct style_page *page;
};

static const struct named_page PAGES[] = {{"paper", &STYLE_PAGE_SINGLE},
                                          {"wide", &STYLE_PAGE_DOUBLE},
                                          {"slide", &STYLE_PAGE_SLIDE},
                                          {"web", &STYLE_PAGE_WEB}};
enum { PAGE_COUNT = sizeof PAGES / sizeof *PAGES };

static bool
has_option(const struct command *command, const char *name)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, name) == 0)
            return true;
    return false;
}

static const struct style_page *
find_page(const char *name)
{
    for (int i = 0; i < PAGE_COUNT; i++)
        if (strcmp(PAGES[i].name, name) == 0)
            return PAGES[i].page;
    return NULL;
}

int
picture_check(const struct command *command, const struct options *options)
{
    if (!has_option(command, "size"))
        return EXIT_DONE;
    const char *size = options_text(options, "size"), *data = options_text(options, "data");
    if (*size && !find_page(size))
        return command_usage(command->name,
                             "--size is '%.60s', wanted paper, wide, slide or web", size);
    if ((*size || *data) && !command_draws(command_format(options)))
        return command_usage(command->name,
                             "--%s is of pictures: give -o FILE.svg, .png or .pdf",
                             *size ? "size" : "data");
    return EXIT_DONE;
}

const struct style_page *
picture_page(const struct options *options)
{
    const struct style_page *page = find_page(options_text(options, "size"));
    return page ? page : &STYLE_PAGE_WEB;
}

bool
picture_wants_data(const struct options *options)
{
    return *options_text(options, "data") != '\0';
}

int
picture_output(const struct options *options, struct canvas *canvas, const struct text *data)
{
    struct error_list errors = {0};
    struct text out = text_new(canvas_arena(canvas));
    canvas_enlarge(canvas, picture_page(options)->enlarged_ratio);
    bool is_drawn = canvas_write(canvas, options_text(options, "output"), &out, &errors);
    canvas_free(canvas);
    if (!is_drawn ||
        (picture_wants_data(options) &&
         !text_write_file(data, options_text(options, "data"), &errors)) ||
        !text_write_file(&out, options_text(options, "output"), &errors))
        return command_report(&errors);
    return EXIT_DONE;
}

int
picture_line_chart(const struct options *options, const struct line_chart *chart,
                   struct arena *arena)
{
    struct canvas *canvas = canvas_new(arena, STYLE_FONTS);
    struct text data = text_new(arena);
    line_chart_draw(chart, picture_page(options), canvas);
    if (picture_wants_data(options))
        line_chart_csv(chart, &data);
    return picture_output(options, canvas, &data);
}
