/* How long a model takes from its file to its tensors and the operators of every block. */
#include <stdio.h>
#include <stdlib.h>

#include "models/operators.h"
#include "models/tensors.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_clock.h"

enum { REPEATS = 200 };

struct times {
    double read_s, tensors_s, operators_s;
};

static const struct software *
read_stack(struct arena *arena, struct error_list *errors)
{
    const struct json *object =
        json_read_file(arena, "configs/software/pytorch-eager.json", errors);
    return object ? software_read(object, arena, errors) : NULL;
}

static struct times
measure(const char *path)
{
    static const struct plan plan = {.sequence_tokens = 4096,
                                     .microbatch_sequences = 1,
                                     .compute_dtype = DTYPE_BF16,
                                     .gradient_dtype = DTYPE_FP32};
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct software *software = read_stack(arena, &errors);
    double begin_s = check_cpu_s();
    const struct json *config = json_read_file(arena, path, &errors);
    const struct arch *arch = config ? arch_read(config, arena, &errors) : NULL;
    double read_s = check_cpu_s();
    if (!arch || !software)
        exit(EXIT_FAILURE);
    (void)tensors_of(arch, arena);
    double listed_s = check_cpu_s();
    struct workload workload = {arch, &plan, software};
    for (int block = 0; block < BLOCK_COUNT; block++)
        (void)operators_of(&workload, (enum block)block, arena);
    struct times times = {read_s - begin_s, listed_s - read_s, check_cpu_s() - listed_s};
    arena_free(arena);
    return times;
}

static void
print_quickest(const char *name, const char *path)
{
    struct times best = measure(path);
    for (int i = 1; i < REPEATS; i++) {
        struct times times = measure(path);
        best.read_s = times.read_s < best.read_s ? times.read_s : best.read_s;
        best.tensors_s = times.tensors_s < best.tensors_s ? times.tensors_s : best.tensors_s;
        best.operators_s =
            times.operators_s < best.operators_s ? times.operators_s : best.operators_s;
    }
    (void)printf("model_%s_read_s %.4g\n", name, best.read_s);
    (void)printf("model_%s_tensors_s %.4g\n", name, best.tensors_s);
    (void)printf("model_%s_operators_s %.4g\n", name, best.operators_s);
}

int
main(void)
{
    print_quickest("zaya1", "configs/models/zaya1-base.json");
    print_quickest("deepseek_v3", "configs/models/deepseek-v3.json");
    return EXIT_SUCCESS;
}
