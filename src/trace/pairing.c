#include "trace/pairing.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/id.h"
#include "mcp/method.h"
#include "trace/limits.h"

void pairing_init(struct pairing *p)
{
    *p = (struct pairing){ 0 };
    map_init(&p->open);
}

static void forget_answered(struct pairing *p)
{
    free(p->answered);
    p->answered = NULL;
}

void pairing_release(struct pairing *p)
{
    while (p->oldest) {
        struct pairing_request *next = p->oldest->newer;
        free(p->oldest);
        p->oldest = next;
    }
    forget_answered(p);
    map_release(&p->open);
    arena_release(&p->scratch);
}

struct str pairing_key(struct pairing *p, enum record_dir dir, uint64_t conn,
                       struct json_val id)
{
    struct str key;
    char *scope;

    arena_clear(&p->scratch);
    key = mcp_id_key(id, &p->scratch);
    scope = arena_alloc(&p->scratch, 1 + sizeof conn + key.len);
    scope[0] = (char)dir;
    memcpy(scope + 1, &conn, sizeof conn);
    if (key.len)
        memcpy(scope + 1 + sizeof conn, key.at, key.len);
    return str_n(scope, 1 + sizeof conn + key.len);
}

/* One allocation holds the request and its texts. */
static struct pairing_request *new_request(struct str key, struct str method,
                                           struct str subject)
{
    struct pairing_request *q = mem_alloc(sizeof *q + key.len + method.len + subject.len);
    char *at = (char *)(q + 1);

    q->key = str_n(at, key.len);
    q->method = str_n(at + key.len, method.len);
    q->subject = str_n(at + key.len + method.len, subject.len);
    memcpy(at, key.at, key.len);
    if (method.len)
        memcpy(at + key.len, method.at, method.len);
    if (subject.len)
        memcpy(at + key.len + method.len, subject.at, subject.len);
    return q;
}

static size_t text_of(const struct pairing_request *q)
{
    return q->key.len + q->method.len + q->subject.len;
}

/* Takes the oldest request with its id out of both lists. */
static struct pairing_request *unlink_request(struct pairing *p, struct str key)
{
    struct pairing_request *q = map_get(&p->open, key);

    if (!q)
        return NULL;
    if (q->same) {
        q->same->last = q->last;
        map_put(&p->open, key, q->same);
    } else {
        map_remove(&p->open, key);
    }
    *(q->older ? &q->older->newer : &p->oldest) = q->newer;
    *(q->newer ? &q->newer->older : &p->newest) = q->older;
    p->count--;
    p->text -= text_of(q);
    return q;
}

bool pairing_ask(struct pairing *p, const struct record *r, const struct mcp_message *m,
                 uint64_t tag)
{
    struct arena a = { 0 };
    struct str subject = json_text(mcp_subject(m->method, m->params), &a);
    struct str key = pairing_key(p, r->message.dir, r->conn, m->id);
    struct pairing_request *q = new_request(key, m->method, subject);
    struct pairing_request *waiting = map_get(&p->open, key);

    arena_release(&a);
    q->tag = tag;
    q->us = r->us;
    q->dir = r->message.dir;
    q->older = p->newest;
    *(p->newest ? &p->newest->newer : &p->oldest) = q;
    p->newest = q;
    q->last = q;
    if (waiting) {
        waiting->last->same = q;
        waiting->last = q;
    } else {
        map_put(&p->open, key, q);
    }
    p->count++;
    p->text += text_of(q);
    while (p->count > LIMIT_OPEN_REQUESTS || (p->text > LIMIT_OPEN_TEXT && p->oldest != q))
        free(unlink_request(p, p->oldest->key));
    return !waiting;
}

const struct pairing_request *pairing_answer(struct pairing *p, const struct record *r,
                                             const struct mcp_message *m)
{
    enum record_dir asked = r->message.dir == TO_CLIENT ? TO_SERVER : TO_CLIENT;

    forget_answered(p);
    p->answered = unlink_request(p, pairing_key(p, asked, r->conn, m->id));
    return p->answered;
}

struct pairing_request *pairing_peek(struct pairing *p, enum record_dir dir, uint64_t conn,
                                     struct json_val id)
{
    return map_get(&p->open, pairing_key(p, dir, conn, id));
}
