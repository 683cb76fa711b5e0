#include "loop/loop.h"

#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/loop-uv.h"

struct loop *loop_new(void)
{
    struct loop *l = mem_new(struct loop);

    /* A peer that goes away, or a file that may not grow any more, is an error of
     * write(2), not the end of us. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    BUG_IF(uv_loop_init(&l->uv) != 0);
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    /* Whoever opened a handle has closed it. Its close callback may be due, or the
     * read of a file that is still under way in the thread pool. The first run may
     * end at once: somebody stopped the loop when it no longer ran. */
    uv_run(&l->uv, UV_RUN_NOWAIT);
    uv_run(&l->uv, UV_RUN_DEFAULT);
    BUG_IF(uv_loop_close(&l->uv) != 0);
    free(l);
}

void loop_run(struct loop *l)
{
    uv_run(&l->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *l)
{
    uv_stop(&l->uv);
}

bool loop_fault(struct err *e, int uv_code)
{
    return err_set(e, ERR_IO, "%s", uv_strerror(uv_code));
}
