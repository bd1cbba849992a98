/* stepcast merge: shards of a sweep or a search put together. */
#include <stdio.h>
#include <string.h>

#include "sim/base/json_writer.h"
#include "sim/cli/command.h"
#include "sim/cli/merge_lines.h"
#include "sim/cli/store.h"

extern const struct command command_merge;

static int
fail_store_output(const struct options *options)
{
    return command_usage("merge", "%s is a store: say by -o FILE which one it goes into",
                         options_word(options, 0));
}

/* {"shards_count": 5, "rows_count": 400}, where it is asked for. */
static int
tell(const struct options *options, int64_t rows, struct arena *arena)
{
    struct text text = text_new(arena);
    struct json_writer writer = json_writer_new(&text, false);
    if (!options_flag(options, "json"))
        return EXIT_DONE;
    json_write_begin_object(&writer);
    json_write_integer_at(&writer, "shards_count", (int64_t)options_word_count(options));
    json_write_integer_at(&writer, "rows_count", rows);
    json_write_end_object(&writer);
    text_append(&text, "\n", 1);
    return command_print(&text);
}

/* All into one that may have rows already: a store that was merged before can be given again. */
static int
merge_stores(const struct options *options, struct arena *arena)
{
    struct error_list errors = {0};
    const char *path = options_text(options, "output");
    if (!*path || strcmp(path, "-") == 0)
        return fail_store_output(options);
    struct store *store =
        store_open(&(struct store_request){.path = path, .threads = 1}, arena, &errors);
    for (size_t i = 0; store && i < options_word_count(options) && errors.count == 0; i++)
        store_merge(store, options_word(options, i), &errors);
    int64_t rows = 0;
    if (store && errors.count == 0)
        store_count(store, &rows, &errors);
    if (store)
        store_close(store);
    return errors.count > 0 ? command_report(&errors) : tell(options, rows, arena);
}

/* Where rows go. */
struct sink {
    struct text_file *file; /* NULL: standard output */
    int code;
    int64_t rows;
    bool is_begun;
};

static bool
write_rows(void *context, const struct text *text, struct error_list *errors)
{
    struct sink *sink = context;
    sink->rows -= !sink->is_begun && *text->bytes != '{'; /* the head of CSV is none */
    sink->is_begun = true;
    for (size_t i = 0; i < text->length; i++)
        sink->rows += text->bytes[i] == '\n';
    if (sink->file && !text_file_append(sink->file, text->bytes, text->length, errors)) {
        sink->file = NULL; /* nothing is left of it */
        return false;
    }
    if (!sink->file)
        sink->code = command_print(text);
    return sink->code == EXIT_DONE;
}

static int
merge_files(const struct options *options, struct arena *arena)
{
    struct error_list errors = {0};
    struct sink sink = {NULL, EXIT_DONE, 0, false};
    const struct merge_output output = {write_rows, &sink};
    const char *path = options_text(options, "output");
    size_t count = options_word_count(options);
    const char **paths = arena_alloc(arena, count, sizeof *paths);
    for (size_t i = 0; i < count; i++)
        paths[i] = options_word(options, i);
    if (*path && strcmp(path, "-") != 0)
        sink.file = text_file_open(path, arena, &errors);
    bool is_right = errors.count == 0 && merge_lines(paths, count, &output, arena, &errors);
    if (sink.file && is_right)
        text_file_finish(sink.file, &errors);
    else if (sink.file)
        text_file_drop(sink.file);
    if (errors.count > 0 || sink.code != EXIT_DONE)
        return errors.count > 0 ? command_report(&errors) : sink.code;
    return tell(options, sink.rows, arena);
}

static int
run(const struct options *options, struct arena *arena)
{
    const char *output = options_text(options, "output");
    if (options_flag(options, "json") && (!*output || strcmp(output, "-") == 0))
        return command_usage("merge", "--json counts what went into -o FILE");
    for (size_t i = 0; i < options_word_count(options); i++)
        if (strcmp(options_word(options, i), output) == 0)
            return command_usage("merge", "-o would overwrite %s, which is merged", output);
    return store_is_one(options_word(options, 0)) ? merge_stores(options, arena)
                                                  : merge_files(options, arena);
}

static const struct option_spec OPTIONS[] = {
    {"json", 0, OPTION_FLAG, NULL, "say how many rows went into -o FILE"},
    {"output", 'o', OPTION_TEXT, "FILE", "write there; of stores, add to what it has"},
};

const struct command command_merge = {
    .name = "merge",
    .summary = "put shards of a sweep or search together",
    .synopsis = "FILE... [-o FILE]",
    .example = "stepcast merge part-1.csv part-2.csv part-3.csv -o all.csv",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 1,
    .word_maximum = 1000000,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON | 1u << OUTPUT_CSV,
    .run = run,
};
