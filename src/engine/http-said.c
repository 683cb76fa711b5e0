#include "engine/http-said.h"

#include <stdlib.h>

#include "base/mem.h"

void http_said_release(struct http_said *s)
{
    while (s->first)
        http_said_pop(s);
}

static void give_up(struct json *json, struct str text, struct http_waits *to)
{
    struct arena a = { 0 };
    struct json_fault fault;
    struct mcp_message m;

    if (!json_scan(json, text, &fault))
        BUG("it was read before");
    m = mcp_classify(json_root(json), &a);
    if (m.kind == MCP_BATCH)
        http_waits_add_all(to, m.root, NULL);
    else if (m.kind == MCP_REQUEST)
        http_waits_add(to, &m, NULL);
    arena_release(&a);
}

void http_said_give_up(struct http_said *s, struct http_waits *to)
{
    struct json json;

    json_init(&json);
    for (; s->first; http_said_pop(s))
        give_up(&json, s->first->text, to);
    json_release(&json);
}

void http_said_add(struct http_said *s, struct str text, bool answers)
{
    struct http_said_line *l = mem_alloc(sizeof *l + text.len);

    l->answers = answers;
    l->text = str_n((char *)(l + 1), text.len);
    if (text.len)
        memcpy(l + 1, text.at, text.len);
    *(s->last ? &s->last->next : &s->first) = l;
    s->last = l;
    s->bytes += text.len;
}

void http_said_pop(struct http_said *s)
{
    struct http_said_line *l = s->first;

    s->first = l->next;
    if (!s->first)
        s->last = NULL;
    s->bytes -= l->text.len;
    free(l);
}
