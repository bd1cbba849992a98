/* All lanes with exchanges walked together in the order of time: a heap of one place a lane. */
#include "sim/cli/perfetto_network.h"

#include <math.h>
#include <string.h>

#include "sim/base/units.h"

/* A lane at the next moment when its use of the network changes. */
struct lane_walk {
    int64_t at_ps;
    const uint32_t *tasks;
    size_t count, next;
    uint32_t slot;
    bool is_running; /* the moment is the end of tasks[next] */
};

struct network {
    const struct step *step;
    struct perfetto_packets *packets;
    uint64_t first_uuid;
    int64_t rails;
    double *shares; /* (slots, rails): the part of a rail's GPUs that a slot stands for */
    double *in_use; /* of each rail, then of the links; 0 to 1 */
    int64_t *running;
    double *written; /* what was written last */
    struct lane_walk *heap;
    size_t heap_count;
};

/* Links count for all rails together. */
static double
share_of(const struct network *network, uint32_t slot, int64_t rail)
{
    double sum = 0;
    if (rail < network->rails)
        return network->shares[slot * network->rails + rail];
    for (int64_t i = 0; i < network->rails; i++)
        sum += network->shares[slot * network->rails + i] / (double)network->rails;
    return sum;
}

static void
count_shares(struct network *network, int64_t ranks)
{
    double of_rail = (double)network->rails / (double)ranks;
    for (int64_t rank = 0; rank < ranks; rank++) {
        uint32_t slot = lowered_slot(&network->step->lowered, rank);
        network->shares[slot * network->rails + rank % network->rails] += of_rail;
    }
}

/* Of the NIC and of the links while the work is drained, on the average. */
static void
find_use(const struct network *network, uint32_t task, double *nic, double *links)
{
    const struct step_work *work = step_work_of(network->step, task);
    const struct trace_entry *entry = &network->step->trace->entries[task];
    double drained_s =
        units_s_from_ps(entry->end_ps - entry->start_ps - units_ps_from_s(work->delay_s));
    double rate = drained_s > 0 ? fmin(1, work->work_s / drained_s) : 0;
    *nic = rate * work->nic_fraction;
    *links = rate * work->link_fraction;
}

static void
change_rail(struct network *network, const struct lane_walk *walk, int64_t rail, double use)
{
    double share = share_of(network, walk->slot, rail);
    if (share <= 0 || use <= 0)
        return;
    network->running[rail] += walk->is_running ? -1 : 1;
    network->in_use[rail] += walk->is_running ? -use * share : use * share;
    if (network->running[rail] == 0)
        network->in_use[rail] = 0; /* no rounding is left behind */
}

static void
sift_down(struct network *network)
{
    struct lane_walk *heap = network->heap;
    for (size_t i = 0;;) {
        size_t least = i, left = 2 * i + 1;
        for (size_t child = left; child < left + 2 && child < network->heap_count; child++)
            if (heap[child].at_ps < heap[least].at_ps)
                least = child;
        if (least == i)
            return;
        struct lane_walk moved = heap[i];
        heap[i] = heap[least];
        heap[least] = moved;
        i = least;
    }
}

/* The moment when a task begins to use the network: behind its delay. */
static int64_t
begin_ps(const struct network *network, uint32_t task)
{
    const struct trace_entry *entry = &network->step->trace->entries[task];
    int64_t begin =
        entry->start_ps + units_ps_from_s(step_work_of(network->step, task)->delay_s);
    return begin < entry->end_ps ? begin : entry->end_ps;
}

/* The first lane's change is counted, and the lane moves to its next one. */
static void
step_lane(struct network *network)
{
    struct lane_walk *walk = &network->heap[0];
    uint32_t task = walk->tasks[walk->next];
    double nic = 0, links = 0;
    find_use(network, task, &nic, &links);
    for (int64_t rail = 0; rail < network->rails; rail++)
        change_rail(network, walk, rail, nic);
    change_rail(network, walk, network->rails, links);
    if (!walk->is_running) {
        walk->is_running = true;
        walk->at_ps = network->step->trace->entries[task].end_ps;
    } else {
        walk->is_running = false;
        if (++walk->next < walk->count)
            walk->at_ps = begin_ps(network, walk->tasks[walk->next]);
        else
            *walk = network->heap[--network->heap_count];
    }
    sift_down(network);
}

