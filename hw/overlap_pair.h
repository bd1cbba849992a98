/* A stream of equal kernels and one of equal collectives on the same GPUs: what models price
 * and what was measured. */
#ifndef HW_OVERLAP_PAIR_H
#define HW_OVERLAP_PAIR_H

#include "hw/collective.h"
#include "hw/kernel.h"

struct overlap_pair {
    struct kernel kernel;
    struct collective collective;
    int64_t kernel_count, collective_count; /* one after the other in their streams */
    /* What each stream takes alone, if that is known; 0: as the kernel and the collective are
     * priced. What the pair takes of the GPU is priced in any case. */
    double kernels_alone_s, collectives_alone_s;
};

#endif
