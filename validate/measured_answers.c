/* A question is its members as JSON text, in the order in which they were asked. */
#include "validate/measured_answers.h"

#include <string.h>

void
measured_question_write(const struct json *line, struct json_writer *writer)
{
    for (size_t i = 0; i < json_count(line); i++) {
        const char *key = json_key(line, i);
        if (strncmp(key, "measured_", strlen("measured_")) == 0 ||
            strcmp(key, "library") == 0 || strcmp(key, "source") == 0)
            continue;
        json_write_key(writer, key);
        json_write_value(writer, json_value_at(line, i));
    }
}

static const char *
question_of(const struct json *line, struct arena *arena)
{
    struct text text = text_new(arena);
    struct json_writer writer = json_writer_new(&text, false);
    json_write_begin_object(&writer);
    measured_question_write(line, &writer);
    json_write_end_object(&writer);
    return text.bytes;
}

static bool
is_of(const struct json *line, const char *device)
{
    const struct json *name = json_member(line, "measured_device");
    return name && json_kind(name) == JSON_KIND_STRING &&
           strcmp(json_as_string(name), device) == 0;
}

bool
measured_answers_parse(struct measured_answers *answers, const char *name,
                       const struct text *text, const char *device, struct error_list *errors)
{
    struct arena *arena = text->arena;
    int number = 1;
    for (size_t start = 0; start < text->length; number++) {
        const char *bytes = text->bytes + start;
        size_t length = strcspn(bytes, "\n");
        start += length + 1;
        if (strspn(bytes, " \t\r") >= length)
            continue;
        const struct json *line = json_read_text(arena, name, number, bytes, length, errors);
        if (!line)
            return false;
        if (json_kind(line) != JSON_KIND_OBJECT)
            return json_fail(line, errors, "wanted an object, a measured line");
        if (!is_of(line, device))
            continue;
        answers->questions = arena_grow(arena, answers->questions, answers->count,
                                        &answers->capacity, sizeof *answers->questions);
        answers->questions[answers->count++] = question_of(line, arena);
    }
    return true;
}

bool
measured_answers_have(const struct measured_answers *answers, const struct json *question,
                      struct arena *arena)
{
    const char *wanted = question_of(question, arena);
    for (size_t i = 0; i < answers->count; i++)
        if (strcmp(answers->questions[i], wanted) == 0)
            return true;
    return false;
}