static void
write_changes(struct network *network, int64_t at_ps)
{
    const double percent = 100;
    for (int64_t rail = 0; rail <= network->rails; rail++) {
        double now = fmax(0, percent * network->in_use[rail]);
        if (fabs(now - network->written[rail]) < 1e-9)
            continue;
        perfetto_put_counter(network->packets, network->first_uuid + 1 + (uint64_t)rail, at_ps,
                             now);
        network->written[rail] = now;
    }
}

static void
begin_lanes(struct network *network)
{
    const struct step *step = network->step;
    for (uint32_t slot = 0; slot < step->lowered.simulated_ranks; slot++)
        for (uint32_t lane = LANE_DATA; lane < STEP_LANE_COUNT; lane++) {
            struct lane_walk walk = {.slot = slot};
            walk.tasks =
                trace_lane_tasks(step->trace, slot * STEP_LANE_COUNT + lane, &walk.count);
            if (walk.count == 0)
                continue;
            walk.at_ps = begin_ps(network, walk.tasks[0]);
            size_t place = network->heap_count++;
            while (place > 0 && network->heap[(place - 1) / 2].at_ps > walk.at_ps) {
                network->heap[place] = network->heap[(place - 1) / 2];
                place = (place - 1) / 2;
            }
            network->heap[place] = walk;
        }
}

static void
put_tracks(struct network *network, struct arena *arena)
{
    const int32_t network_pid = 1000000000; /* behind every rank's */
    struct perfetto_track track = {.uuid = network->first_uuid,
                                   .kind = PERFETTO_PROCESS,
                                   .name = "network",
                                   .pid = network_pid};
    perfetto_put_track(network->packets, &track);
    track.parent_uuid = network->first_uuid;
    track.kind = PERFETTO_PERCENT;
    for (int64_t rail = 0; rail <= network->rails; rail++) {
        track.uuid = network->first_uuid + 1 + (uint64_t)rail;
        track.place = (int32_t)rail;
        track.name = rail < network->rails
                         ? arena_format(arena, "rail %lld, NICs in use", (long long)rail)
                         : "links within nodes in use";
        perfetto_put_track(network->packets, &track);
        perfetto_put_counter(network->packets, track.uuid, 0, 0);
    }
}

void
perfetto_network_write(const struct step *step, struct perfetto_packets *packets,
                       uint64_t first_uuid, struct arena *arena)
{
    const struct cluster *cluster = step->run->inputs.cluster;
    size_t slots = (size_t)step->lowered.simulated_ranks;
    size_t rails = (size_t)cluster->gpus_per_node;
    struct network network = {.step = step,
                              .packets = packets,
                              .first_uuid = first_uuid,
                              .rails = cluster->gpus_per_node};
    network.shares = arena_alloc(arena, slots * rails, sizeof *network.shares);
    network.in_use = arena_alloc(arena, rails + 1, sizeof *network.in_use);
    network.running = arena_alloc(arena, rails + 1, sizeof *network.running);
    network.written = arena_alloc(arena, rails + 1, sizeof *network.written);
    network.heap = arena_alloc(arena, slots * STEP_LANE_COUNT, sizeof *network.heap);
    count_shares(&network, step->lowered.program->ranks);
    begin_lanes(&network);
    if (network.heap_count > 0)
        put_tracks(&network, arena);
    while (network.heap_count > 0) {
        int64_t at_ps = network.heap[0].at_ps;
        while (network.heap_count > 0 && network.heap[0].at_ps == at_ps)
            step_lane(&network);
        write_changes(&network, at_ps);
    }
}
