/* The links that bytes from one rank to another pass through, and what each of them gives.
 *
 *      same node       GPU ── link ──▶ GPU                    a switch: port up, port down
 *      same rail       GPU ── NIC up ──▶ rail ── NIC down ──▶ GPU
 *      another rail    GPU ── link ──▶ GPU of that rail ── NIC up ──▶ rail ── NIC down ──▶ GPU
 *      another leaf    .. NIC up ──▶ leaf ── up ──▶ spine ── down ──▶ leaf ── NIC down ──▶ ..
 *
 * The third is the library's forwarding (PXN), and on rails-only the only way. Links are directed
 * and numbered over the whole cluster; most numbers are never asked for, so nothing is kept. */
#ifndef HW_ROUTE_H
#define HW_ROUTE_H

#include "hw/cluster.h"

/* Port or link and the GPU's sum of both ends, two NICs, two spine links. */
enum { ROUTE_LINKS_MAX = 7 };

struct route {
    int64_t links[ROUTE_LINKS_MAX]; /* in the order in which bytes meet them */
    int count;
};

/* False if from and to are the same rank (bytes that stay pass no link), or if no route leads
 * from one to the other. Ranks are the cluster's, numbered node by node. Where a flow keeps to
 * one of several spines, `draw` chooses: any number, the same for the same spine. */
bool route_find(const struct cluster *cluster, int64_t from, int64_t to, uint64_t draw,
                struct route *route);

/* Why there is none, as "rank 0 is on rail 0, rank 9 on rail 1, and ..": for an error. */
const char *route_refusal(const struct cluster *cluster, int64_t from, int64_t to,
                          struct arena *arena);

/* Payload per second. Where a GPU's links slow each other down, a link has what it gives alone,
 * and the sum of the GPU's links (one more entry in the route) what all of them give together. */
double route_link_bytes_per_s(const struct cluster *cluster, int64_t link);

#endif
