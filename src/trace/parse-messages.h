/* trace/parse-messages.h - parses a line or an HTTP body into records.
 *
 * One message is one record; a batch is one record per element; anything else is a RECORD_RAW.
 * Sets direction, message, its classification and its index in a batch; time and order are the
 * caller's. */
#ifndef TRACE_PARSE_MESSAGES_H
#define TRACE_PARSE_MESSAGES_H

#include "base/buf.h"
#include "trace/record.h"
#include "json/json.h"

/* `why` of a RECORD_RAW. */
#define PARSE_NOT_JSON "not JSON"
#define PARSE_NOT_JSON_RPC "not JSON-RPC"

struct message_parser {
    struct json json;
    struct arena arena;
    struct buf one_line;
    uint64_t batch_count;
    struct str peeked; /* the text of the latest message_parser_peek() */
    bool scanned;      /* `json` holds the scanned `peeked`; cleared by message_parser_line() */
};

void message_parser_init(struct message_parser *in);
void message_parser_release(struct message_parser *in);

/* Passes the records of a line (without its newline) to the sink; a blank line has none. Passes
 * all of them, and returns false if the sink failed for any. */
bool message_parser_line(struct message_parser *in, enum record_dir dir, struct str line,
                         struct sink *to, struct err *e) MUST_CHECK;

/* The same for a text with line breaks. In JSON they can only be between tokens, and become
 * blanks. */
bool message_parser_text(struct message_parser *in, enum record_dir dir, struct str text,
                         struct sink *to, struct err *e) MUST_CHECK;

/* Classifies a text as message_parser_text() would. */
enum parse_kind { PARSE_EMPTY, PARSE_MESSAGE, PARSE_BATCH, PARSE_OTHER };
enum parse_kind message_parser_peek(struct message_parser *in, struct str text);

/* Parses the peeked text. The text must still be valid, and nothing else parsed since. */
bool message_parser_peeked(struct message_parser *in, enum record_dir dir, struct sink *to,
                           struct err *e) MUST_CHECK;

#endif
