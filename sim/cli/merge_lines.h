/* Shards of a sweep or a search as CSV or JSON lines, put together to what one program would have
 * written. */
#ifndef SIM_CLI_MERGE_LINES_H
#define SIM_CLI_MERGE_LINES_H

#include "sim/base/text.h"

struct merge_output {
    bool (*write)(void *context, const struct text *text, struct error_list *errors);
    void *context;
};

/* Rows of a sweep in order of their points, the best or the front of a search by their steps. All
 * shards must be there, each once. False after adding why not. */
bool merge_lines(const char *const *paths, size_t count, const struct merge_output *output,
                 struct arena *arena, struct error_list *errors);

#endif
