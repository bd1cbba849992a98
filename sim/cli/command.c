/* What all commands share: saying what went wrong, and handing over the result. */
#include "sim/cli/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/options.h"

static void
out_of_memory(void *context, size_t wanted_bytes)
{
    (void)context;
    fprintf(stderr, "stepcast: out of memory, wanted %zu bytes more\n", wanted_bytes);
    exit(EXIT_IO);
}

struct arena *
command_arena(void)
{
    static const struct arena_policy policy = {.out_of_memory = out_of_memory};
    return arena_new(&policy);
}

static int
exit_code_of(enum error_kind kind)
{
    switch (kind) {
    case ERROR_INPUT:
        return EXIT_BAD_INPUT;
    case ERROR_INFEASIBLE:
        return EXIT_INFEASIBLE;
    case ERROR_IO:
        return EXIT_IO;
    }
    return EXIT_BUG;
}

int
command_report(const struct error_list *errors)
{
    int kept = error_list_kept(errors);
    for (int i = 0; i < kept; i++) {
        const struct error *error = &errors->items[i];
        fprintf(stderr, "%s: %s\n", error->where[0] ? error->where : "stepcast", error->what);
    }
    if (errors->count > kept)
        fprintf(stderr, "stepcast: and %d more faults\n", errors->count - kept);
    return kept > 0 ? exit_code_of(errors->items[0].kind) : EXIT_DONE;
}

int
command_usage(const char *command, const char *format, ...)
{
    const char *space = *command ? " " : "";
    fprintf(stderr, "stepcast%s%s: ", space, command);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n'stepcast help%s%s' shows how it is used\n", space, command);
    return EXIT_USAGE;
}

int
command_print(const struct text *text)
{
    errno = 0;
    bool is_written = fwrite(text->bytes, 1, text->length, stdout) == text->length;
    if ((fflush(stdout) == 0 && is_written) || errno == EPIPE)
        return EXIT_DONE;
    fprintf(stderr, "standard output: cannot be written: %s\n", strerror(errno));
    return EXIT_IO;
}

enum output_format
command_format(const struct options *options)
{
    static const char *const endings[OUTPUT_FORMAT_COUNT] = {
        "", ".json", ".csv", ".svg", ".pdf", ".png", ".xml", ".html", ".pftrace"};
    enum output_format chosen = OUTPUT_TEXT;
    const char *ending = strrchr(options_text_of_letter(options, 'o'), '.');
    for (int format = OUTPUT_JSON; ending && format < OUTPUT_FORMAT_COUNT; format++)
        if (strcmp(ending, endings[format]) == 0)
            chosen = (enum output_format)format;
    return options_flag(options, "json") && !command_draws(chosen) ? OUTPUT_JSON : chosen;
}

bool
command_draws(enum output_format format)
{
    return format == OUTPUT_SVG || format == OUTPUT_PDF || format == OUTPUT_PNG;
}

bool
command_wants_json(const struct options *options)
{
    return options_flag(options, "json") || command_format(options) == OUTPUT_JSON;
}

int
command_output(const struct options *options, const struct text *text)
{
    const char *path = options_text_of_letter(options, 'o');
    if (!*path || strcmp(path, "-") == 0 || command_draws(command_format(options)))
        return command_print(text);
    struct error_list errors = {0};
    return text_write_file(text, path, &errors) ? EXIT_DONE : command_report(&errors);
}
