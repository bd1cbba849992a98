/* For benches only: the processor's time, which other programs on a machine disturb least. */
#ifndef SIM_BASE_CHECK_CLOCK_H
#define SIM_BASE_CHECK_CLOCK_H

#include <time.h>

/* Seconds of processor time that this process has used. */
static inline double
check_cpu_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
