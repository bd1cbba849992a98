/* The table of names of both vendors, and the opening of their libraries. */
#include "validate/gpu_api.h"

#include <dlfcn.h>
#include <string.h>

#include "sim/base/text.h"

struct gpu_entry {
    size_t offset; /* of the function in struct gpu_api */
    enum gpu_library library;
    const char *names[GPU_VENDOR_COUNT];
};

/* cuda.h and nvrtc.h of CUDA 13.0 (the suffixes are what its macros name), cublasLt.h 13,
 * nccl.h 2.28; hip_runtime_api.h and hiprtc.h of ROCm 6 (github.com/ROCm/HIP), hipblaslt.h
 * (github.com/ROCm/hipBLASLt), nccl.h of RCCL (github.com/ROCm/rccl). */
static const struct gpu_entry entries[] = {
    {offsetof(struct gpu_api, init), GPU_DRIVER, {"cuInit", "hipInit"}},
    {offsetof(struct gpu_api, driver_version),
     GPU_DRIVER,
     {"cuDriverGetVersion", "hipDriverGetVersion"}},
    {offsetof(struct gpu_api, error_text),
     GPU_DRIVER,
     {"cuGetErrorString", "hipDrvGetErrorString"}},
    {offsetof(struct gpu_api, device_count),
     GPU_DRIVER,
     {"cuDeviceGetCount", "hipGetDeviceCount"}},
    {offsetof(struct gpu_api, device_get), GPU_DRIVER, {"cuDeviceGet", "hipDeviceGet"}},
    {offsetof(struct gpu_api, device_name),
     GPU_DRIVER,
     {"cuDeviceGetName", "hipDeviceGetName"}},
    {offsetof(struct gpu_api, device_attribute),
     GPU_DRIVER,
     {"cuDeviceGetAttribute", "hipDeviceGetAttribute"}},
    {offsetof(struct gpu_api, context_retain),
     GPU_DRIVER,
     {"cuDevicePrimaryCtxRetain", "hipDevicePrimaryCtxRetain"}},
    {offsetof(struct gpu_api, context_release),
     GPU_DRIVER,
     {"cuDevicePrimaryCtxRelease_v2", "hipDevicePrimaryCtxRelease"}},
    {offsetof(struct gpu_api, context_set),
     GPU_DRIVER,
     {"cuCtxSetCurrent", "hipCtxSetCurrent"}},
    {offsetof(struct gpu_api, memory_left), GPU_DRIVER, {"cuMemGetInfo_v2", "hipMemGetInfo"}},
    {offsetof(struct gpu_api, memory_new), GPU_DRIVER, {"cuMemAlloc_v2", "hipMalloc"}},
    {offsetof(struct gpu_api, memory_free), GPU_DRIVER, {"cuMemFree_v2", "hipFree"}},
    {offsetof(struct gpu_api, host_memory_new),
     GPU_DRIVER,
     {"cuMemHostAlloc", "hipHostMalloc"}},
    {offsetof(struct gpu_api, host_memory_free), GPU_DRIVER, {"cuMemFreeHost", "hipHostFree"}},
    {offsetof(struct gpu_api, copy_to_device),
     GPU_DRIVER,
     {"cuMemcpyHtoD_v2", "hipMemcpyHtoD"}},
    {offsetof(struct gpu_api, copy_to_host), GPU_DRIVER, {"cuMemcpyDtoH_v2", "hipMemcpyDtoH"}},
    {offsetof(struct gpu_api, enqueue_copy),
     GPU_DRIVER,
     {"cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync"}},
    {offsetof(struct gpu_api, enqueue_copy_in),
     GPU_DRIVER,
     {"cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync"}},
    {offsetof(struct gpu_api, enqueue_copy_out),
     GPU_DRIVER,
     {"cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync"}},
    {offsetof(struct gpu_api, enqueue_set),
     GPU_DRIVER,
     {"cuMemsetD8Async", "hipMemsetD8Async"}},
    {offsetof(struct gpu_api, stream_new),
     GPU_DRIVER,
     {"cuStreamCreate", "hipStreamCreateWithFlags"}},
    {offsetof(struct gpu_api, stream_free),
     GPU_DRIVER,
     {"cuStreamDestroy_v2", "hipStreamDestroy"}},
    {offsetof(struct gpu_api, stream_wait),
     GPU_DRIVER,
     {"cuStreamSynchronize", "hipStreamSynchronize"}},
    {offsetof(struct gpu_api, stream_query), GPU_DRIVER, {"cuStreamQuery", "hipStreamQuery"}},
    {offsetof(struct gpu_api, event_new),
     GPU_DRIVER,
     {"cuEventCreate", "hipEventCreateWithFlags"}},
    {offsetof(struct gpu_api, event_free),
     GPU_DRIVER,
     {"cuEventDestroy_v2", "hipEventDestroy"}},
    {offsetof(struct gpu_api, event_record), GPU_DRIVER, {"cuEventRecord", "hipEventRecord"}},
    {offsetof(struct gpu_api, event_wait),
     GPU_DRIVER,
     {"cuEventSynchronize", "hipEventSynchronize"}},
    {offsetof(struct gpu_api, event_elapsed),
     GPU_DRIVER,
     {"cuEventElapsedTime", "hipEventElapsedTime"}},
    {offsetof(struct gpu_api, capture_begin),
     GPU_DRIVER,
     {"cuStreamBeginCapture_v2", "hipStreamBeginCapture"}},
    {offsetof(struct gpu_api, capture_end),
     GPU_DRIVER,
     {"cuStreamEndCapture", "hipStreamEndCapture"}},
    {offsetof(struct gpu_api, graph_ready),
     GPU_DRIVER,
     {"cuGraphInstantiateWithFlags", "hipGraphInstantiateWithFlags"}},
    {offsetof(struct gpu_api, graph_launch), GPU_DRIVER, {"cuGraphLaunch", "hipGraphLaunch"}},
    {offsetof(struct gpu_api, graph_ready_free),
     GPU_DRIVER,
     {"cuGraphExecDestroy", "hipGraphExecDestroy"}},
    {offsetof(struct gpu_api, graph_free), GPU_DRIVER, {"cuGraphDestroy", "hipGraphDestroy"}},
    {offsetof(struct gpu_api, module_load),
     GPU_DRIVER,
     {"cuModuleLoadData", "hipModuleLoadData"}},
    {offsetof(struct gpu_api, module_free), GPU_DRIVER, {"cuModuleUnload", "hipModuleUnload"}},
    {offsetof(struct gpu_api, module_function),
     GPU_DRIVER,
     {"cuModuleGetFunction", "hipModuleGetFunction"}},
    {offsetof(struct gpu_api, launch), GPU_DRIVER, {"cuLaunchKernel", "hipModuleLaunchKernel"}},
    {offsetof(struct gpu_api, compiler_version),
     GPU_COMPILER,
     {"nvrtcVersion", "hiprtcVersion"}},
    {offsetof(struct gpu_api, compiler_error_text),
     GPU_COMPILER,
     {"nvrtcGetErrorString", "hiprtcGetErrorString"}},
    {offsetof(struct gpu_api, program_new),
     GPU_COMPILER,
     {"nvrtcCreateProgram", "hiprtcCreateProgram"}},
    {offsetof(struct gpu_api, program_compile),
     GPU_COMPILER,
     {"nvrtcCompileProgram", "hiprtcCompileProgram"}},
    {offsetof(struct gpu_api, program_log_size),
     GPU_COMPILER,
     {"nvrtcGetProgramLogSize", "hiprtcGetProgramLogSize"}},
    {offsetof(struct gpu_api, program_log),
     GPU_COMPILER,
     {"nvrtcGetProgramLog", "hiprtcGetProgramLog"}},
    {offsetof(struct gpu_api, program_code_size),
     GPU_COMPILER,
     {"nvrtcGetCUBINSize", "hiprtcGetCodeSize"}},
    {offsetof(struct gpu_api, program_code), GPU_COMPILER, {"nvrtcGetCUBIN", "hiprtcGetCode"}},
    {offsetof(struct gpu_api, program_free),
     GPU_COMPILER,
     {"nvrtcDestroyProgram", "hiprtcDestroyProgram"}},
    {offsetof(struct gpu_api, blas_version),
     GPU_BLAS,
     {"cublasLtGetVersion", "hipblasLtGetVersion"}},
    {offsetof(struct gpu_api, blas_new), GPU_BLAS, {"cublasLtCreate", "hipblasLtCreate"}},
    {offsetof(struct gpu_api, blas_free), GPU_BLAS, {"cublasLtDestroy", "hipblasLtDestroy"}},
    {offsetof(struct gpu_api, product_new),
     GPU_BLAS,
     {"cublasLtMatmulDescCreate", "hipblasLtMatmulDescCreate"}},
    {offsetof(struct gpu_api, product_free),
     GPU_BLAS,
     {"cublasLtMatmulDescDestroy", "hipblasLtMatmulDescDestroy"}},
    {offsetof(struct gpu_api, product_set),
     GPU_BLAS,
     {"cublasLtMatmulDescSetAttribute", "hipblasLtMatmulDescSetAttribute"}},
    {offsetof(struct gpu_api, matrix_new),
     GPU_BLAS,
     {"cublasLtMatrixLayoutCreate", "hipblasLtMatrixLayoutCreate"}},
    {offsetof(struct gpu_api, matrix_free),
     GPU_BLAS,
     {"cublasLtMatrixLayoutDestroy", "hipblasLtMatrixLayoutDestroy"}},
    {offsetof(struct gpu_api, matrix_set),
     GPU_BLAS,
     {"cublasLtMatrixLayoutSetAttribute", "hipblasLtMatrixLayoutSetAttribute"}},
    {offsetof(struct gpu_api, preference_new),
     GPU_BLAS,
     {"cublasLtMatmulPreferenceCreate", "hipblasLtMatmulPreferenceCreate"}},
    {offsetof(struct gpu_api, preference_free),
     GPU_BLAS,
     {"cublasLtMatmulPreferenceDestroy", "hipblasLtMatmulPreferenceDestroy"}},
    {offsetof(struct gpu_api, preference_set),
     GPU_BLAS,
     {"cublasLtMatmulPreferenceSetAttribute", "hipblasLtMatmulPreferenceSetAttribute"}},
    {offsetof(struct gpu_api, choose),
     GPU_BLAS,
     {"cublasLtMatmulAlgoGetHeuristic", "hipblasLtMatmulAlgoGetHeuristic"}},
    {offsetof(struct gpu_api, multiply), GPU_BLAS, {"cublasLtMatmul", "hipblasLtMatmul"}},
    {offsetof(struct gpu_api, collectives_version),
     GPU_COLLECTIVES,
     {"ncclGetVersion", "ncclGetVersion"}},
    {offsetof(struct gpu_api, collectives_error_text),
     GPU_COLLECTIVES,
     {"ncclGetErrorString", "ncclGetErrorString"}},
    {offsetof(struct gpu_api, communicators_new),
     GPU_COLLECTIVES,
     {"ncclCommInitAll", "ncclCommInitAll"}},
    {offsetof(struct gpu_api, communicator_free),
     GPU_COLLECTIVES,
     {"ncclCommDestroy", "ncclCommDestroy"}},
    {offsetof(struct gpu_api, communicator_abort),
     GPU_COLLECTIVES,
     {"ncclCommAbort", "ncclCommAbort"}},
    {offsetof(struct gpu_api, communicator_error),
     GPU_COLLECTIVES,
     {"ncclCommGetAsyncError", "ncclCommGetAsyncError"}},
    {offsetof(struct gpu_api, group_start),
     GPU_COLLECTIVES,
     {"ncclGroupStart", "ncclGroupStart"}},
    {offsetof(struct gpu_api, group_end), GPU_COLLECTIVES, {"ncclGroupEnd", "ncclGroupEnd"}},
    {offsetof(struct gpu_api, all_reduce), GPU_COLLECTIVES, {"ncclAllReduce", "ncclAllReduce"}},
    {offsetof(struct gpu_api, all_gather), GPU_COLLECTIVES, {"ncclAllGather", "ncclAllGather"}},
    {offsetof(struct gpu_api, reduce_scatter),
     GPU_COLLECTIVES,
     {"ncclReduceScatter", "ncclReduceScatter"}},
    {offsetof(struct gpu_api, broadcast), GPU_COLLECTIVES, {"ncclBroadcast", "ncclBroadcast"}},
    {offsetof(struct gpu_api, send), GPU_COLLECTIVES, {"ncclSend", "ncclSend"}},
    {offsetof(struct gpu_api, receive), GPU_COLLECTIVES, {"ncclRecv", "ncclRecv"}},
};

