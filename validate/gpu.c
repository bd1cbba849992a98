/* Opening, memory and launches on one GPU. */
#include "validate/gpu.h"

#include <assert.h>
#include <math.h>

#include "sim/base/text.h"
#include "sim/base/units.h"
#include "validate/gpu_kernels.h"
#include "validate/gpu_streams.h"

/* As PyTorch gives cuBLAS on Hopper, and more than hipBLASLt's 32 MiB by default asks for. */
static const size_t WORKSPACE_BYTES = 33554432;

/* MI300X: AMD's last cache, the Infinity Cache, is not what the driver's attribute tells (its L2,
 * 4 MiB a die). AMD CDNA 3 white paper: 256 MB. */
static const double HIP_CACHE_BYTES = 268435456;

struct gpu_options
gpu_options_new(void)
{
    return (struct gpu_options){
        .graph_s = 0.02, .replays = 9, .sets_max = 16, .timeout_s = 60, .seed = 1};
}

bool
gpu_ok(const struct gpu *gpu, int status, const char *doing, struct error_list *errors)
{
    const char *text = NULL;
    if (status == 0)
        return true;
    if (status == GPU_STATUS_OUT_OF_MEMORY)
        return error_add(errors, ERROR_INFEASIBLE, "", "%s: out of device memory", doing);
    if (gpu->libraries.api.error_text(status, &text) != 0 || text == NULL)
        text = "unknown to the driver";
    return error_add(errors, ERROR_INFEASIBLE, "", "%s: %s (%d)", doing, text, status);
}

static int
attribute(const struct gpu *gpu, int which)
{
    int value = 0;
    return gpu->libraries.api.device_attribute(&value, which, gpu->device) == 0 ? value : 0;
}

static bool
find_device(struct gpu *gpu, int ordinal, struct error_list *errors)
{
    const struct gpu_api *api = &gpu->libraries.api;
    const char *driver = gpu_library_name(gpu->libraries.vendor, GPU_DRIVER);
    int status = api->init(0);
    if (status == 0)
        status = api->device_count(&gpu->device_count);
    if (status == GPU_STATUS_NO_DEVICE || (status == 0 && gpu->device_count == 0))
        return error_add(errors, ERROR_INFEASIBLE, "", "%s: no GPU in this machine", driver);
    if (!gpu_ok(gpu, status, driver, errors))
        return false;
    if (ordinal >= gpu->device_count)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "wanted GPU %d of the %d in this machine", ordinal, gpu->device_count);
    return gpu_ok(gpu, api->device_get(&gpu->device, ordinal), "the GPU", errors) &&
           gpu_ok(gpu, api->context_retain(&gpu->context, gpu->device), "the GPU", errors) &&
           gpu_ok(gpu, api->context_set(gpu->context), "the GPU", errors) &&
           gpu_ok(gpu, api->stream_new(&gpu->stream, GPU_STREAM_APART), "a stream", errors) &&
           gpu_ok(gpu, api->event_new(&gpu->start, 0), "an event", errors) &&
           gpu_ok(gpu, api->event_new(&gpu->end, 0), "an event", errors);
}

static void
describe(struct gpu *gpu, struct arena *arena)
{
    const struct gpu_api *api = &gpu->libraries.api;
    const double hz_per_khz = 1000;
    char name[128] = "";
    int driver = 0, major = 0, minor = 0;
    (void)api->device_name(name, (int)sizeof name - 1, gpu->device);
    (void)api->driver_version(&driver);
    (void)api->compiler_version(&major, &minor);
    double clock_hz = attribute(gpu, gpu->numbers->attribute_clock_khz) * hz_per_khz;
    double memory_hz = attribute(gpu, gpu->numbers->attribute_memory_clock_khz) * hz_per_khz;
    gpu->name = arena_format(arena, "%s, %d multiprocessors, at most %.4g Hz, memory %.4g Hz",
                             name, attribute(gpu, gpu->numbers->attribute_multiprocessors),
                             clock_hz, memory_hz);
    gpu->library =
        arena_format(arena, "%s %d, own kernels by %s %d.%d",
                     gpu_library_name(gpu->libraries.vendor, GPU_DRIVER), driver,
                     gpu_library_name(gpu->libraries.vendor, GPU_COMPILER), major, minor);
}

bool
gpu_open(struct gpu *gpu, enum gpu_vendor vendor, const char *library_path, int device,
         struct arena *arena, struct error_list *errors)
{
    *gpu = (struct gpu){.libraries = {.vendor = vendor, .path = library_path},
                        .numbers = gpu_numbers(vendor),
                        .options = gpu_options_new()};
    if (!gpu_library_open(&gpu->libraries, GPU_DRIVER, errors) ||
        !gpu_library_open(&gpu->libraries, GPU_COMPILER, errors) ||
        !find_device(gpu, device, errors)) {
        gpu_close(gpu);
        return false;
    }
    double cache_bytes = attribute(gpu, gpu->numbers->attribute_cache_bytes);
    gpu->options.cache_bytes =
        vendor == GPU_HIP ? fmax(HIP_CACHE_BYTES, cache_bytes) : cache_bytes;
    describe(gpu, arena);
    return true;
}

