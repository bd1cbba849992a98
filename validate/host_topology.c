/* The only door to hwloc. */
#include "validate/host_topology.h"

#include <unistd.h>

#include <hwloc.h>

static double
cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
    return cache ? (double)cache->attr->cache.size : 0;
}

static const char *
processor_name(hwloc_topology_t topology, struct arena *arena)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *name = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    return arena_format(arena, "%s", name ? name : "unknown");
}

/* All but the memory: a node's count leaves out what a virtual machine was given after its start
 * (4.5 of 25.3 GB seen), which the C library's count holds. */
static struct host_topology
topology_of(hwloc_topology_t loaded, struct arena *arena)
{
    struct host_topology topology = {
        .processor = processor_name(loaded, arena),
        .cores = hwloc_get_nbobjs_by_type(loaded, HWLOC_OBJ_CORE),
        .core_cache_bytes = cache_bytes(loaded, HWLOC_OBJ_L2CACHE),
        .last_cache_bytes = cache_bytes(loaded, HWLOC_OBJ_L3CACHE),
    };
    if (topology.cores < 1) /* a virtual machine may show processing units alone */
        topology.cores = hwloc_get_nbobjs_by_type(loaded, HWLOC_OBJ_PU);
    return topology;
}

/* 0 where the system does not say. */
static double
system_bytes(int name)
{
    long value = sysconf(name);
    return value > 0 ? (double)value : 0;
}

void
host_topology_complete(struct host_topology *topology)
{
    if (topology->cores < 1)
        topology->cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (topology->core_cache_bytes <= 0)
        topology->core_cache_bytes = system_bytes(_SC_LEVEL2_CACHE_SIZE);
    if (topology->last_cache_bytes <= 0)
        topology->last_cache_bytes = system_bytes(_SC_LEVEL3_CACHE_SIZE);
    if (topology->last_cache_bytes < topology->core_cache_bytes)
        topology->last_cache_bytes = topology->core_cache_bytes;
    if (topology->memory_bytes <= 0)
        topology->memory_bytes = system_bytes(_SC_PHYS_PAGES) * system_bytes(_SC_PAGESIZE);
}

/* hwloc looks here, and complains on standard error where it is missing. */
static const char CPU_FOLDER[] = "/sys/devices/system/cpu";

static bool
ask_hwloc(struct host_topology *topology, struct arena *arena, struct error_list *errors)
{
    hwloc_topology_t loaded;
    if (access(CPU_FOLDER, R_OK) != 0)
        return true;
    if (hwloc_topology_init(&loaded) != 0)
        return error_add(errors, ERROR_IO, "", "hwloc does not start");
    if (hwloc_topology_load(loaded) == 0)
        *topology = topology_of(loaded, arena);
    hwloc_topology_destroy(loaded);
    return true;
}

bool
host_topology_find(struct host_topology *topology, struct arena *arena,
                   struct error_list *errors)
{
    *topology = (struct host_topology){.processor = "unknown"};
    if (!ask_hwloc(topology, arena, errors))
        return false;
    host_topology_complete(topology);
    if (topology->cores < 1 || topology->memory_bytes <= 0)
        return error_add(errors, ERROR_IO, "", "the system tells neither cores nor memory");
    return true;
}
