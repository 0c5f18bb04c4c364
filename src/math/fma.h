// a b + c rounded once, for processors without the instruction. Kernels call mf_fma of math/lane.h.
#pragma once

// For all values; rounds to nearest.
double mf_fma_exact(double a, double b, double c);

// The same by a faster method where it is valid.
float mf_fma_float(float a, float b, float c);
double mf_fma_double(double a, double b, double c);
