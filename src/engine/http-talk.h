/* engine/http-talk.h - one request over HTTP, and those that go on with its answer.
 *
 * What a speaker has under way is a list of these. Says what is asked and when it can be gone
 * on with; what is said in the answers is the speaker's affair. */
#ifndef ENGINE_HTTP_TALK_H
#define ENGINE_HTTP_TALK_H

#include "engine/http-heard.h"
#include "engine/say.h"

enum http_talk_kind {
    HTTP_TALK_POST,
    HTTP_TALK_STREAM, /* a GET: what the server says by itself; over HTTP+SSE all it says */
    HTTP_TALK_DELETE,
};

struct http_talk {
    struct http_talk *next;
    enum http_talk_kind kind;
    uint64_t exchange; /* 0: nothing is under way */
    uint64_t timer;    /* 0: none */
    int64_t begun_us;
    unsigned tries; /* to go on, in vain */
    unsigned polls; /* to go on, and nothing had come yet but another place to go on from */
    bool greets;    /* it carries an initialize, */
    bool ready;     /* or a notifications/initialized, */
    bool note;      /* or anything else that is no request */
    bool modern;    /* it needs no session */
    bool taken;     /* it is on its way */
    bool resumes;   /* what is under way goes on with an answer that broke off */
    bool again;     /* it was held: that is done once */
    bool held;      /* until it is known which header lines it needs */
    bool over;
    struct http_relist *list; /* takes its answers; borrowed; NULL: they are the client's */
    struct http_heard heard;
    struct buf stray; /* the id of an answer that came and is to something else; or empty */
    struct buf lines; /* those of its header lines that schemas ask for */
    char *text;       /* what it carries, if it may be needed again */
    size_t text_len;
};

struct http_talks {
    struct http_talk *first; /* the latest */
    uint64_t exchanges;      /* so many were begun */
};

struct http_talk *http_talk_new(struct http_talks *all, enum http_talk_kind kind);
struct http_talk *http_talk_find(const struct http_talks *all, uint64_t exchange);
struct http_talk *http_talk_by_timer(const struct http_talks *all, uint64_t timer);

/* Those that wait for an answer to something posted. */
size_t http_talk_open(const struct http_talks *all);

/* Something is on its way to the server that nobody waits for an answer of. */
bool http_talk_any_note(const struct http_talks *all);

/* One that is held; NULL: none is. */
struct http_talk *http_talk_held(const struct http_talks *all);

void http_talk_sweep(struct http_talks *all); /* frees those that are over */
void http_talk_release_all(struct http_talks *all);

void http_talk_keep(struct http_talk *t, struct str text); /* copied, once */

/* Asks the server, as the next exchange. */
void http_talk_ask(struct http_talks *all, struct http_talk *t, struct say *say,
                   const struct step_ask *ask, int64_t now_us);

/* Why there is no answer: `why`, if that is not empty. `anew` is empty unless the
 * session has ended: then it says how there will be another. */
void http_talk_complain(const struct http_talk *t, struct str anew, struct str why,
                        struct buf *to);

/* It is over; what is under way for it is dropped, for `why` if that is not empty. */
void http_talk_drop(struct http_talk *t, struct say *say, struct str why);

void http_talk_drop_all(struct http_talks *all, struct say *say, struct str why);

/* An answer has come that nobody waits for; as much of its id is kept as people may want. */
void http_talk_stray(struct http_talk *t, struct str id);

/* How long to wait before it is gone on with: as long as the server says, but never so short
 * that this would be a flood, and longer the more often nothing came of it. */
int64_t http_talk_delay_us(const struct http_talk *t);

/* Whether a stream that ended can be gone on with, or is worth another try. */
bool http_talk_may_resume(const struct http_talk *t);

/* It has ended, or failed: was that in vain? Only news are worth going on for at any rate. A
 * server that tells another place each time has something under way, for which it may be
 * polled as long as somebody waits. */
void http_talk_count(struct http_talk *t, int64_t now_us);

#endif
