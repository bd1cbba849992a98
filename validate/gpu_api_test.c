/* Do the tables of both vendors say what the vendors' published headers say? */
#include "validate/gpu_api.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *gpu_api_suite(void);

/* Functions as the headers declare them: the name, then a bracket. hip_runtime_api.h and hiprtc.h
 * (github.com/ROCm/HIP, ROCm 6), hipblaslt.h (github.com/ROCm/hipBLASLt at 4a8a7875), RCCL's
 * nccl.h (github.com/ROCm/rccl). */
static const char *const hip_functions[GPU_LIBRARY_COUNT] = {
    [GPU_DRIVER] =
        " hipInit( hipDriverGetVersion( hipDrvGetErrorString( hipGetDeviceCount( hipDeviceGet("
        " hipDeviceGetName( hipDeviceGetAttribute( hipDevicePrimaryCtxRetain("
        " hipDevicePrimaryCtxRelease( hipCtxSetCurrent( hipMemGetInfo( hipMalloc( hipFree("
        " hipHostMalloc( hipHostFree( hipMemcpyHtoD( hipMemcpyDtoH( hipMemcpyDtoDAsync("
        " hipMemcpyHtoDAsync( hipMemcpyDtoHAsync( hipMemsetD8Async( hipStreamCreateWithFlags("
        " hipStreamDestroy( hipStreamSynchronize( hipStreamQuery( hipEventCreateWithFlags("
        " hipEventDestroy("
        " hipEventRecord( hipEventSynchronize( hipEventElapsedTime( hipStreamBeginCapture("
        " hipStreamEndCapture( hipGraphInstantiateWithFlags( hipGraphLaunch("
        " hipGraphExecDestroy( hipGraphDestroy( hipModuleLoadData( hipModuleUnload("
        " hipModuleGetFunction( hipModuleLaunchKernel(",
    [GPU_COMPILER] =
        " hiprtcVersion( hiprtcGetErrorString( hiprtcCreateProgram( hiprtcCompileProgram("
        " hiprtcGetProgramLogSize( hiprtcGetProgramLog( hiprtcGetCodeSize( hiprtcGetCode("
        " hiprtcDestroyProgram(",
    [GPU_BLAS] =
        " hipblasLtGetVersion( hipblasLtCreate( hipblasLtDestroy( hipblasLtMatmulDescCreate("
        " hipblasLtMatmulDescDestroy( hipblasLtMatmulDescSetAttribute("
        " hipblasLtMatrixLayoutCreate( hipblasLtMatrixLayoutDestroy("
        " hipblasLtMatrixLayoutSetAttribute( hipblasLtMatmulPreferenceCreate("
        " hipblasLtMatmulPreferenceDestroy( hipblasLtMatmulPreferenceSetAttribute("
        " hipblasLtMatmulAlgoGetHeuristic( hipblasLtMatmul(",
    [GPU_COLLECTIVES] =
        " ncclGetVersion( ncclGetErrorString( ncclCommInitAll( ncclCommDestroy( ncclCommAbort("
        " ncclCommGetAsyncError( ncclGroupStart( ncclGroupEnd( ncclAllReduce( ncclAllGather( "
        "ncclReduceScatter("
        " ncclBroadcast( ncclSend( ncclRecv(",
};

START_TEST(hip_names_are_those_of_the_headers)
{
    for (int library = 0; library < GPU_LIBRARY_COUNT; library++) {
        const char *name;
        int count = 0, declared = 0;
        for (; (name = gpu_api_name(GPU_HIP, (enum gpu_library)library, count)) != NULL;
             count++) {
            char call[80];
            (void)snprintf(call, sizeof call, " %s(", name);
            ck_assert_msg(strstr(hip_functions[library], call) != NULL, "%s", name);
        }
        for (const char *at = hip_functions[library]; (at = strchr(at, '(')) != NULL; at++)
            declared++;
        ck_assert_int_eq(count, declared);
    }
}
END_TEST

