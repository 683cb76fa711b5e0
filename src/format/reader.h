/* format/reader.h - reads a file of any format as a stream of records.
 *
 * Reads in pieces: memory is bounded by the largest line (LIMIT_LINE), not by the file. Errors
 * and notes have path, line and byte.
 *
 * Truncated compressed data is used as far as it can be decompressed, with a note. A damaged
 * file is rejected, unless it is opened for repair: then lines that cannot be read are skipped
 * and replaced by a gap, and compressed data is used up to the damage. */
#ifndef FORMAT_READER_H
#define FORMAT_READER_H

#include "base/file.h"
#include "base/log.h"
#include "format/format.h"

struct reader;

/* Detects the format by content. Notes go to `log` as warnings and are counted. Borrows `path`
 * until reader_close(). */
bool reader_open(struct reader **out, const struct sys *sys, const char *path,
                 const struct log *log, struct err *e) MUST_CHECK;

/* The expectations of the user about a file to import. */
struct reader_import {
    const struct format *format; /* read as this, unless the content is surely another format;
                                    NULL: by content */
    enum format_rules rules;
};

/* The same with expectations; NULL: none. */
bool reader_open_import(struct reader **out, const struct sys *sys, const char *path,
                        const struct reader_import *import, const struct log *log,
                        struct err *e) MUST_CHECK;

/* The same for repair: skips damage, with notes. */
bool reader_open_for_repair(struct reader **out, const struct sys *sys, const char *path,
                            const struct log *log, struct err *e) MUST_CHECK;
void reader_close(struct reader *r); /* NULL is fine */

/* The damage skipped so far: number of lines, and the first ranges of lines. */
enum { READER_DAMAGE_RANGES = 16 };
struct reader_damage {
    uint64_t lines;
    bool decompress_failed; /* the rest of the file cannot be decompressed */
    size_t range_count;     /* may exceed READER_DAMAGE_RANGES */
    struct {
        uint64_t first, last;
    } ranges[READER_DAMAGE_RANGES];
};

const struct reader_damage *reader_damage(const struct reader *r);

/* Opens a file that is still being written: at its current end, also inside a line,
 * reader_next() returns NEXT_MORE. Call it again when there may be more; after
 * reader_stop_following() the end of the file is the end. The file must not be empty. A
 * compressed file is read as usual. */
bool reader_open_following(struct reader **out, const struct sys *sys, const char *path,
                           const struct log *log, struct err *e) MUST_CHECK;
void reader_stop_following(struct reader *r);

/* Returns NEXT_RECORD, NEXT_END or NEXT_ERROR, and NEXT_MORE if the file is followed; never
 * NEXT_SKIP. The record is valid until the next call. */
enum next_result reader_next(struct reader *r, struct record *rec, struct err *e);

const struct format *reader_format(const struct reader *r);
uint64_t reader_note_count(const struct reader *r); /* notes so far */
uint64_t reader_offset(const struct reader *r);     /* bytes consumed so far, decompressed */

/* The file being read, to get its status. */
struct file *reader_file(struct reader *r);

/* Size of the whole file; 0: unknown (pipe, compressed file). */
uint64_t reader_size(struct reader *r);

/* Finds the file offset of bytes of the current record. Returns false if the file does not have
 * these bytes: it is compressed, or the format composed them. */
bool reader_locate(const struct reader *r, struct str bytes, uint64_t *at);

/* Where the text of a file has a message; offsets are those of the decompressed text. */
struct message_origin {
    uint64_t at, len;               /* the message, maybe over several lines */
    uint64_t record_at, record_len; /* the line with it, or more lines if it spans some; in a
                                       document, and for a later element of a batch, only the
                                       message */
};

/* Finds the text of the message of the current record. Returns false if the format composed the
 * message. */
bool reader_find_origin(const struct reader *r, struct str message, struct message_origin *o);

/* Returns the line in which the message of the current record begins, from 1; 0: the format
 * composed the message. Linear in the text since the last message that was asked for. */
uint64_t reader_find_line(struct reader *r, struct str message);

/* Reads bytes of the file at an offset. */
bool reader_read_at(struct reader *r, uint64_t at, char *to, size_t len,
                    struct err *e) MUST_CHECK;

/* Ends reading records and frees their memory; reader_read_at() still works. */
void reader_end_records(struct reader *r);

/* Puts every record of a file into a sink. */
bool reader_read_all(const struct sys *sys, const char *path, const struct log *log,
                     struct sink *to, struct err *e) MUST_CHECK;

#endif
