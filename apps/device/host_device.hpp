// Functions that kernels and the host share: one formula, one place.
#pragma once

#if defined(__CUDACC__)
#define HOST_AND_DEVICE __host__ __device__ __forceinline__
#else
#define HOST_AND_DEVICE [[gnu::always_inline]] inline
#endif
