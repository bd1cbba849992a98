/* A child process between two files: the list to its standard input, times from its output. Files,
 * not pipes, so that neither waits for the other. Several processes read the list themselves, to
 * go on behind a line in which one was lost. */
#include "sim/cli/measure_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/cli/progress.h"

enum { PATH_BYTES = 4096, OUTPUT_BYTES_MAX = 64 * 1024 * 1024 };
enum { WORDS_MAX = 16 };
enum { NOT_ALL = 1, INFEASIBLE = 4, NOT_STARTED = 127 }; /* codes that a child ends with */

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

/* The last line of the child's talk, without the program's name; "" when it said nothing. */
static const char *
last_words(const char *log_path, struct arena *arena)
{
    static const char name[] = "measure: ";
    struct text log = text_new(arena);
    struct error_list ignored = {0};
    if (!text_read_file(&log, log_path, OUTPUT_BYTES_MAX, &ignored) || log.length < 2)
        return "";
    const char *end = log.bytes + log.length - 1, *start = end - 1;
    while (start > log.bytes && start[-1] != '\n')
        start--;
    if (strncmp(start, name, sizeof name - 1) != 0)
        return "";
    start += sizeof name - 1;
    return arena_format(arena, "%.*s", (int)(end - start), start);
}

/* NOT_ALL: some lines were not measured, which the caller sees by their absence. */
static bool
check_status(int status, const char *program, const char *words, struct error_list *errors)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) <= NOT_ALL)
        return true;
    if (WIFSIGNALED(status))
        return error_add(errors, ERROR_IO, program, "stopped by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == NOT_STARTED)
        return error_add(errors, ERROR_IO, program, "does not start; `make` builds it");
    enum error_kind kind = WEXITSTATUS(status) == INFEASIBLE ? ERROR_INFEASIBLE : ERROR_IO;
    if (*words)
        return error_add(errors, kind, "", "%s", words);
    return error_add(errors, kind, program, "ended with code %d", WEXITSTATUS(status));
}

static size_t
lines_of(const char *path)
{
    size_t lines = 0;
    FILE *file = fopen(path, "r");
    for (int byte; file && (byte = getc(file)) != EOF;)
        lines += byte == '\n';
    if (file)
        (void)fclose(file);
    return lines;
}

/* Until the child ends; answers are counted on the way where somebody looks. */
static bool
wait_for(pid_t child, const char *answers, struct progress *progress, int *status)
{
    const double pause_s = 0.25;
    for (;;) {
        pid_t ended = waitpid(child, status, progress->is_wanted ? WNOHANG : 0);
        if (ended == child || (ended < 0 && errno != EINTR))
            break;
        if (ended == 0) {
            progress_show(progress, lines_of(answers), 0);
            (void)poll(NULL, 0, (int)(pause_s * 1000));
        }
    }
    progress_hide(progress);
    return WIFEXITED(*status) || WIFSIGNALED(*status);
}

static bool
run_words(char *const *words, const struct files *files, struct progress *progress,
          struct arena *arena, struct error_list *errors)
{
    int status = -1; /* neither of an exit nor of a signal */
    pid_t child = fork();
    if (child < 0)
        return error_add(errors, ERROR_IO, words[0], "%s", strerror(errno));
    if (child == 0)
        become(words, files);
    if (!wait_for(child, files->answers, progress, &status))
        return error_add(errors, ERROR_IO, words[0], "%s", strerror(errno));
    return check_status(status, words[0], last_words(files->log, arena), errors);
}

/* An option and its value, where there is one. */
static void
add_option(char **words, const char *option, const char *value, struct arena *arena)
{
    int count = 0;
    while (words[count] != NULL)
        count++;
    if (*value == '\0')
        return;
    words[count] = arena_format(arena, "%s", option);
    words[count + 1] = arena_format(arena, "%s", value);
}

/* What is missing has been talked about in the log, which then stays. */
static void
keep_log(const struct measure_child *child, const struct files *files)
{
    size_t wanted = lines_of(files->list), found = lines_of(files->answers);
    if (found >= wanted)
        (void)unlink(files->log);
    else
        fprintf(stderr, "stepcast %s: %zu of %zu lines were not measured, %s says why\n",
                child->command, wanted - found, wanted, files->log);
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
    char *words[WORDS_MAX] = {arena_format(arena, "%s", program)};
    const char *cold =
        child->cold_bytes > 0 ? arena_format(arena, "%.0f", child->cold_bytes) : "";
    const char *rounds = child->rounds > 0 ? arena_format(arena, "%d", child->rounds) : "";
    add_option(words, "--seconds", arena_format(arena, "%g", child->seconds), arena);
    add_option(words, "--cache-bytes", cold, arena);
    add_option(words, "--rounds", rounds, arena);
    add_option(words, "--backend", child->backend, arena);
    add_option(words, "--library-path", child->library_path, arena);
    add_option(words, "--ranks",
               child->ranks > 0 ? arena_format(arena, "%d", child->ranks) : "", arena);
    add_option(words, "--list", child->ranks > 0 ? files.list : "-", arena);
    bool is_right = text_write_file(list, files.list, errors);
    struct progress progress =
        progress_begin(child->command, "lines", is_right ? lines_of(files.list) : 0,
                       child->rounds == 0); /* of rounds all answers come at the end */
    is_right = is_right && run_words(words, &files, &progress, arena, errors) &&
               text_read_file(measured, files.answers, OUTPUT_BYTES_MAX, errors);
    if (is_right)
        keep_log(child, &files);
    (void)unlink(files.list);
    (void)unlink(files.answers);
    return is_right;
}
