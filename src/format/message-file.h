/* format/message-file.h - a message store on the recording file itself.
 *
 * Messages are read from the file again. If that is not possible (the file is compressed, or
 * its format stores messages in another form), and for other bytes, a copy goes to an unnamed
 * temporary file in `tmp_dir`. Memory does not grow with the recording: a cache of fixed size
 * keeps the latest messages read. */
#ifndef FORMAT_MESSAGE_FILE_H
#define FORMAT_MESSAGE_FILE_H

#include "base/log.h"
#include "format/read-ahead.h"
#include "format/reader.h"
#include "trace/message-store.h"

/* The latest messages read, by offset. Each offset has one slot, so one text replaces another.
 * Texts of more than MESSAGE_FILE_CACHE_TEXT bytes are not kept. */
enum { MESSAGE_FILE_CACHE_SLOTS = 64, MESSAGE_FILE_CACHE_TEXT = 8 << 10 };

struct message_file_cache {
    struct message_file_slot {
        uint64_t at;
        struct buf text; /* empty: unused */
    } slots[MESSAGE_FILE_CACHE_SLOTS];
};

struct message_file {
    struct message_store store;
    bool keep_origins; /* set by the owner before message_file_read_all(): copies are stored
                          with the place of the original, for message_file_find_origin() */
    bool keep_lines;   /* set by the owner before message_file_read_all(): references have the
                          line of the message */
    const struct sys *sys;
    const char *tmp_dir; /* borrowed: directory of the copy */
    struct reader *reader;
    struct file copy;
    uint64_t copy_size;           /* with `unwritten` */
    struct buf unwritten;         /* not yet written to `copy` */
    struct read_ahead read_ahead; /* of `copy` */
    struct message_file_cache cache;
};

/* As reader_open(). Borrows `tmp_dir`. */
bool message_file_open(struct message_file *f, const struct sys *sys, const char *path,
                       const char *tmp_dir, const struct log *log, struct err *e) MUST_CHECK;
void message_file_close(struct message_file *f);

const struct format *message_file_format(const struct message_file *f);

/* Puts every record into a sink, which may add messages to the store. */
bool message_file_read_all(struct message_file *f, struct sink *to, struct err *e) MUST_CHECK;

/* Finds the place of a message in the text of the file. Needs `keep_origins`. ERR_INPUT if the
 * format composed the message. */
bool message_file_find_origin(struct message_file *f, struct message_ref where,
                              struct message_origin *o, struct err *e) MUST_CHECK;

void message_file_cache_init(struct message_file_cache *r);
void message_file_cache_release(struct message_file_cache *r);

/* Copies a text into its slot, unless it is too long. */
void message_file_cache_add(struct message_file_cache *r, uint64_t at, struct str text);

/* Borrowed until the next message_file_cache_add(). Returns false if no text of that length is
 * there. */
bool message_file_cache_find(const struct message_file_cache *r, uint64_t at, size_t len,
                             struct str *text);

#endif
