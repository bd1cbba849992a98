/* Feeds results of any bytes to their reader, by way of a file. */
#include "sim/cli/results.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/base/check_arena.h"

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name */
int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char path[] = "/tmp/results_fuzz_XXXXXX";
    int file = mkstemp(path);
    if (file < 0)
        return 0;
    bool is_written = write(file, bytes, length) == (ssize_t)length;
    close(file);
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct results results;
    if (is_written)
        (void)results_read(&results, path, arena, &errors);
    arena_free(arena);
    unlink(path);
    return 0;
}
