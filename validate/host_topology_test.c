/* Is what hwloc finds what the system says by other ways? */
#include "validate/host_topology.h"

#include <unistd.h>

#include <check.h>

#include "sim/base/check_arena.h"

Suite *host_topology_suite(void);

START_TEST(this_machine_has_cores_and_memory)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct host_topology topology;
    ck_assert(host_topology_find(&topology, arena, &errors));
    ck_assert_int_ge(topology.cores, 1);
    ck_assert_int_le(topology.cores, sysconf(_SC_NPROCESSORS_CONF));
    double pages_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    ck_assert(topology.memory_bytes > 0.8 * pages_bytes);
    ck_assert(topology.memory_bytes < 1.2 * pages_bytes);
    ck_assert(topology.last_cache_bytes >= topology.core_cache_bytes);
    ck_assert_ptr_nonnull(topology.processor);
    arena_free(arena);
}
END_TEST

Suite *
host_topology_suite(void)
{
    Suite *suite = suite_create("host_topology");
    TCase *tests = tcase_create("topology");
    tcase_add_test(tests, this_machine_has_cores_and_memory);
    suite_add_tcase(suite, tests);
    return suite;
}
