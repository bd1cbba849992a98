/* A collective as the flows that it consists of: which phases an algorithm has. */
#include "hw/collective_flows.h"

#include <string.h>

#include "hw/collective_phases.h"

static bool
is_kind(const struct flow_writer *writer, enum collective_kind kind)
{
    return writer->collective->kind == kind;
}

/* An all-reduce goes around twice, or through a phase and its mirror. */
static int64_t
laps_of(const struct flow_writer *writer)
{
    return is_kind(writer, COLLECTIVE_ALL_REDUCE) ? 2 : 1;
}

static double
bytes_of(const struct flow_writer *writer)
{
    return writer->collective->bytes;
}

/* Each rank's part. */
static double
part_of(const struct flow_writer *writer)
{
    return writer->collective->bytes / (double)writer->ranks;
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

static void
write_along(struct flow_writer *writer, const struct collective_rings *rings)
{
    if (is_kind(writer, COLLECTIVE_BROADCAST))
        phase_ring_chains(writer, rings, bytes_of(writer));
    else
        phase_rings(writer, rings, bytes_of(writer), laps_of(writer));
}

static void
write_node_rings(struct flow_writer *writer)
{
    struct collective_rings rings = node_rings(writer);
    write_along(writer, &rings);
}

static void
write_node_direct(struct flow_writer *writer)
{
    for (int64_t lap = 0; lap < laps_of(writer); lap++)
        phase_pairs(writer, (struct pair_bytes){.in_node = part_of(writer)});
}

static void
write_one_shot(struct flow_writer *writer)
{
    phase_pairs(writer, (struct pair_bytes){.in_node = bytes_of(writer)});
}

static void
write_scatter_gather(struct flow_writer *writer)
{
    phase_scatter_gather(writer, bytes_of(writer));
}

static void
write_node_halving(struct flow_writer *writer)
{
    phase_doubling(writer, false, true, part_of(writer));
    phase_doubling(writer, false, false, part_of(writer));
}

static void
write_flat_rings(struct flow_writer *writer)
{
    struct collective_rings rings;
    if (collective_rings_through_nodes(writer->nodes, writer->gpus, &rings, writer->csv->arena))
        write_along(writer, &rings);
}

/* What runs on every rail, `bytes` of each rail's own. */
static void
write_ring(struct flow_writer *writer, double bytes)
{
    phase_rail_rings(writer, bytes / (double)writer->nodes,
                     laps_of(writer) * (writer->nodes - 1));
}

static void
write_doubling(struct flow_writer *writer, double bytes)
{
    phase_doubling(writer, true, false, bytes / (double)writer->nodes);
}

static void
write_halving(struct flow_writer *writer, double bytes)
{
    phase_doubling(writer, true, true, bytes / (double)writer->nodes);
    phase_doubling(writer, true, false, bytes / (double)writer->nodes);
}

static void
write_chain(struct flow_writer *writer, double bytes)
{
    phase_rail_chains(writer, bytes);
}

static void
write_tree(struct flow_writer *writer, double bytes)
{
    struct arena *arena = writer->csv->arena;
    bool is_broadcast = is_kind(writer, COLLECTIVE_BROADCAST);
    struct collective_trees trees = is_broadcast
                                        ? collective_trees_below_first(writer->nodes, arena)
                                        : collective_trees_over(writer->nodes, arena);
    if (!is_broadcast)
        phase_rail_trees(writer, &trees, bytes, true);
    phase_rail_trees(writer, &trees, bytes, false);
}

/* Up a chain in each node, between nodes by trees, and down the chain again. */
static void
write_trees(struct flow_writer *writer)
{
    double bytes = bytes_of(writer) / (double)writer->gpus;
    phase_node_chains(writer, bytes, true);
    write_tree(writer, bytes);
    phase_node_chains(writer, bytes, false);
}

static void
write_all_pairs(struct flow_writer *writer)
{
    double part = part_of(writer);
    phase_pairs(writer, (struct pair_bytes){part, part, part});
}

/* What a phase of each piece leaves, for the same phase of the next piece to wait for. */
enum level_phase { PHASE_SCATTER, PHASE_RAIL, PHASE_GATHER, LEVEL_PHASES };

static bool
has_phase(enum collective_kind kind, enum level_phase phase)
{
    return phase == PHASE_RAIL || kind == COLLECTIVE_ALL_REDUCE ||
           (phase == PHASE_GATHER) == (kind == COLLECTIVE_ALL_GATHER);
}

/* `part`: each member's, of one piece. */
static void
write_level_phase(struct flow_writer *writer, enum level_phase phase, double part,
                  void (*write_rail)(struct flow_writer *writer, double bytes))
{
    if (phase == PHASE_RAIL)
        write_rail(writer, part * (double)writer->nodes);
    else
        phase_pairs(writer, (struct pair_bytes){.in_node = part * (double)writer->nodes});
}

/* Scatter in the nodes, `write_rail` on each rail, gather in the nodes, in pieces: a phase
 * of a piece waits for its phase before and for the same phase of the piece before. */
static void
write_levels(struct flow_writer *writer,
             void (*write_rail)(struct flow_writer *writer, double bytes))
{
    double part = part_of(writer) / (double)writer->pieces;
    struct awaited *ends[LEVEL_PHASES];
    for (int phase = 0; phase < LEVEL_PHASES; phase++)
        ends[phase] = flow_writer_nothing(writer);
    for (int64_t piece = 0; piece < writer->pieces; piece++) {
        writer->before = flow_writer_nothing(writer);
        for (int phase = 0; phase < LEVEL_PHASES; phase++) {
            if (!has_phase(writer->collective->kind, (enum level_phase)phase))
                continue;
            flow_writer_await_all(writer, writer->before, ends[phase]);
            write_level_phase(writer, (enum level_phase)phase, part, write_rail);
            ends[phase] = flow_writer_nothing(writer);
            flow_writer_await_all(writer, ends[phase], writer->before);
        }
    }
}

static void
write_ring_levels(struct flow_writer *writer)
{
    write_levels(writer, write_ring);
}

static void
write_doubling_levels(struct flow_writer *writer)
{
    write_levels(writer, write_doubling);
}

static void
write_halving_levels(struct flow_writer *writer)
{
    write_levels(writer, write_halving);
}

/* Phases in sequence, since what runs on the rails is in pieces itself. */
static void
write_level_sequence(struct flow_writer *writer,
                     void (*write_rail)(struct flow_writer *writer, double bytes))
{
    double bytes = bytes_of(writer) / (double)writer->gpus;
    if (is_kind(writer, COLLECTIVE_BROADCAST))
        phase_scatter(writer, bytes);
    else
        phase_pairs(writer, (struct pair_bytes){.in_node = bytes});
    write_rail(writer, bytes);
    phase_pairs(writer, (struct pair_bytes){.in_node = bytes});
}

static void
write_chain_levels(struct flow_writer *writer)
{
    write_level_sequence(writer, write_chain);
}

static void
write_tree_levels(struct flow_writer *writer)
{
    write_level_sequence(writer, write_tree);
}

static void
write_rail_ring(struct flow_writer *writer)
{
    write_ring(writer, bytes_of(writer));
}

static void
write_rail_doubling(struct flow_writer *writer)
{
    write_doubling(writer, bytes_of(writer));
}

static void
write_rail_halving(struct flow_writer *writer)
{
    write_halving(writer, bytes_of(writer));
}

static void
write_rail_chain(struct flow_writer *writer)
{
    write_chain(writer, bytes_of(writer));
}

static void
write_rail_tree(struct flow_writer *writer)
{
    write_tree(writer, bytes_of(writer));
}

/* To the same GPU of each node what all of that node are to get, then on to them. */
static void
write_rail_then_node(struct flow_writer *writer)
{
    double part = part_of(writer) / (double)writer->pieces, others = (double)writer->nodes - 1;
    double crossing = writer->collective->crossing_fraction;
    double rail = part * (double)writer->gpus * (crossing > 0 ? crossing : 1);
    struct awaited *rail_end = flow_writer_nothing(writer);
    struct awaited *node_end = flow_writer_nothing(writer);
    for (int64_t piece = 0; piece < writer->pieces; piece++) {
        writer->before = flow_writer_nothing(writer);
        flow_writer_await_all(writer, writer->before, rail_end);
        phase_pairs(writer, (struct pair_bytes){.in_node = part, .on_rail = rail});
        rail_end = flow_writer_nothing(writer);
        flow_writer_await_all(writer, rail_end, writer->before);
        flow_writer_await_all(writer, writer->before, node_end);
        phase_pairs(writer, (struct pair_bytes){.in_node = part * others});
        node_end = flow_writer_nothing(writer);
        flow_writer_await_all(writer, node_end, writer->before);
    }
}

/* Of which collectives. */
enum {
    REDUCES = 1U << COLLECTIVE_ALL_REDUCE,
    GATHERS = 1U << COLLECTIVE_ALL_GATHER | 1U << COLLECTIVE_REDUCE_SCATTER,
    BROADCASTS = 1U << COLLECTIVE_BROADCAST,
    EXCHANGES = 1U << COLLECTIVE_ALL_TO_ALL,
};

enum where { IN_NODE, ON_RAIL, ON_LEVELS, BETWEEN_NODES }; /* the last: one of the two before */

static const struct flow_algorithm {
    const char *name;
    unsigned kinds;
    enum where where;
    void (*write)(struct flow_writer *writer);
} ALGORITHMS[] = {
    {"direct", REDUCES | GATHERS | EXCHANGES, IN_NODE, write_node_direct},
    {"rings", REDUCES | GATHERS | BROADCASTS, IN_NODE, write_node_rings},
    {"one-shot", REDUCES, IN_NODE, write_one_shot},
    {"halving + doubling", REDUCES, IN_NODE, write_node_halving},
    {"scatter + gather", BROADCASTS, IN_NODE, write_scatter_gather},
    {"rail ring", REDUCES | GATHERS, ON_RAIL, write_rail_ring},
    {"rail doubling", GATHERS, ON_RAIL, write_rail_doubling},
    {"rail halving + doubling", REDUCES, ON_RAIL, write_rail_halving},
    {"rail tree", REDUCES | BROADCASTS, ON_RAIL, write_rail_tree},
    {"rail chain", BROADCASTS, ON_RAIL, write_rail_chain},
    {"rail pairs", EXCHANGES, ON_RAIL, write_all_pairs},
    {"flat rings", REDUCES | GATHERS | BROADCASTS, ON_LEVELS, write_flat_rings},
    {"trees", REDUCES, ON_LEVELS, write_trees},
    {"two levels, rail ring", REDUCES | GATHERS, ON_LEVELS, write_ring_levels},
    {"two levels, rail doubling", GATHERS, ON_LEVELS, write_doubling_levels},
    {"two levels, rail halving + doubling", REDUCES, ON_LEVELS, write_halving_levels},
    {"two levels, rail tree", REDUCES | BROADCASTS, ON_LEVELS, write_tree_levels},
    {"two levels, rail chain", BROADCASTS, ON_LEVELS, write_chain_levels},
    {"direct", EXCHANGES, BETWEEN_NODES, write_all_pairs},
    {"forwarded to the rail", EXCHANGES, BETWEEN_NODES, write_all_pairs},
    {"rail, then node", EXCHANGES, ON_LEVELS, write_rail_then_node},
};

static bool
is_meant(const struct flow_algorithm *algorithm, const struct flow_writer *writer)
{
    enum where where = writer->nodes == 1 ? IN_NODE : writer->gpus == 1 ? ON_RAIL : ON_LEVELS;
    bool is_there =
        algorithm->where == where || (algorithm->where == BETWEEN_NODES && writer->nodes > 1);
    return is_there && (algorithm->kinds >> writer->collective->kind & 1U) != 0 &&
           strcmp(algorithm->name, writer->collective->algorithm) == 0;
}

static bool
write_group(struct flow_writer *writer, struct error_list *errors)
{
    const char *name = writer->collective->algorithm;
    for (size_t i = 0; i < sizeof ALGORITHMS / sizeof *ALGORITHMS; i++)
        if (is_meant(&ALGORITHMS[i], writer))
            ALGORITHMS[i].write(writer);
    if (writer->next > 0)
        return true;
    if (strcmp(name, "flat rings") == 0)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "no rings at hand through %lld nodes of %lld GPUs that keep to rails",
                         (long long)writer->nodes, (long long)writer->gpus);
    return error_add(errors, ERROR_INFEASIBLE, "", "no flows of \"%s\"", name);
}

