/* A child mpirun whose talk is filtered: its own banners about a lost process are many lines, and
 * say less than the line of the list that was lost. */
#include "validate/measure_launch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PATH_BYTES = 4096,
    LINE_BYTES = 1024,
    GRACE_S = 15,
    OWN_WORDS = 16,
    NOT_STARTED = 127,
    SIGNALLED = 128
};

/* The handler's: whom to stop, and that somebody wished it. */
static volatile sig_atomic_t child_at_work, is_interrupted;

static void
stop_child(int signal_number)
{
    is_interrupted = signal_number;
    if (child_at_work > 0)
        (void)kill(child_at_work, SIGTERM);
}

static void
catch_signals(void)
{
    struct sigaction action = {.sa_handler = stop_child};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

struct journal {
    char path[PATH_BYTES];
    int line, status;
};

static bool
journal_new(struct journal *journal)
{
    const char *folder = getenv("TMPDIR");
    (void)snprintf(journal->path, sizeof journal->path, "%s/measure-XXXXXX",
                   folder ? folder : "/tmp");
    int file = mkstemp(journal->path);
    if (file < 0) {
        fprintf(stderr, "measure: %s: %s\n", journal->path, strerror(errno));
        return false;
    }
    (void)close(file);
    return true;
}

static void
journal_read(struct journal *journal)
{
    FILE *file = fopen(journal->path, "r");
    char text[64] = "";
    journal->line = journal->status = 0;
    if (file == NULL)
        return;
    if (fgets(text, sizeof text, file)) {
        char *end;
        journal->line = (int)strtol(text, &end, 10);
        journal->status = (int)strtol(end, NULL, 10);
    }
    (void)fclose(file);
}

/* ---- The child */

/* "/somewhere/build/measure-mpi", beside this program. */
static bool
find_program(char *path)
{
    static const char name[] = "measure-mpi";
    ssize_t length = readlink("/proc/self/exe", path, PATH_BYTES - sizeof name);
    char *slash;
    if (length <= 0)
        return false;
    path[length] = '\0';
    slash = strrchr(path, '/');
    memcpy(slash ? slash + 1 : path, name, sizeof name);
    return access(path, X_OK) == 0;
}

/* In the child, which ends with its parent. */
static void
become(const struct measure_launch *launch, const char *program, const char *journal,
       int from_line)
{
    char ranks[16], line[16], **words;
    int count = 0;
    (void)snprintf(ranks, sizeof ranks, "%d", launch->ranks);
    (void)snprintf(line, sizeof line, "%d", from_line);
    words = calloc(OWN_WORDS + (size_t)launch->word_count, sizeof *words);
    if (words == NULL)
        _exit(NOT_STARTED);
    /* Who waits gives its core away: a core of a busy machine, or one shared by two of them. */
    const char *own[] = {"mpirun",      "--oversubscribe",
                         "--bind-to",   "none",
                         "--mca",       "mpi_yield_when_idle",
                         "1",           "-n",
                         ranks,         program,
                         "--journal",   journal,
                         "--from-line", line};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        words[count++] = strdup(own[i]);
    for (int i = 0; i < launch->word_count; i++)
        words[count++] = launch->words[i];
    if (geteuid() == 0) { /* of a container, mostly; mpirun wants to be told twice */
        (void)setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        (void)setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)execvp(words[0], words);
    fprintf(stderr, "measure: mpirun: %s; Debian has it in openmpi-bin\n", strerror(errno));
    _exit(NOT_STARTED);
}

/* Lines of the processes pass; mpirun's banners lie between two rules, a crash report's lines
 * begin with its host in brackets. */
struct talk {
    char line[LINE_BYTES];
    size_t length;
    bool is_banner;
};

static void
pass_line(struct talk *talk)
{
    const char *line = talk->line;
    talk->line[talk->length] = '\0';
    bool is_rule = strncmp(line, "----------", 10) == 0;
    if (is_rule)
        talk->is_banner = !talk->is_banner;
    else if (!talk->is_banner && *line != '[' && *line != '\n' &&
             strncmp(line, "mpirun", 6) != 0)
        fputs(line, stderr);
    talk->length = 0;
}

static void
pass_bytes(struct talk *talk, const char *bytes, ssize_t count)
{
    for (ssize_t i = 0; i < count; i++) {
        talk->line[talk->length++] = bytes[i];
        if (bytes[i] == '\n' || talk->length + 1 == sizeof talk->line)
            pass_line(talk);
    }
}

/* Until the child has closed it, or has been silent for longer than a line may take: mpirun has
 * been seen to stay when its processes were gone. */
static void
pass_talk(int from, double silence_s)
{
    struct talk talk = {.length = 0};
    struct pollfd awaited = {.fd = from, .events = POLLIN};
    char bytes[LINE_BYTES];
    for (;;) {
        int ready = poll(&awaited, 1, (int)(silence_s * 1000));
        ssize_t count = ready > 0 ? read(from, bytes, sizeof bytes) : ready;
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        pass_bytes(&talk, bytes, count);
    }
}

/* Asks first: mpirun then ends its processes. */
static int
end_child(pid_t child)
{
    enum { TURNS = 50, TURN_NANOSECONDS = 100000000 };
    const struct timespec turn = {.tv_nsec = TURN_NANOSECONDS};
    int status = -1;
    for (int i = 0; i < TURNS; i++) {
        if (waitpid(child, &status, WNOHANG) != 0)
            return status;
        if (i == TURNS / 2)
            (void)kill(child, SIGTERM);
        (void)nanosleep(&turn, NULL);
    }
    (void)kill(child, SIGKILL);
    (void)waitpid(child, &status, 0);
    return status;
}

/* The child's wait status; -1 when there is none. */
static int
run_once(const struct measure_launch *launch, const char *program, const char *journal,
         int from_line)
{
    int ends[2], status = -1;
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        become(launch, program, journal, from_line);
    }
    (void)close(ends[1]);
    child_at_work = child;
    pass_talk(ends[0], launch->timeout_s + GRACE_S);
    (void)close(ends[0]);
    if (child > 0)
        status = end_child(child);
    child_at_work = 0;
    return status;
}

