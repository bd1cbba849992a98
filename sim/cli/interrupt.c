/* Signals that wait until they are asked for. */
#include "sim/cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

static sigset_t
both(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    return signals;
}

void
interrupt_hold(void)
{
    sigset_t signals = both();
    sigprocmask(SIG_BLOCK, &signals, NULL);
}

bool
interrupt_is_waiting(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

void
interrupt_release(void)
{
    sigset_t signals = both();
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
}
