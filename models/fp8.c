/* What casting the operands of products to fp8 moves through memory. */
#include "models/fp8.h"

/* Both kinds, E4M3 and E5M2. */
static const double NARROW_BYTES = 1;
/* Of tiles of 1 x 128: a scale in fp32 each (arXiv 2412.19437 section 3.3.2). */
static const double TILE_ELEMENTS = 128, SCALE_BYTES = 4;

struct fp8_setting
fp8_setting_of(const struct plan *plan, const struct software *software)
{
    struct fp8_setting setting = {.wide_bytes = dtype_bytes(plan->compute_dtype)};
    if (plan->fp8_recipe == FP8_NONE || !software->fp8)
        return setting;
    setting.recipe = plan->fp8_recipe;
    setting.stack = *software->fp8;
    setting.is_frozen = plan->adapters != NULL;
    setting.has_narrow_weights = plan->gathers_weights_in_fp8;
    setting.casts_weights_once = software->fp8->casts_weights_once && plan->zero_stage < 3;
    return setting;
}

double
fp8_activation_bytes(enum fp8_recipe recipe)
{
    return NARROW_BYTES + (recipe == FP8_BLOCKWISE ? SCALE_BYTES / TILE_ELEMENTS : 0);
}

bool
fp8_has_wide_weight_gradient(enum fp8_recipe recipe)
{
    return recipe == FP8_ROWWISE_WITH_GW_HP;
}

static bool
is_of_tensor(enum fp8_recipe recipe)
{
    return recipe == FP8_TENSORWISE || recipe == FP8_DELAYED;
}

/* One more launch each, where anything is moved. */
static struct fp8_cast
joined(struct fp8_cast first, struct fp8_cast second)
{
    return (struct fp8_cast){first.read + second.read, first.write + second.write,
                             first.launches + second.launches,
                             first.is_turned || second.is_turned};
}

static const struct fp8_cast NOTHING = {0, 0, 0, false};

/* Reading it for its largest value alone. */
static struct fp8_cast
scaling(double read_bytes)
{
    return (struct fp8_cast){read_bytes, 0, read_bytes > 0, false};
}

static struct fp8_cast
casting(double read_bytes, double write_bytes)
{
    return (struct fp8_cast){read_bytes, write_bytes, 1, false};
}

/* With so many copies, of so many bytes an element each. */
static struct fp8_cast
copying(double read_bytes, double copies, double write_bytes)
{
    return (struct fp8_cast){read_bytes, copies * write_bytes, 1, copies > 1};
}

/* Of an activation along the depth of the product that comes next, with `copies` of it. The kernel
 * that makes it can find its largest value; where that is all of the scale, cast it as well. */
static struct fp8_cast
cast_activation(const struct fp8_setting *setting, enum fp8_origin origin, double copies)
{
    double wide = setting->wide_bytes;
    double narrow = fp8_activation_bytes(setting->recipe);
    bool is_fused = setting->stack.fuses_casts && origin == FP8_MADE;
    if (setting->recipe == FP8_TENSORWISE)
        return joined(scaling(is_fused ? 0 : wide), copying(wide, copies, narrow));
    return is_fused ? (struct fp8_cast){0, copies * narrow, 0, false}
                    : copying(wide, copies, narrow);
}

/* The other way round, from an element of so many bytes, with scales of that way: a tile's are
 * found on the way, a whole column's after reading it. */
static struct fp8_cast
cast_across(const struct fp8_setting *setting, double from_bytes)
{
    double narrow = fp8_activation_bytes(setting->recipe);
    bool is_column = setting->recipe == FP8_ROWWISE;
    return joined(scaling(is_column ? from_bytes : 0), casting(from_bytes, narrow));
}

/* The copy that is the other one turned. */
static struct fp8_cast
turn(const struct fp8_setting *setting)
{
    return setting->stack.transposes_operands ? casting(NARROW_BYTES, NARROW_BYTES) : NOTHING;
}

/* With the copy for the weight gradient beside it, where that is to be kept. */
static struct fp8_cast
cast_both_ways(const struct fp8_setting *setting, enum fp8_origin origin)
{
    if (setting->recipe != FP8_NONE && setting->is_frozen)
        return cast_activation(setting, origin, 1);
    switch (setting->recipe) {
    case FP8_TENSORWISE:
    case FP8_DELAYED:
        return cast_activation(setting, origin, setting->stack.transposes_operands ? 2 : 1);
    case FP8_BLOCKWISE:
        return cast_activation(setting, origin, 2);
    case FP8_ROWWISE:
        return joined(cast_activation(setting, origin, 1),
                      cast_across(setting, setting->wide_bytes));
    case FP8_ROWWISE_WITH_GW_HP:
        return cast_activation(setting, origin, 1);
    case FP8_NONE:
        break;
    }
    return NOTHING;
}

