/* Broken plans and software stacks: whatever the text, they are read or refused. */
#include <setjmp.h>
#include <stdint.h>

#include "models/plan.h"
#include "models/software.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
leave(void *context, size_t wanted_bytes)
{
    (void)wanted_bytes;
    jmp_buf *out = context;
    longjmp(*out, 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jmp_buf out;
    struct arena_policy policy = {256u << 20, leave, &out};
    struct arena *volatile arena = NULL;
    struct error_list errors = {0};
    if (setjmp(out) == 0) {
        arena = arena_new(&policy);
        const struct json *object =
            json_read_text(arena, "fuzz.json", 1, (const char *)data, size, &errors);
        if (object) {
            plan_read(object, arena, &errors);
            software_read(object, arena, &errors);
        }
    }
    arena_free(arena);
    return 0;
}
