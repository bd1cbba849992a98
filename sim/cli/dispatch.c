/* Finds the command that the words name, and runs it or shows its help. */
#include "sim/cli/dispatch.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/spelling.h"
#include "sim/cli/picture.h"
#include "sim/cli/version.h"

enum { CANDIDATES_MAX = 64 };

/* Fewer when there are fewer: exec may even leave out the program's name. */
static struct arguments
without_first(struct arguments arguments, size_t count)
{
    size_t left_out = count < arguments.count ? count : arguments.count;
    return (struct arguments){arguments.words + left_out, arguments.count - left_out};
}

/* How many words of the arguments spell the command's name, 0 when they do not. */
static size_t
match_name(const struct command *command, struct arguments arguments)
{
    const char *name = command->name;
    for (size_t i = 0; i < arguments.count; i++) {
        size_t length = strcspn(name, " ");
        if (strncmp(arguments.words[i], name, length) != 0 || arguments.words[i][length])
            return 0;
        if (!name[length])
            return i + 1;
        name += length + 1;
    }
    return 0;
}

/* "model" is the first word of "model show", no command by itself. */
static bool
is_first_word_of(const char *word, const struct command *command)
{
    size_t length = strlen(word);
    return strncmp(command->name, word, length) == 0 && command->name[length] == ' ';
}

static int
fail_second_word(struct command_table table, struct arguments arguments, struct arena *arena)
{
    struct text list = text_new(arena);
    for (size_t i = 0; i < table.count; i++)
        if (is_first_word_of(arguments.words[0], table.commands[i]))
            text_format(&list, "%s'stepcast %s'", list.length ? ", " : "",
                        table.commands[i]->name);
    if (arguments.count > 1)
        return command_usage("", "unknown command '%s %.60s', wanted %s", arguments.words[0],
                             arguments.words[1], list.bytes);
    return command_usage("", "'%s' is not a whole command, wanted %s", arguments.words[0],
                         list.bytes);
}

static int
fail_unknown(struct command_table table, struct arguments arguments, struct arena *arena)
{
    const char *word = arguments.words[0];
    if (word[0] == '-')
        return command_usage("", "unknown option %.60s; a command's options follow its name",
                             word);
    const char *candidates[CANDIDATES_MAX] = {"help"};
    size_t count = 1;
    for (size_t i = 0; i < table.count && count < CANDIDATES_MAX; i++) {
        if (is_first_word_of(word, table.commands[i]))
            return fail_second_word(table, arguments, arena);
        candidates[count++] = table.commands[i]->name;
    }
    const char *nearest = spelling_nearest(word, candidates, count);
    if (!nearest && arguments.count > 1)
        nearest = spelling_nearest(arena_format(arena, "%s %s", word, arguments.words[1]),
                                   candidates, count);
    if (nearest)
        return command_usage("", "unknown command '%.60s', did you mean '%s'?", word, nearest);
    return command_usage("", "unknown command '%.60s'", word);
}

static const struct command *
find_command(struct command_table table, struct arguments arguments, size_t *name_words)
{
    for (size_t i = 0; i < table.count; i++) {
        *name_words = match_name(table.commands[i], arguments);
        if (*name_words > 0)
            return table.commands[i];
    }
    return NULL;
}

static int
print_help(struct command_table table, struct arguments arguments, struct arena *arena)
{
    struct text page = text_new(arena);
    if (arguments.count == 0) {
        help_overview(&page, table);
        return command_print(&page);
    }
    size_t name_words = 0;
    const struct command *command = find_command(table, arguments, &name_words);
    for (size_t i = 0; !command && i < table.count; i++)
        if (is_first_word_of(arguments.words[0], table.commands[i]))
            command = table.commands[i]; /* "help model" is help of "model show" */
    if (!command)
        return fail_unknown(table, arguments, arena);
    help_command(&page, command);
    return command_print(&page);
}

static int
print_version(struct arena *arena)
{
    struct text line = text_new(arena);
    text_format(&line, "stepcast %s\n", STEPCAST_VERSION);
    return command_print(&line);
}

/* "run writes text, .json, .csv": what the command can, where it was asked for something else. */
static int
fail_format(const struct command *command, struct arena *arena)
{
    static const char *const names[OUTPUT_FORMAT_COUNT] = {
        "text", ".json", ".csv", ".svg", ".pdf", ".png", ".xml", ".html", ".pftrace"};
    struct text list = text_new(arena);
    for (unsigned format = 0; format < OUTPUT_FORMAT_COUNT; format++)
        if (command->formats & 1u << format)
            text_format(&list, "%s%s", list.length ? ", " : "", names[format]);
    return command_usage(command->name, "writes %s: say which by the ending of -o FILE",
                         list.bytes);
}

static int
run_command(const struct command *command, struct arguments arguments, struct arena *arena)
{
    const char *fault = NULL;
    const struct options *options = options_parse(arena, command, arguments, &fault);
    if (!options)
        return command_usage(command->name, "%s", fault);
    if (!(command->formats & 1u << command_format(options)))
        return fail_format(command, arena);
    int code = picture_check(command, options);
    return code == EXIT_DONE ? command->run(options, arena) : code;
}

static bool
is_word(const char *word, const char *long_name, const char *short_name)
{
    return strcmp(word, long_name) == 0 || strcmp(word, short_name) == 0;
}

int
dispatch(struct command_table table, struct arguments words, struct arena *arena)
{
    struct arguments arguments = without_first(words, 1);
    if (arguments.count == 0) {
        struct text page = text_new(arena);
        help_short(&page, table);
        fwrite(page.bytes, 1, page.length, stderr);
        return EXIT_USAGE;
    }
    if (strcmp(arguments.words[0], "help") == 0)
        return print_help(table, without_first(arguments, 1), arena);
    if (is_word(arguments.words[0], "--help", "-h"))
        return print_help(table, (struct arguments){0}, arena);
    if (is_word(arguments.words[0], "--version", "-V"))
        return print_version(arena);
    size_t name_words = 0;
    const struct command *command = find_command(table, arguments, &name_words);
    if (!command && options_ask_for_help(arguments))
        return print_help(table, arguments, arena);
    if (!command)
        return fail_unknown(table, arguments, arena);
    struct arguments rest = without_first(arguments, name_words);
    if (options_ask_for_help(rest))
        return print_help(table, arguments, arena);
    return run_command(command, rest, arena);
}
