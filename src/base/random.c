#include "base/random.h"

#include <sys/random.h>
#include <unistd.h>

#include "base/err.h"

enum { AT_ONCE = 256 }; /* more than that may be interrupted */

void random_bytes(void *to, size_t size)
{
    char *at = to;

    while (size) {
        size_t some = size < AT_ONCE ? size : AT_ONCE;

        BUG_IF(getentropy(at, some) != 0);
        at += some;
        size -= some;
    }
}
