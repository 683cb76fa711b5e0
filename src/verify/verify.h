/* verify/verify.h - sends one recorded session to a live server and judges its responses.
 *
 * An engine (engine/engine.h) on client/mcp-session. It sends the client's messages in recorded
 * order: each one as soon as all responses that came before it in the recording have come again
 * (index/order.h), so that requests which were open together are open together. Ids and
 * progress tokens are its own, values that the live server made replace the recorded ones
 * (verify/rebind.h), and server requests get the recorded client's responses. A recorded
 * session of the stateful protocol without initialize gets one.
 *
 *     begin ──> [own handshake] ──> [own tools/list] ──> send and judge ──> settle ──> finish
 *
 * The own tools/list is sent if only read-only tools may be called. "settle" waits a moment for
 * notifications that recorded calls had and live ones did not have yet. If the server closes,
 * open calls fail and the others are blocked, after a signal with the reason "interrupted"; the
 * owner goes on with the next session.
 *
 * Each recorded request gets one verdict, through struct verify_events, at the moment it is
 * known. Borrows everything in struct verify_config. */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include "client/mcp-session.h"
#include "index/index.h"
#include "mcp/compare-rules.h"
#include "trace/call-verdict.h"
#include "verify/judge.h"
#include "verify/live-request.h"
#include "verify/notifications.h"
#include "verify/server-requests.h"
#include "verify/tool-list.h"

struct verify_config {
    const struct index *index;
    const struct index_order *order;
    const struct compare_rules *rules;
    int64_t timeout_us; /* of each request */
    bool strict;        /* the number of notifications counts, too */
    bool http;          /* the server is on HTTP; set by runtime/run-verify */
    bool read_only;     /* call only tools that the live server marks as read-only */
    bool notifications; /* notifications of the client, and its HTTP requests GET and DELETE,
                           get verdicts, too */
    live_request_secret_fn *secret;
    void *secret_arg;
    struct str (*answer)(void *arg, struct str method); /* as of verify/server-requests.h */
    void *answer_arg;
    /* Whether to send a recorded request; NULL: all. If not, sets `*why`. */
    bool (*selected)(void *arg, uint32_t call, struct json_val request, struct str *why);
    void *selected_arg;
};

struct verify_events {
    /* `live` is the text of the live response; empty: none. `call` is 0 for a notification or
     * an HTTP request. */
    void (*verdict)(void *to, const struct call_verdict *v, uint32_t call, struct str live);
    void (*finding)(void *to, const struct finding *f); /* of no call */
};

enum verify_state {
    VERIFY_BEGIN,
    VERIFY_HANDSHAKE, /* waits for the response to its own initialize */
    VERIFY_TOOL_LIST, /* waits for the pages of its own tools/list */
    VERIFY_SEND,
    VERIFY_SETTLE,
    VERIFY_DONE,
};

struct verify {
    const struct verify_config *config;
    const struct verify_events *events;
    void *to;
    uint32_t session;
    uint32_t item;        /* next item of the order; 0: all are sent */
    uint32_t ahead;       /* first one that is not noted for `rebind`; 0: all are */
    uint32_t last_number; /* of the last call in the report */
    enum verify_state state;
    struct mcp_session mcp;
    struct rebind rebind;
    struct live_request request;
    struct judge judge;
    struct server_requests server_requests;
    struct tool_list tools; /* of the live server */
    struct map by_request;  /* live request to struct verify_call */
    struct map by_call;     /* recorded call to struct verify_call, until its response */
    struct map live_ids;    /* id of a recorded request to its live number */
    struct notifications notifications;
    uint64_t responses;            /* that came, to any request */
    struct buf not_mcp;            /* what came in place of the first response, as a sentence;
                                      empty: no such thing */
    bool closed_early;             /* the server closed before all calls were judged */
    struct verify_call *unsettled; /* responded, but without a recorded notification */
    uint64_t own_request;          /* VERIFY_HANDSHAKE, VERIFY_TOOL_LIST */
    uint64_t settle_timer;
    struct buf block_reason;      /* set: nothing more is sent, for this reason */
    struct index_message message; /* the recorded message being handled */
    struct err error;             /* the recording could not be read; the session ended by it */
};

/* `first_number` numbers the calls of this session in the report. */
void verify_init(struct verify *s, const struct verify_config *config, uint32_t session,
                 uint32_t first_number, struct action_sink *out,
                 const struct verify_events *events, void *to);
void verify_release(struct verify *s);

void verify_step(struct verify *s, const struct event *ev);

/* Gives a verdict to every call that has none: they are blocked for the reason `why`, such as
 * "the server could not be started". Call it when no event follows. */
void verify_abandon(struct verify *s, struct str why);

/* Returns why a recorded request cannot be sent to any server: it has no recorded response, or
 * needs a secret that is unknown. Empty: it can. The text is in `a`, or a constant. */
struct str verify_obstacle(const struct verify_config *config, uint32_t call,
                           struct json_val request, struct arena *a);

/* Returns whether a session has requests to verify. */
bool verify_has_requests(const struct verify_config *config, uint32_t session);

#endif
