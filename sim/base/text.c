/* Text that grows at its end, and whole files in and out. */
#include "sim/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct text
text_new(struct arena *arena)
{
    return (struct text){.arena = arena};
}

/* Room for `more` bytes and the 0 behind them. */
static void
reserve(struct text *text, size_t more)
{
    text->bytes = arena_grow(text->arena, text->bytes, text->length + more, &text->capacity, 1);
}

void
text_append(struct text *text, const char *bytes, size_t length)
{
    reserve(text, length);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

/* First into the room that there is: most texts fit, and are formatted once. */
void
text_format(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    size_t room = text->capacity - text->length;
    char *end = text->bytes != NULL ? text->bytes + text->length : NULL;
    int length = vsnprintf(end, end != NULL ? room : 0, format, arguments);
    va_end(arguments);
    if (end == NULL || (size_t)length >= room) {
        reserve(text, (size_t)length);
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    }
    va_end(again);
    text->length += (size_t)length;
}

static bool
read_all(struct text *text, int file, const char *path, size_t limit_bytes,
         struct error_list *errors)
{
    char chunk[16384];
    for (;;) {
        ssize_t got = read(file, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_add(errors, ERROR_IO, path, "cannot be read: %s", strerror(errno));
        if (got == 0)
            return true;
        if (text->length + (size_t)got > limit_bytes)
            return error_add(errors, ERROR_INPUT, path, "is larger than the %zu bytes allowed",
                             limit_bytes);
        text_append(text, chunk, (size_t)got);
    }
}

bool
text_read_file(struct text *text, const char *path, size_t limit_bytes,
               struct error_list *errors)
{
    if (strcmp(path, "-") == 0)
        return read_all(text, STDIN_FILENO, "standard input", limit_bytes, errors);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return error_add(errors, ERROR_IO, path, "cannot be opened: %s", strerror(errno));
    struct stat status;
    bool is_read = false;
    if (fstat(file, &status) == 0 && S_ISDIR(status.st_mode))
        error_add(errors, ERROR_IO, path, "is a folder, a file is wanted");
    else
        is_read = read_all(text, file, path, limit_bytes, errors);
    close(file);
    return is_read;
}

static bool
write_all(int file, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t put = write(file, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

/* Devices and pipes cannot be renamed over, and what a shell has behind /dev/stdout must not be:
 * they are written straight. */
static bool
is_written_in_place(const char *path)
{
    struct stat status;
    bool is_device_name = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
    return is_device_name || (stat(path, &status) == 0 && !S_ISREG(status.st_mode));
}

/* The file behind a symbolic link, so that the link stays; the path itself where it is none. */
static const char *
behind_links(struct arena *arena, const char *path)
{
    char *real = arena_alloc(arena, PATH_MAX, 1);
    return realpath(path, real) ? real : path;
}

/* A rename asks only for the folder's permission; the file's own is respected too. */
static bool
is_protected(const char *path)
{
    return access(path, F_OK) == 0 && access(path, W_OK) != 0;
}

struct text_file {
    const char *path;   /* as the caller says it */
    const char *target; /* what is replaced in the end */
    const char *beside; /* what is written until then; NULL: the target itself, in place */
    struct arena *arena;
    int file;
};

static bool
fail_writing(const struct text_file *file, struct error_list *errors)
{
    return error_add(errors, ERROR_IO, file->path, "cannot be written: %s", strerror(errno));
}

static int
open_beside(struct text_file *file)
{
    errno = EACCES;
    if (is_protected(file->path))
        return -1;
    file->target = behind_links(file->arena, file->path);
    file->beside = arena_format(file->arena, "%s.%ld.part", file->target, (long)getpid());
    return open(file->beside, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
}

struct text_file *
text_file_open(const char *path, struct arena *arena, struct error_list *errors)
{
    struct text_file *file = arena_alloc(arena, 1, sizeof *file);
    *file = (struct text_file){.path = path, .target = path, .arena = arena};
    file->file = is_written_in_place(path) ? open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
                                           : open_beside(file);
    if (file->file >= 0)
        return file;
    fail_writing(file, errors);
    return NULL;
}

void
text_file_drop(struct text_file *file)
{
    int fault = errno;
    if (file->file >= 0)
        close(file->file);
    if (file->beside)
        unlink(file->beside);
    file->file = -1;
    errno = fault;
}

bool
text_file_append(struct text_file *file, const char *bytes, size_t length,
                 struct error_list *errors)
{
    if (write_all(file->file, bytes, length))
        return true;
    text_file_drop(file);
    return fail_writing(file, errors);
}

static bool
close_as(struct text_file *file, const char *name, struct error_list *errors)
{
    int descriptor = file->file;
    file->file = -1;
    if (close(descriptor) == 0 && (!file->beside || rename(file->beside, name) == 0))
        return true;
    text_file_drop(file);
    return fail_writing(file, errors);
}

bool
text_file_finish(struct text_file *file, struct error_list *errors)
{
    return close_as(file, file->target, errors);
}

const char *
text_file_leave(struct text_file *file, struct error_list *errors)
{
    const char *name =
        file->beside ? arena_format(file->arena, "%s.part", file->target) : file->path;
    return close_as(file, name, errors) ? name : NULL;
}

bool
text_write_file(const struct text *text, const char *path, struct error_list *errors)
{
    struct text_file *file = text_file_open(path, text->arena, errors);
    return file && text_file_append(file, text->bytes, text->length, errors) &&
           text_file_finish(file, errors);
}
