/* A collective as the flows that it consists of.
 *
 * Members are index = node * g + gpu. Each has a set of flows that it waits for before it
 * sends again: those that it received last. A phase (all pairs of a node, a ring, doubling on
 * a rail) reads these sets and leaves new ones; phases one after the other, in pieces, are
 * pipelines. */
#include "hw/collective_flows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "hw/collective_rings.h"

/* What a member waits for. */
struct awaited {
    uint32_t *flows;
    size_t count, capacity;
};

struct flow_writer {
    const struct cluster *cluster;
    const struct collective *collective;
    struct text *csv;
    int64_t ranks, nodes, gpus;
    uint32_t next;
    struct awaited *before; /* by member: before it sends in this phase */
    struct awaited *after;  /* by member: what it received in it */
};

static void
await(struct flow_writer *writer, struct awaited *awaited, uint32_t flow)
{
    awaited->flows = arena_grow(writer->csv->arena, awaited->flows, awaited->count,
                                &awaited->capacity, sizeof *awaited->flows);
    awaited->flows[awaited->count++] = flow;
}

static uint32_t
write_flow(struct flow_writer *writer, int64_t from, int64_t to, double bytes,
           const struct awaited *dependencies)
{
    text_format(writer->csv, "%" PRIu32 ",0,%" PRId64 ",%" PRId64 ",%.17g,", writer->next,
                collective_rank(writer->cluster, writer->collective, from),
                collective_rank(writer->cluster, writer->collective, to), bytes);
    for (size_t i = 0; i < dependencies->count; i++)
        text_format(writer->csv, "%s%" PRIu32, i == 0 ? "" : ";", dependencies->flows[i]);
    text_append(writer->csv, "\n", 1);
    return writer->next++;
}

/* Straight to the receiver, after all that the sender waits for. */
static void
send(struct flow_writer *writer, int64_t from, int64_t to, double bytes)
{
    await(writer, &writer->after[to],
          write_flow(writer, from, to, bytes, &writer->before[from]));
}

static void
swap_awaited(struct flow_writer *writer)
{
    struct awaited *spent = writer->before;
    writer->before = writer->after;
    writer->after = spent;
    for (int64_t i = 0; i < writer->ranks; i++)
        writer->after[i].count = 0;
}

/* Every member to every other of its node. */
static void
write_node_pairs(struct flow_writer *writer, double bytes)
{
    for (int64_t from = 0; from < writer->ranks; from++)
        for (int64_t gpu = 0; gpu < writer->gpus; gpu++) {
            int64_t to = from / writer->gpus * writer->gpus + gpu;
            if (to != from)
                send(writer, from, to, bytes);
        }
    swap_awaited(writer);
}

static void
write_all_pairs(struct flow_writer *writer, double bytes)
{
    for (int64_t from = 0; from < writer->ranks; from++)
        for (int64_t to = 0; to < writer->ranks; to++)
            if (to != from)
                send(writer, from, to, bytes);
    swap_awaited(writer);
}

static void
write_matrix(struct flow_writer *writer, const double *matrix)
{
    for (int64_t from = 0; from < writer->ranks; from++)
        for (int64_t to = 0; to < writer->ranks; to++)
            if (to != from && matrix[from * writer->ranks + to] > 0)
                send(writer, from, to, matrix[from * writer->ranks + to]);
    swap_awaited(writer);
}

/* `steps` times around the members of the order: each passes on what it got in the step
 * before, when its last is sent. The sets of other members are left alone. */
static void
write_ring(struct flow_writer *writer, const int64_t *order, int64_t count, double bytes,
           int64_t steps)
{
    uint32_t *last = arena_alloc(writer->csv->arena, (size_t)count, sizeof *last);
    uint32_t *sends = arena_alloc(writer->csv->arena, (size_t)count, sizeof *sends);
    for (int64_t step = 0; step < steps; step++) {
        for (int64_t i = 0; i < count; i++) {
            uint32_t waits[2] = {last[(i + count - 1) % count], last[i]};
            struct awaited both = {.flows = waits, .count = 2};
            sends[i] = write_flow(writer, order[i], order[(i + 1) % count], bytes,
                                  step == 0 ? &writer->before[order[i]] : &both);
        }
        memcpy(last, sends, (size_t)count * sizeof *last);
    }
    for (int64_t i = 0; i < count; i++)
        await(writer, &writer->after[order[(i + 1) % count]], last[i]);
}