struct fp8_cast
fp8_cast_input(const struct fp8_setting *setting, enum fp8_origin origin)
{
    if (setting->recipe == FP8_NONE || origin == FP8_RECEIVED)
        return NOTHING;
    return setting->stack.keeps_inputs ? cast_both_ways(setting, origin)
                                       : cast_activation(setting, origin, 1);
}

/* From what came in fp8; from what was kept wide: of one scale a tensor that is known by now. */
struct fp8_cast
fp8_cast_input_again(const struct fp8_setting *setting, enum fp8_origin origin)
{
    bool is_narrow = origin == FP8_RECEIVED;
    bool is_done = setting->stack.keeps_inputs && !is_narrow;
    if (setting->recipe == FP8_NONE || is_done || setting->is_frozen ||
        fp8_has_wide_weight_gradient(setting->recipe))
        return NOTHING;
    if (is_narrow && is_of_tensor(setting->recipe))
        return turn(setting);
    return cast_across(setting,
                       is_narrow ? fp8_activation_bytes(setting->recipe) : setting->wide_bytes);
}

struct fp8_cast
fp8_cast_gradient(const struct fp8_setting *setting, enum fp8_origin origin)
{
    return origin == FP8_RECEIVED ? fp8_cast_input_again(setting, origin)
                                  : cast_both_ways(setting, origin);
}

/* A weight's scales: of the tensor; of each row; of square blocks, found on the way. */
static struct fp8_cast
cast_weight(const struct fp8_setting *setting, double from_bytes, double copies)
{
    double first = setting->recipe == FP8_TENSORWISE ? from_bytes : 0;
    return joined(scaling(first), copying(from_bytes, copies, NARROW_BYTES));
}

/* For the input gradient: its own scales, or the scale that is known by now. */
static struct fp8_cast
cast_weight_across(const struct fp8_setting *setting)
{
    double first = setting->recipe == FP8_ROWWISE ? setting->wide_bytes : 0;
    return joined(scaling(first), casting(setting->wide_bytes, NARROW_BYTES));
}

static bool
has_row_scales(enum fp8_recipe recipe)
{
    return recipe == FP8_ROWWISE || recipe == FP8_ROWWISE_WITH_GW_HP;
}

struct fp8_cast
fp8_cast_weight(const struct fp8_setting *setting)
{
    if (setting->recipe == FP8_NONE || setting->casts_weights_once ||
        setting->has_narrow_weights)
        return NOTHING;
    return cast_weight(setting, setting->wide_bytes, 1);
}

struct fp8_cast
fp8_cast_weight_again(const struct fp8_setting *setting)
{
    if (setting->recipe == FP8_NONE || setting->casts_weights_once)
        return NOTHING;
    return setting->has_narrow_weights ? turn(setting) : cast_weight_across(setting);
}

struct fp8_cast
fp8_cast_weight_once(const struct fp8_setting *setting)
{
    if (setting->recipe == FP8_NONE || !setting->casts_weights_once)
        return NOTHING;
    if (setting->has_narrow_weights)
        return turn(setting);
    if (has_row_scales(setting->recipe))
        return joined(cast_weight(setting, setting->wide_bytes, 1),
                      cast_weight_across(setting));
    return cast_weight(setting, setting->wide_bytes,
                       setting->stack.transposes_operands ? 2 : 1);
}

struct fp8_cast
fp8_cast_master(const struct fp8_setting *setting)
{
    if (setting->recipe == FP8_NONE || !setting->has_narrow_weights)
        return NOTHING;
    return cast_weight(setting, dtype_bytes(DTYPE_FP32), 1);
}

bool
fp8_is_dispatched(const struct plan *plan, const struct software *software)
{
    return plan->dispatches_in_fp8 && plan->expert > 1 &&
           fp8_setting_of(plan, software).recipe != FP8_NONE;
}

struct fp8_cast
fp8_cast_dispatched(const struct fp8_setting *setting)
{
    return setting->recipe == FP8_NONE ? NOTHING : cast_activation(setting, FP8_MADE, 1);
}

double
fp8_kept_bytes(const struct fp8_setting *setting)
{
    bool is_narrow = setting->recipe != FP8_NONE && setting->stack.keeps_inputs &&
                     !fp8_has_wide_weight_gradient(setting->recipe);
    return is_narrow ? fp8_activation_bytes(setting->recipe) : setting->wide_bytes;
}

bool
fp8_takes_tensor(const struct tensor *tensor)
{
    return tensor->is_matrix && tensor->part != PART_ROUTER;
}
