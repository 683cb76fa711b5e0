#include "sse-text.h"

static void add(struct buf *to, const char *name, struct str text)
{
    if (!text.at)
        return;
    buf_printf(to, "%s=", name);
    buf_add(to, text);
    buf_add_ch(to, '|');
}

void sse_text(struct buf *to, enum sse_next next, const struct sse_item *item)
{
    buf_printf(to, next == SSE_EVENT ? "{" : "(");
    add(to, "event", item->event);
    add(to, "id", item->id);
    if (item->retry >= 0)
        buf_printf(to, "retry=%lld|", (long long)item->retry);
    add(to, "data", item->data);
    add(to, "comment", item->comment);
    buf_printf(to, "%s%llu%s", item->too_long ? "too long: " : "",
               (unsigned long long)item->bytes, next == SSE_EVENT ? "}" : ")");
}
