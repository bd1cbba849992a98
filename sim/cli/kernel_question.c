/* A kernel's question read, priced and answered. */
#include "sim/cli/kernel_question.h"

#include <string.h>

#include "sim/base/json.h"

/* {"kernel": "gemm"} of a word that is no JSON. */
static const char *
object_text(const char *word, struct arena *arena)
{
    if (*word == '{')
        return word;
    struct text text = text_new(arena);
    struct json_writer writer = json_writer_new(&text, false);
    json_write_begin_object(&writer);
    json_write_string_at(&writer, "kernel", word);
    json_write_end_object(&writer);
    return text.bytes;
}

const struct json *
kernel_question_read(const struct options *options, struct arena *arena,
                     struct error_list *errors)
{
    const char *text = object_text(options_word(options, 0), arena);
    const struct json *question =
        json_read_text(arena, "kernel", 1, text, strlen(text), errors);
    for (size_t i = 1; question != NULL && i < options_word_count(options); i++) {
        const char *word = options_word(options, i), *equals = strchr(word, '=');
        if (equals == NULL || equals == word) {
            error_add(errors, ERROR_INPUT, "kernel", "'%.60s', wanted KEY=VALUE as m=4096",
                      word);
            return NULL;
        }
        const char *key = arena_format(arena, "%.*s", (int)(equals - word), word);
        if (!json_set(question, key, equals + 1, word, errors))
            return NULL;
    }
    return question;
}

bool
kernel_question_price(const struct device *device, const struct json *question,
                      struct arena *arena, struct kernel *kernel, struct kernel_cost *cost,
                      struct error_list *errors)
{
    struct error_list faults; /* 10 KB, which to clear takes longer than many prices */
    faults.count = 0;
    if (!kernel_read(question, kernel, arena, errors))
        return false;
    if (!kernel_cost(device, kernel, cost, &faults))
        return error_add(errors, faults.items[0].kind, json_where(question), "%s",
                         faults.items[0].what);
    return true;
}

void
kernel_question_write_cost(struct json_writer *writer, const struct kernel_cost *cost)
{
    json_write_real_at(writer, "predicted_s", cost->seconds_s);
    json_write_real_at(writer, "sigma", cost->relative_sigma);
    json_write_string_at(writer, "bound", kernel_bound_name(cost->bound));
    json_write_real_at(writer, "flop", cost->flop);
    json_write_real_at(writer, "hbm_bytes", cost->hbm_bytes);
    json_write_integer_at(writer, "tiles", cost->tiles);
    json_write_integer_at(writer, "waves", cost->waves);
    json_write_real_at(writer, "compute_fraction", cost->compute_fraction);
    json_write_real_at(writer, "hbm_fraction", cost->hbm_fraction);
}

void
kernel_question_write_answer(struct text *text, const struct json *question,
                             const struct kernel_cost *cost)
{
    struct json_writer writer = json_writer_new(text, false);
    json_write_begin_object(&writer);
    for (size_t i = 0; i < json_count(question); i++) {
        json_write_key(&writer, json_key(question, i));
        json_write_value(&writer, json_value_at(question, i));
    }
    kernel_question_write_cost(&writer, cost);
    json_write_end_object(&writer);
    text_append(text, "\n", 1);
}