/* ---- Again and again */

static const char *
reason_of(int status, char *text, size_t bytes)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
    if (code == MEASURE_TIMED_OUT)
        return "it did not end in time";
    if (code > SIGNALLED)
        (void)snprintf(text, bytes, "a process was lost in it (signal %d)", code - SIGNALLED);
    else
        (void)snprintf(text, bytes, "a process was lost in it (exit code %d)", code);
    return text;
}

static int
supervise(const struct measure_launch *launch, struct journal *journal, const char *program)
{
    int gravest = 0, from_line = 0;
    for (;;) {
        char text[64];
        int status = run_once(launch, program, journal->path, from_line);
        journal_read(journal);
        if (journal->status > gravest)
            gravest = journal->status;
        if (journal->line < 0 || is_interrupted) {
            if (is_interrupted)
                fprintf(stderr,
                        "measure: interrupted; --resume goes on from what it printed\n");
            return is_interrupted ? SIGNALLED + is_interrupted : gravest;
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED)
            return launch->fault_status; /* which the child has said */
        if (journal->line <= from_line) {
            fprintf(stderr, "measure: no processes: mpirun ended before the first line\n");
            return launch->fault_status;
        }
        from_line = journal->line;
        fprintf(stderr, "measure: %s:%d: left out: %s\n", launch->list, from_line,
                reason_of(status, text, sizeof text));
        if (gravest < launch->not_all_status)
            gravest = launch->not_all_status;
        if (strcmp(launch->list, "-") == 0)
            return gravest;
    }
}

int
measure_launch(const struct measure_launch *launch)
{
    char program[PATH_BYTES];
    struct journal journal = {.line = 0};
    if (!find_program(program)) {
        fprintf(stderr, "measure: --ranks wants measure-mpi beside it: `make` builds it where "
                        "libopenmpi-dev is installed\n");
        return launch->fault_status;
    }
    if (!journal_new(&journal))
        return launch->fault_status;
    catch_signals();
    int status = supervise(launch, &journal, program);
    (void)unlink(journal.path);
    return status;
}
