/* The program stepcast-mpi: sweeps and searches in all processes that mpirun starts. */
#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include <mpi.h>

#include "sim/cli/dispatch.h"
#include "sim/cli/interrupt.h"

extern const struct command command_sweep, command_search;

/* What process 0 says is enough. */
static void
be_silent(void)
{
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        _exit(EXIT_IO);
}

/* Where a process was lost, MPI_Finalize would wait for it (sim/cli/ranks.h). */
static bool
is_whole(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    return strcmp(name, "not whole") != 0;
}

int
main(int count, char **words)
{
    static const struct command *const commands[] = {&command_sweep, &command_search};
    int provided = 0, rank = 0;
    interrupt_hold(); /* MPI's own threads, too, leave signals to process 0 */
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0) {
        be_silent();
        interrupt_release();
    }
    struct command_table table = {commands, sizeof commands / sizeof *commands};
    struct arguments arguments = {(const char *const *)words, (size_t)count};
    struct arena *arena = command_arena();
    int code = dispatch(table, arguments, arena);
    arena_free(arena);
    (void)fflush(NULL);
    if (!is_whole())
        _exit(code);
    MPI_Finalize();
    return code;
}
