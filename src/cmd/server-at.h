/* cmd/server-at.h - a server at a URL, for a client that only knows messages: a speaker, and
 * what it wants to be asked over HTTP.
 *
 * With a tap, everything that is asked and answered is recorded before it goes on. */
#ifndef CMD_SERVER_AT_H
#define CMD_SERVER_AT_H

#include "cmd/drive.h"
#include "cmd/remote.h"
#include "engine/http-speaker.h"
#include "engine/http-tap.h"
#include "transport/http-client.h"

struct server_at_events {
    void (*message)(void *to, struct str message); /* without newline */
    void (*settle)(void *to); /* the tap has taken something, which goes on now; may be NULL */
    /* No answer began to a message, which was told already to who waits; may be NULL. */
    void (*lost)(void *to, struct str why);
    void (*done)(void *to); /* the end was told, and all has come of it; once, last */
};

struct server_at {
    struct drive drive;
    struct http_speaker speaker;
    struct http_client *client;
    struct map passing;              /* number of an exchange to struct server_at_passing */
    struct server_at_passing *ended; /* whose end the speaker is being told; NULL: none is */
    const struct server_at_events *events;
    void *to;
    struct http_tap *tap; /* borrowed; NULL: nothing is recorded */
    struct tap_time (*now)(void *to);
    struct str unreached; /* while that is told: why no answer began to a message */
    bool held;            /* its answers are not read for now */
};

/* ERR_USAGE for a URL or a header that cannot be used. Connects to nobody yet. */
bool server_at_open(struct server_at *s, const struct app *app, struct loop *l,
                    const struct remote *where, const struct server_at_events *events, void *to,
                    struct err *e) MUST_CHECK;

/* Before anything is said. `now` is the time of a record. */
void server_at_record(struct server_at *s, struct http_tap *tap,
                      struct tap_time (*now)(void *to));

void server_at_release(struct server_at *s); /* what is under way is broken off */

void server_at_say(struct server_at *s, struct str line);

/* Nothing more will be said, but answers are waited for; or they are not, either: the client
 * does not want them, or, if `why` is not empty, cannot get them. */
void server_at_close(struct server_at *s);
void server_at_leave(struct server_at *s, struct str why);

size_t server_at_queued(const struct server_at *s); /* bytes of what was said and waits */
void server_at_read(struct server_at *s, bool on);  /* whether to go on reading answers */

#endif
