/* The phases that collectives are made of, as flows. */
#include "hw/collective_phases.h"

#include <inttypes.h>
#include <string.h>

struct flow_writer
flow_writer_new(const struct cluster *cluster, const struct collective *collective,
                const struct rank_placement *placement, struct text *csv)
{
    struct flow_writer writer = {.cluster = cluster,
                                 .collective = collective,
                                 .csv = csv,
                                 .ranks = placement->ranks,
                                 .nodes = placement->nodes,
                                 .gpus = placement->gpus,
                                 .pieces = 1};
    writer.before = flow_writer_nothing(&writer);
    writer.after = flow_writer_nothing(&writer);
    return writer;
}

struct awaited *
flow_writer_nothing(struct flow_writer *writer)
{
    return arena_alloc(writer->csv->arena, (size_t)writer->ranks, sizeof(struct awaited));
}

static void
await(struct flow_writer *writer, struct awaited *awaited, uint32_t flow)
{
    awaited->flows = arena_grow(writer->csv->arena, awaited->flows, awaited->count,
                                &awaited->capacity, sizeof *awaited->flows);
    awaited->flows[awaited->count++] = flow;
}

void
flow_writer_await_all(struct flow_writer *writer, struct awaited *awaited,
                      const struct awaited *more)
{
    for (int64_t i = 0; i < writer->ranks; i++)
        for (size_t flow = 0; flow < more[i].count; flow++)
            await(writer, &awaited[i], more[i].flows[flow]);
}

static bool
awaits(const struct awaited *awaited, uint32_t flow)
{
    for (size_t i = 0; i < awaited->count; i++)
        if (awaited->flows[i] == flow)
            return true;
    return false;
}

/* After all that one or both of two members wait for; `second` may be NULL. */
static uint32_t
write_flow(struct flow_writer *writer, int64_t from, int64_t to, double bytes,
           const struct awaited *const dependencies[2])
{
    const char *separator = "";
    text_format(writer->csv, "%" PRIu32 ",0,%" PRId64 ",%" PRId64 ",%.17g,", writer->next,
                collective_rank(writer->cluster, writer->collective, from),
                collective_rank(writer->cluster, writer->collective, to), bytes);
    for (int set = 0; set < 2 && dependencies[set]; set++)
        for (size_t i = 0; i < dependencies[set]->count; i++) {
            uint32_t flow = dependencies[set]->flows[i];
            if (set == 1 && awaits(dependencies[0], flow))
                continue;
            text_format(writer->csv, "%s%" PRIu32, separator, flow);
            separator = ";";
        }
    text_append(writer->csv, "\n", 1);
    return writer->next++;
}

static uint32_t
write_after(struct flow_writer *writer, int64_t from, int64_t to, double bytes,
            const struct awaited *awaited)
{
    return write_flow(writer, from, to, bytes, (const struct awaited *const[2]){awaited, NULL});
}

