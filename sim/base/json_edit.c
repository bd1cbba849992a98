/* Cuts a JSON text at the places of values and puts other text in. */
#include "sim/base/json_edit.h"

#include <assert.h>

#include "sim/base/json_tree.h"
#include "sim/base/json_writer.h"

/* Kept in the order of the file. */
static void
add_change(struct json_edit *edit, struct json_change change, struct arena *arena)
{
    edit->changes =
        arena_grow(arena, edit->changes, edit->count, &edit->capacity, sizeof *edit->changes);
    size_t place = edit->count++;
    for (; place > 0 && edit->changes[place - 1].start > change.start; place--)
        edit->changes[place] = edit->changes[place - 1];
    edit->changes[place] = change;
}

void
json_edit_replace(struct json_edit *edit, const struct json *value, const char *text,
                  struct arena *arena)
{
    struct json_extent extent = json_position_extent(value);
    add_change(edit, (struct json_change){extent.start, extent.end, text}, arena);
}

/* Behind the last value: before the blanks that lead to the closing brace. */
void
json_edit_add(struct json_edit *edit, const struct json *object, const char *key,
              const char *text, struct arena *arena)
{
    assert(json_kind(object) == JSON_KIND_OBJECT && json_count(object) > 0);
    int depth = 1;
    for (const struct json *at = object; at->parent; at = at->parent)
        depth++;
    struct text member = text_new(arena);
    text_format(&member, ",\n%*s", 2 * depth, "");
    struct json_writer writer = json_writer_new(&member, false);
    json_write_string(&writer, key);
    text_format(&member, ": %s", text);
    size_t end = json_position_extent(json_value_at(object, json_count(object) - 1)).end;
    add_change(edit, (struct json_change){end, end, member.bytes}, arena);
}

void
json_edit_apply(const struct json_edit *edit, const struct json *root, struct text *out)
{
    const struct json_document *document = root->document;
    size_t done = 0;
    for (size_t i = 0; i < edit->count; i++) {
        const struct json_change *change = &edit->changes[i];
        assert(change->start >= done && "changes lie beside each other");
        text_append(out, document->text + done, change->start - done);
        text_format(out, "%s", change->text);
        done = change->end;
    }
    text_append(out, document->text + done, document->length - done);
}
