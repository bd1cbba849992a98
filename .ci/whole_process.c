/* Processor time and peak memory of a whole program: whole_process REPEATS NAME COMMAND
 * [ARGUMENT]...
 *
 * A small parent of its own, since a child's peak counts its parent's size at the fork. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPEATS_MAX = 1001 };

struct cost {
    double processor_s; /* the user's and the system's: the same beside other programs */
    double peak_bytes;
};

static double
seconds_of(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/* In the child: its output is nobody's. */
static void
become(char **command)
{
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    execv(command[0], command);
    perror(command[0]);
    _exit(127);
}

static struct cost
run_once(char **command)
{
    pid_t child = fork();
    if (child == 0)
        become(command);
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        fprintf(stderr, "whole_process: %s did not end well\n", command[0]);
        exit(1);
    }
    return (struct cost){seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
                         1024.0 * (double)usage.ru_maxrss};
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double
median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

int
main(int argc, char **argv)
{
    int repeats = argc > 3 ? (int)strtol(argv[1], NULL, 10) : 0;
    if (repeats < 1 || repeats > REPEATS_MAX) {
        fprintf(stderr, "usage: whole_process REPEATS NAME COMMAND [ARGUMENT]...\n");
        return 2;
    }
    double processor_s[REPEATS_MAX], peak_bytes[REPEATS_MAX];
    for (int i = 0; i < repeats; i++) {
        struct cost cost = run_once(argv + 3);
        processor_s[i] = cost.processor_s;
        peak_bytes[i] = cost.peak_bytes;
    }
    printf("%s_s %.6f\n", argv[2], median(processor_s, repeats));
    printf("%s_peak_bytes %.0f\n", argv[2], median(peak_bytes, repeats));
    return 0;
}
