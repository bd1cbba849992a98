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

/* Exchanges of 1, 2, 4 .. parts with the node that far away; n a power of two. */
static void
write_rail_doubling(struct flow_writer *writer, double bytes)
{
    for (int64_t far = 1; far < writer->nodes; far *= 2) {
        for (int64_t from = 0; from < writer->ranks; from++) {
            int64_t node = from / writer->gpus ^ far;
            send(writer, from, node * writer->gpus + from % writer->gpus, bytes * (double)far);
        }
        swap_awaited(writer);
    }
}

enum { RINGS_IN_NODE_MAX = 7, NODE_GPUS_MAX = 8 };

/* Cycles through all GPUs of a node that together pass each directed link once. Eight: found
 * by search; of four and six there are none (Bermond and Faber, Discrete Mathematics 13
 * (1975)). */
static const int64_t RINGS_OF_8[RINGS_IN_NODE_MAX][NODE_GPUS_MAX] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {0, 2, 1, 3, 5, 4, 7, 6}, {0, 3, 1, 4, 6, 2, 7, 5},
    {0, 4, 1, 5, 7, 2, 6, 3}, {0, 5, 3, 6, 1, 7, 4, 2}, {0, 6, 5, 2, 4, 3, 7, 1},
    {0, 7, 3, 2, 5, 1, 6, 4}};
static const int64_t RINGS_OF_3[2][3] = {{0, 1, 2}, {0, 2, 1}};
static const int64_t RINGS_OF_2[1][2] = {{0, 1}};

/* g - 1 rings, each with its part of the bytes; one where all GPUs have a single port. */
static bool
write_node_rings(struct flow_writer *writer, double bytes, int64_t laps,
                 struct error_list *errors)
{
    bool is_mesh = writer->cluster->fabric.node_topology == NODE_MESH;
    int64_t g = writer->gpus, rings = is_mesh ? g - 1 : 1;
    int64_t *natural = arena_alloc(writer->csv->arena, (size_t)g, sizeof *natural);
    for (int64_t i = 0; i < g; i++)
        natural[i] = i;
    const int64_t *orders = !is_mesh ? natural
                            : g == 8 ? *RINGS_OF_8
                            : g == 3 ? *RINGS_OF_3
                            : g == 2 ? *RINGS_OF_2
                                     : NULL;
    if (!orders)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "no rings at hand that pass each link between %lld GPUs once",
                         (long long)g);
    for (int64_t ring = 0; ring < rings; ring++)
        write_ring(writer, orders + ring * g, g, bytes / (double)(g * rings), laps * (g - 1));
    swap_awaited(writer);
    return true;
}

/* Step i of the path that zigzags through a node from GPU `start`: start, start + 1, start -
 * 1, .. The g / 2 of them and their reverses pass each directed link once, for even g
 * (Walecki). */
static int64_t
zigzag(int64_t start, int64_t i, int64_t g)
{
    int64_t offset = (i + 1) / 2;
    return (start + (i % 2 ? offset : g - offset)) % g;
}

/* g rings through all members, forward in even nodes and back in odd ones, so that each enters
 * a node by the rail that it left the last one by (as rome_model_81 of RCCL). */
static bool
write_flat_rings(struct flow_writer *writer, double bytes, int64_t laps,
                 struct error_list *errors)
{
    int64_t g = writer->gpus, p = writer->ranks;
    if (g % 2 != 0 || writer->nodes % 2 != 0)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "no rings at hand through %lld nodes of %lld GPUs, wanted both even",
                         (long long)writer->nodes, (long long)g);
    int64_t *order = arena_alloc(writer->csv->arena, (size_t)p, sizeof *order);
    for (int64_t ring = 0; ring < g; ring++) {
        for (int64_t i = 0; i < p; i++) {
            bool is_back = (i / g + (ring >= g / 2)) % 2 != 0;
            int64_t step = is_back ? g - 1 - i % g : i % g;
            order[i] = i / g * g + zigzag(ring % (g / 2), step, g);
        }
        write_ring(writer, order, p, bytes / (double)(p * g), laps * (p - 1));
    }
    swap_awaited(writer);
    return true;
}

/* The first member's bytes from node to node, a piece behind the other. */
static void
write_chain(struct flow_writer *writer, double bytes)
{
    uint32_t *last = arena_alloc(writer->csv->arena, (size_t)writer->ranks, sizeof *last);
    for (int piece = 0; piece < COLLECTIVE_FLOW_PIECES; piece++)
        for (int64_t to = 1; to < writer->ranks; to++) {
            uint32_t waits[2];
            struct awaited both = {.flows = waits};
            if (to > 1)
                waits[both.count++] = last[to - 1]; /* the same piece, a node before */
            if (piece > 0)
                waits[both.count++] = last[to]; /* the piece before */
            last[to] = write_flow(writer, to - 1, to, bytes / COLLECTIVE_FLOW_PIECES, &both);
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
write_in_node(struct flow_writer *writer, const char *algorithm, struct error_list *errors)
{
    const struct collective *collective = writer->collective;
    int64_t laps = collective->kind == COLLECTIVE_ALL_REDUCE ? 2 : 1;
    double bytes = collective->bytes;
    if (strcmp(algorithm, "rings") == 0)
        return write_node_rings(writer, bytes, laps, errors);
    if (strcmp(algorithm, "one-shot") == 0)
        write_node_pairs(writer, bytes);
    for (int64_t lap = 0; lap < laps && strcmp(algorithm, "direct") == 0; lap++)
        write_node_pairs(writer, bytes / (double)writer->ranks);
    return writer->next > 0 ||
           error_add(errors, ERROR_INFEASIBLE, "", "no flows of \"%s\"", algorithm);
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
    if (doubles && (n & (n - 1)) != 0)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "doubling on %lld nodes, wanted a power of two", (long long)n);
    if (strcmp(algorithm, "flat rings") == 0 && collective->kind != COLLECTIVE_BROADCAST)
        return write_flat_rings(writer, collective->bytes, laps, errors);
    if (strcmp(algorithm, "rail ring") == 0)
        write_rail_rings(writer, part, laps * (n - 1));
    else if (strcmp(algorithm, "rail doubling") == 0)
        write_rail_doubling(writer, part);
    else if (strcmp(algorithm, "rail chain") == 0)
        write_chain(writer, collective->bytes);
    else if (is_level && (doubles || strstr(algorithm, "rail ring")))
        write_levels(writer, doubles);
    else if (collective->kind == COLLECTIVE_ALL_TO_ALL)
        write_all_pairs(writer, part);
    return writer->next > 0 ||
           error_add(errors, ERROR_INFEASIBLE, "", "no flows of \"%s\"", algorithm);
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
