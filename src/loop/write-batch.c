#include "loop/write-batch.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/loop-uv.h"

struct write_batch {
    uv_prepare_t prepare; /* runs before the loop waits: sends the writes of timers */
    uv_check_t check;     /* runs after all I/O events: sends their writes */
    write_batch_send_fn *send;
    int open_handles; /* that are not closed */
    bool sending;
    size_t count, used;
    struct write_batch_item {
        void *arg;
        size_t offset, len;
    } items[WRITE_BATCH_ITEMS];
    char bytes[WRITE_BATCH_BYTES];
};

void write_batch_flush(struct write_batch *o)
{
    BUG_IF(o->sending);
    o->sending = true;
    for (size_t i = 0; i < o->count; i++)
        o->send(o->items[i].arg, str_n(o->bytes + o->items[i].offset, o->items[i].len));
    o->count = o->used = 0;
    o->sending = false;
}

static void on_prepare(uv_prepare_t *uv)
{
    write_batch_flush(uv->data);
}

static void on_check(uv_check_t *uv)
{
    write_batch_flush(uv->data);
}

struct write_batch *write_batch_new(struct loop *l, write_batch_send_fn *send)
{
    struct write_batch *o = mem_new(struct write_batch);

    o->send = send;
    o->open_handles = 2;
    o->prepare.data = o->check.data = o;
    BUG_IF(uv_prepare_init(&l->uv, &o->prepare) != 0 || uv_check_init(&l->uv, &o->check) != 0);
    BUG_IF(uv_prepare_start(&o->prepare, on_prepare) != 0);
    BUG_IF(uv_check_start(&o->check, on_check) != 0);
    /* The batch alone does not keep the loop running. */
    uv_unref((uv_handle_t *)&o->prepare);
    uv_unref((uv_handle_t *)&o->check);
    return o;
}

static void on_handle_closed(uv_handle_t *uv)
{
    struct write_batch *o = uv->data;

    if (!--o->open_handles)
        free(o);
}

void write_batch_close(struct write_batch *o)
{
    if (!o)
        return;
    write_batch_flush(o);
    uv_close((uv_handle_t *)&o->prepare, on_handle_closed);
    uv_close((uv_handle_t *)&o->check, on_handle_closed);
}

/* Bytes for the same receiver as the last ones become part of that item. */
static void append_bytes(struct write_batch *o, void *to, struct str bytes)
{
    struct write_batch_item *last = o->count ? &o->items[o->count - 1] : NULL;

    memcpy(o->bytes + o->used, bytes.at, bytes.len);
    if (last && last->arg == to)
        last->len += bytes.len;
    else
        o->items[o->count++] = (struct write_batch_item){ to, o->used, bytes.len };
    o->used += bytes.len;
}

bool write_batch_add(struct write_batch *o, void *to, struct str bytes)
{
    BUG_IF(o->sending);
    if (bytes.len > WRITE_BATCH_BYTES - o->used || o->count == WRITE_BATCH_ITEMS)
        write_batch_flush(o);
    if (bytes.len > WRITE_BATCH_BYTES)
        return false;
    append_bytes(o, to, bytes);
    return true;
}
