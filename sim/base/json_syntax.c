/* What is said of a text that is not JSON: the parser's own message, "A expected near 'B'", put as
 * "found 'B', wanted A" and placed where B begins (the parser stands at its end). */
#include <string.h>

#include "sim/base/json_tree.h"

struct syntax_fault {
    const char *phrase; /* "string or '}' expected" */
    const char *token;  /* "'x'" as quoted by the parser, "end of file", "" if not named */
};

static struct syntax_fault
split(struct arena *arena, const char *message)
{
    const char *near = strstr(message, " near ");
    if (!near)
        return (struct syntax_fault){message, ""};
    return (struct syntax_fault){arena_format(arena, "%.*s", (int)(near - message), message),
                                 near + strlen(" near ")};
}

/* How far before the parser's column the token begins. */
static int
letters_back(const char *token)
{
    int letters = 0;
    for (const char *at = token; *at; at++)
        letters += ((unsigned char)*at & 0xC0) != 0x80; /* a UTF-8 letter once */
    return token[0] == '\'' && letters > 2 ? letters - 3
                                           : 0; /* two quotes are not in the file */
}

/* A text shows its own quotes, all else the parser's. */
static const char *
show(struct arena *arena, const char *token)
{
    if (!*token)
        return "here";
    if (strcmp(token, "end of file") == 0)
        return "the end";
    bool is_text = strncmp(token, "'\"", 2) == 0;
    return is_text ? arena_format(arena, "%.*s", (int)strlen(token) - 2, token + 1) : token;
}

/* Those of the parser's phrases that are no "A expected". */
static const char *
explain_known(struct arena *arena, const char *phrase, const char *token)
{
    static const struct {
        const char *phrase, *before, *after;
    } known[] = {
        {"duplicate object key", "the key ", " for the second time, wanted once"},
        {"real number overflow", "a number beyond the largest (about 1.8e308): ", ""},
        {"too big integer", "an integer beyond the largest (2^63 - 1): ", ""},
        {"too big negative integer", "an integer below the least (-2^63): ", ""},
        {"maximum parsing depth reached", "", " for the 2049th level, wanted at most 2048"},
        {"\\u0000 is not allowed without JSON_ALLOW_NUL", "the character 0 in ", ""},
        {"unexpected newline", "not JSON: the text ", " has no closing quote on its line"},
        {"premature end of input", "not JSON: the text ", " has no closing quote"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(phrase, known[i].phrase) == 0)
            return arena_format(arena, "%s%s%s", known[i].before, token, known[i].after);
    return NULL;
}

/* "A expected" in words that a writer of JSON uses; NULL when the phrase is another. */
static const char *
wanted(struct arena *arena, const char *phrase)
{
    static const struct {
        const char *phrase, *wanted;
    } known[] = {
        {"string or '}' expected", "a key in double quotes or '}'"},
        {"string expected", "a key in double quotes"},
        {"'}' expected", "',' or '}'"},
        {"']' expected", "',' or ']'"},
        {"'[' or '{' expected", "'{' or '['"},
        {"end of file expected", "the end"},
        {"invalid token", "a value"},
        {"unexpected token", "a value"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(phrase, known[i].phrase) == 0)
            return known[i].wanted;
    const char *ending = strstr(phrase, " expected");
    return ending ? arena_format(arena, "%.*s", (int)(ending - phrase), phrase) : NULL;
}

static const char *
explain(struct arena *arena, struct syntax_fault fault)
{
    const char *token = show(arena, fault.token);
    if (strcmp(token, "'}'") == 0 && strcmp(fault.phrase, "string or '}' expected") == 0)
        return "not JSON: found '}' after a comma, wanted a key in double quotes";
    if (strcmp(token, "'/'") == 0)
        return "not JSON: found '/', comments are no part of JSON";
    const char *what = explain_known(arena, fault.phrase, token);
    if (what)
        return what;
    what = wanted(arena, fault.phrase);
    return what ? arena_format(arena, "not JSON: found %s, wanted %s", token, what)
                : arena_format(arena, "not JSON: %s in %s", fault.phrase, token);
}

/* The parser names no token of over 20 letters: a text in quotes is then found by going back from
 * where it stopped, behind the closing quote, to the opening one. "" for another token. */
static const char *
token_before(const struct json_document *document, size_t offset)
{
    if (offset < 2 || offset > document->length || document->text[offset - 1] != '"')
        return "";
    size_t begin = offset - 2;
    while (begin > 0 && (document->text[begin] != '"' || document->text[begin - 1] == '\\'))
        begin--;
    return arena_format(document->arena, "'%.*s'", (int)(offset - begin),
                        document->text + begin);
}

bool
json_syntax_fail(const struct json_document *document, struct json_syntax_place place,
                 const char *message, struct error_list *errors)
{
    struct syntax_fault fault = split(document->arena, message);
    if (!*fault.token)
        fault.token = token_before(document, place.offset);
    int line = document->first_line + (place.line > 0 ? place.line - 1 : 0);
    int column = place.column - letters_back(fault.token);
    const char *where = arena_format(document->arena, "%s:%d:%d", document->name, line,
                                     column > 0 ? column : 1);
    return error_add(errors, ERROR_INPUT, where, "%s", explain(document->arena, fault));
}
