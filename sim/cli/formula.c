/* Arithmetic on named quantities: a reader that computes while it reads, a function for each level
 * of precedence. */
#include "sim/cli/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, ARGUMENTS_MAX = 2, NAME_MAX_LENGTH = 128 };

struct formula {
    const char *at; /* what is still to be read */
    const struct formula_names *names;
    struct arena *arena;
    const char *fault; /* NULL while nothing is wrong */
    int depth;
};

static double read_comparison(struct formula *formula);

static double
fail(struct formula *formula, const char *what)
{
    if (!formula->fault)
        formula->fault = what;
    return 0;
}

/* Passes over blanks, and over the word if that is what follows. */
static bool
take(struct formula *formula, const char *word)
{
    formula->at += strspn(formula->at, " \t");
    size_t length = strlen(word);
    if (strncmp(formula->at, word, length) != 0)
        return false;
    formula->at += length;
    return true;
}

static double
call(struct formula *formula, const char *name, const double *x, int count)
{
    static const struct {
        const char *name;
        int arguments;
    } functions[] = {{"abs", 1},   {"min", 2},   {"max", 2},
                     {"round", 2}, {"floor", 2}, {"ceil", 2}};
    size_t i = 0, known = sizeof functions / sizeof *functions;
    while (i < known && strcmp(functions[i].name, name) != 0)
        i++;
    if (i == known)
        return fail(formula, arena_format(formula->arena,
                                          "there is no function %s, wanted abs, min, max, "
                                          "round, floor or ceil",
                                          name));
    if (functions[i].arguments != count)
        return fail(formula, arena_format(formula->arena, "%s takes %d values", name,
                                          functions[i].arguments));
    switch (i) {
    case 0:
        return fabs(x[0]);
    case 1:
        return fmin(x[0], x[1]);
    case 2:
        return fmax(x[0], x[1]);
    case 3:
        return x[1] * round(x[0] / x[1]);
    case 4:
        return x[1] * floor(x[0] / x[1]);
    default:
        return x[1] * ceil(x[0] / x[1]);
    }
}

static double
read_call(struct formula *formula, const char *name)
{
    double values[ARGUMENTS_MAX] = {0};
    int count = 0;
    do {
        if (count == ARGUMENTS_MAX)
            return fail(formula, "too many values of a function");
        values[count++] = read_comparison(formula);
    } while (!formula->fault && take(formula, ","));
    if (!take(formula, ")"))
        return fail(formula, "a ')' is missing");
    return formula->fault ? 0 : call(formula, name, values, count);
}

static double
read_name(struct formula *formula)
{
    size_t length = 0;
    while (isalnum((unsigned char)formula->at[length]) || formula->at[length] == '_' ||
           formula->at[length] == '.')
        length++;
    if (length > NAME_MAX_LENGTH)
        return fail(formula, "a name is too long");
    const char *name = arena_format(formula->arena, "%.*s", (int)length, formula->at);
    formula->at += length;
    double value = 0;
    if (take(formula, "("))
        return read_call(formula, name);
    if (!formula->names->find(formula->names->context, name, &value))
        return fail(formula,
                    arena_format(formula->arena, "'%s' is no number of the run", name));
    return value;
}

static double
read_number(struct formula *formula)
{
    char *end = NULL;
    double value = strtod(formula->at, &end);
    formula->at = end;
    return value;
}

static double
read_atom(struct formula *formula)
{
    if (take(formula, "-"))
        return -read_atom(formula);
    if (take(formula, "(")) {
        double value = read_comparison(formula);
        return take(formula, ")") ? value : fail(formula, "a ')' is missing");
    }
    if (isdigit((unsigned char)*formula->at) ||
        (*formula->at == '.' && isdigit((unsigned char)formula->at[1])))
        return read_number(formula);
    if (isalpha((unsigned char)*formula->at))
        return read_name(formula);
    return fail(formula, *formula->at
                             ? arena_format(formula->arena,
                                            "wanted a number or a name at '%.20s'", formula->at)
                             : "it ends where a value should stand");
}

static double
read_product(struct formula *formula)
{
    double value = read_atom(formula);
    while (!formula->fault) {
        if (take(formula, "*"))
            value *= read_atom(formula);
        else if (take(formula, "/"))
            value /= read_atom(formula);
        else
            break;
    }
    return value;
}

static double
read_sum(struct formula *formula)
{
    double value = read_product(formula);
    while (!formula->fault) {
        if (take(formula, "+"))
            value += read_product(formula);
        else if (take(formula, "-"))
            value -= read_product(formula);
        else
            break;
    }
    return value;
}

static double
read_comparison(struct formula *formula)
{
    if (++formula->depth > DEPTH_MAX)
        return fail(formula, "too many parentheses");
    double value = read_sum(formula);
    if (take(formula, "<="))
        value = value <= read_sum(formula);
    else if (take(formula, ">="))
        value = value >= read_sum(formula);
    else if (take(formula, "=="))
        value = fabs(value - read_sum(formula)) <= 0;
    else if (take(formula, "<"))
        value = value < read_sum(formula);
    else if (take(formula, ">"))
        value = value > read_sum(formula);
    formula->depth--;
    return value;
}

bool
formula_value(const char *text, const struct formula_names *names, double *value,
              struct arena *arena, const char **fault)
{
    struct formula formula = {.at = text, .names = names, .arena = arena};
    *value = read_comparison(&formula);
    take(&formula, "");
    if (!formula.fault && *formula.at)
        fail(&formula, arena_format(arena, "does not go on with '%.20s'", formula.at));
    if (!formula.fault && !isfinite(*value))
        fail(&formula, "comes to no finite number");
    *fault = formula.fault;
    return formula.fault == NULL;
}
