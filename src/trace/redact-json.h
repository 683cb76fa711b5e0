/* trace/redact-json.h - secrets taken out of a JSON value, and nothing else.
 *
 * Changes the few bytes that are secret and keeps every other; strings stay strings, in
 * names of members, too, and a number becomes a string. Where something only looks like a
 * secret (a credential, a pattern), what the meaning of a message hangs on is left alone;
 * a declared value goes wherever it stands. Ids that had one stay different from each other,
 * and the same in every message.
 *
 * In messages, base64 in `blob`, and in `data` beside a `mimeType`, is decoded and searched if
 * it holds text: a value with a secret in it goes as a whole. What was not searched is counted.
 */
#ifndef TRACE_REDACT_JSON_H
#define TRACE_REDACT_JSON_H

#include "trace/alias.h"
#include "trace/marks.h"
#include "trace/untouchable.h"
#include "json/write.h"

/* Why base64 was not searched. */
enum redact_json_unread {
    REDACT_JSON_BINARY,
    REDACT_JSON_COMPRESSED,
    REDACT_JSON_LARGE, /* more than REDACT_JSON_SEARCHED bytes */
    REDACT_JSON_REASONS,
};

enum { REDACT_JSON_SEARCHED = 16 << 20 };

struct redact_json {
    struct secrets_search *search; /* borrowed, as is the next */
    struct marks *marks;
    struct buf text;    /* the new value */
    struct json result; /* and what it consists of */
    struct untouchable untouchable;
    struct alias alias;
    struct arena arena; /* for one value */
    struct redact_json_leaf {
        uint32_t node, rule;
    } * leaves; /* what was changed; nodes are counted from that of the value */
    size_t count, cap;
    struct secrets_search *inner;         /* for what was decoded; NULL: nothing was yet */
    uint64_t unread[REDACT_JSON_REASONS]; /* of all messages */
};

enum redact_json_outcome {
    REDACT_JSON_CLEAN, /* nothing to take out */
    REDACT_JSON_DONE,  /* the new value is in `text` and `result` */
    REDACT_JSON_UNFIT, /* could not be freed from secrets: must not be written at all */
};

void redact_json_init(struct redact_json *j, struct secrets_search *f, struct marks *m);
void redact_json_release(struct redact_json *j);

/* `message`: the value is one, with members that are not to be touched. */
enum redact_json_outcome redact_json(struct redact_json *j, struct json_val v, bool message);

/* The place of a changed leaf in the new value, as an RFC 6901 pointer; of a name that of
 * its member. */
void redact_json_pointer(const struct redact_json *j, const struct redact_json_leaf *leaf,
                         struct buf *to);

#endif
