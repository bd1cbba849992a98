/* A command line read by a command's table: each argument is an option, an option's value or a
 * word, and the first that is none of these is the fault. */
#include "sim/cli/options.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "sim/base/spelling.h"

enum { CANDIDATES_MAX = 64 };

/* An option as it was given; texts[] of an option in the order of the command line. */
struct given {
    bool is_given;
    const char **texts;
    size_t count;
    size_t capacity;
};

struct options {
    const struct command *command;
    struct given *given; /* one for each option of the command */
    const char **words;
    size_t word_count;
    size_t word_capacity;
};

struct parser {
    struct arena *arena;
    struct options *options;
    struct arguments arguments;
    size_t next;
    const char *fault; /* NULL while nothing is wrong */
};

static const struct option_spec *
find_spec(const struct command *command, const char *name, size_t length)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const struct option_spec *spec = &command->options[i];
        if (strlen(spec->name) == length && strncmp(spec->name, name, length) == 0)
            return spec;
    }
    return NULL;
}

static const struct option_spec *
find_letter(const struct command *command, char letter)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (letter && command->options[i].letter == letter)
            return &command->options[i];
    return NULL;
}

static void
append_text(struct arena *arena, struct given *given, const char *text)
{
    given->texts =
        arena_grow(arena, given->texts, given->count, &given->capacity, sizeof *given->texts);
    given->texts[given->count++] = text;
}

static void
append_word(struct parser *parser, const char *word)
{
    struct options *options = parser->options;
    options->words = arena_grow(parser->arena, options->words, options->word_count,
                                &options->word_capacity, sizeof *options->words);
    options->words[options->word_count++] = word;
}

/* The argument that would be an option's value; NULL when there is none or it looks like an
 * option itself ("-" and negative numbers do not). */
static const char *
next_value(struct parser *parser)
{
    if (parser->next == parser->arguments.count)
        return NULL;
    const char *word = parser->arguments.words[parser->next];
    bool is_option =
        word[0] == '-' && word[1] && !isdigit((unsigned char)word[1]) && word[1] != '.';
    if (is_option)
        return NULL;
    parser->next++;
    return word;
}

/* `attached` is what follows "=" or a letter, NULL if nothing does. */
static void
take_option(struct parser *parser, const struct option_spec *spec, const char *attached)
{
    struct given *given = &parser->options->given[spec - parser->options->command->options];
    bool is_again = given->is_given;
    given->is_given = true;
    if (spec->type == OPTION_FLAG) {
        if (attached)
            parser->fault =
                arena_format(parser->arena, "--%s takes no value, but '%.60s' was given",
                             spec->name, attached);
        return;
    }
    const char *value = attached ? attached : next_value(parser);
    if (!value || !*value)
        parser->fault =
            arena_format(parser->arena, "--%s needs a value: %s", spec->name, spec->value);
    else if (is_again && spec->type == OPTION_TEXT)
        parser->fault = arena_format(parser->arena, "--%s is given twice: '%.60s' and '%.60s'",
                                     spec->name, given->texts[0], value);
    else
        append_text(parser->arena, given, value);
}

static const char *
unknown_name(const struct parser *parser, const char *name, size_t length)
{
    const struct command *command = parser->options->command;
    const char *candidates[CANDIDATES_MAX] = {"help"};
    size_t count = 1;
    for (size_t i = 0; i < command->option_count && count < CANDIDATES_MAX; i++)
        candidates[count++] = command->options[i].name;
    const char *word = arena_format(parser->arena, "%.*s", (int)length, name);
    const char *nearest = spelling_nearest(word, candidates, count);
    if (nearest)
        return arena_format(parser->arena, "unknown option --%.60s, did you mean --%s?", word,
                            nearest);
    return arena_format(parser->arena, "unknown option --%.60s", word);
}

