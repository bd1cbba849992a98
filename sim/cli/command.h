/* What a subcommand is: its options as a table, its help, and the function that does it. */
#ifndef SIM_CLI_COMMAND_H
#define SIM_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

enum exit_code {
    EXIT_DONE = 0,
    EXIT_CHECK_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_BAD_INPUT = 3,
    EXIT_INFEASIBLE = 4,
    EXIT_IO = 5,
    EXIT_BUG = 6,
};

/* What a command can write; the ending of -o chooses, --json asks for JSON: in that file or, beside
 * a picture that goes there, on stdout. */
enum output_format {
    OUTPUT_TEXT, /* any other ending, or none */
    OUTPUT_JSON,
    OUTPUT_CSV,
    OUTPUT_SVG,
    OUTPUT_PDF,
    OUTPUT_PNG,
    OUTPUT_XML, /* JUnit's */
    OUTPUT_HTML,
    OUTPUT_PFTRACE, /* Perfetto's */
    OUTPUT_FORMAT_COUNT
};

enum option_type { OPTION_FLAG, OPTION_TEXT, OPTION_TEXTS /* may be given more than once */ };

struct option_spec {
    const char *name; /* "list", given as --list */
    char letter;      /* 'o' for -o; 0 for none */
    enum option_type type;
    const char *value; /* "FILE", what help shows; NULL of a flag */
    const char *help;  /* one line */
};

struct options;

/* false, "", 0, NULL when the option was not given. Asked only for names in the command's
 * table: another one is a bug. */
bool options_flag(const struct options *options, const char *name);
const char *options_text(const struct options *options, const char *name);
size_t options_text_count(const struct options *options, const char *name);
const char *options_text_at(const struct options *options, const char *name, size_t index);
/* The words that are not options; NULL past the last. */
size_t options_word_count(const struct options *options);
const char *options_word(const struct options *options, size_t index);

struct command {
    const char *name;     /* "model show": may be two words */
    const char *summary;  /* one line for the list of commands */
    const char *synopsis; /* "RUN.json [--set KEY=VALUE]...": what follows the name */
    const char *example;  /* one full command line */
    const struct option_spec *options;
    size_t option_count;
    size_t word_minimum, word_maximum;
    unsigned formats; /* 1u << OUTPUT_.. of each that it writes; the others are refused */
    int (*run)(const struct options *options, struct arena *arena); /* an exit_code */
};

/* An arena that, when memory ends, says so and ends the program with EXIT_IO. */
struct arena *command_arena(void);

/* Prints every fault kept, one line each ("where: what"), and returns the exit code of the
 * first. */
int command_report(const struct error_list *errors);

/* A usage error: prints it with a pointer to the command's help; returns EXIT_USAGE. */
int command_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The format that the options ask for; one of the command's, which was seen to before it ran. */
enum output_format command_format(const struct options *options);

/* Whether the format is drawn: SVG, PDF, PNG. */
bool command_draws(enum output_format format);

/* Whether JSON is wanted, be it beside a picture. */
bool command_wants_json(const struct options *options);

/* The result: to the file named by -o, or to stdout ("-", none, or a picture's). EXIT_DONE, or
 * EXIT_IO with the fault reported. A reader of stdout who has left is no fault. */
int command_output(const struct options *options, const struct text *text);
int command_print(const struct text *text); /* always to stdout */

#endif
