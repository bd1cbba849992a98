/* Names of files that other files name. */
#include "sim/base/path.h"

#include <stdbool.h>
#include <string.h>

/* Length of the folder's parent without its last slash; the same length where the folder has no
 * name to leave off ("..", "."). */
static size_t
parent_length(const char *folder, size_t length)
{
    size_t last = length;
    while (last > 0 && folder[last - 1] != '/')
        last--;
    bool is_name = length - last > 2 || folder[last] != '.';
    if (!is_name)
        return length;
    return last > 0 ? last - 1 : 0;
}

const char *
path_beside(const char *file, const char *path, struct arena *arena)
{
    const char *slash = strrchr(file, '/');
    if (path[0] == '/')
        return path;
    size_t folder = slash ? (size_t)(slash - file) : 0;
    while (strncmp(path, "../", 3) == 0 && folder > 0) {
        size_t parent = parent_length(file, folder);
        if (parent == folder)
            break;
        path += 3;
        folder = parent;
    }
    bool is_here = folder == 0 && file[0] != '/';
    if (is_here)
        return strcmp(path, "-") == 0 ? "./-" : path;
    return arena_format(arena, "%.*s/%s", (int)folder, file, path);
}