START_TEST(both_vendors_have_every_function)
{
    for (int i = 0; i < GPU_LIBRARY_COUNT; i++) {
        enum gpu_library library = (enum gpu_library)i;
        for (int j = 0; gpu_api_name(GPU_HIP, library, j) != NULL; j++)
            ck_assert_ptr_nonnull(gpu_api_name(GPU_CUDA, library, j));
    }
}
END_TEST

/* hipDeviceAttribute_t starts at 0 and counts up, without the prefix hipDeviceAttribute. */
static const char *const hip_attributes[] = {
    "EccEnabled",
    "AccessPolicyMaxWindowSize",
    "AsyncEngineCount",
    "CanMapHostMemory",
    "CanUseHostPointerForRegisteredMem",
    "ClockRate",
    "ComputeMode",
    "ComputePreemptionSupported",
    "ConcurrentKernels",
    "ConcurrentManagedAccess",
    "CooperativeLaunch",
    "CooperativeMultiDeviceLaunch",
    "DeviceOverlap",
    "DirectManagedMemAccessFromHost",
    "GlobalL1CacheSupported",
    "HostNativeAtomicSupported",
    "Integrated",
    "IsMultiGpuBoard",
    "KernelExecTimeout",
    "L2CacheSize",
    "LocalL1CacheSupported",
    "Luid",
    "LuidDeviceNodeMask",
    "ComputeCapabilityMajor",
    "ManagedMemory",
    "MaxBlocksPerMultiProcessor",
    "MaxBlockDimX",
    "MaxBlockDimY",
    "MaxBlockDimZ",
    "MaxGridDimX",
    "MaxGridDimY",
    "MaxGridDimZ",
    "MaxSurface1D",
    "MaxSurface1DLayered",
    "MaxSurface2D",
    "MaxSurface2DLayered",
    "MaxSurface3D",
    "MaxSurfaceCubemap",
    "MaxSurfaceCubemapLayered",
    "MaxTexture1DWidth",
    "MaxTexture1DLayered",
    "MaxTexture1DLinear",
    "MaxTexture1DMipmap",
    "MaxTexture2DWidth",
    "MaxTexture2DHeight",
    "MaxTexture2DGather",
    "MaxTexture2DLayered",
    "MaxTexture2DLinear",
    "MaxTexture2DMipmap",
    "MaxTexture3DWidth",
    "MaxTexture3DHeight",
    "MaxTexture3DDepth",
    "MaxTexture3DAlt",
    "MaxTextureCubemap",
    "MaxTextureCubemapLayered",
    "MaxThreadsDim",
    "MaxThreadsPerBlock",
    "MaxThreadsPerMultiProcessor",
    "MaxPitch",
    "MemoryBusWidth",
    "MemoryClockRate",
    "ComputeCapabilityMinor",
    "MultiGpuBoardGroupID",
    "MultiprocessorCount",
};

static void
check_attribute(int value, const char *name)
{
    ck_assert_int_lt(value, (int)(sizeof hip_attributes / sizeof hip_attributes[0]));
    ck_assert_str_eq(hip_attributes[value], name);
}

START_TEST(hip_attributes_are_counted_right)
{
    const struct gpu_numbers *hip = gpu_numbers(GPU_HIP);
    check_attribute(hip->attribute_clock_khz, "ClockRate");
    check_attribute(hip->attribute_memory_clock_khz, "MemoryClockRate");
    check_attribute(hip->attribute_cache_bytes, "L2CacheSize");
    check_attribute(hip->attribute_major, "ComputeCapabilityMajor");
    check_attribute(hip->attribute_minor, "ComputeCapabilityMinor");
    check_attribute(hip->attribute_multiprocessors, "MultiprocessorCount");
}
END_TEST

/* Lines of hipblaslt.h, hipblas-common.h and library_types.h, and of CUDA 13.0's cublasLt.h,
 * cublas_api.h, library_types.h and cuda.h. */
