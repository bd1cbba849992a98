/* Links: inside a node, from the node to the rails, and what of them a byte stream gets. */
#ifndef HW_FABRIC_H
#define HW_FABRIC_H

/* hw owner: complete. Members as facts/network says; header efficiency apart from calibration. */
enum node_topology { NODE_MESH, NODE_SWITCH };
enum network_topology { NETWORK_NONE, NETWORK_RAILS_ONLY };

struct fabric {
    enum node_topology node_topology;
    enum network_topology network_topology;
    double link_bytes_per_s; /* one directed xGMI link; a switch: one GPU's port */
    double nic_bytes_per_s;  /* one NIC's line rate, each way */
};

#endif
