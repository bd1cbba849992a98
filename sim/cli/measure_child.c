/* A child process between two files: the list to its standard input, times from its output. Files,
 * not pipes, so that neither waits for the other. */
#include "sim/cli/measure_child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, OUTPUT_BYTES_MAX = 64 * 1024 * 1024, NOT_STARTED = 127 };

/* "/somewhere/build/measure", beside /somewhere/build/stepcast. */
static const char *
path_beside(struct arena *arena)
{
    char self[PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return "measure";
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    return slash ? arena_format(arena, "%.*s/measure", (int)(slash - self), self) : "measure";
}

static bool
redirect(int descriptor, const char *path, int flags)
{
    int opened = open(path, flags, 0644);
    return opened >= 0 && dup2(opened, descriptor) >= 0;
}

struct files {
    const char *list, *answers, *log;
};

/* In the child: never returns. */
static void
become(char *const *words, const struct files *files)
{
    const int fresh = O_WRONLY | O_CREAT | O_TRUNC;
    if (redirect(STDIN_FILENO, files->list, O_RDONLY) &&
        redirect(STDOUT_FILENO, files->answers, fresh) &&
        redirect(STDERR_FILENO, files->log, fresh))
        (void)execv(words[0], words);
    _exit(NOT_STARTED);
}

/* 1: some lines were not measured, which the caller sees by their absence. */
static bool
check_status(int status, const char *program, struct error_list *errors)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) <= 1)
        return true;
    if (WIFSIGNALED(status))
        return error_add(errors, ERROR_IO, program, "stopped by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == NOT_STARTED)
        return error_add(errors, ERROR_IO, program, "does not start; `make` builds it");
    return error_add(errors, ERROR_IO, program, "ended with code %d", WEXITSTATUS(status));
}

static bool
run_words(char *const *words, const struct files *files, struct error_list *errors)
{
    int status = 0;
    pid_t child = fork();
    if (child < 0)
        return error_add(errors, ERROR_IO, words[0], "%s", strerror(errno));
    if (child == 0)
        become(words, files);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return error_add(errors, ERROR_IO, words[0], "%s", strerror(errno));
    return check_status(status, words[0], errors);
}

bool
measure_child_run(const struct measure_child *child, const struct text *list,
                  struct text *measured, struct error_list *errors)
{
    struct arena *arena = measured->arena;
    const char *program = *child->program ? child->program : path_beside(arena);
    struct files files = {.list = arena_format(arena, "%s.list", child->log_path),
                          .answers = arena_format(arena, "%s.answers", child->log_path),
                          .log = child->log_path};
    char *const words[] = {arena_format(arena, "%s", program),
                           arena_format(arena, "--seconds"),
                           arena_format(arena, "%g", child->seconds),
                           arena_format(arena, "--cache-bytes"),
                           arena_format(arena, "%.0f", child->cold_bytes),
                           arena_format(arena, "-"),
                           NULL};
    bool is_right = text_write_file(list, files.list, errors) &&
                    run_words(words, &files, errors) &&
                    text_read_file(measured, files.answers, OUTPUT_BYTES_MAX, errors);
    (void)unlink(files.list);
    (void)unlink(files.answers);
    if (is_right)
        (void)unlink(files.log);
    return is_right;
}
