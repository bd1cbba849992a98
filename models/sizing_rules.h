/* The rules of "The Case for Co-Designing Model Architectures with Hardware" (arXiv 2401.14489) by
 * which widths are chosen, and the one of arXiv 2511.17127 on how large products must be, held
 * against a run one by one. */
#ifndef MODELS_SIZING_RULES_H
#define MODELS_SIZING_RULES_H

#include "models/explain.h"

enum sizing_verdict {
    SIZING_HOLDS,
    SIZING_BROKEN,
    SIZING_SILENT /* has nothing to say of it */
};

struct sizing_rule {
    const char *key;   /* "vocabulary" */
    const char *rule;  /* "the vocabulary is a multiple of 64" */
    const char *found; /* "262272, divisible by 128" */
    const char *source;
    enum sizing_verdict verdict;
};

enum { SIZING_RULES_MAX = 12 };

/* How many there are; those of a source one behind the other. */
int sizing_rules(const struct explanation *explanation,
                 struct sizing_rule rules[SIZING_RULES_MAX], struct arena *arena);

/* "305 tiles on 304 compute units: 2 waves, the last for 0.3 % of them". */
const char *sizing_waves(const struct kernel_cost *cost, const struct device *device,
                         struct arena *arena);

/* Of the compute units that the waves of a product hold, the part that has a tile; 0 where tiles
 * are dealt out otherwise than one a unit and wave. */
double sizing_wave_fraction(const struct kernel_cost *cost, const struct device *device);

/* Of the area of a product's tiles, the part that is result, m n / (tiles x tile_m x tile_n) (arXiv
 * 2401.14489); 0 where its tiles are not known. */
double sizing_tile_fraction(const struct kernel *kernel, const struct kernel_cost *cost);

#endif
