#include "loop/process-self.h"

#include <limits.h>
#include <uv.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "loop/loop-uv.h"

bool process_self_path(struct buf *to, struct err *e)
{
    char path[PATH_MAX];
    size_t len = sizeof path;
    int code = uv_exepath(path, &len);

    if (code != 0) {
        loop_set_err(e, code);
        return err_wrap(e, "cannot find the path of this program");
    }
    buf_add(to, str_n(path, len));
    return buf_ok(to, e);
}

long process_self_pid(void)
{
    return (long)uv_os_getpid();
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#endif

void process_self_disable_dumps(void)
{
#if defined(__linux__) && !defined(SANITIZED)
    prctl(PR_SET_DUMPABLE, 0);
#endif
}