/* A ring on each rail. */
static void
write_rail_rings(struct flow_writer *writer, double bytes, int64_t steps)
{
    int64_t *order = arena_alloc(writer->csv->arena, (size_t)writer->nodes, sizeof *order);
    for (int64_t gpu = 0; gpu < writer->gpus; gpu++) {
        for (int64_t node = 0; node < writer->nodes; node++)
            order[node] = node * writer->gpus + gpu;
        write_ring(writer, order, writer->nodes, bytes, steps);
    }
    swap_awaited(writer);
}

/* 1, 2, 4 .. parts to the node that far away: exchanged in pairs, or, where n is no power of two,
 * sent back around, in the last step only those parts that are still missing (Bruck). */
static void
write_rail_doubling(struct flow_writer *writer, double bytes)
{
    int64_t n = writer->nodes;
    bool is_power = (n & (n - 1)) == 0;
    for (int64_t far = 1; far < n; far *= 2) {
        double parts = (double)(far < n - far ? far : n - far);
        for (int64_t from = 0; from < writer->ranks; from++) {
            int64_t node = from / writer->gpus;
            int64_t to = is_power ? node ^ far : (node + n - far) % n;
            send(writer, from, to * writer->gpus + from % writer->gpus, bytes * parts);
        }
        swap_awaited(writer);
    }
}

/* g - 1 of them or twice as many; one where all GPUs have a single port. */
static struct collective_rings
node_rings(const struct flow_writer *writer)
{
    struct arena *arena = writer->csv->arena;
    if (writer->cluster->fabric.node_topology == NODE_MESH)
        return collective_rings_in_node(writer->gpus, arena);
    struct collective_rings ring = {.count = 1, .length = writer->gpus};
    ring.members = arena_alloc(arena, (size_t)ring.length, sizeof *ring.members);
    for (int64_t i = 0; i < ring.length; i++)
        ring.members[i] = i;
    return ring;
}

/* Each ring has its part of the bytes, of which every member passes on as much in a step. */
static void
write_rings(struct flow_writer *writer, const struct collective_rings *rings, double bytes,
            int64_t laps)
{
    double part = bytes / (double)(rings->count * rings->length);
    for (int64_t ring = 0; ring < rings->count; ring++)
        write_ring(writer, rings->members + ring * rings->length, rings->length, part,
                   laps * (rings->length - 1));
    swap_awaited(writer);
}

/* From member to member of the order, a piece behind the other. */
static void
write_chain(struct flow_writer *writer, const int64_t *order, int64_t count, double bytes)
{
    uint32_t *last = arena_alloc(writer->csv->arena, (size_t)count, sizeof *last);
    for (int piece = 0; piece < COLLECTIVE_FLOW_PIECES; piece++)
        for (int64_t to = 1; to < count; to++) {
            uint32_t waits[2];
            struct awaited both = {.flows = waits};
            if (to > 1)
                waits[both.count++] = last[to - 1]; /* the same piece, a member before */
            if (piece > 0)
                waits[both.count++] = last[to]; /* the piece before */
            last[to] = write_flow(writer, order[to - 1], order[to],
                                  bytes / COLLECTIVE_FLOW_PIECES, &both);
        }
}

/* The first member's bytes, a part along each ring. */
static void
write_ring_chains(struct flow_writer *writer, const struct collective_rings *rings,
                  double bytes)
{
    int64_t length = rings->length;
    int64_t *order = arena_alloc(writer->csv->arena, (size_t)length, sizeof *order);
    for (int64_t ring = 0; ring < rings->count; ring++) {
        const int64_t *members = rings->members + ring * length;
        int64_t root = 0;
        while (members[root] != 0)
            root++;
        for (int64_t i = 0; i < length; i++)
            order[i] = members[(root + i) % length];
        write_chain(writer, order, length, bytes / (double)rings->count);
    }
}

