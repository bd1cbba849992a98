/* The program stepcast: a table of commands. */
#include "sim/cli/dispatch.h"

/* cmd_x.c defines `const struct command command_x`; one line here makes it part of the program. In
 * the order of the help page; the first two give its examples. */
#define EVERY_COMMAND(EACH)                                                                    \
    EACH(command_run)                                                                          \
    EACH(command_timeline)                                                                     \
    EACH(command_sweep)                                                                        \
    EACH(command_compare)                                                                      \
    EACH(command_search)                                                                       \
    EACH(command_merge)                                                                        \
    EACH(command_diff)                                                                         \
    EACH(command_explain)                                                                      \
    EACH(command_memory)                                                                       \
    EACH(command_report_page)                                                                  \
    EACH(command_inference)                                                                    \
    EACH(command_model_show)                                                                   \
    EACH(command_kernel)                                                                       \
    EACH(command_collective)                                                                   \
    EACH(command_cluster_show)                                                                 \
    EACH(command_cluster_generate)                                                             \
    EACH(command_flows) EACH(command_validate) EACH(command_calibrate)

#define DECLARE(name) extern const struct command(name);
#define ADDRESS(name) &(name),

EVERY_COMMAND(DECLARE)

static const struct command *const commands[] = {EVERY_COMMAND(ADDRESS) NULL};

int
main(int count, char **words)
{
    struct command_table table = {commands, 0};
    while (commands[table.count])
        table.count++;
    struct arguments arguments = {(const char *const *)words, (size_t)count};
    struct arena *arena = command_arena();
    int code = dispatch(table, arguments, arena);
    arena_free(arena);
    return code;
}
