/* trace/message-store.h - interface of a store for messages that are read back later.
 *
 * Replay keeps an index in memory and the messages here. Implementations: memory (below) and
 * the recording file itself (format/message-file.h).
 *
 * A message comes back with the bytes it was added with, on one line: line breaks between JSON
 * tokens become blanks. */
#ifndef TRACE_MESSAGE_STORE_H
#define TRACE_MESSAGE_STORE_H

#include <stdint.h>

#include "base/buf.h"

struct message_ref {
    uint64_t at; /* below MESSAGE_STORE_MAX */
    uint32_t len;
    uint32_t
        line; /* set by add_message() if the store knows it: the line in the file, from 1 */
};

#define MESSAGE_STORE_MAX ((uint64_t)1 << 48)

struct message_store {
    /* Adds a message: JSON text of the record being handled. */
    bool (*add_message)(struct message_store *self, struct str message,
                        struct message_ref *where, struct err *e) MUST_CHECK;

    /* Adds other bytes, such as data about messages; they come back unchanged. */
    bool (*add_bytes)(struct message_store *self, struct str bytes, struct message_ref *where,
                      struct err *e) MUST_CHECK;

    /* Replaces the contents of `to` by what was added. */
    bool (*fetch)(struct message_store *self, struct message_ref where, struct buf *to,
                  struct err *e) MUST_CHECK;
};

/* A store in memory, for small or generated recordings. */
struct message_store_memory {
    struct message_store store;
    struct buf text;
};

void message_store_memory_init(struct message_store_memory *m);
void message_store_memory_release(struct message_store_memory *m);

/* Replaces line breaks by blanks, in place. */
void message_store_flatten(char *text, size_t len);

#endif
