/* For tests only: JSON from a text, and the faults of a test as one text. */
#ifndef SIM_BASE_CHECK_JSON_H
#define SIM_BASE_CHECK_JSON_H

#include <stdlib.h>
#include <string.h>

#include "sim/base/json.h"
#include "sim/base/text.h"

/* The text as "a.json"; ends the test when it is not JSON. */
static inline const struct json *
check_json_read(struct arena *arena, const char *text)
{
    struct error_list errors = {0};
    const struct json *root = json_read_text(arena, "a.json", 1, text, strlen(text), &errors);
    if (!root)
        abort();
    return root;
}

/* "where: what" of each fault kept, one a line, and the list made empty for the next. */
static inline const char *
check_json_faults(struct arena *arena, struct error_list *errors)
{
    struct text text = text_new(arena);
    text_append(&text, "", 0);
    for (int i = 0; i < error_list_kept(errors); i++)
        text_format(&text, "%s%s: %s", i ? "\n" : "", errors->items[i].where,
                    errors->items[i].what);
    *errors = (struct error_list){0};
    return text.bytes;
}

#endif
