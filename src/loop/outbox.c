#include "loop/outbox.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/loop-uv.h"

struct outbox {
    uv_prepare_t before; /* the loop waits: what timers and the like have said */
    uv_check_t after;    /* it has looked at all who had something for us */
    outbox_send_fn *send;
    int handles; /* that are not closed */
    bool sending;
    size_t count, used;
    struct outbox_item {
        void *to;
        size_t at, len;
    } items[OUTBOX_ITEMS];
    char bytes[OUTBOX_BYTES];
};

void outbox_flush(struct outbox *o)
{
    BUG_IF(o->sending);
    o->sending = true;
    for (size_t i = 0; i < o->count; i++)
        o->send(o->items[i].to, str_n(o->bytes + o->items[i].at, o->items[i].len));
    o->count = o->used = 0;
    o->sending = false;
}

static void on_before(uv_prepare_t *uv)
{
    outbox_flush(uv->data);
}

static void on_after(uv_check_t *uv)
{
    outbox_flush(uv->data);
}

struct outbox *outbox_new(struct loop *l, outbox_send_fn *send)
{
    struct outbox *o = mem_new(struct outbox);

    o->send = send;
    o->handles = 2;
    o->before.data = o->after.data = o;
    BUG_IF(uv_prepare_init(&l->uv, &o->before) != 0 || uv_check_init(&l->uv, &o->after) != 0);
    BUG_IF(uv_prepare_start(&o->before, on_before) != 0);
    BUG_IF(uv_check_start(&o->after, on_after) != 0);
    /* By itself it is no reason for the loop to go on. */
    uv_unref((uv_handle_t *)&o->before);
    uv_unref((uv_handle_t *)&o->after);
    return o;
}

static void closed(uv_handle_t *uv)
{
    struct outbox *o = uv->data;

    if (!--o->handles)
        free(o);
}

void outbox_close(struct outbox *o)
{
    if (!o)
        return;
    outbox_flush(o);
    uv_close((uv_handle_t *)&o->before, closed);
    uv_close((uv_handle_t *)&o->after, closed);
}

/* What follows on what the same one was told last belongs to it. */
static void add(struct outbox *o, void *to, struct str bytes)
{
    struct outbox_item *last = o->count ? &o->items[o->count - 1] : NULL;

    memcpy(o->bytes + o->used, bytes.at, bytes.len);
    if (last && last->to == to)
        last->len += bytes.len;
    else
        o->items[o->count++] = (struct outbox_item){ to, o->used, bytes.len };
    o->used += bytes.len;
}

bool outbox_put(struct outbox *o, void *to, struct str bytes)
{
    BUG_IF(o->sending);
    if (bytes.len > OUTBOX_BYTES - o->used || o->count == OUTBOX_ITEMS)
        outbox_flush(o);
    if (bytes.len > OUTBOX_BYTES)
        return false;
    add(o, to, bytes);
    return true;
}