/* Straight to the receiver, after all that the sender waits for. */
static void
send(struct flow_writer *writer, int64_t from, int64_t to, double bytes)
{
    await(writer, &writer->after[to],
          write_after(writer, from, to, bytes, &writer->before[from]));
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

/* Those that got nothing in the phase wait for what they did before. */
static void
keep_awaited(struct flow_writer *writer)
{
    for (int64_t i = 0; i < writer->ranks; i++)
        if (writer->after[i].count == 0)
            for (size_t flow = 0; flow < writer->before[i].count; flow++)
                await(writer, &writer->after[i], writer->before[i].flows[flow]);
    swap_awaited(writer);
}

static double
bytes_between(const struct flow_writer *writer, const struct pair_bytes *bytes, int64_t from,
              int64_t to)
{
    if (from == to)
        return 0;
    if (from / writer->gpus == to / writer->gpus)
        return bytes->in_node;
    return from % writer->gpus == to % writer->gpus ? bytes->on_rail : bytes->across;
}

void
phase_pairs(struct flow_writer *writer, struct pair_bytes bytes)
{
    for (int64_t from = 0; from < writer->ranks; from++)
        for (int64_t to = 0; to < writer->ranks; to++)
            if (bytes_between(writer, &bytes, from, to) > 0)
                send(writer, from, to, bytes_between(writer, &bytes, from, to));
    keep_awaited(writer);
}

void
phase_matrix(struct flow_writer *writer, const double *matrix)
{
    for (int64_t from = 0; from < writer->ranks; from++)
        for (int64_t to = 0; to < writer->ranks; to++)
            if (to != from && matrix[from * writer->ranks + to] > 0)
                send(writer, from, to, matrix[from * writer->ranks + to]);
    keep_awaited(writer);
}

void
phase_next(struct flow_writer *writer, double bytes)
{
    int64_t senders = writer->ranks > 2 ? writer->ranks : 1;
    for (int64_t from = 0; from < senders; from++)
        send(writer, from, (from + 1) % writer->ranks, bytes);
    keep_awaited(writer);
}

void
phase_scatter(struct flow_writer *writer, double bytes)
{
    for (int64_t to = 1; to < writer->gpus; to++) {
        uint32_t flow = write_after(writer, 0, to, bytes, &writer->before[0]);
        await(writer, &writer->after[0], flow); /* its links are busy till then */
        await(writer, &writer->after[to], flow);
    }
    keep_awaited(writer);
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
            sends[i] = write_after(writer, order[i], order[(i + 1) % count], bytes,
                                   step == 0 ? &writer->before[order[i]] : &both);
        }
        memcpy(last, sends, (size_t)count * sizeof *last);
    }
    for (int64_t i = 0; i < count; i++)
        await(writer, &writer->after[order[(i + 1) % count]], last[i]);
}

/* The members of a rail, node by node. */
static int64_t *
rail_order(const struct flow_writer *writer, int64_t gpu)
{
    int64_t *order = arena_alloc(writer->csv->arena, (size_t)writer->nodes, sizeof *order);
    for (int64_t node = 0; node < writer->nodes; node++)
        order[node] = node * writer->gpus + gpu;
    return order;
}

void
phase_rail_rings(struct flow_writer *writer, double bytes, int64_t steps)
{
    for (int64_t gpu = 0; gpu < writer->gpus; gpu++)
        write_ring(writer, rail_order(writer, gpu), writer->nodes, bytes, steps);
    swap_awaited(writer);
}

void
phase_rings(struct flow_writer *writer, const struct collective_rings *rings, double bytes,
            int64_t laps)
{
    double part = bytes / (double)(rings->count * rings->length);
    for (int64_t ring = 0; ring < rings->count; ring++)
        write_ring(writer, rings->members + ring * rings->length, rings->length, part,
                   laps * (rings->length - 1));
    swap_awaited(writer);
}

/* A step of it: to the place that far away, backwards when halving. */
static void
write_doubling_step(struct flow_writer *writer, bool is_on_rail, int64_t far, double bytes)
{
    int64_t n = is_on_rail ? writer->nodes : writer->gpus;
    int64_t stride = is_on_rail ? writer->gpus : 1;
    bool is_power = (n & (n - 1)) == 0;
    int64_t distance = far > 0 ? far : -far;
    double parts = (double)(distance < n - distance ? distance : n - distance);
    for (int64_t from = 0; from < writer->ranks; from++) {
        int64_t place = from / stride % n;
        int64_t to = is_power ? place ^ distance : (place + n - far) % n;
        send(writer, from, from + (to - place) * stride, bytes * parts);
    }
    swap_awaited(writer);
}

void
phase_doubling(struct flow_writer *writer, bool is_on_rail, bool is_halving, double bytes)
{
    int64_t n = is_on_rail ? writer->nodes : writer->gpus, far = 1;
    if (!is_halving) {
        for (; far < n; far *= 2)
            write_doubling_step(writer, is_on_rail, far, bytes);
        return;
    }
    while (2 * far < n)
        far *= 2;
    for (; far > 0; far /= 2)
        write_doubling_step(writer, is_on_rail, -far, bytes);
}

