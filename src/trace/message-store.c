#include "trace/message-store.h"

void message_store_flatten(char *text, size_t len)
{
    char *end = text + len;

    while (len && (text = memchr(text, '\n', (size_t)(end - text))))
        *text++ = ' ';
}

static bool add_bytes(struct message_store *self, struct str bytes, struct message_ref *where,
                      struct err *e)
{
    struct message_store_memory *m = (struct message_store_memory *)self;

    where->at = m->text.len;
    where->len = (uint32_t)bytes.len;
    buf_add(&m->text, bytes);
    return buf_ok(&m->text, e);
}

static bool add_message(struct message_store *self, struct str message,
                        struct message_ref *where, struct err *e)
{
    struct message_store_memory *m = (struct message_store_memory *)self;

    if (!add_bytes(self, message, where, e))
        return false;
    message_store_flatten(m->text.at + where->at, message.len);
    return true;
}

static bool fetch(struct message_store *self, struct message_ref where, struct buf *to,
                  struct err *e)
{
    const struct message_store_memory *m = (const struct message_store_memory *)self;

    BUG_IF(where.at + where.len > m->text.len);
    buf_clear(to);
    buf_add(to, str_n(m->text.at + where.at, where.len));
    return buf_ok(to, e);
}

void message_store_memory_init(struct message_store_memory *m)
{
    m->store = (struct message_store){ add_message, add_bytes, fetch };
    buf_init(&m->text, MESSAGE_STORE_MAX);
}

void message_store_memory_release(struct message_store_memory *m)
{
    buf_release(&m->text);
}