static const char header_lines[] =
    "HIPBLASLT_MATMUL_DESC_TRANSA = 0,\nHIPBLASLT_MATMUL_DESC_TRANSB = 1,\n"
    "HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER = 5,\nHIPBLASLT_MATMUL_DESC_B_SCALE_POINTER = 6,\n"
    "HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 0,\n"
    "HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 1,\n"
    "HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,\n"
    "HIPBLAS_OP_N = 111,\nHIPBLAS_OP_T = 112,\n"
    "HIPBLAS_COMPUTE_32F = 2,\nHIPBLAS_COMPUTE_32F_FAST_TF32 = 6,\nHIPBLAS_COMPUTE_64F = 7,\n"
    "HIPBLAS_COMPUTE_32I = 9,\n"
    "HIP_R_32F = 0,\nHIP_R_64F = 1,\nHIP_R_16F = 2,\nHIP_R_8I = 3,\nHIP_R_32I = 10,\n"
    "HIP_R_16BF = 14,\nHIP_R_8F_E4M3_FNUZ = 1000,\n"
    "CUBLASLT_MATMUL_DESC_TRANSA = 3,\nCUBLASLT_MATMUL_DESC_TRANSB = 4,\n"
    "CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17,\nCUBLASLT_MATMUL_DESC_B_SCALE_POINTER = 18,\n"
    "CUBLASLT_MATMUL_DESC_FAST_ACCUM = 25,\nCUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,\n"
    "CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,\n"
    "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,\nCUBLAS_OP_N = 0,\nCUBLAS_OP_T = 1,\n"
    "CUBLAS_COMPUTE_32F = 68,\nCUBLAS_COMPUTE_32F_FAST_TF32 = 77,\nCUBLAS_COMPUTE_64F = 70,\n"
    "CUBLAS_COMPUTE_32I = 72,\nCUDA_R_32F = 0,\nCUDA_R_64F = 1,\nCUDA_R_16F = 2,\n"
    "CUDA_R_8I = 3,\nCUDA_R_32I = 10,\nCUDA_R_16BF = 14,\nCUDA_R_8F_E4M3 = 28,\n"
    "CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,\nCU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,\n"
    "CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,\nCU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,\n"
    "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,\n"
    "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,\n";

static void
check_number(int value, const char *name)
{
    char line[80];
    (void)snprintf(line, sizeof line, "%s = ", name);
    const char *at = strstr(header_lines, line);
    ck_assert_msg(at != NULL, "%s", name);
    ck_assert_msg(strtol(at + strlen(line), NULL, 10) == value, "%s is not %d", name, value);
}

START_TEST(hip_numbers_are_those_of_the_headers)
{
    const struct gpu_numbers *hip = gpu_numbers(GPU_HIP);
    check_number(hip->product_transpose_a, "HIPBLASLT_MATMUL_DESC_TRANSA");
    check_number(hip->product_transpose_b, "HIPBLASLT_MATMUL_DESC_TRANSB");
    check_number(hip->product_scale_a, "HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER");
    check_number(hip->product_scale_b, "HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER");
    check_number(hip->matrix_batch, "HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT");
    check_number(hip->matrix_batch_stride, "HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET");
    check_number(hip->preference_workspace_bytes, "HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES");
    check_number(hip->operation_plain, "HIPBLAS_OP_N");
    check_number(hip->operation_transposed, "HIPBLAS_OP_T");
    check_number(hip->compute_fp32, "HIPBLAS_COMPUTE_32F");
    check_number(hip->compute_tf32, "HIPBLAS_COMPUTE_32F_FAST_TF32");
    check_number(hip->compute_fp64, "HIPBLAS_COMPUTE_64F");
    check_number(hip->compute_int32, "HIPBLAS_COMPUTE_32I");
    check_number(hip->type_fp32, "HIP_R_32F");
    check_number(hip->type_fp64, "HIP_R_64F");
    check_number(hip->type_fp16, "HIP_R_16F");
    check_number(hip->type_int8, "HIP_R_8I");
    check_number(hip->type_int32, "HIP_R_32I");
    check_number(hip->type_bf16, "HIP_R_16BF");
    check_number(hip->type_fp8, "HIP_R_8F_E4M3_FNUZ");
    ck_assert_int_eq(hip->product_fast_sum, -1);
    /* uint8_t data[16]; size_t max_workspace_bytes; then the choice's size_t workspaceSize */
    ck_assert_int_eq(hip->choice_workspace_offset, 16 + 8);
}
END_TEST