/* From member to member of the order, a piece behind the other. */
static void
write_chain(struct flow_writer *writer, const int64_t *order, int64_t count, double bytes)
{
    uint32_t *last = arena_alloc(writer->csv->arena, (size_t)count, sizeof *last);
    for (int64_t piece = 0; piece < writer->pieces; piece++)
        for (int64_t to = 1; to < count; to++) {
            uint32_t waits[2];
            struct awaited both = {.flows = waits};
            if (to > 1)
                waits[both.count++] = last[to - 1]; /* the same piece, a member before */
            if (piece > 0)
                waits[both.count++] = last[to]; /* the piece before */
            bool is_first = piece == 0 && to == 1;
            last[to] =
                write_after(writer, order[to - 1], order[to], bytes / (double)writer->pieces,
                            is_first ? &writer->before[order[0]] : &both);
        }
    for (int64_t to = 1; to < count; to++)
        await(writer, &writer->after[order[to]], last[to]);
}

void
phase_rail_chains(struct flow_writer *writer, double bytes)
{
    for (int64_t gpu = 0; gpu < writer->gpus; gpu++)
        write_chain(writer, rail_order(writer, gpu), writer->nodes, bytes);
    keep_awaited(writer);
}

void
phase_ring_chains(struct flow_writer *writer, const struct collective_rings *rings,
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

void
phase_node_chains(struct flow_writer *writer, double bytes, bool ends_there)
{
    int64_t g = writer->gpus;
    int64_t *path = arena_alloc(writer->csv->arena, (size_t)g, sizeof *path);
    int64_t *order = arena_alloc(writer->csv->arena, (size_t)g, sizeof *order);
    for (int64_t head = 0; head < writer->ranks; head++) {
        collective_rings_path(g, head % g, path);
        for (int64_t i = 0; i < g; i++)
            order[ends_there ? g - 1 - i : i] = head / g * g + path[i];
        write_chain(writer, order, g, bytes);
    }
    keep_awaited(writer);
}

void
phase_scatter_gather(struct flow_writer *writer, double bytes)
{
    int64_t g = writer->gpus;
    double part = bytes / (double)(g - 1) / (double)writer->pieces;
    uint32_t *last = arena_alloc(writer->csv->arena, (size_t)(g * g), sizeof *last);
    for (int64_t piece = 0; piece < writer->pieces; piece++)
        for (int64_t by = 1; by < g; by++)
            for (int64_t i = 1; i < g; i++) { /* its own first, from the first member */
                int64_t from = i == 1 ? 0 : by, to = i == 1 ? by : (by + i - 2) % (g - 1) + 1;
                uint32_t waits[2];
                struct awaited both = {.flows = waits};
                if (i > 1)
                    waits[both.count++] = last[by];
                if (piece > 0)
                    waits[both.count++] = last[from * g + to];
                last[from * g + to] = write_after(writer, from, to, part, &both);
            }
}

/* One use of an edge on a rail, after all that both members did in rounds before. */
static void
write_tree_flow(struct flow_writer *writer, int64_t from, int64_t to, double bytes)
{
    uint32_t flow = write_flow(
        writer, from, to, bytes,
        (const struct awaited *const[2]){&writer->before[from], &writer->before[to]});
    await(writer, &writer->after[from], flow);
    await(writer, &writer->after[to], flow);
}

void
phase_rail_trees(struct flow_writer *writer, const struct collective_trees *trees, double bytes,
                 bool is_up)
{
    int64_t g = writer->gpus, rounds = collective_trees_rounds(trees, writer->pieces);
    double piece_bytes = bytes / 2 / (double)writer->pieces;
    for (int64_t round = 0; round < rounds; round++) {
        int64_t down_round = is_up ? rounds - 1 - round : round;
        for (int64_t i = 0; i < trees->count * g; i++) {
            const struct tree_edge *edge = &trees->edges[i / g];
            int64_t since = down_round - edge->round, rail = i % g;
            int64_t above = edge->parent * g + rail, below = edge->child * g + rail;
            if (since >= 0 && since % trees->period == 0 &&
                since / trees->period < writer->pieces)
                write_tree_flow(writer, is_up ? below : above, is_up ? above : below,
                                piece_bytes);
        }
        keep_awaited(writer);
    }
}
