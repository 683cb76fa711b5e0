#include "base/cpu-features.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

enum {
    LEAF_BASIC = 1,
    LEAF_EXTENDED = 7,
    /* Registers that the system saves when it switches threads. */
    SAVED_AVX = 0x06,
    SAVED_AVX512 = 0xe6,
};

__attribute__((target("xsave"))) static unsigned saved_registers(void)
{
    unsigned a, b, c, d;

    if (!__get_cpuid(LEAF_BASIC, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 0;
    return (unsigned)_xgetbv(0);
}

unsigned cpu_features_detect(void)
{
    unsigned a, b, c, d, found = 0, saved = saved_registers();

    if (!__get_cpuid_count(LEAF_EXTENDED, 0, &a, &b, &c, &d))
        return 0;
    if ((saved & SAVED_AVX) == SAVED_AVX && b & bit_AVX2)
        found |= 1U << CPU_FEATURES_AVX2;
    if ((saved & SAVED_AVX512) == SAVED_AVX512 && b & bit_AVX512BW)
        found |= 1U << CPU_FEATURES_AVX512BW;
    return found;
}

#ifdef MCPREEL_CPU_MODEL

/* The layout is fixed: compilers generate code that reads `features`. */
struct cpu_model {
    unsigned vendor, type, subtype, features;
};

extern struct cpu_model __cpu_model;
struct cpu_model __cpu_model;

/* Before all other constructors, like the runtime libraries that have it. */
__attribute__((constructor(101))) static void fill_cpu_model(void)
{
    __cpu_model.features = cpu_features_detect();
}

#endif

#else

unsigned cpu_features_detect(void)
{
    return 0;
}

#endif
