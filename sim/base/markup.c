/* Characters that mean something become entities. */
#include "sim/base/markup.h"

#include <string.h>

void
markup_write(struct text *out, const char *words)
{
    static const char special[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (const char *at = words; *at; at++) {
        const char *found = strchr(special, *at);
        if (found)
            text_append(out, entities[found - special], strlen(entities[found - special]));
        else
            text_append(out, (unsigned char)*at < ' ' || *at == 0x7F ? " " : at, 1);
    }
}
