#include "trace/shelf.h"

void shelf_flatten(char *text, size_t len)
{
    char *end = text + len;

    while (len && (text = memchr(text, '\n', (size_t)(end - text))))
        *text++ = ' ';
}

static bool store(struct shelf *self, struct str bytes, struct shelf_place *where,
                  struct err *e)
{
    struct shelf_memory *m = (struct shelf_memory *)self;

    where->at = m->text.len;
    where->len = (uint32_t)bytes.len;
    buf_add(&m->text, bytes);
    return buf_ok(&m->text, e);
}

static bool keep(struct shelf *self, struct str message, struct shelf_place *where,
                 struct err *e)
{
    struct shelf_memory *m = (struct shelf_memory *)self;

    if (!store(self, message, where, e))
        return false;
    shelf_flatten(m->text.at + where->at, message.len);
    return true;
}

static bool fetch(struct shelf *self, struct shelf_place where, struct buf *to, struct err *e)
{
    const struct shelf_memory *m = (const struct shelf_memory *)self;

    BUG_IF(where.at + where.len > m->text.len);
    buf_clear(to);
    buf_add(to, str_n(m->text.at + where.at, where.len));
    return buf_ok(to, e);
}

void shelf_memory_init(struct shelf_memory *m)
{
    m->shelf = (struct shelf){ keep, store, fetch };
    buf_init(&m->text, SHELF_MAX);
}

void shelf_memory_release(struct shelf_memory *m)
{
    buf_release(&m->text);
}
