/* For tests only: the shipped models, and models of a few lines. */
#ifndef MODELS_CHECK_ARCH_H
#define MODELS_CHECK_ARCH_H

#include <string.h>

#include <check.h>

#include "models/arch.h"

/* configs/models/NAME.json; ends the test when it is faulty. */
static inline const struct arch *
check_arch_read(struct arena *arena, const char *name)
{
    struct error_list errors = {0};
    const char *path = arena_format(arena, "configs/models/%s.json", name);
    const struct json *config = json_read_file(arena, path, &errors);
    const struct arch *arch = config ? arch_read(config, arena, &errors) : NULL;
    ck_assert_msg(arch != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return arch;
}

/* The text as "m.json"; NULL and its faults in errors when it is no model. */
static inline const struct arch *
check_arch_of(struct arena *arena, const char *text, struct error_list *errors)
{
    const struct json *config = json_read_text(arena, "m.json", 1, text, strlen(text), errors);
    ck_assert_msg(config != NULL, "%s: %s", errors->items[0].where, errors->items[0].what);
    return arch_read(config, arena, errors);
}

#endif
