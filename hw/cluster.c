/* Nodes of GPUs: reads them, and the fabric that joins them, from their files. */
#include "hw/cluster.h"

#include <stddef.h>
#include <string.h>

#include "sim/base/path.h"

/* Ten times the largest machine there is: beyond it lies a slip. */
enum { NODES_MAX = 1000000, GPUS_PER_NODE_MAX = 1024 };

struct cluster_file {
    const char *device;
    const struct json *fabric;
    struct cluster cluster;
};

static const struct json_field FIELDS[] = {
    {"name", JSON_FIELD_STRING, offsetof(struct cluster_file, cluster.name), 0, 0, 0, NULL},
    {"nodes", JSON_FIELD_INTEGER, offsetof(struct cluster_file, cluster.nodes), 0, 1, NODES_MAX,
     NULL},
    {"gpus_per_node", JSON_FIELD_INTEGER, offsetof(struct cluster_file, cluster.gpus_per_node),
     0, 1, GPUS_PER_NODE_MAX, NULL},
    {"device", JSON_FIELD_STRING, offsetof(struct cluster_file, device), 0, 0, 0, NULL},
    {"fabric", JSON_FIELD_VALUE, offsetof(struct cluster_file, fabric), 0, 0, 0, NULL},
};

static const struct json_object_type CLUSTER_TYPE = {"a cluster", FIELDS,
                                                     sizeof FIELDS / sizeof *FIELDS, NULL};

int64_t
cluster_gpus(const struct cluster *cluster)
{
    return cluster->nodes * cluster->gpus_per_node;
}

static bool
read_fabric(const struct json *value, struct cluster *cluster, struct arena *arena,
            struct error_list *errors)
{
    if (!value)
        return false;
    if (json_kind(value) == JSON_KIND_STRING) {
        const char *path = path_beside(json_file_name(value), json_as_string(value), arena);
        value = json_read_file(arena, path, errors);
    }
    return value && fabric_read(value, &cluster->fabric, errors);
}

/* A straight line falls below zero somewhere: the node must be smaller than that. */
static bool
check_links(const struct json *object, const struct cluster *cluster, struct error_list *errors)
{
    double links = fabric_links(&cluster->fabric, cluster->gpus_per_node);
    if (links < 1 || fabric_link_rate(&cluster->fabric, links) > 0)
        return true;
    return json_fail(json_member(object, "gpus_per_node"), errors,
                     "%s loses all bandwidth of its links with %lld GPUs in a node",
                     cluster->fabric.name, (long long)cluster->gpus_per_node);
}

struct cluster *
cluster_read(const struct json *object, struct arena *arena, struct error_list *errors)
{
    struct cluster_file *file = arena_alloc(arena, 1, sizeof *file);
    bool is_right = json_read_object(object, &CLUSTER_TYPE, file, errors);
    is_right = read_fabric(file->fabric, &file->cluster, arena, errors) && is_right;
    if (!is_right || !check_links(object, &file->cluster, errors))
        return NULL;
    file->cluster.device_path = path_beside(json_file_name(object), file->device, arena);
    return &file->cluster;
}
