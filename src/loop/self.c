#include "loop/self.h"

#include <limits.h>
#include <uv.h>

#include "loop/loop-uv.h"

bool self_path(struct buf *to, struct err *e)
{
    char path[PATH_MAX];
    size_t len = sizeof path;
    int code = uv_exepath(path, &len);

    if (code != 0) {
        loop_fault(e, code);
        return err_wrap(e, "cannot tell where this program lies");
    }
    buf_add(to, str_n(path, len));
    return buf_ok(to, e);
}

long self_number(void)
{
    return (long)uv_os_getpid();
}
