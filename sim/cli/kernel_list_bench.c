/* How many lines of `stepcast kernel --list` a second: read, priced, written, a whole file. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/base/check_clock.h"
#include "sim/cli/command.h"
#include "sim/cli/options.h"

extern const struct command command_kernel;

enum { LINES = 60000, RUNS = 5, SIDES = 40, FOLDER_MAX = 64 };

/* Products with every pair of 40 widths and more and more rows. */
static bool
write_list(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    for (int i = 0; i < LINES; i++)
        fprintf(file,
                "{\"kernel\": \"gemm\", \"m\": %d, \"n\": %d, \"k\": %d, \"layout\": \"nt\", "
                "\"dtype\": \"bf16\"}\n",
                1 + i / 8, 128 * (1 + i % SIDES), 128 * (1 + i / SIDES % SIDES));
    return fclose(file) == 0;
}

/* Seconds of one run; below 0 when it failed. */
static double
run_s(const char *list_path, const char *answer_path)
{
    const char *const words[] = {
        "--device", "configs/devices/mi300x.json", "--list", list_path, "-o", answer_path};
    const char *fault = NULL;
    struct arena *arena = command_arena();
    const struct arguments arguments = {words, sizeof words / sizeof *words};
    double start_s = check_cpu_s();
    const struct options *options = options_parse(arena, &command_kernel, arguments, &fault);
    bool is_done = options != NULL && command_kernel.run(options, arena) == EXIT_DONE;
    arena_free(arena);
    return is_done ? check_cpu_s() - start_s : -1;
}

int
main(void)
{
    char folder[] = "/tmp/kernel_list_XXXXXX";
    char list_path[FOLDER_MAX], answer_path[FOLDER_MAX];
    if (mkdtemp(folder) == NULL)
        return EXIT_FAILURE;
    snprintf(list_path, sizeof list_path, "%s/list.jsonl", folder);
    snprintf(answer_path, sizeof answer_path, "%s/answer.jsonl", folder);
    double quickest_s = write_list(list_path) ? 1e9 : -1;
    for (int i = 0; i < RUNS && quickest_s > 0; i++) {
        double seconds_s = run_s(list_path, answer_path);
        quickest_s = seconds_s < quickest_s ? seconds_s : quickest_s;
    }
    unlink(list_path);
    unlink(answer_path);
    rmdir(folder);
    if (quickest_s <= 0)
        return EXIT_FAILURE;
    printf("kernel_list_lines_per_s %.0f\n", LINES / quickest_s);
    return EXIT_SUCCESS;
}
