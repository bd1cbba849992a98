/* Names of files that other files name. */
#ifndef SIM_BASE_PATH_H
#define SIM_BASE_PATH_H

#include "sim/base/arena.h"

/* `path` as seen from the file that names it: "../models/a.json" in "configs/runs/r.json" is
 * "configs/models/a.json". A path from the root stays as it is; "-" is a file of that name
 * ("./-"), not standard input. */
const char *path_beside(const char *file, const char *path, struct arena *arena);

#endif
