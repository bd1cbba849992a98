/* A program that was started alone. */
#include "sim/cli/ranks.h"

#include <assert.h>
#include <stddef.h>

int
ranks_started(void)
{
    return 1;
}

struct ranks *
ranks_open(struct arena *arena)
{
    (void)arena;
    return NULL;
}

int
ranks_count(const struct ranks *ranks)
{
    (void)ranks;
    return 1;
}

int
ranks_own(const struct ranks *ranks)
{
    (void)ranks;
    return 0;
}

void
ranks_send(struct ranks *ranks, int to, const struct text *message)
{
    (void)ranks;
    (void)to;
    (void)message;
    assert(false && "there is nobody to send to");
}

bool
ranks_receive(struct ranks *ranks, int *from, struct text *message)
{
    (void)ranks;
    (void)message;
    *from = 0;
    return false;
}

void
ranks_close(struct ranks *ranks, bool is_whole)
{
    (void)ranks;
    (void)is_whole;
}
