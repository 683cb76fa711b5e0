#include "engine/http-said.h"

#include <stdlib.h>

#include "base/mem.h"

void http_said_release(struct http_said *s)
{
    while (s->first)
        http_said_pop(s);
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
