/* Whether an fp8 recipe goes with the device, the model's sizes and the rest of the plan. */
#include "models/plan_check_fp8.h"

/* What a check needs to see and where it tells. */
struct check {
    const struct plan *plan;
    const struct json *object; /* the plan's file */
    const struct arch *arch;
    const struct cluster *cluster;
    struct error_list *errors;
};

static const char *
place_of(const struct check *check, const char *key)
{
    const struct json *value = json_member(check->object, key);
    return json_where(value ? value : check->object);
}

/* Matrix units take fp8 in 16 bytes at once along each side of a product (torch._scaled_mm:
 * "trailing dimension ... divisible by 16"; Transformer Engine, user guide, "FP8 autocasting"). */
enum { FP8_GRANULE = 16 };

static void
check_granule(const struct check *check, const char *noun, int64_t count)
{
    const struct plan *plan = check->plan;
    int64_t nearest = (count + FP8_GRANULE - 1) / FP8_GRANULE * FP8_GRANULE;
    if (count % FP8_GRANULE != 0)
        error_add(
            check->errors, ERROR_INFEASIBLE, place_of(check, "fp8_recipe"),
            "%s: products in fp8 take multiples of %d, found %lld %s, the nearest is %lld",
            fp8_recipe_name(plan->fp8_recipe), FP8_GRANULE, (long long)count, noun,
            (long long)nearest);
}

/* Sides of the layers' products on one rank; rows of experts are padded. */
static void
check_granules(const struct check *check)
{
    const struct plan *plan = check->plan;
    const struct arch *arch = check->arch;
    bool has_dense = arch->experts == 0 || arch->dense_layers > 0;
    check_granule(check, "channels of the model", arch->hidden);
    check_granule(check, "channels of the queries of a rank",
                  arch_query_width(arch) / plan->tensor);
    if (has_dense)
        check_granule(check, "channels of the feed-forward of a rank",
                      arch->dense_ffn / plan->tensor);
    if (arch->experts > 0)
        check_granule(check, "channels of an expert of a rank",
                      arch->expert_ffn / plan->expert_tensor);
    check_granule(check, "tokens of a microbatch of a rank",
                  plan_microbatch_tokens(plan) / plan->context);
}

static bool
check_fp8_switch(const struct check *check, const char *key, const char *wanted)
{
    return error_add(check->errors, ERROR_INFEASIBLE, place_of(check, key),
                     "is true, but fp8_recipe is %s, wanted %s, or false",
                     fp8_recipe_name(check->plan->fp8_recipe), wanted);
}

static bool
has_row_scales(enum fp8_recipe recipe)
{
    return recipe == FP8_ROWWISE || recipe == FP8_ROWWISE_WITH_GW_HP;
}

/* A row's scale needs the row whole: weights are cut over ranks without minding rows (torchao,
 * float8/config.py: float8 all-gather takes tensorwise scales only; Megatron-LM's takes blocks
 * too). */
bool
plan_check_fp8(const struct plan *plan, const struct json *object, const struct arch *arch,
               const struct cluster *cluster, struct error_list *errors)
{
    const struct check given = {plan, object, arch, cluster, errors}, *check = &given;
    const struct device *device = cluster->device;
    enum fp8_recipe recipe = plan->fp8_recipe;
    if (plan->gathers_weights_in_fp8 && (recipe == FP8_NONE || has_row_scales(recipe)))
        return check_fp8_switch(check, "gathers_weights_in_fp8",
                                "tensorwise, delayed or blockwise");
    if (plan->dispatches_in_fp8 && recipe == FP8_NONE)
        return check_fp8_switch(check, "dispatches_in_fp8", "one of the recipes");
    if (recipe == FP8_NONE)
        return true;
    if (device->peak_flop_per_s[DTYPE_FP8] <= 0 ||
        device->gemm.sustained_flop_per_s[DTYPE_FP8] <= 0)
        return error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "fp8_recipe"),
                         "is %s, but %s multiplies no fp8, wanted none",
                         fp8_recipe_name(recipe), device->name);
    if (plan->compute_dtype != DTYPE_BF16 && plan->compute_dtype != DTYPE_FP16)
        return error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "compute_dtype"),
                         "is %s, beside an fp8_recipe wanted bf16 or fp16",
                         dtype_name(plan->compute_dtype));
    check_granules(check);
    return true;
}
