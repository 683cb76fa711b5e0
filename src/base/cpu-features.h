/* base/cpu-features.h - finds out which vector instructions this processor and system support.
 *
 * The code asks with __builtin_cpu_supports(), which reads a variable of the compiler's runtime
 * library. A compiler whose library has no such variable (zig) gets it from this module: Meson
 * then defines MCPREEL_CPU_MODEL. */
#ifndef BASE_CPU_FEATURES_H
#define BASE_CPU_FEATURES_H

/* Bit numbers, as compilers use them in __cpu_model. */
enum { CPU_FEATURES_AVX2 = 10, CPU_FEATURES_AVX512BW = 21 };

/* Returns a bit for each of the features above; others are not set. Expensive: a virtual
 * machine handles each of its instructions itself. 0 on processors other than x86-64. */
unsigned cpu_features_detect(void);

#endif
