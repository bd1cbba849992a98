/* Is what hwloc finds what the system says by other ways? */
#include "validate/host_topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "sim/base/check_arena.h"

Suite *host_topology_suite(void);

/* As /proc/meminfo says it on its first line, in KiB; 0 where there is none. */
static double
memory_total_bytes(void)
{
    char line[128] = "";
    FILE *file = fopen("/proc/meminfo", "r");
    if (!file)
        return 0;
    bool is_read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    return is_read ? 1024 * strtod(line + strlen("MemTotal:"), NULL) : 0;
}

START_TEST(this_machine_has_cores_and_memory)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct host_topology topology;
    ck_assert(host_topology_find(&topology, arena, &errors));
    ck_assert_int_ge(topology.cores, 1);
    ck_assert_int_le(topology.cores, sysconf(_SC_NPROCESSORS_CONF));
    double kernel_bytes = memory_total_bytes();
    ck_assert(kernel_bytes > 0);
    ck_assert(topology.memory_bytes > 0.99 * kernel_bytes);
    ck_assert(topology.memory_bytes < 1.01 * kernel_bytes);
    ck_assert(topology.last_cache_bytes >= topology.core_cache_bytes);
    ck_assert_ptr_nonnull(topology.processor);
    arena_free(arena);
}
END_TEST

/* As in a container without /sys. What is known stays. */
START_TEST(the_c_library_knows_what_hwloc_cannot_see)
{
    struct host_topology topology = {0};
    host_topology_complete(&topology);
    ck_assert_int_eq(topology.cores, sysconf(_SC_NPROCESSORS_ONLN));
    ck_assert(topology.memory_bytes > 0);
    ck_assert(topology.last_cache_bytes >= topology.core_cache_bytes);
    struct host_topology known = {
        .cores = 3, .core_cache_bytes = 1e6, .last_cache_bytes = 2e6, .memory_bytes = 1e9};
    host_topology_complete(&known);
    ck_assert_int_eq(known.cores, 3);
    ck_assert(known.core_cache_bytes == 1e6 && known.last_cache_bytes == 2e6);
    ck_assert(known.memory_bytes == 1e9);
}
END_TEST

Suite *
host_topology_suite(void)
{
    Suite *suite = suite_create("host_topology");
    TCase *tests = tcase_create("topology");
    tcase_add_test(tests, the_c_library_knows_what_hwloc_cannot_see);
    tcase_add_test(tests, this_machine_has_cores_and_memory);
    suite_add_tcase(suite, tests);
    return suite;
}
