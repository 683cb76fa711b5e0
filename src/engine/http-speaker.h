/* engine/http-speaker.h - speaks to a server on HTTP for a client that only knows messages.
 *
 * Lines for the server come in (EVENT_SAY), and become requests over HTTP (ACTION_ASK); what
 * comes of those (EVENT_TAKEN, _HEAD, _DATA, _WHOLE, _FAILED) becomes messages for the client
 * (ACTION_SEND). The client decides about the era by what it sends:
 *
 * - An initialize begins a session: its id and the revision go with everything after it, a
 *   stream of what the server says by itself is opened after notifications/initialized, and
 *   opened again when it ends; streams with event ids are gone on with where they broke off.
 * - A request that names its revision itself needs none of that; its header lines repeat what
 *   stands in it. A notifications/cancelled for it is not sent: its answer is dropped, which
 *   says the same.
 * - A call that such a server refuses for header lines that are missing (MCP_HEADER_MISMATCH)
 *   is held, the list of tools is asked for, and if that shows which lines they are, the call
 *   is sent once more, with them. The client hears nothing of that.
 * - A server that refuses an initialize with 400, 404 or 405 is asked whether it speaks
 *   HTTP+SSE, as of 2024-11-05. Its endpoint must be its own: else that is refused. A session
 *   ends with the stream of its answers: until the next initialize nothing is sent then.
 *
 * Order: nothing goes before an initialize is answered, but answers of the client's; the next
 * message goes once the one before it is on its way, and after a notification once the server
 * has taken that (or for two seconds has not). Apart from that any number is under way at
 * once, up to HTTP_SPEAKER_AT_ONCE.
 *
 * Nothing else is ever sent twice. A request that gets no answer gets one here: an error under
 * its id that says why; if the server's own answer is at fault, ACTION_FAULT says so before. A
 * session that the server has ended (404) is the client's to begin anew.
 *
 * EVENT_CLOSED: the client says no more; what it waits for is waited for, but not for long
 * without a message, and not for ever: who waits then gets that for an error. EVENT_GONE: it
 * does not wait, either; or, if that has a `why`, we do not, and who waits gets that for an
 * error. Then the session is deleted, and ACTION_FINISH says that all is done. */
#ifndef ENGINE_HTTP_SPEAKER_H
#define ENGINE_HTTP_SPEAKER_H

#include "engine/http-said.h"
#include "engine/http-told.h"

enum { HTTP_SPEAKER_AT_ONCE = 128 };

enum http_speaker_way {
    HTTP_SPEAKER_STREAMABLE,
    HTTP_SPEAKER_OPENING, /* HTTP+SSE: where messages go to is not known yet */
    HTTP_SPEAKER_OLD,     /* HTTP+SSE */
};

enum http_speaker_state {
    HTTP_SPEAKER_OPEN,
    HTTP_SPEAKER_CLOSING, /* the client says no more */
    HTTP_SPEAKER_LEAVING, /* nor does it wait */
    HTTP_SPEAKER_DONE,
};

struct http_speaker {
    struct say say;
    const struct url *url; /* borrowed */
    struct json json;      /* what the client says */
    struct arena arena;
    struct http_peer peer;
    struct http_told told;
    struct http_relist relist;
    struct http_talks talks;
    struct http_talk *of;     /* whose events are being looked at */
    struct http_talk *stream; /* of what the server says by itself; NULL: none */
    struct http_talk *gate;   /* what the next message waits for; NULL: nothing */
    struct http_talk *lister; /* asks for tools, for calls that are held; NULL: nobody does */
    struct http_talk *hello;  /* HTTP_SPEAKER_OPENING: what is to be said first */

    struct http_said said; /* what waits */
    uint64_t ending;       /* the exchange that has just ended, whole; 0: none has */

    enum http_speaker_way way;
    enum http_speaker_state state;
    bool ended;      /* the server has ended the session */
    struct str anew; /* what the client is told to do about that; borrowed, may be set */
    struct buf complaint;
    struct buf unspoken; /* why it was greeted in vain as one of HTTP+SSE; or empty */
    int64_t now_us;
    uint64_t timers, gate_timer, end_timer; /* the last that was set; 0: none is */
    bool heard_since;                       /* `end_timer` was set, something came of it all */
    int64_t closed_us;                      /* the client said no more from then on */

    /* How it went: */
    uint64_t asked, reached; /* requests, and those of them that were answered */
};

/* `url` has to have a path. */
void http_speaker_init(struct http_speaker *s, const struct url *url, struct action_sink *out);
void http_speaker_release(struct http_speaker *s);

void http_speaker_step(struct http_speaker *s, const struct event *ev);

/* Nothing of all that was asked was ever answered. */
static inline bool http_speaker_spoke_in_vain(const struct http_speaker *s)
{
    return s->asked && !s->reached;
}

#endif
