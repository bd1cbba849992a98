/* Text that grows at its end: outputs are built here by the library, written by the program. */
#ifndef SIM_BASE_TEXT_H
#define SIM_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"

struct text {
    char *bytes; /* always ended by a 0 that is not counted; NULL while empty */
    size_t length;
    size_t capacity;
    struct arena *arena;
};

struct text text_new(struct arena *arena);
void text_append(struct text *text, const char *bytes, size_t length);
void text_format(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads a whole file of at most limit_bytes, a pipe too; false with ERROR_IO (cannot be read, a
 * folder) or ERROR_INPUT (larger than the limit). "-" is standard input. */
bool text_read_file(struct text *text, const char *path, size_t limit_bytes,
                    struct error_list *errors);

/* Writes beside the path and renames, so that a reader sees the old file or the whole new one;
 * through a symbolic link to what is behind it; into devices and pipes straight. False with
 * ERROR_IO, leaving nothing behind. */
bool text_write_file(const struct text *text, const char *path, struct error_list *errors);

/* The same piece by piece, for what is too long to be held: the file takes its name when it is
 * whole. The path must last as long. */
struct text_file;
/* NULL after adding ERROR_IO. */
struct text_file *text_file_open(const char *path, struct arena *arena,
                                 struct error_list *errors);
/* Each false after adding ERROR_IO: then nothing is left behind, and no more calls follow. */
bool text_file_append(struct text_file *file, const char *bytes, size_t length,
                      struct error_list *errors);
bool text_file_finish(struct text_file *file, struct error_list *errors);
/* What was written so far stays as PATH.part, whose name comes back; NULL as those are false. */
const char *text_file_leave(struct text_file *file, struct error_list *errors);
/* Leaves nothing behind. */
void text_file_drop(struct text_file *file);

#endif