static void
take_long(struct parser *parser, const char *name)
{
    size_t length = strcspn(name, "=");
    const char *attached = name[length] == '=' ? name + length + 1 : NULL;
    const struct option_spec *spec = find_spec(parser->options->command, name, length);
    if (spec)
        take_option(parser, spec, attached);
    else
        parser->fault = unknown_name(parser, name, length);
}

/* -o FILE, -oFILE or -o=FILE; letters do not join, and one dash before a long name is a likely
 * slip. */
static void
take_short(struct parser *parser, const char *letters)
{
    const struct command *command = parser->options->command;
    const struct option_spec *spec = find_spec(command, letters, strcspn(letters, "="));
    if (spec && letters[1]) {
        parser->fault = arena_format(parser->arena, "unknown option -%.60s, did you mean --%s?",
                                     letters, spec->name);
        return;
    }
    spec = find_letter(command, letters[0]);
    const char *attached = letters[1] == '=' ? letters + 2 : letters + 1;
    if (spec)
        take_option(parser, spec, letters[1] ? attached : NULL);
    else
        parser->fault = arena_format(parser->arena, "unknown option -%.60s", letters);
}

static void
parse_arguments(struct parser *parser)
{
    bool is_word_forced = false;
    while (!parser->fault && parser->next < parser->arguments.count) {
        const char *argument = parser->arguments.words[parser->next++];
        if (is_word_forced || argument[0] != '-' || !argument[1])
            append_word(parser, argument);
        else if (strcmp(argument, "--") == 0)
            is_word_forced = true;
        else if (argument[1] == '-')
            take_long(parser, argument + 2);
        else
            take_short(parser, argument + 1);
    }
}

static const char *
word_count_fault(const struct options *options, struct arena *arena)
{
    const struct command *command = options->command;
    if (options->word_count < command->word_minimum)
        return arena_format(arena, "too few words, wanted: stepcast %s %s", command->name,
                            command->synopsis);
    if (options->word_count > command->word_maximum)
        return arena_format(arena, "'%.60s' is one word too many, wanted: stepcast %s %s",
                            options->words[command->word_maximum], command->name,
                            command->synopsis);
    return NULL;
}

const struct options *
options_parse(struct arena *arena, const struct command *command, struct arguments arguments,
              const char **fault)
{
    struct options *options = arena_alloc(arena, 1, sizeof *options);
    options->command = command;
    options->given = arena_alloc(arena, command->option_count, sizeof *options->given);
    struct parser parser = {.arena = arena, .options = options, .arguments = arguments};
    parse_arguments(&parser);
    *fault = parser.fault ? parser.fault : word_count_fault(options, arena);
    return *fault ? NULL : options;
}

bool
options_ask_for_help(struct arguments arguments)
{
    for (size_t i = 0; i < arguments.count; i++) {
        const char *argument = arguments.words[i];
        if (strcmp(argument, "--") == 0)
            return false;
        if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)
            return true;
    }
    return false;
}

static const struct given *
find_given(const struct options *options, const char *name)
{
    const struct option_spec *spec = find_spec(options->command, name, strlen(name));
    assert(spec && "a command asks only for options of its own table");
    return &options->given[spec - options->command->options];
}

bool
options_flag(const struct options *options, const char *name)
{
    return find_given(options, name)->is_given;
}

const char *
options_text(const struct options *options, const char *name)
{
    const struct given *given = find_given(options, name);
    return given->count > 0 ? given->texts[0] : "";
}

const char *
options_text_of_letter(const struct options *options, char letter)
{
    const struct option_spec *spec = find_letter(options->command, letter);
    return spec ? options_text(options, spec->name) : "";
}

size_t
options_text_count(const struct options *options, const char *name)
{
    return find_given(options, name)->count;
}

const char *
options_text_at(const struct options *options, const char *name, size_t index)
{
    const struct given *given = find_given(options, name);
    return index < given->count ? given->texts[index] : NULL;
}

size_t
options_word_count(const struct options *options)
{
    return options->word_count;
}

const char *
options_word(const struct options *options, size_t index)
{
    return index < options->word_count ? options->words[index] : NULL;
}
