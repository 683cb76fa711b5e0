#include "loop/dumps.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#endif

#if defined(__linux__) && !defined(SANITIZED)

#include <sys/prctl.h>

void dumps_off(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

#else

void dumps_off(void)
{
}

#endif
