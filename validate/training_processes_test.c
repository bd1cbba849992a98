/* Does a step cut over processes give the gradients and the loss of one process?
 *
 * Of one process it is the same; make unit-mpi asks three. */
#include "validate/training_check.h"

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *training_processes_suite(void);

static struct arena *arena;
static struct process_group *world;

static void
open_world(void)
{
    arena = check_arena_new();
    world = process_world_open(arena);
}

static void
close_world(void)
{
    process_world_close();
    arena_free(arena);
}

/* Everything can be cut in three. */
static struct training_shape
shape_of_one(void)
{
    return (struct training_shape){
        .layers = 3,
        .hidden = 24,
        .vocab = 40,
        .query_heads = 6,
        .kv_heads = 3,
        .head_dim = 8,
        .experts = 6,
        .experts_per_token = 2,
        .expert_ffn = 20,
        .sequence_tokens = 12,
        .microbatch_sequences = 1,
        .global_batch_sequences = 6,
        .data = 1,
        .tensor = 1,
        .pipeline = 1,
        .expert = 1,
        .newton_schulz_steps = 5,
    };
}

static void
check_as_one(const struct training_shape *shape)
{
    struct training *step = training_new(shape, world, training_device_cpu(arena), 1, arena);
    ck_assert_double_lt(training_check_alone(step, arena), 2e-6);
    const struct training_shape one = training_shape_alone(shape);
    const struct process_group *self = process_group_split(world, world->rank, arena);
    struct training *alone = training_new(&one, self, training_device_cpu(arena), 1, arena);
    training_run_passes(alone);
    CHECK_NEAR(training_loss(step), training_loss(alone), 1e-6);
}

START_TEST(data_ranks)
{
    struct training_shape shape = shape_of_one();
    shape.data = world->size;
    check_as_one(&shape);
}
END_TEST

START_TEST(expert_ranks)
{
    struct training_shape shape = shape_of_one();
    shape.data = shape.expert = world->size;
    check_as_one(&shape);
}
END_TEST

START_TEST(tensor_ranks)
{
    struct training_shape shape = shape_of_one();
    shape.tensor = world->size;
    check_as_one(&shape);
}
END_TEST

/* The experts are shared out among the ranks that share a sequence. */
START_TEST(tensor_and_expert_ranks)
{
    struct training_shape shape = shape_of_one();
    shape.tensor = shape.expert = world->size;
    check_as_one(&shape);
}
END_TEST

START_TEST(stages)
{
    struct training_shape shape = shape_of_one();
    shape.pipeline = world->size;
    check_as_one(&shape);
}
END_TEST

Suite *
training_processes_suite(void)
{
    Suite *suite = suite_create("training_processes");
    TCase *tests = tcase_create("plans");
    tcase_add_unchecked_fixture(tests, open_world, close_world);
    tcase_add_test(tests, data_ranks);
    tcase_add_test(tests, expert_ranks);
    tcase_add_test(tests, tensor_ranks);
    tcase_add_test(tests, tensor_and_expert_ranks);
    tcase_add_test(tests, stages);
    suite_add_tcase(suite, tests);
    return suite;
}
