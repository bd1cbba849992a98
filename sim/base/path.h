/* Names of files that other files name. */
#ifndef SIM_BASE_PATH_H
#define SIM_BASE_PATH_H

#include "sim/base/arena.h"

/* `path` as seen from the file that names it: "../models/a.json" in "configs/runs/r.json" is
 * "configs/models/a.json". A path from the root stays as it is; "-" is a file of that name
 * ("./-"), not standard input. */
const char *path_beside(const char *file, const char *path, struct arena *arena);

/* The other way: `path`, as seen from here, in the words of a file that will lie at `file`, so that
 * path_beside finds it again: "configs/a.json" from "build/b.json" is "../configs/a.json". NULL
 * where the two names alone do not say: one is from the root and the other is not, or `file`
 * leads out of a folder whose name is not known. Neither is "-". */
const char *path_from(const char *file, const char *path, struct arena *arena);

#endif