/* The first member's bytes from node to node. */
static void
write_rail_chain(struct flow_writer *writer, double bytes)
{
    int64_t *order = arena_alloc(writer->csv->arena, (size_t)writer->ranks, sizeof *order);
    for (int64_t i = 0; i < writer->ranks; i++)
        order[i] = i;
    write_chain(writer, order, writer->ranks, bytes);
}

/* The first member sends a part to each other, which sends it on to all others, piece by piece. */
static void
write_scatter_gather(struct flow_writer *writer, double bytes)
{
    int64_t g = writer->gpus;
    double part = bytes / (double)(g - 1) / COLLECTIVE_FLOW_PIECES;
    uint32_t *last = arena_alloc(writer->csv->arena, (size_t)(g * g), sizeof *last);
    for (int piece = 0; piece < COLLECTIVE_FLOW_PIECES; piece++)
        for (int64_t by = 1; by < g; by++)
            for (int64_t i = 1; i < g; i++) { /* its own first, from the first member */
                int64_t from = i == 1 ? 0 : by, to = i == 1 ? by : (by + i - 2) % (g - 1) + 1;
                uint32_t waits[2];
                struct awaited both = {.flows = waits};
                if (i > 1)
                    waits[both.count++] = last[by];
                if (piece > 0)
                    waits[both.count++] = last[from * g + to];
                last[from * g + to] = write_flow(writer, from, to, part, &both);
            }
}

enum level_phase { PHASE_SCATTER, PHASE_RAIL, PHASE_GATHER, LEVEL_PHASES };

/* Every member waits for what it waited for there as well. */
static void
await_all(struct flow_writer *writer, struct awaited *awaited, const struct awaited *more)
{
    for (int64_t i = 0; i < writer->ranks; i++)
        for (size_t flow = 0; flow < more[i].count; flow++)
            await(writer, &awaited[i], more[i].flows[flow]);
}

static struct awaited *
nothing_awaited(struct flow_writer *writer)
{
    return arena_alloc(writer->csv->arena, (size_t)writer->ranks, sizeof(struct awaited));
}

static bool
has_phase(enum collective_kind kind, enum level_phase phase)
{
    return phase == PHASE_RAIL || kind == COLLECTIVE_ALL_REDUCE ||
           (phase == PHASE_GATHER) == (kind == COLLECTIVE_ALL_GATHER);
}

/* Of one piece; `part` of it is each member's. */
static void
write_level_phase(struct flow_writer *writer, enum level_phase phase, double part, bool doubles)
{
    bool is_twice = writer->collective->kind == COLLECTIVE_ALL_REDUCE;
    if (phase != PHASE_RAIL)
        write_node_pairs(writer, part * (double)writer->nodes);
    else if (doubles)
        write_rail_doubling(writer, part);
    else
        write_rail_rings(writer, part, (is_twice ? 2 : 1) * (writer->nodes - 1));
}

/* Scatter in the nodes, a ring or doubling on each rail, gather in the nodes, in pieces: a
 * phase of a piece waits for its phase before and for the same phase of the piece before. */
static void
write_levels(struct flow_writer *writer, bool doubles)
{
    enum collective_kind kind = writer->collective->kind;
    double part = writer->collective->bytes / (double)writer->ranks / COLLECTIVE_FLOW_PIECES;
    struct awaited *ends[LEVEL_PHASES];
    for (int phase = 0; phase < LEVEL_PHASES; phase++)
        ends[phase] = nothing_awaited(writer);
    for (int piece = 0; piece < COLLECTIVE_FLOW_PIECES; piece++) {
        writer->before = nothing_awaited(writer);
        for (int phase = 0; phase < LEVEL_PHASES; phase++) {
            if (!has_phase(kind, (enum level_phase)phase))
                continue;
            await_all(writer, writer->before, ends[phase]);
            write_level_phase(writer, (enum level_phase)phase, part, doubles);
            ends[phase] = nothing_awaited(writer);
            await_all(writer, ends[phase], writer->before);
        }
    }
}

static bool
has_flows(const struct flow_writer *writer, const char *algorithm, struct error_list *errors)
{
    return writer->next > 0 ||
           error_add(errors, ERROR_INFEASIBLE, "", "no flows of \"%s\"", algorithm);
}

