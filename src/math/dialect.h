// Macros for the parts of C that C++ lacks, so that the same source is C17, C++20 and CUDA C++:
// kernels have no compound literals, no array designators and no implicit conversions of `void *`.
// tools/lint/kernels.py compiles each of them as all three.
#pragma once

// A value of a structure type from its members in order, or by name: MF_VALUE(Vec, x, y, z).
#ifdef __cplusplus
#define MF_VALUE(type, ...)                                                                        \
    type {                                                                                         \
        __VA_ARGS__                                                                                \
    }
#define MF_RESTRICT __restrict__
#else
#define MF_VALUE(type, ...) ((type){__VA_ARGS__})
#define MF_RESTRICT restrict
#endif

#define MF_ALIGNED(bytes) __attribute__((aligned(bytes)))