bool
gpu_open_blas(struct gpu *gpu, struct error_list *errors)
{
    const struct gpu_api *api = &gpu->libraries.api;
    if (gpu->workspace != NULL)
        return true;
    if (!gpu_library_open(&gpu->libraries, GPU_BLAS, errors))
        return false;
    if (gpu->blas == NULL && api->blas_new(&gpu->blas) != 0) {
        gpu->blas = NULL;
        return error_add(errors, ERROR_INFEASIBLE, "", "%s does not start on this GPU",
                         gpu_library_name(gpu->libraries.vendor, GPU_BLAS));
    }
    return gpu_ok(gpu, api->memory_new(&gpu->workspace, WORKSPACE_BYTES), "a workspace",
                  errors);
}

const char *
gpu_libraries_text(const struct gpu *gpu, struct arena *arena)
{
    const struct gpu_libraries *libraries = &gpu->libraries;
    const char *text = arena_format(arena, "%s, %s %lld", gpu->library,
                                    gpu_library_name(libraries->vendor, GPU_BLAS),
                                    (long long)gpu_api_blas_version(libraries, gpu->blas));
    int version = 0;
    if (libraries->handles[GPU_COLLECTIVES] == NULL ||
        libraries->api.collectives_version(&version) != 0)
        return text;
    return arena_format(arena, "%s, %s %d", text,
                        gpu_library_name(libraries->vendor, GPU_COLLECTIVES), version);
}

void
gpu_close(struct gpu *gpu)
{
    const struct gpu_api *api = &gpu->libraries.api;
    if (gpu->blas != NULL)
        (void)api->blas_free(gpu->blas);
    if (gpu->workspace != NULL)
        (void)api->memory_free(gpu->workspace);
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
        if (gpu->modules[dtype] != NULL)
            (void)api->module_free(gpu->modules[dtype]);
    gpu_streams_close(gpu);
    if (gpu->start != NULL)
        (void)api->event_free(gpu->start);
    if (gpu->end != NULL)
        (void)api->event_free(gpu->end);
    if (gpu->stream != NULL)
        (void)api->stream_free(gpu->stream);
    if (gpu->context != NULL)
        (void)api->context_release(gpu->device);
    gpu_libraries_close(&gpu->libraries);
    *gpu = (struct gpu){0};
}

/* ---- Kernels */

/* The lines of gpu_kernels.cu as one text. */
static const char *
source_text(struct arena *arena)
{
    struct text text = text_new(arena);
    for (int i = 0; gpu_kernel_lines[i] != NULL; i++)
        text_format(&text, "%s\n", gpu_kernel_lines[i]);
    return text.bytes;
}

static bool
compile_failed(const struct gpu *gpu, void *program, int status, struct arena *arena,
               struct error_list *errors)
{
    const struct gpu_api *api = &gpu->libraries.api;
    size_t size_bytes = 0;
    const char *compiler = gpu_library_name(gpu->libraries.vendor, GPU_COMPILER);
    if (api->program_log_size(program, &size_bytes) == 0 && size_bytes > 1) {
        char *log = arena_alloc(arena, size_bytes + 1, 1);
        if (api->program_log(program, log) == 0)
            return error_add(errors, ERROR_INFEASIBLE, "", "%s: %s", compiler, log);
    }
    return error_add(errors, ERROR_INFEASIBLE, "", "%s: %s", compiler,
                     api->compiler_error_text(status));
}

static const char *const real_options[DTYPE_COUNT] = {
    [DTYPE_FP64] = "-DREAL_FP64", [DTYPE_FP32] = "-DREAL_FP32", [DTYPE_TF32] = "-DREAL_FP32",
    [DTYPE_BF16] = "-DREAL_BF16", [DTYPE_FP16] = "-DREAL_FP16", [DTYPE_FP8] = "-DREAL_FP8",
    [DTYPE_INT8] = "-DREAL_INT8",
};

/* hipRTC compiles for the device in use when no architecture is asked for. */
static bool
compile(struct gpu *gpu, void *program, enum dtype dtype, struct arena *arena,
        struct error_list *errors)
{
    const struct gpu_api *api = &gpu->libraries.api;
    const char *options[] = {real_options[dtype], "-std=c++14",
                             arena_format(arena, "--gpu-architecture=sm_%d%d",
                                          attribute(gpu, gpu->numbers->attribute_major),
                                          attribute(gpu, gpu->numbers->attribute_minor))};
    int status =
        api->program_compile(program, gpu->libraries.vendor == GPU_CUDA ? 3 : 2, options);
    size_t size_bytes = 0;
    if (status != 0 || (status = api->program_code_size(program, &size_bytes)) != 0)
        return compile_failed(gpu, program, status, arena, errors);
    char *code = arena_alloc(arena, size_bytes, 1);
    if ((status = api->program_code(program, code)) != 0)
        return compile_failed(gpu, program, status, arena, errors);
    /* An older driver than the compiler's refuses its code: versions say so. */
    return gpu_ok(gpu, api->module_load(&gpu->modules[dtype], code),
                  arena_format(arena, "loading kernels (%s)", gpu->library), errors);
}

