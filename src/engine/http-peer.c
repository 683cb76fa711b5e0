#include "engine/http-peer.h"

#include "engine/http-heading.h"

enum { TARGET_MAX = 256 << 10, TERM_MAX = 16 << 10 };

void http_peer_init(struct http_peer *p, const struct url *url)
{
    buf_init(&p->target, TARGET_MAX);
    buf_add(&p->target, url->path);
    if (url->query.at)
        buf_printf(&p->target, "?%.*s", STR_ARG(url->query));
    buf_init(&p->endpoint, TARGET_MAX);
    buf_init(&p->session, TERM_MAX);
    buf_init(&p->version, TERM_MAX);
    buf_init(&p->revision, TERM_MAX);
    http_params_init(&p->params);
}

void http_peer_release(struct http_peer *p)
{
    buf_release(&p->target);
    buf_release(&p->endpoint);
    buf_release(&p->session);
    buf_release(&p->version);
    buf_release(&p->revision);
    http_params_release(&p->params);
}

void http_peer_agree(struct buf *term, struct str value)
{
    buf_clear(term);
    if (fields_is_value(value))
        buf_add(term, value);
}

void http_peer_begin(struct http_peer *p)
{
    buf_clear(&p->session);
    buf_clear(&p->version);
    buf_clear(&p->revision);
}

static struct http_terms terms_of(const struct http_peer *p)
{
    return (struct http_terms){ buf_str(&p->session), buf_str(&p->version) };
}

void http_peer_get(const struct http_peer *p, struct str last_event, struct step_ask *out)
{
    struct http_terms terms = terms_of(p);

    *out = (struct step_ask){ .method = STR("GET"), .target = buf_str(&p->target) };
    http_heading_get(&out->fields, &terms, last_event);
}

void http_peer_delete(const struct http_peer *p, struct step_ask *out)
{
    struct http_terms terms = terms_of(p);

    *out = (struct step_ask){ .method = STR("DELETE"), .target = buf_str(&p->target) };
    http_heading_delete(&out->fields, &terms);
}

/* The revision of the era without sessions that `m` is of; empty: it is of none. A
 * notification need not name it. */
static struct str revision_of(struct http_peer *p, const struct mcp_message *m, struct arena *a)
{
    struct str named = m ? http_heading_revision(m, a) : STR_NONE;

    if (named.len && m->kind == MCP_REQUEST)
        http_peer_agree(&p->revision, named);
    if (named.len || !m || m->kind != MCP_NOTIFICATION || p->version.len)
        return named;
    return buf_str(&p->revision);
}

bool http_peer_post(struct http_peer *p, const struct mcp_message *m, struct str text,
                    struct arena *a, struct step_ask *out)
{
    struct http_terms terms = terms_of(p);
    struct str revision = revision_of(p, m, a);

    *out = (struct step_ask){ .method = STR("POST"),
                              .target = buf_str(p->endpoint.len ? &p->endpoint : &p->target),
                              .body = text };
    http_heading_post(&out->fields, &terms, &p->params, m, revision, a);
    return revision.len > 0;
}
