/* In which order a pipeline stage runs its microbatches. */
#include "models/schedule.h"

#include <assert.h>

struct schedule
schedule_1f1b(int64_t stages, int64_t stage, int64_t microbatches, struct arena *arena)
{
    assert(stage >= 0 && stage < stages && microbatches > 0);
    int64_t warm_up = stages - stage - 1 < microbatches ? stages - stage - 1 : microbatches;
    struct schedule_step *steps = arena_alloc(arena, (size_t)(2 * microbatches), sizeof *steps);
    int64_t count = 0, forward = 0, backward = 0;
    while (forward < warm_up)
        steps[count++] = (struct schedule_step){DIRECTION_FORWARD, forward++};
    while (backward < microbatches) {
        if (forward < microbatches)
            steps[count++] = (struct schedule_step){DIRECTION_FORWARD, forward++};
        steps[count++] = (struct schedule_step){DIRECTION_BACKWARD, backward++};
    }
    return (struct schedule){steps, count};
}