static bool
write_in_node(struct flow_writer *writer, const char *algorithm, struct error_list *errors)
{
    const struct collective *collective = writer->collective;
    int64_t laps = collective->kind == COLLECTIVE_ALL_REDUCE ? 2 : 1;
    double bytes = collective->bytes;
    if (strcmp(algorithm, "rings") == 0) {
        struct collective_rings rings = node_rings(writer);
        if (collective->kind == COLLECTIVE_BROADCAST)
            write_ring_chains(writer, &rings, bytes);
        else
            write_rings(writer, &rings, bytes, laps);
    }
    if (strcmp(algorithm, "scatter + gather") == 0)
        write_scatter_gather(writer, bytes);
    if (strcmp(algorithm, "one-shot") == 0)
        write_node_pairs(writer, bytes);
    for (int64_t lap = 0; lap < laps && strcmp(algorithm, "direct") == 0; lap++)
        write_node_pairs(writer, bytes / (double)writer->ranks);
    return has_flows(writer, algorithm, errors);
}

static bool
write_flat_rings(struct flow_writer *writer, struct error_list *errors)
{
    const struct collective *collective = writer->collective;
    struct collective_rings rings;
    if (!collective_rings_through_nodes(writer->nodes, writer->gpus, &rings,
                                        writer->csv->arena))
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "no rings at hand through %lld nodes of %lld GPUs that keep to rails",
                         (long long)writer->nodes, (long long)writer->gpus);
    if (collective->kind == COLLECTIVE_BROADCAST)
        write_ring_chains(writer, &rings, collective->bytes);
    else
        write_rings(writer, &rings, collective->bytes,
                    collective->kind == COLLECTIVE_ALL_REDUCE ? 2 : 1);
    return true;
}

/* Whole groups, on rails or through nodes. */
static bool
write_across(struct flow_writer *writer, const char *algorithm, struct error_list *errors)
{
    const struct collective *collective = writer->collective;
    int64_t laps = collective->kind == COLLECTIVE_ALL_REDUCE ? 2 : 1;
    double part = collective->bytes / (double)writer->ranks;
    bool doubles = strstr(algorithm, "doubling") != NULL;
    bool is_level = strncmp(algorithm, "two levels", strlen("two levels")) == 0;
    int64_t n = writer->nodes;
    if (strcmp(algorithm, "flat rings") == 0)
        return write_flat_rings(writer, errors);
    if (strcmp(algorithm, "rail ring") == 0)
        write_rail_rings(writer, part, laps * (n - 1));
    else if (strcmp(algorithm, "rail doubling") == 0)
        write_rail_doubling(writer, part);
    else if (strcmp(algorithm, "rail chain") == 0)
        write_rail_chain(writer, collective->bytes);
    else if (is_level && (doubles || strstr(algorithm, "rail ring")))
        write_levels(writer, doubles);
    else if (collective->kind == COLLECTIVE_ALL_TO_ALL)
        write_all_pairs(writer, part);
    return has_flows(writer, algorithm, errors);
}

bool
collective_flows_write(const struct cluster *cluster, const struct collective *collective,
                       const char *algorithm, struct text *csv, struct error_list *errors)
{
    struct rank_placement placement;
    if (!collective_place(cluster, collective, &placement, errors))
        return false;
    if (!placement.keeps_rails)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "ranks %lld and %lld are different GPUs of their nodes, wanted the "
                         "same ones of each node",
                         (long long)placement.stray_from, (long long)placement.stray_to);
    struct flow_writer writer = {.cluster = cluster,
                                 .collective = collective,
                                 .csv = csv,
                                 .ranks = placement.ranks,
                                 .nodes = placement.nodes,
                                 .gpus = placement.gpus};
    writer.before = nothing_awaited(&writer);
    writer.after = nothing_awaited(&writer);
    text_format(csv, "id,start_s,src,dst,bytes,deps\n");
    if (collective->kind == COLLECTIVE_ALL_TO_ALL_V)
        write_matrix(&writer, collective->bytes_matrix);
    else if (collective->kind == COLLECTIVE_SEND_RECV)
        send(&writer, 0, 1, collective->bytes);
    else if (placement.nodes == 1)
        return write_in_node(&writer, algorithm, errors);
    else
        return write_across(&writer, algorithm, errors);
    return true;
}
