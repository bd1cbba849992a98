/* Exchanges of a training step between GPUs: calls of NCCL or RCCL on the stream of the kernels. */
#include "validate/training_gpu_work.h"

/* One call, or a group of calls, of this rank. */
struct call {
    struct training_gpu *machine;
    const struct gpu_api *api;
    void *communicator, *stream;
};

/* False: nobody is there any more. */
static bool
enter(struct training_gpu *machine, const struct process_group *group, struct call *call)
{
    *call = (struct call){machine, &machine->gpu->libraries.api, group->communicator,
                          machine->gpu->stream};
    return training_gpu_is_well(machine) &&
           training_gpu_meeting_enter(machine->meeting, machine->rank);
}

static void
leave(const struct call *call, int status)
{
    struct training_gpu *machine = call->machine;
    training_gpu_meeting_leave(machine->meeting, machine->rank);
    if (status != 0 && training_gpu_meeting_failed(machine->meeting) < 0)
        error_add(&machine->errors, ERROR_INFEASIBLE, "", "%s: %s",
                  gpu_library_name(machine->gpu->libraries.vendor, GPU_COLLECTIVES),
                  call->api->collectives_error_text(status));
    (void)training_gpu_is_well(machine); /* who fails tells the others at once */
}

static void
all_reduce(void *machine, const struct process_group *group, float *reals, int64_t count)
{
    struct call call;
    if (enter(machine, group, &call))
        leave(&call, call.api->all_reduce(reals, reals, (size_t)count, GPU_COLLECTIVE_FP32,
                                          GPU_COLLECTIVE_SUM, call.communicator, call.stream));
}

static void
all_gather(void *machine, const struct process_group *group, const float *in, float *out,
           int64_t count)
{
    struct call call;
    if (enter(machine, group, &call))
        leave(&call, call.api->all_gather(in, out, (size_t)count, GPU_COLLECTIVE_FP32,
                                          call.communicator, call.stream));
}

static void
reduce_scatter(void *machine, const struct process_group *group, const float *in, float *out,
               int64_t count)
{
    struct call call;
    if (enter(machine, group, &call))
        leave(&call,
              call.api->reduce_scatter(in, out, (size_t)count, GPU_COLLECTIVE_FP32,
                                       GPU_COLLECTIVE_SUM, call.communicator, call.stream));
}

/* ---- Messages; of none there is no call on either side */

static int
send(const struct call *call, struct process_message to, const void *in)
{
    if (to.rank < 0 || to.bytes == 0)
        return 0;
    return call->api->send(in, to.bytes, GPU_COLLECTIVE_INT8, to.rank, call->communicator,
                           call->stream);
}

static int
receive(const struct call *call, struct process_message from, void *out)
{
    if (from.rank < 0 || from.bytes == 0)
        return 0;
    return call->api->receive(out, from.bytes, GPU_COLLECTIVE_INT8, from.rank,
                              call->communicator, call->stream);
}

static void
exchange(void *machine, const struct process_group *group, struct process_message to,
         const void *in, struct process_message from, void *out)
{
    struct call call;
    if (!enter(machine, group, &call))
        return;
    int status = call.api->group_start();
    if (status == 0)
        status = send(&call, to, in);
    if (status == 0)
        status = receive(&call, from, out);
    int ended = call.api->group_end();
    leave(&call, status != 0 ? status : ended);
}

static void
all_to_all_v(void *machine, const struct process_group *group, const void *in,
             const int64_t *in_bytes, void *out, const int64_t *out_bytes)
{
    struct call call;
    const char *from = in;
    char *to = out;
    if (!enter(machine, group, &call))
        return;
    int status = call.api->group_start();
    for (int rank = 0; status == 0 && rank < group->size; rank++) {
        status = send(&call, (struct process_message){rank, (size_t)in_bytes[rank]}, from);
        if (status == 0)
            status =
                receive(&call, (struct process_message){rank, (size_t)out_bytes[rank]}, to);
        from += in_bytes[rank];
        to += out_bytes[rank];
    }
    int ended = call.api->group_end();
    leave(&call, status != 0 ? status : ended);
}

/* By way of the device, like all else. */
static void
exchange_counts(void *context, const struct process_group *group, const int64_t *in,
                int64_t *out, int64_t count)
{
    struct training_gpu *machine = context;
    size_t each = (size_t)count * sizeof *in, all = each * (size_t)group->size;
    int64_t bytes[TRAINING_GPUS_MAX];
    void *sent = training_gpu_room(machine, TRAINING_GPU_SENT, all);
    void *received = training_gpu_room(machine, TRAINING_GPU_RECEIVED, all);
    for (int rank = 0; rank < group->size; rank++)
        bytes[rank] = (int64_t)each;
    machine->device.copy_in(machine, sent, in, all);
    all_to_all_v(machine, group, sent, bytes, received, bytes);
    machine->device.copy_out(machine, out, received, all);
}

void
training_gpu_add_exchanges(struct training_device *device)
{
    device->all_reduce = all_reduce;
    device->all_gather = all_gather;
    device->reduce_scatter = reduce_scatter;
    device->all_to_all_v = all_to_all_v;
    device->exchange = exchange;
    device->exchange_counts = exchange_counts;
}
