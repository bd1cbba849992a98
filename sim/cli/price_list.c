/* Answers a list of questions: a line in, a line out, and an arena for each. */
#include "sim/cli/price_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/cli/command.h"

/* Longer than any question that makes sense (an expert list of 10^5 rows), short enough that a
 * file without line ends is refused before it fills the memory. */
enum { LINE_LIMIT_BYTES = 1 << 20 };

struct line_source {
    FILE *file;
    const char *name; /* stands in messages */
    int number;       /* of the line in `bytes`, from 1 */
    size_t length;
    bool is_too_long;
    char bytes[LINE_LIMIT_BYTES];
};

struct line_sink {
    FILE *file;
    char *partial_path; /* NULL while writing to standard output */
};

static bool
source_open(struct line_source *source, const char *path, struct error_list *errors)
{
    bool is_standard = strcmp(path, "-") == 0;
    source->name = is_standard ? "standard input" : path;
    source->file = is_standard ? stdin : fopen(path, "r");
    if (!source->file)
        return error_add(errors, ERROR_IO, path, "cannot be read: %s", strerror(errno));
    return true;
}

/* The next line without its end; what goes beyond the limit is dropped. */
static bool
source_next(struct line_source *source)
{
    source->length = 0;
    source->is_too_long = false;
    int c = getc_unlocked(source->file);
    if (c == EOF)
        return false;
    for (; c != EOF && c != '\n'; c = getc_unlocked(source->file)) {
        if (source->length == LINE_LIMIT_BYTES)
            source->is_too_long = true;
        else
            source->bytes[source->length++] = (char)c;
    }
    source->number++;
    return true;
}

static bool
source_close(struct line_source *source, struct error_list *errors)
{
    bool failed = ferror(source->file) != 0;
    if (source->file != stdin)
        fclose(source->file);
    return !failed || error_add(errors, ERROR_IO, source->name, "cannot be read to its end");
}

static bool
line_is_blank(const struct line_source *source)
{
    for (size_t i = 0; i < source->length; i++)
        if (!isspace((unsigned char)source->bytes[i]))
            return false;
    return true;
}

static bool
sink_open(struct line_sink *sink, const char *path, struct arena *arena,
          struct error_list *errors)
{
    sink->file = stdout;
    if (*path == '\0')
        return true;
    sink->partial_path = arena_format(arena, "%s.partial", path);
    sink->file = fopen(sink->partial_path, "w");
    if (!sink->file)
        return error_add(errors, ERROR_IO, path, "cannot be written: %s", strerror(errno));
    return true;
}

/* Keeps a whole file, removes one that is not. A reader of standard output who has left is no
 * fault. */
static bool
sink_close(struct line_sink *sink, const char *path, bool is_whole, struct error_list *errors)
{
    bool failed = ferror(sink->file) != 0 || fflush(sink->file) != 0;
    if (failed && errno == EPIPE && !sink->partial_path)
        return true;
    if (sink->partial_path) {
        failed = fclose(sink->file) != 0 || failed;
        if (!failed && is_whole)
            failed = rename(sink->partial_path, path) != 0;
        if (failed || !is_whole)
            remove(sink->partial_path);
    }
    return !failed ||
           error_add(errors, ERROR_IO, path, "cannot be written: %s", strerror(errno));
}

static const struct json *
read_question(const struct line_source *source, struct arena *arena, struct error_list *errors)
{
    if (source->is_too_long) {
        const char *where = arena_format(arena, "%s:%d", source->name, source->number);
        error_add(errors, ERROR_INPUT, where, "a line of more than %d bytes", LINE_LIMIT_BYTES);
        return NULL;
    }
    const struct json *question = json_read_text(arena, source->name, source->number,
                                                 source->bytes, source->length, errors);
    if (question && json_kind(question) != JSON_KIND_OBJECT) {
        json_fail(question, errors, "a line of a list is an object");
        return NULL;
    }
    return question;
}

static struct json_writer
begin_answer(struct text *text, const struct json *question)
{
    text->length = 0;
    struct json_writer writer = json_writer_new(text, false);
    json_write_begin_object(&writer);
    for (size_t i = 0; question && i < json_count(question); i++) {
        json_write_key(&writer, json_key(question, i));
        json_write_value(&writer, json_value_at(question, i));
    }
    return writer;
}

static void
end_answer(struct json_writer *writer, FILE *file)
{
    json_write_end_object(writer);
    text_append(writer->out, "\n", 1);
    fwrite(writer->out->bytes, 1, writer->out->length, file);
}

/* Answers one line, in `line`, which lasts for all of them; EXIT_DONE or the exit code of its
 * fault, which is reported. */
static int
answer_line(const struct price_list *list, const struct line_source *source, FILE *out,
            struct text *line)
{
    struct error_list errors;
    errors.count = 0; /* the rest is 10 KB, not cleared for each line */
    struct arena *arena = command_arena();
    const struct json *question = read_question(source, arena, &errors);
    struct json_writer answer = begin_answer(line, question);
    bool is_priced = question && list->price(list->context, question, arena, &answer, &errors);
    if (!is_priced) {
        answer = begin_answer(line, question);
        json_write_string_at(&answer, "error", errors.items[0].what);
    }
    if (is_priced || list->keeps_going)
        end_answer(&answer, out);
    arena_free(arena);
    return is_priced ? EXIT_DONE : command_report(&errors);
}

static int
answer_lines(const struct price_list *list, struct line_source *source, FILE *out,
             struct arena *arena)
{
    int first_code = EXIT_DONE;
    bool goes_on = true;
    struct text line = text_new(arena);
    while (goes_on && source_next(source)) {
        if (line_is_blank(source))
            continue;
        int code = answer_line(list, source, out, &line);
        if (first_code == EXIT_DONE)
            first_code = code;
        goes_on = (code == EXIT_DONE || list->keeps_going) && !ferror(out);
    }
    return first_code;
}

int
price_list_run(const struct price_list *list)
{
    struct error_list errors = {0};
    struct arena *arena = command_arena();
    struct line_source *source = arena_alloc(arena, 1, sizeof *source);
    struct line_sink sink = {0};
    int code = EXIT_DONE;
    if (source_open(source, list->path, &errors)) {
        if (sink_open(&sink, list->output_path, arena, &errors)) {
            code = answer_lines(list, source, sink.file, arena);
            bool is_whole = code == EXIT_DONE || list->keeps_going;
            sink_close(&sink, list->output_path, is_whole, &errors);
        }
        source_close(source, &errors);
    }
    arena_free(arena);
    if (errors.count > 0) {
        int reported = command_report(&errors);
        return code == EXIT_DONE ? reported : code;
    }
    return code;
}
