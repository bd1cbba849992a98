/* What it costs to send tokens to the GPUs that hold their experts, or to bring them back, between
 * ranks that have their links to themselves.
 *
 * Tokens choose top_k of the experts at random, each as likely as another; every rank holds the
 * same number of them. A token can be sent
 *
 *     once per expert    an all-to-all of the sorted copies: k of each token
 *     once per rank      its copies for experts of one GPU travel as one
 *     once per node      over the network to GPU i of the node, i as the sender's, and from there
 *                        over the node's links to each GPU that needs it (DeepSeek-V3,
 *                        arXiv 2412.19437, section 3.2.2)
 *
 * Dispatch and combine cost the same, one being the other backwards. */
#ifndef HW_EXPERT_EXCHANGE_H
#define HW_EXPERT_EXCHANGE_H

#include "hw/collective.h"

enum expert_copies { COPIES_PER_EXPERT, COPIES_PER_RANK, COPIES_PER_NODE };

struct expert_exchange {
    struct rank_group group; /* or, with .size 0, ranks and nodes: as of struct collective */
    int64_t ranks, nodes;
    double tokens;      /* of each rank */
    double token_bytes; /* of one, as sent */
    int64_t experts;    /* of all ranks together: a multiple of them */
    int64_t top_k;      /* at most experts */
    enum expert_copies copies;
};

/* Of `groups` groups of as many experts each, how many a token meets, in the mean:
 * groups (1 - C(E - E/groups, k) / C(E, k)). */
double expert_groups_met(double groups, int64_t experts, int64_t top_k);

/* The bus bandwidth is an all-to-all's of the bytes that leave a rank as copies per expert. False
 * as collective_cost, or with ERROR_INPUT for experts that the ranks cannot share evenly. */
bool expert_exchange_cost(const struct cluster *cluster, const struct expert_exchange *exchange,
                          struct collective_cost *cost, struct error_list *errors);

#endif
