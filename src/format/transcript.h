/* format/transcript.h - reads the messages of transcripts: files of MCP messages as Assay
 * imports them (formats jsonrpc, inspector, streamable-http, http-sse).
 *
 * Makes a record of each message, checks the rules for ids, and infers the direction in formats
 * that do not have it: from a method that only one side may send, or from the request that a
 * response answers. All other messages count as the client's.
 *
 * Ids are compared as text: 1 and "1" are equal, but the record has the id as it is.
 * FORMAT_RULES_DOCUMENTED rejects a second tools/call with the same id, among the latest
 * TRANSCRIPT_CALLS. FORMAT_RULES_HEAD compares ids with their type, rejects two open requests
 * with one id, duplicate members, and messages that are not strictly JSON-RPC 2.0. */
#ifndef FORMAT_TRANSCRIPT_H
#define FORMAT_TRANSCRIPT_H

#include "base/recent-keys.h"
#include "format/format.h"
#include "trace/pairing.h"
#include "json/member-index.h"

enum { TRANSCRIPT_CALLS = 1 << 18 };

struct transcript {
    enum format_rules rules;
    bool typed_ids; /* set by transcript_init() for FORMAT_RULES_HEAD */
    struct pairing pairs;
    struct recent_keys calls;
    struct json_member_index names;
    struct arena arena; /* texts of the current message */
    struct buf key;
    uint64_t requests; /* so far */
    int64_t start_us;  /* since 1970: of the earliest record so far that has a date; 0: none */
};

/* Where a value is, for errors. */
struct transcript_place {
    const struct window *window;
    size_t at;          /* offset in the window */
    uint64_t entry;     /* number in the document, from 1; 0: the file has lines */
    const char *member; /* of the entry; NULL: the entry is the message */
};

void transcript_init(struct transcript *t, enum format_rules rules);
void transcript_release(struct transcript *t);

/* Reads a message; `dir` is NULL if the format does not have it. Sets kind, message or bytes,
 * and a time of the message if the record has none. An object that is no JSON-RPC message
 * becomes a RECORD_RAW if `any_object` is set, or if it has a result without an id.
 * The record is valid until the next call. */
bool transcript_read(struct transcript *t, const struct transcript_place *p, struct json_val v,
                     const enum record_dir *dir, bool any_object, struct record *r,
                     struct err *e) MUST_CHECK;

/* Rejects duplicate members at any depth, with FORMAT_RULES_HEAD. */
bool transcript_check_members(struct transcript *t, const struct transcript_place *p,
                              struct json_val root, struct err *e) MUST_CHECK;

/* Sets an error at the place, after "entry 3: " in a document. Returns false. */
bool transcript_error(const struct transcript_place *p, struct err *e, const char *fmt, ...)
    PRINTF(3, 4);

/* Reads a whole number of milliseconds since 1970; false: it is none, or out of range. */
bool transcript_read_ms(struct json_val v, int64_t *ms);

/* Remembers the time of a record if it is a date: times near 1970 count from the start. */
void transcript_note_time(struct transcript *t, const struct record *r);

/* Sets the time of a header that has none. */
void transcript_set_start(const struct transcript *t, struct record *header);

/* The message that a record puts into a transcript; absent if it has none that could be read
 * again. Scans the bytes of a RECORD_RAW into `j`. */
struct json_val transcript_message(const struct record *r, struct json *j);

/* Whether a value is a message with a valid id, or has a result. */
bool transcript_is_message(struct json_val v);

/* Ranks the start of a file, or of an array, as a message: PROBE_SURE or PROBE_NONE. */
enum probe_rank transcript_probe(struct str head);

#endif
