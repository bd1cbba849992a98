/* An all-to-all whose pairs exchange different numbers of bytes.
 *
 * Ranks are index = node * g + gpu, g of each of n nodes. On rails, what goes to GPU j of another
 * node passes the link to GPU j of the own node and then NIC j; a NIC takes in what its GPU gets
 * from other nodes. */
#include "hw/collective_matrix.h"

#include <math.h>

struct matrix {
    const double *bytes;
    int64_t ranks, nodes, gpus;
    bool is_forwarded; /* to the rail of the receiver */
};

double
collective_matrix_bytes(const double *matrix, int64_t ranks)
{
    double largest = 0;
    for (int64_t row = 0; row < ranks; row++) {
        double sum = 0;
        for (int64_t column = 0; column < ranks; column++)
            sum += matrix[row * ranks + column];
        largest = fmax(largest, sum);
    }
    return largest;
}

static double
at(const struct matrix *matrix, int64_t from, int64_t to)
{
    return matrix->bytes[from * matrix->ranks + to];
}

/* From one rank to a GPU number of every other node. */
static double
sent_to_rail(const struct matrix *matrix, int64_t from, int64_t gpu)
{
    double sum = 0;
    for (int64_t node = 0; node < matrix->nodes; node++)
        if (node != from / matrix->gpus)
            sum += at(matrix, from, node * matrix->gpus + gpu);
    return sum;
}

/* Over the link from one rank to a neighbour in its node. */
static double
link_bytes(const struct matrix *matrix, int64_t from, int64_t gpu)
{
    int64_t to = from / matrix->gpus * matrix->gpus + gpu;
    if (to == from)
        return 0;
    double forwarded = matrix->is_forwarded ? sent_to_rail(matrix, from, gpu) : 0;
    return at(matrix, from, to) + forwarded;
}

/* Over the busiest link, or out of and into the busiest port. */
static double
busiest_link_bytes(const struct matrix *matrix, bool is_mesh)
{
    double busiest = 0;
    for (int64_t rank = 0; rank < matrix->ranks; rank++) {
        int64_t node = rank / matrix->gpus * matrix->gpus;
        double out = 0, in = 0;
        for (int64_t gpu = 0; gpu < matrix->gpus; gpu++) {
            double one = link_bytes(matrix, rank, gpu);
            out += one;
            in += link_bytes(matrix, node + gpu, rank - node);
            busiest = is_mesh ? fmax(busiest, one) : busiest;
        }
        busiest = is_mesh ? busiest : fmax(busiest, fmax(out, in));
    }
    return busiest;
}

/* Up from one rank's NIC: what its own GPU sends to other nodes, or all of its node by that
 * rail. */
static double
nic_up_bytes(const struct matrix *matrix, int64_t rank)
{
    int64_t node = rank / matrix->gpus * matrix->gpus;
    double sum = 0;
    for (int64_t gpu = 0; gpu < matrix->gpus; gpu++)
        sum += matrix->is_forwarded ? sent_to_rail(matrix, node + gpu, rank - node)
                                    : sent_to_rail(matrix, rank, gpu);
    return sum;
}

static double
nic_down_bytes(const struct matrix *matrix, int64_t rank)
{
    double sum = 0;
    for (int64_t from = 0; from < matrix->ranks; from++)
        if (from / matrix->gpus != rank / matrix->gpus)
            sum += at(matrix, from, rank);
    return sum;
}

static double
busiest_nic_bytes(const struct matrix *matrix)
{
    double busiest = 0;
    for (int64_t rank = 0; rank < matrix->ranks && matrix->nodes > 1; rank++)
        busiest = fmax(busiest, fmax(nic_up_bytes(matrix, rank), nic_down_bytes(matrix, rank)));
    return busiest;
}

bool
collective_matrix_schedule(const struct cluster *cluster, const struct collective *collective,
                           const struct rank_placement *placement,
                           struct collective_schedule *out, struct error_list *errors)
{
    const struct fabric *fabric = &cluster->fabric;
    if (!placement->keeps_rails)
        return error_add(
            errors, ERROR_INFEASIBLE, "",
            "all_to_all_v between ranks %lld and %lld, which are different GPUs of "
            "their nodes, wanted the same ones of each node",
            (long long)placement->stray_from, (long long)placement->stray_to);
    bool crosses = placement->nodes > 1;
    struct matrix matrix = {
        .bytes = collective->bytes_matrix,
        .ranks = placement->ranks,
        .nodes = placement->nodes,
        .gpus = placement->gpus,
        .is_forwarded = crosses && fabric->network_topology == NETWORK_RAILS_ONLY,
    };
    *out = (struct collective_schedule){
        .algorithm = matrix.is_forwarded ? "forwarded to the rail" : "direct",
        .launches = 1,
        .link_hops = placement->gpus > 1 ? 1 : 0,
        .nic_hops = (double)placement->nodes - 1,
        .link_bytes = busiest_link_bytes(&matrix, fabric->node_topology == NODE_MESH),
        .nic_bytes = busiest_nic_bytes(&matrix),
        .uplinks = UPLINK_PAIRS,
    };
    return true;
}
