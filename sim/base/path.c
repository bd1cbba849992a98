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

static const char *
without_here(const char *path)
{
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return path;
}

/* Past the folders that both begin with. */
static size_t
common_folders(const char *a, const char *b)
{
    size_t common = 0;
    for (size_t i = 0; a[i] != '\0' && a[i] == b[i]; i++)
        if (a[i] == '/')
            common = i + 1;
    return common;
}

const char *
path_from(const char *file, const char *path, struct arena *arena)
{
    const char *up = "";
    if ((file[0] == '/') != (path[0] == '/'))
        return NULL;
    file = without_here(file);
    path = without_here(path);
    size_t common = common_folders(file, path);
    file += common;
    for (const char *slash = strchr(file, '/'); slash; slash = strchr(file, '/')) {
        if (strncmp(file, "../", 3) == 0)
            return NULL;
        up = arena_format(arena, "../%s", up);
        file = slash + 1;
    }
    return arena_format(arena, "%s%s", up, path + common);
}
