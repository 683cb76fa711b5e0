/* replay/player.h - plays recorded calls to one live client.
 *
 * A call starts with its live request and sends its steps in order, each as early as possible:
 * a server request delays the steps that were recorded after its response; progress and
 * messages on other streams are sent shortly before the response; with a pace, each step is
 * delayed as recorded. Calls do not wait for each other. Ids, progress tokens and subscription
 * ids are the live client's, the version is the older one of the recorded and the requested
 * version. Server requests with an id that is in use get another one, and a call of the other
 * protocol generation is converted. Every other byte is the recorded one.
 *
 * Does no I/O and does not match requests. Owns the active calls; borrows the rest. */
#ifndef REPLAY_PLAYER_H
#define REPLAY_PLAYER_H

#include "base/buf.h"
#include "engine/actions.h"
#include "index/index.h"
#include "replay/client-filter.h"

struct replay_report;

struct player {
    struct actions *actions;      /* borrowed */
    const struct index *index;    /* borrowed */
    struct replay_report *report; /* borrowed; gets server requests and progress tokens */
    double pace;                  /* factor for recorded delays; 0: no delays */
    uint64_t *last_timer;         /* borrowed; shared with the other users of timers */
    int64_t now_us;               /* set by the caller */
    uint64_t exchange;     /* of the message that is handled, set by the caller; 0: none */
    bool convert_protocol; /* set while a stateful call is started for a stateless client */

    struct player_call *active;      /* in the order of their requests */
    struct map open_server_requests; /* id to struct player_server_request */
    struct buf capabilities;         /* of the live client, as JSON; empty: none */
    enum mcp_version version;        /* agreed with the live client; UNKNOWN: none yet */
    struct map notification_counts;  /* method of a client notification to its count */
    struct buf text;                 /* the message that is composed */
    struct index_message recorded;   /* the recorded message that is sent */
    uint64_t response_count, renamed_count;
    struct err error; /* ERR_OK, or why the recording could not be read */
};

/* A call that is played for one live request. */
struct player_call {
    struct player_call *next;
    uint32_t call, step;                /* step: the next one; 0: all were sent */
    uint64_t exchange;                  /* of the live request; 0: none */
    struct str id, token, version;      /* of the live request, as JSON; empty: none */
    struct str recorded_token;          /* searched in sent texts; empty: none */
    struct str filter;                  /* of a subscription, as JSON */
    struct str subscription_id;         /* the recorded id of a subscription, as a key */
    struct str held_task;               /* the task it waits for; empty: none */
    enum mcp_version requested_version; /* `version`, parsed */
    enum client_log_level log_level;    /* lowest level that the client wants */
    size_t open_requests;               /* server requests without a response */
    uint64_t timer;                     /* that it waits for; 0: none */
    int64_t since_us;                   /* when its latest step was sent */
    uint32_t since_ms;                  /* when that step was recorded */
    bool is_repeat;
    bool convert_protocol;     /* it is stateful, its client stateless */
    bool delay_done;           /* the next step was delayed already */
    bool sent_before_response; /* a message was sent that the client should read first */
    bool subscription_open;    /* it is a subscription that has not ended */
    bool acknowledged;         /* the subscription was acknowledged */
    bool done;                 /* to be freed */
};

/* A server request that the live client has not answered. */
struct player_server_request {
    struct player_call *call;
    uint32_t step;
    uint64_t timer;
};

void player_init(struct player *s, const struct index *idx, struct actions *actions,
                 struct replay_report *report, double pace, uint64_t *timers);
void player_release(struct player *s);

/* Begins a new session of a client with these capabilities. Drops the active calls, unless the
 * session is shared. */
void player_reset(struct player *s, struct json_val capabilities, bool shared);

/* Starts a call for a live request. `again`: it was played before, so only progress and the
 * response are sent; else a client that reacts to a notification with the same request would
 * never stop. `live` is NULL for a preamble. */
void player_start(struct player *s, uint32_t call, const struct mcp_message *live, bool again);

/* A task whose result is held back until it ends. */
struct task_hold {
    struct str task_id; /* empty: no hold */
    uint32_t since_ms;
};

/* Starts a call that sends nothing before player_end_hold() of the same task or the end of a
 * timer; with a pace, that is as long as it was recorded after `since_ms`. */
void player_start_held(struct player *s, uint32_t call, const struct mcp_message *live,
                       bool again, struct task_hold hold);

/* Restarts the timer of the calls that wait for this task. */
void player_restart_hold(struct player *s, struct task_hold hold);

/* Continues the calls that wait for a task; an empty `task_id`: all of them. */
void player_end_hold(struct player *s, struct str task_id);

/* Handles the response to a server request. Returns false if none with its id is open. */
bool player_handle_response(struct player *s, const struct mcp_message *live);

/* The client will not respond to the server requests of an exchange, or to any (0). Continues
 * the calls that wait for that. */
void player_no_reply(struct player *s, uint64_t exchange);

void player_handle_notification(struct player *s, struct str method);
void player_handle_cancel(struct player *s,
                          struct json_val id); /* the client cancelled a request */
void player_handle_exchange_closed(struct player *s, uint64_t exchange); /* drops its calls */
void player_handle_timer(struct player *s, uint64_t timer);

/* Sends without delays from now on. */
void player_skip_delays(struct player *s);

/* Whether a call is active and has not sent `step` yet. */
bool player_is_before_step(const struct player *s, uint32_t call, uint32_t step);

/* Whether a response is still to be sent that waits only for a timer. */
bool player_has_delayed_response(const struct player *s);

#endif
