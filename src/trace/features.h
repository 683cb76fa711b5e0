/* trace/features.h - the parts of a recording that not every format can store.
 *
 * A format lists the features it keeps, a record has features: the difference is what a
 * conversion loses. trace/loss.h counts it. */
#ifndef TRACE_FEATURES_H
#define TRACE_FEATURES_H

#include "base/buf.h"
#include "trace/record.h"

enum feature {
    FEATURE_BYTES = 1u << 0,   /* exact bytes of messages, not only equal JSON */
    FEATURE_TIME = 1u << 1,    /* when each message passed */
    FEATURE_LATENCY = 1u << 2, /* latency of each response */
    FEATURE_SERVER_MESSAGES =
        1u << 3,                /* server requests, notifications, and the client's responses */
    FEATURE_UNPAIRED = 1u << 4, /* requests without a response, responses without a request */
    FEATURE_BATCH = 1u << 5,    /* which messages came in one batch */
    FEATURE_RAW = 1u << 6,      /* bytes that are not JSON */
    FEATURE_STDERR = 1u << 7,   /* the server's standard error */
    FEATURE_PROCESS = 1u << 8,  /* when the server started and ended, and how */
    FEATURE_HTTP = 1u << 9,     /* status, headers, streams and sessions around messages */
    FEATURE_GAP = 1u << 10,     /* where messages were not recorded */
    FEATURE_NAME = 1u << 11,    /* name of the recording */
    FEATURE_TAGS = 1u << 12,    /* tags of the recording */
    FEATURE_COMMAND = 1u << 13, /* the server's argv */
    FEATURE_REDACTED = 1u << 14,        /* which values were redacted */
    FEATURE_DIRECTION = 1u << 15,       /* which side sent a message */
    FEATURE_END = 1u << 16,             /* how and when the recording ended */
    FEATURE_ORDER = 1u << 17,           /* order of messages, also of overlapping calls */
    FEATURE_MICROSECONDS = 1u << 18,    /* times to the microsecond */
    FEATURE_CONN = 1u << 19,            /* the connection of each message */
    FEATURE_OTHER_JSON = 1u << 20,      /* JSON that is not a JSON-RPC message */
    FEATURE_UNKNOWN_MEMBERS = 1u << 21, /* unknown members of lines, of any format */
    FEATURE_URL = 1u << 22,             /* the server's URL */
};

enum { FEATURE_COUNT = 23 };

/* The features that one record has. Never FEATURE_BYTES, FEATURE_DIRECTION, FEATURE_UNPAIRED or
 * FEATURE_ORDER: they cannot be seen in a single record. */
unsigned features_of(const struct record *r);

/* Whether a line is JSON, but no JSON-RPC message. */
bool features_is_other_json(struct str line);

/* Whether the upstream of a header is a URL, not a command. */
bool features_is_url(struct str upstream);

/* "stderr": the name in tables and in --json. */
const char *feature_name(enum feature p);

/* "lines of standard error": text for users. */
const char *feature_description(enum feature p);

/* Appends "12 lines of standard error", "the recording's name". */
void feature_add_count(struct buf *to, enum feature p, uint64_t count);

#endif
