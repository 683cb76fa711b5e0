#include "runtime/peer.h"

#include "runtime/peer-http.h"
#include "runtime/peer-stdio.h"

enum { TEXT_MAX = 8192 };

const char *peer_target_name(const struct peer_target *target)
{
    return target->argv ? target->argv[0] : target->remote->display_url;
}

bool peer_start(struct peer **out, const struct peer_target *target,
                const struct peer_owner *owner, int *errnum, struct err *e)
{
    BUG_IF(!target->argv == !target->remote);
    *errnum = 0;
    return target->argv ? peer_stdio_start(out, target, owner, errnum, e)
                        : peer_http_start(out, target->remote, owner, e);
}

void peer_init(struct peer *p, const struct peer_transport *transport,
               const struct peer_owner *owner)
{
    p->transport = transport;
    p->owner = *owner;
    buf_init(&p->outcome.exit_text, TEXT_MAX);
    buf_init(&p->outcome.stop_reason, TEXT_MAX);
    buf_init(&p->outcome.last_stderr, PEER_STDERR_MAX);
    buf_init(&p->outcome.lost_reason, TEXT_MAX);
    buf_init(&p->outcome.redirect, TEXT_MAX);
}

void peer_release(struct peer *p)
{
    buf_release(&p->outcome.exit_text);
    buf_release(&p->outcome.stop_reason);
    buf_release(&p->outcome.last_stderr);
    buf_release(&p->outcome.lost_reason);
    buf_release(&p->outcome.redirect);
}

void peer_free(struct peer *p)
{
    if (p)
        p->transport->free(p);
}

void peer_send(struct peer *p, struct str message)
{
    p->transport->send(p, message);
}

void peer_end(struct peer *p, bool await)
{
    p->transport->end(p, await);
}

void peer_stop(struct peer *p, struct str why)
{
    p->transport->stop(p, why);
}

size_t peer_queued(const struct peer *p)
{
    return p->transport->queued(p);
}

void peer_read(struct peer *p, bool on)
{
    if (p->transport->read)
        p->transport->read(p, on);
}

void peer_report_lost(struct peer *p, struct str why)
{
    if (p->owner.events->lost)
        p->owner.events->lost(p->owner.to, why);
}

void peer_report_closed(struct peer *p)
{
    if (p->owner.events->closed)
        p->owner.events->closed(p->owner.to);
}
