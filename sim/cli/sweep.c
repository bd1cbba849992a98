/* Ranges and lists of values. */
#include "sim/cli/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const WANTED = "wanted KEY=FROM:TO:STEP, KEY=FROM:TO or KEY=VALUE,VALUE,...";

static bool
fail(const char **fault, const char *what)
{
    *fault = what;
    return false;
}

/* The key before "=", and what follows; NULL when either is missing. */
static const char *
parse_key(const char *text, const char **key, struct arena *arena)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        return NULL;
    *key = arena_format(arena, "%.*s", (int)(equals - text), text);
    return equals + 1;
}

/* A whole number from 1; NULL when there is none, else what follows it. */
static const char *
parse_value(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || errno != 0 || number < 1)
        return NULL;
    *value = number;
    return end;
}

/* Up to SWEEP_VALUES_MAX of first, first + step, ... or, of step 0, first, 2 first, ... */
static bool
fill_range(struct sweep *sweep, const int64_t range[3], struct arena *arena, const char **fault)
{
    int64_t first = range[0], last = range[1], step = range[2], *values = NULL;
    size_t room = 0;
    if (first > last)
        return fail(fault, "the range ends before it begins");
    for (int64_t value = first;;) {
        values = arena_grow(arena, values, sweep->count, &room, sizeof *values);
        values[sweep->count++] = value;
        int64_t stride = step == 0 ? value : step;
        if (stride > last - value)
            break;
        if (sweep->count == SWEEP_VALUES_MAX)
            return fail(fault, arena_format(arena, "more than %d values", SWEEP_VALUES_MAX));
        value += stride;
    }
    sweep->values = values;
    return true;
}

static bool
parse_range(const char *text, struct sweep *sweep, struct arena *arena, const char **fault)
{
    int64_t range[3] = {0, 0, 0}; /* a step of 0: none was given, parse_value takes none */
    const char *rest = parse_value(text, &range[0]);
    rest = rest != NULL && *rest == ':' ? parse_value(rest + 1, &range[1]) : NULL;
    if (rest != NULL && *rest == ':')
        rest = parse_value(rest + 1, &range[2]);
    if (rest == NULL || *rest != '\0')
        return fail(fault, "wanted whole numbers from 1 as FROM:TO:STEP");
    return fill_range(sweep, range, arena, fault);
}

static int
compare_values(const void *a, const void *b)
{
    const int64_t *one = a, *two = b;
    return (*one > *two) - (*one < *two);
}

static bool
parse_list(const char *text, struct sweep *sweep, struct arena *arena, const char **fault)
{
    int64_t *values = NULL;
    size_t room = 0, kept = 0;
    for (const char *at = text;; at++) {
        values = arena_grow(arena, values, sweep->count, &room, sizeof *values);
        at = parse_value(at, &values[sweep->count++]);
        if (at == NULL || (*at != ',' && *at != '\0'))
            return fail(fault, "wanted whole numbers from 1, parted by commas");
        if (*at == '\0')
            break;
        if (sweep->count == SWEEP_VALUES_MAX)
            return fail(fault, arena_format(arena, "more than %d values", SWEEP_VALUES_MAX));
    }
    qsort(values, sweep->count, sizeof *values, compare_values);
    for (size_t i = 0; i < sweep->count; i++)
        if (i == 0 || values[i] != values[kept - 1])
            values[kept++] = values[i];
    sweep->count = kept;
    sweep->values = values;
    return true;
}

bool
sweep_parse(const char *text, struct sweep *sweep, struct arena *arena, const char **fault)
{
    *sweep = (struct sweep){0};
    const char *values = parse_key(text, &sweep->key, arena);
    if (values == NULL)
        return fail(fault, WANTED);
    return strchr(values, ':') != NULL ? parse_range(values, sweep, arena, fault)
                                       : parse_list(values, sweep, arena, fault);
}

bool
sweep_parse_words(const char *text, struct sweep_words *words, struct arena *arena,
                  const char **fault)
{
    const char **found = NULL;
    size_t room = 0;
    *words = (struct sweep_words){0};
    const char *at = parse_key(text, &words->key, arena);
    if (at == NULL)
        return fail(fault, "wanted FIELD=VALUE,VALUE,...");
    for (;;) {
        size_t length = strcspn(at, ",");
        if (length == 0)
            return fail(fault, "a value between two commas is missing");
        found = arena_grow(arena, found, words->count, &room, sizeof *found);
        found[words->count++] = arena_format(arena, "%.*s", (int)length, at);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    words->words = found;
    return true;
}
