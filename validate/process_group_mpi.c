/* Groups of processes over MPI; only programs that mpirun may start are linked with it. */
#include "validate/process_group.h"

#include <assert.h>
#include <string.h>

#include <mpi.h>

/* MPI's own handler stays: a fault ends the job, so nothing here looks at what calls return. */

struct communicator {
    MPI_Comm handle;
    /* [size] each: what process_all_to_all_v tells MPI of the lengths and begins of parts */
    int *in_lengths, *in_begins, *out_lengths, *out_begins;
};

static MPI_Comm
communicator_of(const struct process_group *group)
{
    const struct communicator *communicator = group->communicator;
    return communicator->handle;
}

static struct process_group *
group_of(MPI_Comm handle, struct arena *arena)
{
    struct process_group *group = arena_alloc(arena, 1, sizeof *group);
    MPI_Comm_rank(handle, &group->rank);
    MPI_Comm_size(handle, &group->size);
    struct communicator *communicator = arena_alloc(arena, 1, sizeof *communicator);
    size_t size = (size_t)group->size;
    *communicator = (struct communicator){
        .handle = handle,
        .in_lengths = arena_alloc(arena, size, sizeof(int)),
        .in_begins = arena_alloc(arena, size, sizeof(int)),
        .out_lengths = arena_alloc(arena, size, sizeof(int)),
        .out_begins = arena_alloc(arena, size, sizeof(int)),
    };
    group->communicator = communicator;
    return group;
}

struct process_group *
process_world_open(struct arena *arena)
{
    int provided; /* only the thread that opened the world calls MPI */
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    return group_of(MPI_COMM_WORLD, arena);
}

void
process_world_close(void)
{
    MPI_Finalize();
}

/* "Open MPI v4.1.4, package: Debian OpenMPI, ...": up to the first comma. */
const char *
process_library(struct arena *arena)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    return arena_format(arena, "%.*s", (int)strcspn(version, ",\n"), version);
}

struct process_group *
process_group_split(const struct process_group *group, int color, struct arena *arena)
{
    MPI_Comm part;
    MPI_Comm_split(communicator_of(group), color < 0 ? MPI_UNDEFINED : color, group->rank,
                   &part);
    return part == MPI_COMM_NULL ? NULL : group_of(part, arena);
}

void
process_barrier(const struct process_group *group)
{
    MPI_Barrier(communicator_of(group));
}

static int
block(size_t count)
{
    assert(count <= PROCESS_BLOCK_MAX && "a block larger than MPI can count");
    return (int)count;
}

void
process_all_reduce(const struct process_group *group, const float *in, float *out, size_t count)
{
    MPI_Allreduce(in == out ? MPI_IN_PLACE : in, out, block(count), MPI_FLOAT, MPI_SUM,
                  communicator_of(group));
}

void
process_reduce_scatter(const struct process_group *group, const float *in, float *out,
                       size_t count)
{
    MPI_Reduce_scatter_block(in, out, block(count), MPI_FLOAT, MPI_SUM, communicator_of(group));
}

static double
reduced(const struct process_group *group, double value, MPI_Op operation)
{
    double result;
    MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, operation, communicator_of(group));
    return result;
}

double
process_total(const struct process_group *group, double value)
{
    return reduced(group, value, MPI_SUM);
}

double
process_largest(const struct process_group *group, double value)
{
    return reduced(group, value, MPI_MAX);
}

void
process_broadcast(const struct process_group *group, void *buffer, size_t bytes, int root)
{
    MPI_Bcast(buffer, block(bytes), MPI_BYTE, root, communicator_of(group));
}

void
process_all_gather(const struct process_group *group, const void *in, void *out, size_t bytes)
{
    MPI_Allgather(in, block(bytes), MPI_BYTE, out, block(bytes), MPI_BYTE,
                  communicator_of(group));
}

void
process_all_to_all(const struct process_group *group, const void *in, void *out, size_t bytes)
{
    MPI_Alltoall(in, block(bytes), MPI_BYTE, out, block(bytes), MPI_BYTE,
                 communicator_of(group));
}

/* Lengths and where each part begins, as MPI wants them: lengths[size], begins[size]. */
static void
lay_out(const int64_t *bytes, int size, int *lengths, int *begins)
{
    int64_t end = 0;
    for (int i = 0; i < size; i++) {
        begins[i] = block((size_t)end);
        lengths[i] = block((size_t)bytes[i]);
        end += bytes[i];
    }
}

void
process_all_to_all_v(const struct process_group *group, const void *in, const int64_t *in_bytes,
                     void *out, const int64_t *out_bytes)
{
    const struct communicator *here = group->communicator;
    lay_out(in_bytes, group->size, here->in_lengths, here->in_begins);
    lay_out(out_bytes, group->size, here->out_lengths, here->out_begins);
    MPI_Alltoallv(in, here->in_lengths, here->in_begins, MPI_BYTE, out, here->out_lengths,
                  here->out_begins, MPI_BYTE, here->handle);
}

void
process_send(const struct process_group *group, int to, const void *in, size_t bytes)
{
    MPI_Send(in, block(bytes), MPI_BYTE, to, 0, communicator_of(group));
}

void
process_receive(const struct process_group *group, int from, void *out, size_t bytes)
{
    MPI_Recv(out, block(bytes), MPI_BYTE, from, 0, communicator_of(group), MPI_STATUS_IGNORE);
}

void
process_exchange(const struct process_group *group, struct process_message to, const void *in,
                 struct process_message from, void *out)
{
    MPI_Sendrecv(in, block(to.bytes), MPI_BYTE, to.rank < 0 ? MPI_PROC_NULL : to.rank, 0, out,
                 block(from.bytes), MPI_BYTE, from.rank < 0 ? MPI_PROC_NULL : from.rank, 0,
                 communicator_of(group), MPI_STATUS_IGNORE);
}
