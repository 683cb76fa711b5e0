/* engine/http-told.h - what a client that only knows messages is told of what a server on HTTP
 * says, or does not say.
 *
 * Every message of the server's goes on as it came. An answer settles what waits for it, and
 * the peer learns from it what was agreed upon, or which header lines its tools want. An error
 * that names no request gets the id of the only one that its talk brought; if there is no such
 * request, it is reported. The answer to a list that was asked for without the client is not
 * the client's.
 *
 * Which talk a text came in is the caller's to know, and who waits for what is written here by
 * whoever asks. */
#ifndef ENGINE_HTTP_TOLD_H
#define ENGINE_HTTP_TOLD_H

#include "engine/http-peer.h"
#include "engine/http-relist.h"
#include "engine/http-talk.h"
#include "engine/http-waits.h"
#include "trace/intake.h"

struct http_told {
    struct sink records; /* takes what the server says */
    struct intake heard;
    struct say *say;        /* all three borrowed */
    struct http_peer *peer; /* learns from answers */
    struct arena *arena;    /* for as long as a text is looked at */
    struct http_talk *of;   /* whose text that is */
    struct http_waits waits;
    bool greeting; /* an initialize waits for its answer; the caller says when one begins to */
};

void http_told_init(struct http_told *t, struct say *say, struct http_peer *peer,
                    struct arena *arena);
void http_told_release(struct http_told *t);

/* An event of a stream, or anything else that may be a message. */
void http_told_text(struct http_told *t, struct http_talk *of, struct str text);

/* What that would be; nobody is told yet. */
enum intake_kind http_told_look(struct http_told *t, struct str text);

/* Of what was looked at last, which has to be a message: it, and whether it is an answer to
 * what `of` brought. */
struct mcp_message http_told_message(const struct http_told *t);
bool http_told_is_answer(const struct http_told *t, const struct http_talk *of);

/* The client is told what was looked at last: a message, or several. */
void http_told_seen(struct http_told *t, struct http_talk *of);

/* Everybody who waits for what `by` brought gets an error, and the log hears of it. `status` is
 * that of HTTP; 0: it has nothing to do with it. */
void http_told_fail(struct http_told *t, const void *by, unsigned status, struct str why);

/* Everybody who waits for anything does, and the log hears of it once. */
void http_told_fail_all(struct http_told *t, struct str why);

#endif
