/* index/http-index.h - indexes how a recorded server behaved over HTTP.
 *
 * A sink before the index (index/index.h): it gets all records of a recording, forwards to the
 * index what can be played, and keeps for each request only the shape of its response: JSON or
 * SSE stream, status, priming events, closed and resumed streams. Call http_index_finish() at
 * the end.
 *
 * Anomalies are not forwarded but kept whole and found by their HTTP request: responses to
 * requests that a correct client does not send (foreign Origin, headers that contradict the
 * body, an ended session), and responses without a JSON-RPC message, unless the same request
 * was answered normally another time. 401 is never replayed. Responses that mcpreel sent itself
 * while recording are ignored.
 *
 * Messages on an HTTP+SSE stream belong to the session, as on stdio: they are forwarded without
 * exchange and stream. A POST to the path of such streams is a client that probes for
 * Streamable HTTP; one recorded rejection is kept for all of them.
 *
 * Cassettes have no HTTP requests: only status and media type of their responses are kept. Owns
 * its arenas; borrows the sink and the message store. */
#ifndef INDEX_HTTP_INDEX_H
#define INDEX_HTTP_INDEX_H

#include "base/map.h"
#include "mcphttp/request-validate.h"
#include "trace/message-store.h"
#include "trace/record.h"

#define HTTP_INDEX_SSE_PATH "/sse"

/* An event of a response stream beside its messages: an event with an id and no message, so
 * that the client can resume; or the server closed the stream so that it does. */
struct http_stream_event {
    struct http_stream_event *next;
    uint32_t after_messages; /* how many messages came before it */
    bool closes_stream;
    int64_t retry_ms; /* of the event; -1: none */
};

/* How the response to a recorded request was sent. */
struct response_shape {
    uint64_t exchange_key; /* key of the HTTP request (http_request_hash()); 0: none */
    const struct http_stream_event *stream_events; /* in order, over all exchanges */
    uint32_t seq;                                  /* of the request */
    uint16_t status;                               /* HTTP status; 0: no HTTP response */
    uint8_t version;                               /* enum mcp_version of its client */
    bool json : 1, sse : 1;
    bool has_ids : 1;      /* events had ids */
    bool has_response : 1; /* its JSON-RPC response was recorded */
};

/* A message or a text of an exchange that is kept whole. */
struct http_anomaly_part {
    struct http_anomaly_part *next;
    struct message_ref place; /* if `text` is empty */
    struct str text;
};

/* An exchange that is kept whole. */
struct http_anomaly {
    unsigned status;
    bool sse;
    bool invalid_request;    /* a correct server rejects the request */
    bool post;               /* the request is a POST, but not to an HTTP+SSE endpoint */
    struct str path;         /* of the HTTP request */
    struct str id;           /* of the JSON-RPC request, as JSON; empty: none */
    struct str content_type; /* empty: none */
    struct str allow, www_authenticate, retry_after;
    struct http_anomaly_part *first, *last;
};

struct http_index {
    struct sink sink;
    struct sink *index_sink;     /* borrowed; of the index */
    struct message_store *store; /* borrowed */
    struct arena arena;
    struct response_shape *shapes; /* sorted by seq */
    size_t shape_count, shape_cap;
    uint64_t headerless_exchange; /* latest exchange whose HTTP request was not recorded */
    uint64_t headerless_seq;      /* seq of its JSON-RPC request; 0: none */
    struct map anomalies;         /* key of the HTTP request to struct http_anomaly */
    struct map ok_requests;       /* keys of requests without a body that were not rejected */
    struct map open_exchanges;    /* exchange to struct open_exchange */
    struct map resumable_streams; /* closed stream to struct stream_progress */
    struct map agreed_versions;   /* session to its agreed enum mcp_version */
    struct arena scratch;         /* for one record */
    struct param_headers params;

    /* The server as a whole. */
    struct request_rules rules; /* `stateful`, `stateless` and `versions` are set by the replay,
                                   from the index */
    bool seen_http;             /* the recording has HTTP requests */
    bool no_get_stream;         /* it answered 405 to the GET of a valid client */
    bool accept_optional; /* it gave an SSE stream to a client whose Accept did not name it */
    bool stream_primed, stream_has_ids;
    enum mcp_version primed_version;          /* oldest one whose GET stream was primed */
    int64_t stream_retry_ms;                  /* of the priming event; -1: none */
    unsigned delete_status;                   /* response to a valid DELETE; 0: not recorded */
    struct str sse_path;                      /* path of HTTP+SSE streams; empty: not spoken */
    struct str post_path;                     /* where clients of these streams post messages */
    const struct http_anomaly *rejected_post; /* to `sse_path`; NULL: not recorded */
};

void http_index_init(struct http_index *h, struct sink *to, struct message_store *store);
void http_index_release(struct http_index *h);
void http_index_finish(struct http_index *h);

/* Returns NULL if the request was not recorded over HTTP. */
const struct response_shape *http_index_shape(const struct http_index *h, uint32_t seq);

/* Whether a client gets priming events that a recorded client got. They came with 2025-11-25; a
 * server that sent them to an older client sends them to clients of that version, too. */
bool http_index_supports_priming(enum mcp_version live, enum mcp_version recorded);

/* Returns the anomaly that is the recorded response to such an HTTP request; NULL: none. */
const struct http_anomaly *http_index_find_anomaly(const struct http_index *h,
                                                   const struct http_request *c,
                                                   struct str path, struct arena *a);

/* Returns the path where clients open HTTP+SSE streams. */
struct str http_index_sse_path(const struct http_index *h);

/* Whether an HTTP request opens an HTTP+SSE stream: a GET to HTTP_INDEX_SSE_PATH or to the
 * recorded path, without session id and Last-Event-ID. */
bool http_index_opens_sse(const struct http_index *h, const struct http_request *c,
                          struct str path);

#endif