/* Whether it makes a difference which members are of one node or rail. */
static bool
has_layout(const struct collective *collective)
{
    bool is_of_pairs = collective->kind == COLLECTIVE_ALL_TO_ALL &&
                       strcmp(collective->algorithm, "rail, then node") != 0;
    return !is_of_pairs && collective->kind != COLLECTIVE_SEND_RECV;
}

bool
collective_flows_write(const struct cluster *cluster, const struct collective *collective,
                       int64_t pieces, struct text *csv, struct error_list *errors)
{
    struct rank_placement placement;
    if (!collective_place(cluster, collective, &placement, errors))
        return false;
    if (!placement.keeps_rails && has_layout(collective))
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "ranks %lld and %lld are different GPUs of their nodes, wanted the "
                         "same ones of each node",
                         (long long)placement.stray_from, (long long)placement.stray_to);
    struct flow_writer writer = flow_writer_new(cluster, collective, &placement, csv);
    writer.pieces = pieces;
    text_format(csv, "id,start_s,src,dst,bytes,deps\n");
    if (collective->kind == COLLECTIVE_ALL_TO_ALL_V)
        phase_matrix(&writer, collective->bytes_matrix);
    else if (collective->kind == COLLECTIVE_SEND_RECV)
        phase_next(&writer, collective->bytes);
    else
        return write_group(&writer, errors);
    return true;
}
