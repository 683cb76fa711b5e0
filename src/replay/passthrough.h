/* replay/passthrough.h - forwards requests without a recorded response to the upstream, a real
 * server.
 *
 * The upstream is started on first use and gets the live client's initialize. Requests are
 * forwarded under our ids; its responses and progress go back under the client's ids and
 * tokens, its server requests under ids of ours. Clients share it: a message for no client in
 * particular goes with the oldest open call. Records nothing itself.
 *
 * A local upstream that ends is not started again. A remote one may only be unreachable: its
 * calls get an error, and the next request initializes it again. Each error is reported once
 * until it responds.
 *
 * It has 60 s to answer initialize. Later it counts as failed if a response is due, no server
 * request is open and it sends nothing for 300 s.
 *
 * Does no I/O: acts through `actions`. Owns calls and texts. */
#ifndef REPLAY_PASSTHROUGH_H
#define REPLAY_PASSTHROUGH_H

#include "base/map.h"
#include "base/recent-keys.h"
#include "engine/actions.h"
#include "mcp/message.h"

enum passthrough_state {
    PASSTHROUGH_IDLE,
    PASSTHROUGH_INITIALIZING,
    PASSTHROUGH_READY,
    PASSTHROUGH_ENDED
};

struct passthrough {
    struct actions *actions; /* borrowed */
    uint64_t *last_timer;    /* borrowed; shared with the other users of timers */
    enum passthrough_state state;
    struct passthrough_call *calls;      /* without a response, the oldest first */
    struct buf client_initialize_params; /* empty: there was none */
    struct map server_requests;       /* our id to struct passthrough_server_request; owned */
    struct recent_keys cancelled_ids; /* our ids whose response is dropped */
    struct map reported;              /* errors since its last response */
    struct arena arena;               /* for one message */
    struct buf text;
    uint64_t last_id;
    uint64_t forwarded;
    uint64_t silence_timer;    /* ends the time to respond; 0: none */
    bool activity_since_timer; /* set by messages in either direction, cleared with the timer */
    bool failed;               /* set when it could not be reached or a call got an error */
    bool is_remote;            /* not started by us */
    bool started;
    bool initialize_pending; /* sent, and without a response */
    bool session_suspect;    /* set by passthrough_handle_lost(): initialize again */
};

/* `is_remote`: the server is not started by us. */
void passthrough_init(struct passthrough *u, struct actions *actions, uint64_t *timers,
                      bool is_remote);
void passthrough_release(struct passthrough *u);

/* Notes the params of the live client's initialize. */
void passthrough_note_initialize(struct passthrough *u, const struct mcp_message *live);

/* Forwards a request. `stateless`: it needs no initialize. `of` identifies the client and is
 * only compared. The response takes the current route of `actions`. */
void passthrough_forward(struct passthrough *u, const struct mcp_message *live, bool stateless,
                         const void *of);

/* Handle a client's response to a server request, and its cancellation. Return false if it does
 * not belong to a forwarded message. */
bool passthrough_handle_client_response(struct passthrough *u, const struct mcp_message *live);
bool passthrough_handle_cancel(struct passthrough *u, const struct mcp_message *live,
                               const void *of);

/* Cancels the calls of a client on an exchange; 0: on all. */
void passthrough_drop_calls(struct passthrough *u, const void *of, uint64_t exchange);

/* The client cannot get server requests on this exchange. Rejects those that were sent, and
 * sends the next ones with other calls. */
void passthrough_note_unaskable(struct passthrough *u, const void *of, uint64_t exchange);

/* Forwards any other client notification if the upstream is ready. */
void passthrough_handle_notification(struct passthrough *u, const struct mcp_message *live);

/* Handles a message of the upstream. */
void passthrough_handle_record(struct passthrough *u, const struct record *r);
void passthrough_handle_closed(struct passthrough *u, struct str why);

/* The upstream could not be reached or has lost our session. Responses of the transport
 * follow. */
void passthrough_handle_lost(struct passthrough *u, struct str why);

bool passthrough_handle_timer(struct passthrough *u,
                              uint64_t timer); /* false: another module's timer */

/* Sends errors for all open calls. */
void passthrough_abort(struct passthrough *u, struct str why);

/* Whether it has ended: calls get an error from now on. */
static inline bool passthrough_has_ended(const struct passthrough *u)
{
    return u->state == PASSTHROUGH_ENDED;
}

/* Whether a client waits for its response. */
static inline bool passthrough_has_pending(const struct passthrough *u)
{
    return u->calls != NULL;
}

#endif
