/* The training step that a run of the simulator asks for. */
#ifndef VALIDATE_TRAINING_QUESTION_H
#define VALIDATE_TRAINING_QUESTION_H

#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "validate/training_shape.h"

/* configs/runs/NAME.json, and settings as `stepcast run --set` takes them. */
struct training_question {
    const char *run;
    const char *const *settings;
    size_t setting_count;
};

/* False after adding every fault: of the files, and what of the model or the plan is not trained
 * here, each by its key. */
bool training_question_read(const struct training_question *question,
                            struct training_shape *shape, struct arena *arena,
                            struct error_list *errors);

/* A line of a list: {"run": "configs/runs/host-moe.json", "settings": ["model.hidden=128"]}, its
 * path relative to the list. */
bool training_question_parse(const struct json *line, struct training_question *question,
                             struct arena *arena, struct error_list *errors);

struct run;
/* The same of a run that has been read already. */
bool training_question_shape(const struct run *run, struct training_shape *shape,
                             struct error_list *errors);

#endif