START_TEST(cuda_numbers_are_those_of_the_headers)
{
    const struct gpu_numbers *cuda = gpu_numbers(GPU_CUDA);
    check_number(cuda->product_transpose_a, "CUBLASLT_MATMUL_DESC_TRANSA");
    check_number(cuda->product_transpose_b, "CUBLASLT_MATMUL_DESC_TRANSB");
    check_number(cuda->product_scale_a, "CUBLASLT_MATMUL_DESC_A_SCALE_POINTER");
    check_number(cuda->product_scale_b, "CUBLASLT_MATMUL_DESC_B_SCALE_POINTER");
    check_number(cuda->product_fast_sum, "CUBLASLT_MATMUL_DESC_FAST_ACCUM");
    check_number(cuda->matrix_batch, "CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT");
    check_number(cuda->matrix_batch_stride, "CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET");
    check_number(cuda->preference_workspace_bytes, "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES");
    check_number(cuda->operation_plain, "CUBLAS_OP_N");
    check_number(cuda->operation_transposed, "CUBLAS_OP_T");
    check_number(cuda->compute_fp32, "CUBLAS_COMPUTE_32F");
    check_number(cuda->compute_tf32, "CUBLAS_COMPUTE_32F_FAST_TF32");
    check_number(cuda->compute_fp64, "CUBLAS_COMPUTE_64F");
    check_number(cuda->compute_int32, "CUBLAS_COMPUTE_32I");
    check_number(cuda->type_fp32, "CUDA_R_32F");
    check_number(cuda->type_fp64, "CUDA_R_64F");
    check_number(cuda->type_fp16, "CUDA_R_16F");
    check_number(cuda->type_int8, "CUDA_R_8I");
    check_number(cuda->type_int32, "CUDA_R_32I");
    check_number(cuda->type_bf16, "CUDA_R_16BF");
    check_number(cuda->type_fp8, "CUDA_R_8F_E4M3");
    check_number(cuda->attribute_clock_khz, "CU_DEVICE_ATTRIBUTE_CLOCK_RATE");
    check_number(cuda->attribute_multiprocessors, "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT");
    check_number(cuda->attribute_memory_clock_khz, "CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE");
    check_number(cuda->attribute_cache_bytes, "CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE");
    check_number(cuda->attribute_major, "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR");
    check_number(cuda->attribute_minor, "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR");
    /* uint64_t data[8] of cublasLtMatmulAlgo_t, then size_t workspaceSize */
    ck_assert_int_eq(cuda->choice_workspace_offset, 8 * 8);
}
END_TEST

START_TEST(a_missing_library_is_named)
{
    struct gpu_libraries libraries = {.vendor = GPU_HIP, .path = "/nowhere:/nowhere/else"};
    struct error_list errors = {0};
    ck_assert(!gpu_library_open(&libraries, GPU_COLLECTIVES, &errors));
    ck_assert_int_eq(errors.items[0].kind, ERROR_IO);
    ck_assert_str_eq(errors.items[0].what,
                     "RCCL: cannot open librccl.so.1, see --library-path");
    gpu_libraries_close(&libraries);
}
END_TEST

Suite *
gpu_api_suite(void)
{
    Suite *suite = suite_create("gpu_api");
    TCase *tcase = tcase_create("tables");
    tcase_add_test(tcase, hip_names_are_those_of_the_headers);
    tcase_add_test(tcase, both_vendors_have_every_function);
    tcase_add_test(tcase, hip_attributes_are_counted_right);
    tcase_add_test(tcase, hip_numbers_are_those_of_the_headers);
    tcase_add_test(tcase, cuda_numbers_are_those_of_the_headers);
    tcase_add_test(tcase, a_missing_library_is_named);
    suite_add_tcase(suite, tcase);
    return suite;
}
