// Copies of a function for the vector instructions that processors have, chosen when the module is
// loaded. All give the same bits: these files are compiled without contraction.
#pragma once

#if defined __x86_64__ && defined __gnu_linux__ && !defined __SANITIZE_ADDRESS__
#define MFPY_LANES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MFPY_LANES
#endif

// What such a function calls is compiled with it, for the same instructions.
#define MFPY_INLINE static inline __attribute__((always_inline))
