// The copies of the kernels that this build has.
#ifndef MF_MATH_COPIES_H
#define MF_MATH_COPIES_H

#define MF_HAS_SCALAR 1
#define MF_HAS_AVX2 1
#define MF_HAS_AVX512 1
#define MF_HAS_SINGLE 1

#endif
