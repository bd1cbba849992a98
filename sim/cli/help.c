/* Help pages: the example first, then usage, then a table of two columns. */
#include "sim/cli/help.h"

#include <string.h>

enum { COLUMNS = 80, LEFT_INDENT = 2, NEXT_INDENT = 4, RIGHT_INDENT_MAX = 28 };

static const struct option_spec HELP_OPTION = {
    .name = "help", .letter = 'h', .help = "show this page and do nothing else"};

static bool
has_odd_quotes(const char *word, size_t length)
{
    bool is_odd = false;
    for (size_t i = 0; i < length; i++)
        is_odd ^= word[i] == '\'';
    return is_odd;
}

/* Words from `column` on, broken before COLUMNS; `line_end` stands at the end of each line but
 * the last (a shell's " \"), though not inside single quotes, where a shell would keep it and
 * JSON takes the bare line break as a space. */
static void
append_wrapped(struct text *out, const char *words, size_t column, size_t indent,
               const char *line_end)
{
    bool is_first = true, is_quoted = false;
    for (; *words; words += strspn(words, " ")) {
        size_t length = strcspn(words, " ");
        if (!is_first && column + 1 + length + strlen(line_end) > COLUMNS) {
            text_format(out, "%s\n%*s", is_quoted ? "" : line_end, (int)indent, "");
            column = indent;
        } else if (!is_first) {
            text_append(out, " ", 1);
            column++;
        }
        text_append(out, words, length);
        is_quoted ^= has_odd_quotes(words, length);
        column += length;
        words += length;
        is_first = false;
    }
    text_append(out, "\n", 1);
}

/* "  left    right", the right column at `right`; too long a left word gets a line of its own.
 */
static void
append_row(struct text *out, const char *left, const char *right, size_t right_column)
{
    size_t width = LEFT_INDENT + strlen(left);
    text_format(out, "%*s%s", LEFT_INDENT, "", left);
    if (width + 2 > right_column) {
        text_append(out, "\n", 1);
        width = 0;
    }
    text_format(out, "%*s", (int)(right_column - width), "");
    append_wrapped(out, right, right_column, right_column, "");
}

static size_t
right_column_for(size_t widest)
{
    size_t column = LEFT_INDENT + widest + 2;
    return column < RIGHT_INDENT_MAX ? column : RIGHT_INDENT_MAX;
}

static void
append_example(struct text *out, const struct command *command)
{
    text_format(out, "%*s", LEFT_INDENT, "");
    append_wrapped(out, command->example, LEFT_INDENT, NEXT_INDENT, " \\");
}

static char *
option_left(struct arena *arena, const struct option_spec *spec)
{
    char letter[] = {'-', spec->letter, ',', ' ', '\0'};
    return arena_format(arena, "%s--%s%s%s", spec->letter ? letter : "    ", spec->name,
                        spec->value ? " " : "", spec->value ? spec->value : "");
}

static void
append_options(struct text *out, const struct command *command)
{
    size_t widest = 0;
    for (size_t i = 0; i <= command->option_count; i++) {
        const struct option_spec *spec =
            i < command->option_count ? &command->options[i] : &HELP_OPTION;
        size_t width = strlen(option_left(out->arena, spec));
        widest = width > widest ? width : widest;
    }
    for (size_t i = 0; i < command->option_count; i++) {
        const struct option_spec *spec = &command->options[i];
        append_row(out, option_left(out->arena, spec), spec->help, right_column_for(widest));
    }
    append_row(out, option_left(out->arena, &HELP_OPTION), HELP_OPTION.help,
               right_column_for(widest));
}

static void
append_commands(struct text *out, struct command_table table)
{
    size_t widest = 0;
    for (size_t i = 0; i < table.count; i++) {
        size_t width = strlen(table.commands[i]->name);
        widest = width > widest ? width : widest;
    }
    for (size_t i = 0; i < table.count; i++)
        append_row(out, table.commands[i]->name, table.commands[i]->summary,
                   right_column_for(widest));
}

static void
append_introduction(struct text *out, struct command_table table)
{
    append_wrapped(out,
                   "stepcast predicts how long one training step of a mixture-of-experts model "
                   "takes on a GPU cluster, and says why.",
                   0, 0, "");
    text_format(out, "\nExamples:\n");
    for (size_t i = 0; i < table.count && i < 2; i++)
        append_example(out, table.commands[i]);
}

void
help_short(struct text *out, struct command_table table)
{
    append_introduction(out, table);
    text_format(out, "\n'stepcast help' lists the commands.\n");
}

void
help_overview(struct text *out, struct command_table table)
{
    append_introduction(out, table);
    text_format(out, "\nUsage:\n  stepcast COMMAND [WORD or OPTION]...\n\nCommands:\n");
    append_commands(out, table);
    text_format(out, "\n'stepcast help COMMAND' explains one; 'stepcast --version' names the "
                     "version.\n\n");
    text_format(out, "The result goes to standard output, talk to standard error. Exit codes:\n"
                     "  0  done\n"
                     "  1  a check failed\n"
                     "  2  usage\n"
                     "  3  bad input file\n"
                     "  4  infeasible: does not fit, or has no route\n"
                     "  5  a file cannot be read or written, or memory ran out\n"
                     "  6  a bug of stepcast\n");
}

void
help_command(struct text *out, const struct command *command)
{
    const char *name =
        arena_format(out->arena, "stepcast %s: %s", command->name, command->summary);
    append_wrapped(out, name, 0, LEFT_INDENT, "");
    text_format(out, "\nExample:\n");
    append_example(out, command);
    text_format(out, "\nUsage:\n%*s", LEFT_INDENT, "");
    append_wrapped(out,
                   arena_format(out->arena, "stepcast %s %s", command->name, command->synopsis),
                   LEFT_INDENT, NEXT_INDENT, "");
    text_format(out, "\nOptions:\n");
    append_options(out, command);
}
