/* fp64 references of the convolution, one result at a time. */
#include "validate/cpu_check.h"

/* Where w[tap, in, out] lies, both channels counted within their group. */
static int64_t
weight_at(const struct convolution *shape, int64_t tap, int64_t in, int64_t channel)
{
    int64_t width = shape->channels / shape->groups, group = channel / width;
    return ((tap * shape->groups + group) * width + in) * width + channel % width;
}

static double
output(const struct convolution *shape, const union cpu_array *before, int64_t token,
       int64_t channel)
{
    int64_t width = shape->channels / shape->groups, first = channel / width * width;
    double sum = 0;
    for (int64_t tap = 0; tap < shape->taps && tap <= token; tap++)
        for (int64_t in = 0; in < width; in++)
            sum += (double)before[0].reals[(token - tap) * shape->channels + first + in] *
                   (double)before[1].reals[weight_at(shape, tap, in, channel)];
    return sum;
}

static double
input_slope(const struct convolution *shape, const union cpu_array *before, int64_t token,
            int64_t channel)
{
    int64_t width = shape->channels / shape->groups, first = channel / width * width;
    double sum = 0;
    for (int64_t tap = 0; tap < shape->taps && token + tap < shape->tokens; tap++)
        for (int64_t out = first; out < first + width; out++)
            sum += (double)before[2].reals[(token + tap) * shape->channels + out] *
                   (double)before[1].reals[weight_at(shape, tap, channel - first, out)];
    return sum;
}

static double
weight_slope(const struct convolution *shape, const union cpu_array *before, int64_t place)
{
    int64_t width = shape->channels / shape->groups;
    int64_t tap = place / (shape->channels * width),
            group = place / (width * width) % shape->groups;
    int64_t in = group * width + place / width % width, out = group * width + place % width;
    double sum = 0;
    for (int64_t token = tap; token < shape->tokens; token++)
        sum += (double)before[0].reals[(token - tap) * shape->channels + in] *
               (double)before[2].reals[token * shape->channels + out];
    return sum;
}

void
cpu_check_convolution(const struct kernel *kernel, const union cpu_array *before,
                      const union cpu_array *after, struct cpu_error *error)
{
    const struct convolution *shape = &kernel->convolution;
    bool is_backward = kernel->direction == DIRECTION_BACKWARD;
    int64_t weights = shape->taps * shape->channels * (shape->channels / shape->groups);
    for (int64_t place = 0; place < shape->tokens * shape->channels; place++) {
        int64_t token = place / shape->channels, channel = place % shape->channels;
        cpu_error_add(error, (double)after[is_backward ? 3 : 2].reals[place],
                      (is_backward ? input_slope : output)(shape, before, token, channel));
    }
    for (int64_t place = 0; is_backward && place < weights; place++)
        cpu_error_add(error, (double)after[4].reals[place], weight_slope(shape, before, place));
}
