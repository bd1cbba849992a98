/* Changes in a JSON file that leave every other byte of it as it was. */
#ifndef SIM_BASE_JSON_EDIT_H
#define SIM_BASE_JSON_EDIT_H

#include "sim/base/json.h"
#include "sim/base/text.h"

struct json_change {
    size_t start, end; /* bytes of the file that go */
    const char *text;  /* what stands there instead */
};

/* Zero-initialised by its owner. All changes are of one document, as it was read: not of one that
 * json_set has changed. Values that change do not lie within each other. */
struct json_edit {
    struct json_change *changes;
    size_t count, capacity;
};

/* The text is JSON; it must last until the edit is applied. */
void json_edit_replace(struct json_edit *edit, const struct json *value, const char *text,
                       struct arena *arena);

/* Adds a member behind the object's last, on a line of its own; once an object. */
void json_edit_add(struct json_edit *edit, const struct json *object, const char *key,
                   const char *text, struct arena *arena);

/* The whole file with its changes, `root` being the document's. */
void json_edit_apply(const struct json_edit *edit, const struct json *root, struct text *out);

#endif