enum { ENTRY_COUNT = sizeof entries / sizeof entries[0], FILES_MAX = 3 };

struct gpu_library_files {
    const char *name;
    const char *files[FILES_MAX]; /* newest first */
};

static const struct gpu_library_files files[GPU_VENDOR_COUNT][GPU_LIBRARY_COUNT] = {
    [GPU_CUDA] =
        {
            [GPU_DRIVER] = {"CUDA driver", {"libcuda.so.1"}},
            [GPU_COMPILER] = {"NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}},
            [GPU_BLAS] = {"cuBLASLt",
                          {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}},
            [GPU_COLLECTIVES] = {"NCCL", {"libnccl.so.2", "libnccl.so"}},
        },
    [GPU_HIP] =
        {
            [GPU_DRIVER] = {"HIP", {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"}},
            [GPU_COMPILER] = {"hipRTC", {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so"}},
            [GPU_BLAS] = {"hipBLASLt",
                          {"libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"}},
            [GPU_COLLECTIVES] = {"RCCL", {"librccl.so.1", "librccl.so"}},
        },
};

/* Where the vendors' installers put them. */
static const char *const usual_paths[GPU_VENDOR_COUNT] = {"/usr/local/cuda/lib64",
                                                          "/opt/rocm/lib"};

/* CUDA: CUdevice_attribute of cuda.h, cudaDataType of library_types.h, cublasComputeType_t and
 * cublasOperation_t of cublas_api.h, the attributes and cublasLtMatmulHeuristicResult_t (64 bytes
 * of algorithm, then the workspace's) of cublasLt.h, all 13.0. HIP: hipDeviceAttribute_t of
 * hip_runtime_api.h, hipDataType of library_types.h, hipblasComputeType_t and hipblasOperation_t
 * of hipblas-common.h, the attributes and hipblasLtMatmulHeuristicResult_t (24 bytes of algorithm)
 * of hipblaslt.h. 8 bits: E4M3, on gfx942 the kind without infinities and negative zero. */
static const struct gpu_numbers numbers[GPU_VENDOR_COUNT] = {
    [GPU_CUDA] =
        {
            .attribute_multiprocessors = 16,
            .attribute_clock_khz = 13,
            .attribute_memory_clock_khz = 36,
            .attribute_cache_bytes = 38,
            .attribute_major = 75,
            .attribute_minor = 76,
            .type_fp32 = 0,
            .type_fp64 = 1,
            .type_fp16 = 2,
            .type_bf16 = 14,
            .type_fp8 = 28,
            .type_int8 = 3,
            .type_int32 = 10,
            .compute_fp32 = 68,
            .compute_tf32 = 77,
            .compute_fp64 = 70,
            .compute_int32 = 72,
            .product_transpose_a = 3,
            .product_transpose_b = 4,
            .product_scale_a = 17,
            .product_scale_b = 18,
            .product_fast_sum = 25,
            .operation_plain = 0,
            .operation_transposed = 1,
            .matrix_batch = 5,
            .matrix_batch_stride = 6,
            .preference_workspace_bytes = 1,
            .choice_workspace_offset = 64,
        },
    [GPU_HIP] =
        {
            .attribute_multiprocessors = 63,
            .attribute_clock_khz = 5,
            .attribute_memory_clock_khz = 60,
            .attribute_cache_bytes = 19,
            .attribute_major = 23,
            .attribute_minor = 61,
            .type_fp32 = 0,
            .type_fp64 = 1,
            .type_fp16 = 2,
            .type_bf16 = 14,
            .type_fp8 = 1000,
            .type_int8 = 3,
            .type_int32 = 10,
            .compute_fp32 = 2,
            .compute_tf32 = 6,
            .compute_fp64 = 7,
            .compute_int32 = 9,
            .product_transpose_a = 0,
            .product_transpose_b = 1,
            .product_scale_a = 5,
            .product_scale_b = 6,
            .product_fast_sum = -1,
            .operation_plain = 111,
            .operation_transposed = 112,
            .matrix_batch = 0,
            .matrix_batch_stride = 1,
            .preference_workspace_bytes = 1,
            .choice_workspace_offset = 24,
        },
};

const struct gpu_numbers *
gpu_numbers(enum gpu_vendor vendor)
{
    return &numbers[vendor];
}

const char *
gpu_library_name(enum gpu_vendor vendor, enum gpu_library library)
{
    return files[vendor][library].name;
}

const char *
gpu_api_name(enum gpu_vendor vendor, enum gpu_library library, int index)
{
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (entries[i].library == library && index-- == 0)
            return entries[i].names[vendor];
    return NULL;
}

enum { PATH_BYTES = 4096 };

/* A file of a folder whose name is the first `length` bytes of `folder`. */
static void *
open_in(const char *folder, size_t length, const char *file)
{
    char path[PATH_BYTES];
    if (length + strlen(file) + 2 > sizeof path)
        return NULL;
    memcpy(path, folder, length);
    path[length] = '/';
    memcpy(path + length + 1, file, strlen(file) + 1);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Looks through "DIR:DIR", in each for any of the library's files; says which one it was. */
static void *
open_along(const char *path, const struct gpu_library_files *library, const char **file)
{
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        for (int i = 0; i < FILES_MAX && library->files[i] != NULL; i++) {
            void *handle = open_in(path, length, *file = library->files[i]);
            if (handle != NULL)
                return handle;
        }
        path += length + (path[length] == ':');
    }
    return NULL;
}

static void *
open_library(const struct gpu_libraries *libraries, enum gpu_library which, const char **file)
{
    const struct gpu_library_files *library = &files[libraries->vendor][which];
    void *handle = open_along(libraries->path, library, file);
    for (int i = 0; handle == NULL && i < FILES_MAX && library->files[i] != NULL; i++)
        handle = dlopen(*file = library->files[i], RTLD_NOW | RTLD_LOCAL);
    return handle != NULL ? handle : open_along(usual_paths[libraries->vendor], library, file);
}

/* Fills in the functions; the name of the first that is missing, else NULL. */
static const char *
bind(struct gpu_libraries *libraries, enum gpu_library library, void *handle)
{
    for (int i = 0; i < ENTRY_COUNT; i++) {
        if (entries[i].library != library)
            continue;
        const char *name = entries[i].names[libraries->vendor];
        void *symbol = dlsym(handle, name);
        if (symbol == NULL)
            return name;
        /* POSIX lets an object pointer of dlsym stand for a function, ISO C does not. */
        memcpy((char *)&libraries->api + entries[i].offset, &symbol, sizeof symbol);
    }
    return NULL;
}

bool
gpu_library_open(struct gpu_libraries *libraries, enum gpu_library library,
                 struct error_list *errors)
{
    const struct gpu_library_files *wanted = &files[libraries->vendor][library];
    if (libraries->handles[library] != NULL)
        return true;
    const char *file = NULL;
    void *handle = open_library(libraries, library, &file);
    if (handle == NULL)
        return error_add(errors, ERROR_IO, "", "%s: cannot open %s, see --library-path",
                         wanted->name, wanted->files[0]);
    const char *missing = bind(libraries, library, handle);
    if (missing != NULL) {
        (void)dlclose(handle);
        return error_add(errors, ERROR_IO, "", "%s (%s): it has no function %s: too old?",
                         wanted->name, file, missing);
    }
    libraries->handles[library] = handle;
    return true;
}

void
gpu_libraries_close(struct gpu_libraries *libraries)
{
    for (int i = GPU_LIBRARY_COUNT - 1; i >= 0; i--)
        if (libraries->handles[i] != NULL)
            (void)dlclose(libraries->handles[i]);
    memset(libraries->handles, 0, sizeof libraries->handles);
}

int64_t
gpu_api_blas_version(const struct gpu_libraries *libraries, void *blas)
{
    /* size_t cublasLtGetVersion(void); hipblasStatus_t hipblasLtGetVersion(handle, int *) */
    size_t (*of_cuda)(void);
    int (*of_hip)(void *handle, int *version);
    int version = 0;
    void (*function)(void) = libraries->api.blas_version;
    if (libraries->vendor == GPU_CUDA) {
        memcpy(&of_cuda, &function, sizeof of_cuda);
        return (int64_t)of_cuda();
    }
    memcpy(&of_hip, &function, sizeof of_hip);
    return of_hip(blas, &version) == 0 ? version : 0;
}
