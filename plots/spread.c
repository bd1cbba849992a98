/* Isotonic regression by pooling neighbours (Robertson, Wright and Dykstra, "Order restricted
 * statistical inference", 1988): labels that would touch become a block that stands at the mean of
 * what its members want. Taking off each label's place in a tight row turns "at least this far
 * apart" into "not descending"; the range only clamps the result. */
#include "plots/spread.h"

#include <math.h>

struct block {
    double sum;
    size_t count;
};

static double
block_mean(const struct block *block)
{
    return block->sum / (double)block->count;
}

/* Adds a label's wanted place as a block, and pools while the row of means descends. */
static size_t
pool(struct block *blocks, size_t block_count, double wanted)
{
    blocks[block_count++] = (struct block){wanted, 1};
    while (block_count > 1 &&
           block_mean(&blocks[block_count - 2]) > block_mean(&blocks[block_count - 1])) {
        blocks[block_count - 2].sum += blocks[block_count - 1].sum;
        blocks[block_count - 2].count += blocks[block_count - 1].count;
        block_count--;
    }
    return block_count;
}

bool
spread_labels(struct arena *arena, struct spread_label *labels, size_t count,
              const double range[2], double gap)
{
    double length = 0.0;
    struct block *blocks = arena_alloc(arena, count + 1, sizeof *blocks);
    size_t block_count = 0;
    for (size_t i = 0; i < count; i++) {
        double offset = length + labels[i].width / 2;
        block_count = pool(blocks, block_count, labels[i].wanted - offset);
        length += labels[i].width + gap;
    }
    double last_start = range[1] - (length - gap);
    if (count > 0 && last_start < range[0])
        return false;
    size_t label = 0;
    length = 0.0;
    for (size_t b = 0; b < block_count; b++) {
        double start = fmax(range[0], fmin(last_start, block_mean(&blocks[b])));
        for (size_t i = 0; i < blocks[b].count; i++, label++) {
            labels[label].centre = start + length + labels[label].width / 2;
            length += labels[label].width + gap;
        }
    }
    return true;
}
