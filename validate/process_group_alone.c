/* The world of a single process: every collective is a copy, or nothing. */
#include "validate/process_group.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

struct process_group *
process_world_open(struct arena *arena)
{
    struct process_group *world = arena_alloc(arena, 1, sizeof *world);
    world->size = 1;
    return world;
}

void
process_world_close(void)
{
}

const char *
process_library(struct arena *arena)
{
    (void)arena;
    return "one process";
}

struct process_group *
process_group_split(const struct process_group *group, int color, struct arena *arena)
{
    return color < 0 ? NULL : arena_copy(arena, group, sizeof *group);
}

void
process_barrier(const struct process_group *group)
{
    (void)group;
}

static void
move(void *out, const void *in, size_t bytes)
{
    if (out != in && bytes > 0)
        memcpy(out, in, bytes);
}

void
process_all_reduce(const struct process_group *group, const float *in, float *out, size_t count)
{
    (void)group;
    move(out, in, count * sizeof *in);
}

void
process_reduce_scatter(const struct process_group *group, const float *in, float *out,
                       size_t count)
{
    (void)group;
    move(out, in, count * sizeof *in);
}

double
process_total(const struct process_group *group, double value)
{
    (void)group;
    return value;
}

double
process_largest(const struct process_group *group, double value)
{
    (void)group;
    return value;
}

void
process_broadcast(const struct process_group *group, void *buffer, size_t bytes, int root)
{
    (void)group;
    (void)buffer;
    (void)bytes;
    (void)root;
    assert(root == 0 && "a root outside of the group");
}

void
process_all_gather(const struct process_group *group, const void *in, void *out, size_t bytes)
{
    (void)group;
    move(out, in, bytes);
}

void
process_all_to_all(const struct process_group *group, const void *in, void *out, size_t bytes)
{
    (void)group;
    move(out, in, bytes);
}

void
process_all_to_all_v(const struct process_group *group, const void *in, const int64_t *in_bytes,
                     void *out, const int64_t *out_bytes)
{
    (void)group;
    (void)out_bytes;
    assert(in_bytes[0] == out_bytes[0] && "what leaves is what arrives");
    move(out, in, (size_t)in_bytes[0]);
}

void
process_send(const struct process_group *group, int to, const void *in, size_t bytes)
{
    (void)group;
    (void)to;
    (void)in;
    (void)bytes;
    assert(false && "a process alone has nobody to send to");
}

void
process_receive(const struct process_group *group, int from, void *out, size_t bytes)
{
    (void)group;
    (void)from;
    (void)out;
    (void)bytes;
    assert(false && "a process alone has nobody to hear from");
}

void
process_exchange(const struct process_group *group, struct process_message to, const void *in,
                 struct process_message from, void *out)
{
    (void)group;
    assert(to.rank < 1 && from.rank < 1 && to.rank == from.rank && "a process alone");
    if (from.rank == 0)
        move(out, in, to.bytes);
}
