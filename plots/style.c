/* The house style's numbers. */
#include "plots/style.h"

#include <assert.h>
#include <math.h>

const struct style_page STYLE_PAGE_SINGLE = {240.0, 200.0, 1.0};
const struct style_page STYLE_PAGE_DOUBLE = {496.8, 300.0, 1.0};
const struct style_page STYLE_PAGE_SLIDE = {480.0, 268.8, 1.5};
const struct style_page STYLE_PAGE_WEB = {900.0, 506.25, 1.0};

struct slot_style {
    uint32_t rgb;
    const char *name;
};

static const struct slot_style slots[STYLE_SLOT_COUNT] = {
    [STYLE_FORWARD] = {0x0072B2, "forward compute"},
    [STYLE_BACKWARD] = {0x003F63, "backward compute"},
    [STYLE_WEIGHT_GRADIENT] = {0xA9D2EA, "weight gradient"},
    [STYLE_EXPERT_PARALLEL] = {0xD55E00, "expert all-to-all"},
    [STYLE_DATA_PARALLEL] = {0xE69F00, "data-parallel communication"},
    [STYLE_PIPELINE_PARALLEL] = {0x56B4E9, "pipeline send and receive"},
    [STYLE_TENSOR_PARALLEL] = {0xCC79A7, "tensor-parallel communication"},
    [STYLE_OPTIMIZER] = {0x009E73, "optimizer"},
    [STYLE_BUBBLE] = {0xEDEDED, "waiting"},
    [STYLE_HOST] = {0xBDBDBD, "host"},
    [STYLE_MEASURED] = {0x000000, "measured"},
    [STYLE_OTHER] = {0x666666, "other"},
};

uint32_t
style_colour(enum style_slot slot)
{
    assert(slot < STYLE_SLOT_COUNT);
    return slots[slot].rgb;
}

const char *
style_slot_name(enum style_slot slot)
{
    assert(slot < STYLE_SLOT_COUNT);
    return slots[slot].name;
}

uint32_t
style_shade(uint32_t rgb, double shade)
{
    double target = shade < 0.0 ? 255.0 : 0.0;
    double part = fmin(fabs(shade), 1.0);
    uint32_t mixed = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double channel = (double)((rgb >> shift) & 0xFFu);
        mixed |= (uint32_t)lround(channel + part * (target - channel)) << shift;
    }
    return mixed;
}

/* WCAG 2.1, "relative luminance": sRGB channels made linear, weighted as the eye does. */
static double
relative_luminance(uint32_t rgb)
{
    const double weights[3] = {0.2126, 0.7152, 0.0722};
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        double channel = (double)((rgb >> (16 - 8 * i)) & 0xFFu) / 255.0;
        double linear =
            channel <= 0.04045 ? channel / 12.92 : pow((channel + 0.055) / 1.055, 2.4);
        sum += weights[i] * linear;
    }
    return sum;
}

double
style_contrast_ratio(uint32_t a, uint32_t b)
{
    double first = relative_luminance(a) + 0.05, second = relative_luminance(b) + 0.05;
    return fmax(first, second) / fmin(first, second);
}

uint32_t
style_text_on(uint32_t rgb)
{
    const uint32_t white = 0xFFFFFF, black = 0x000000;
    return style_contrast_ratio(white, rgb) >= style_contrast_ratio(black, rgb) ? white : black;
}
