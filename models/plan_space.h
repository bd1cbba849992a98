/* The plans that a search looks at: a list of values for each degree and choice, and which of their
 * combinations are legal. */
#ifndef MODELS_PLAN_SPACE_H
#define MODELS_PLAN_SPACE_H

#include "models/run.h"

/* In the order in which they are settled: what is refused early need not be spelled out. */
enum plan_field {
    PLAN_FIELD_TENSOR,
    PLAN_FIELD_CONTEXT,
    PLAN_FIELD_PIPELINE,
    PLAN_FIELD_EXPERT,
    PLAN_FIELD_EXPERT_TENSOR,
    PLAN_FIELD_MICROBATCH,
    PLAN_FIELD_SCHEDULE,       /* enum schedule_kind */
    PLAN_FIELD_VIRTUAL_STAGES, /* 1 but of interleaved stages */
    PLAN_FIELD_ZERO_STAGE,
    PLAN_FIELD_RECOMPUTE, /* enum recompute_kind */
    PLAN_FIELD_ORDER,     /* 0: stages outermost; 1: data ranks outermost */
    PLAN_FIELD_COUNT
};
const char *plan_field_key(enum plan_field field); /* "microbatch_sequences", as in a file */

/* Why a combination is no plan of its own. */
enum plan_refusal {
    PLAN_LEGAL,
    PLAN_REDUNDANT, /* does the same as another: a schedule without stages */
    PLAN_TENSOR,    /* does not divide heads or channels */
    PLAN_SEQUENCE,  /* the sequence cannot be cut so */
    PLAN_LAYERS,    /* stages are not even */
    PLAN_EXPERTS,   /* does not divide the experts or their channels */
    PLAN_GPUS,      /* degrees do not divide the GPUs */
    PLAN_BATCH,     /* microbatches do not make up the batch */
    PLAN_SCHEDULE,  /* too few microbatches for the schedule */
    PLAN_UNCHECKED, /* whatever else plan_check holds against it */
    PLAN_REFUSAL_COUNT
};
const char *plan_refusal_key(enum plan_refusal refusal); /* "tensor" */

struct plan_values {
    const int64_t *values; /* each once, ascending */
    size_t count;
};

struct plan_space {
    const struct run *base;
    struct plan_values fields[PLAN_FIELD_COUNT];
};

/* A plan by its values. */
struct plan_point {
    int64_t values[PLAN_FIELD_COUNT];
};

/* Tensor and context ranks within a node; stages as far as there are layers, expert ranks as far as
 * there are experts, each expert whole; microbatches of 1, 2, 4, 8, 16 sequences, up to four chunks
 * a stage; every schedule, ZeRO stage and recomputation; stages outermost. plan_space_set asks for
 * more or fewer. */
struct plan_space plan_space_of(const struct run *base, struct arena *arena);

/* One field's values as words of a plan's file ("1f1b", "2"): false when one is none. */
bool plan_space_set(struct plan_space *space, enum plan_field field, const char *const *words,
                    size_t count, struct arena *arena);

/* Which words it takes: "none, selective, full, every_other_product", "0 to 3". */
const char *plan_field_wanted(enum plan_field field, struct arena *arena);

/* The word that stands for a value in a plan's file. */
const char *plan_field_word(enum plan_field field, int64_t value, struct arena *arena);

/* Legal and refused ones. */
double plan_space_combinations(const struct plan_space *space);

struct plan_counts {
    size_t legal_count;
    double refused_count[PLAN_REFUSAL_COUNT]; /* combinations by their first refusal */
};

typedef void plan_visit(void *context, const struct plan_point *point);

/* Visits all legal plans in order of their values, the last field fastest; NULL only counts. */
struct plan_counts plan_space_walk(const struct plan_space *space, plan_visit *visit,
                                   void *context);

/* A plan's place among all combinations, in the order of the walk, and back. The space has at most
 * PLAN_SPACE_MAX of them. */
uint64_t plan_space_place(const struct plan_space *space, const struct plan_point *point);
struct plan_point plan_space_point(const struct plan_space *space, uint64_t place);
#define PLAN_SPACE_MAX 1e18

/* The base's plan with the values of a point; `object` stands in messages. */
struct plan plan_space_plan(const struct plan_space *space, const struct plan_point *point);

/* "--set plan.tensor=2 --set plan.pipeline=4": what makes the base's plan this one, or "". */
const char *plan_space_settings(const struct plan_space *space, const struct plan_point *point,
                                struct arena *arena);

#endif
