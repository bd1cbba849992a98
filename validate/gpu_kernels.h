/* gpu_kernels.cu as the build puts it into the program: its lines, ended by NULL. */
#ifndef VALIDATE_GPU_KERNELS_H
#define VALIDATE_GPU_KERNELS_H

extern const char *const gpu_kernel_lines[];

#endif
