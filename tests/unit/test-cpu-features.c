#include "base/cpu-features.h"

#include "test.h"

#if defined(__x86_64__)

static void features_are_those_that_the_compiler_finds(void **state)
{
    unsigned found = cpu_features_detect(), want = 0;

    (void)state;
    want |= __builtin_cpu_supports("avx2") ? 1U << CPU_FEATURES_AVX2 : 0;
    want |= __builtin_cpu_supports("avx512bw") ? 1U << CPU_FEATURES_AVX512BW : 0;
    assert_int_equal(found, want);
}

#else

static void features_are_those_that_the_compiler_finds(void **state)
{
    (void)state;
    assert_int_equal(cpu_features_detect(), 0);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_are_those_that_the_compiler_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
