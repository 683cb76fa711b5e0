/* engine/http-script.h - how a recorded server behaved over HTTP, beside what it said.
 *
 * A sink that stands before a script: pour a recording into it, then http_script_finish().
 * What the script can make strands of goes on to it; of that only how it was sent is kept
 * here: as JSON or as a stream, with which status, primed, or cut off to be resumed, as often
 * as that was.
 *
 * What no correct client sends (another site's page, headers that contradict the body, a
 * session that has ended) goes no further: such exchanges are kept whole, and are found by
 * what was asked. So is what was answered with no JSON-RPC answer at all, unless the same
 * was answered another time: a server that is busy now and then is not, when it is replayed.
 * Nor does it ask for credentials (401).
 *
 * What a server says on a stream of HTTP+SSE it says to the session, as on stdio: the script
 * hears nothing of streams and exchanges then. What is posted to the path of such streams is
 * not for MCP: a client that tries whether the server speaks Streamable HTTP. One such answer
 * stands for all.
 *
 * A cassette has no HTTP requests of its calls, only how they were answered: of these exchanges
 * the status and whether it was a stream is kept.
 *
 * What mcpreel itself answered while it recorded does not count. */
#ifndef ENGINE_HTTP_SCRIPT_H
#define ENGINE_HTTP_SCRIPT_H

#include "base/map.h"
#include "engine/http-rules.h"
#include "trace/record.h"
#include "trace/shelf.h"

#define HTTP_SCRIPT_SSE_PATH "/sse"

/* What happened on the stream of an answer beside its messages: an event had an id and no
 * message, so that the client can come back; or the stream was closed, for it to do so. */
struct http_beat {
    struct http_beat *next;
    uint32_t after; /* so many messages */
    bool cut;
    int64_t retry_ms; /* when to come again, by the event; -1: it did not say */
};

/* How the answer to a recorded request was sent. */
struct http_fact {
    uint64_t key;                  /* of the exchange; 0: none */
    const struct http_beat *beats; /* in order, over all exchanges that it was on */
    uint32_t seq;                  /* of the request */
    uint16_t status;               /* 0: never answered */
    uint8_t version;               /* enum mcp_version that its client spoke */
    bool json : 1, sse : 1;
    bool has_ids : 1;  /* its events had */
    bool answered : 1; /* the message that answers it was seen */
};

/* One of the messages of an exchange that is kept whole; or a text that is none. */
struct http_odd_part {
    struct http_odd_part *next;
    struct shelf_place where; /* if `text` is empty */
    struct str text;
};

/* An exchange that is kept whole. */
struct http_odd {
    unsigned status;
    bool sse;
    bool wrong;      /* by the rules */
    bool post;       /* it was posted, to: */
    struct str path; /* of its request */
    struct str id;   /* of the request, as JSON; empty: it had none */
    struct str type; /* Content-Type; empty: none */
    struct str allow, challenge, retry_after;
    struct http_odd_part *first, *last;
};

struct http_script {
    struct sink sink;
    struct sink *to;     /* borrowed: the script's */
    struct shelf *shelf; /* borrowed */
    struct arena arena;
    struct http_fact *facts; /* by seq */
    size_t fact_count, fact_cap;
    uint64_t bare;     /* exchange of the latest request without a record of its HTTP request */
    uint64_t bare_seq; /* of that request; 0: there is none */
    struct map odd;    /* key to struct http_odd */
    struct map fine;   /* keys of requests without a body that were not refused */
    struct map open;   /* number of an exchange to struct http_pending */
    struct map cut;    /* of a stream that may be gone on with, to struct http_told */
    struct map agreed; /* number of a session to the enum mcp_version it agreed to */
    struct arena scratch; /* for one record */
    struct http_params params;

    /* The server as a whole. */
    struct http_rules rules; /* `legacy`, `modern` and `versions` are the script's to tell */
    bool seen;               /* there was HTTP at all */
    bool no_stream;          /* it refused one to somebody in a session */
    bool unnamed;            /* it gave one to somebody who did not name that */
    bool stream_primed, stream_has_ids;
    enum mcp_version
        stream_version;             /* the oldest that a client spoke whose stream was primed */
    int64_t stream_retry_ms;        /* of the event that primes it; -1: it had no `retry` */
    unsigned delete_status;         /* 0: nobody tried */
    struct str sse_path;            /* where it has streams of HTTP+SSE; empty: it does not */
    struct str posts_path;          /* where their messages are posted */
    const struct http_odd *no_post; /* what it says to who posts there; NULL: not known */
};

void http_script_init(struct http_script *h, struct sink *to, struct shelf *shelf);
void http_script_release(struct http_script *h);
void http_script_finish(struct http_script *h);

/* NULL: the request was not recorded over HTTP. */
const struct http_fact *http_script_fact(const struct http_script *h, uint32_t seq);

/* Whether a client gets the events without a message that a recorded client got. They came with
 * 2025-11-25; servers that sent them to an older client send them to those that are as old. */
bool http_script_primes(enum mcp_version live, enum mcp_version recorded);

/* NULL: nothing odd is known of such a request to a path. */
const struct http_odd *http_script_odd(const struct http_script *h, const struct http_call *c,
                                       struct str path, struct arena *a);

/* Where clients find such a server, if it speaks HTTP+SSE; empty: it does not. */
struct str http_script_path(const struct http_script *h);

/* Whether a request asks for a stream of HTTP+SSE: at HTTP_SCRIPT_SSE_PATH, or where the
 * recorded server had them. */
bool http_script_opens_sse(const struct http_script *h, const struct http_call *c,
                           struct str path);

#endif
