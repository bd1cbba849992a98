/* Starts the processes that measure a list together, and starts them again behind a line in which
 * one of them was lost. */
#ifndef VALIDATE_MEASURE_LAUNCH_H
#define VALIDATE_MEASURE_LAUNCH_H

/* A process that meets the end of its time in a line exits so. */
enum { MEASURE_TIMED_OUT = 124 };

/* What a process that was started so notes in the file of --journal, before each line and at the
 * end: "LINE STATUS", its line (0: none yet, -1: all done) and the gravest status so far. */
struct measure_launch {
    int ranks;
    double timeout_s; /* the processes' own limit for a line */
    const char *list; /* its path, for messages; "-" is not read twice */
    char **words;     /* the options and the list, as they were given but for --ranks */
    int word_count;
    int not_all_status; /* when lines were left out */
    int fault_status;   /* when nothing could be started */
};

/* Runs `measure-mpi` that lies beside this program under mpirun. Returns the status to exit
 * with, the gravest of all. */
int measure_launch(const struct measure_launch *launch);

#endif