static bool
load_kernels(struct gpu *gpu, enum dtype dtype, struct arena *arena, struct error_list *errors)
{
    const struct gpu_api *api = &gpu->libraries.api;
    void *program = NULL;
    int status =
        api->program_new(&program, source_text(arena), "gpu_kernels.cu", 0, NULL, NULL);
    if (status != 0)
        return error_add(errors, ERROR_INFEASIBLE, "", "%s: %s",
                         gpu_library_name(gpu->libraries.vendor, GPU_COMPILER),
                         api->compiler_error_text(status));
    bool is_compiled = compile(gpu, program, dtype, arena, errors);
    (void)api->program_free(&program);
    return is_compiled;
}

void *
gpu_function(struct gpu *gpu, enum dtype dtype, const char *name, struct arena *arena,
             struct error_list *errors)
{
    void *function = NULL;
    if (gpu->modules[dtype] == NULL && !load_kernels(gpu, dtype, arena, errors))
        return NULL;
    int status = gpu->libraries.api.module_function(&function, gpu->modules[dtype], name);
    if (status == 0)
        return function;
    error_add(errors, ERROR_INPUT, "", "there is no own kernel %s for %s", name,
              dtype_name(dtype));
    return NULL;
}

bool
gpu_launch(const struct gpu *gpu, void *function, struct gpu_shape shape, void **arguments,
           struct error_list *errors)
{
    const int64_t grid_max = INT32_MAX; /* both vendors' limit along x */
    if (shape.grid_x > grid_max)
        return error_add(errors, ERROR_INPUT, "", "%lld blocks are more than a grid holds",
                         (long long)shape.grid_x);
    return gpu_ok(gpu,
                  gpu->libraries.api.launch(function, (unsigned)shape.grid_x,
                                            (unsigned)shape.grid_y, 1, (unsigned)shape.block_x,
                                            (unsigned)shape.block_y, 1, 0, gpu->stream,
                                            arguments, NULL),
                  "a launch", errors);
}

/* ---- Operands */

int64_t
gpu_set_count(const struct gpu *gpu, double set_bytes)
{
    const double caches = 3;
    double sets = floor(caches * gpu->options.cache_bytes / fmax(set_bytes, 1)) + 1;
    return (int64_t)fmin(sets, (double)gpu->options.sets_max);
}

bool
gpu_operand_new(const struct gpu *gpu, struct gpu_operands *operands, double bytes,
                struct error_list *errors)
{
    const double line_bytes = 256; /* to which both BLAS libraries want operands aligned */
    const struct gpu_api *api = &gpu->libraries.api;
    size_t free_bytes = 0, total_bytes = 0;
    double stride = ceil(fmax(bytes, 1) / line_bytes) * line_bytes;
    double all = stride * (double)operands->sets;
    assert(operands->count < GPU_OPERANDS_MAX);
    if (!gpu_ok(gpu, api->memory_left(&free_bytes, &total_bytes), "device memory", errors))
        return false;
    double limit = gpu->options.memory_bytes > 0
                       ? fmin(gpu->options.memory_bytes, (double)free_bytes)
                       : (double)free_bytes;
    if (all > limit)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "out of device memory: an operand takes %s of %s left",
                         units_format_bytes(all).text, units_format_bytes(limit).text);
    if (!gpu_ok(gpu, api->memory_new(&operands->memory[operands->count], (size_t)all),
                "an operand", errors))
        return false;
    operands->stride_bytes[operands->count++] = (size_t)stride;
    operands->bytes += stride;
    return true;
}

void
gpu_operands_free(const struct gpu *gpu, struct gpu_operands *operands)
{
    for (int i = 0; i < operands->count; i++)
        (void)gpu->libraries.api.memory_free(operands->memory[i]);
    *operands = (struct gpu_operands){0};
}

void *
gpu_operand(const struct gpu_operands *operands, int operand, int64_t set)
{
    return (char *)operands->memory[operand] + (size_t)set * operands->stride_bytes[operand];
}

bool
gpu_fill(struct gpu *gpu, const struct gpu_operands *operands, int operand,
         struct gpu_values values, struct arena *arena, struct error_list *errors)
{
    void *function = gpu_function(gpu, values.dtype, "fill", arena, errors);
    long long count = (long long)((double)operands->stride_bytes[operand] *
                                  (double)operands->sets / dtype_bytes(values.dtype));
    unsigned long long seed = gpu->options.seed + ((unsigned long long)operand << 48);
    int uniform = values.is_uniform;
    void *memory = operands->memory[operand];
    void *arguments[] = {&memory, &count, &seed, &uniform};
    const struct gpu_shape shape = {.grid_x = 4096, .grid_y = 1, .block_x = 256, .block_y = 1};
    return function != NULL && gpu_launch(gpu, function, shape, arguments, errors);
}
