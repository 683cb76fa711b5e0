#include "engine/http-talk.h"

#include <stdlib.h>

#include "base/mem.h"

enum {
    SECOND_US = 1000000,
    STEADY_S = 10,  /* what lasted so long was not in vain */
    RESUMES = 5,    /* in vain, one after the other */
    GROWTH = 6,     /* times the delay doubles, at most */
    POLL_MAX_S = 5, /* unless the server wants it to be longer */
    RETRY_MAX_S = 3600,
    RETRY_MIN_US = 100000,
    NEVER_EARLY_US = 1000,
    ID_TOLD = 64,
    LINES_MAX = 1 << 20,
    STATUS_NOT_FOUND = 404,
};

struct http_talk *http_talk_new(struct http_talks *all, enum http_talk_kind kind)
{
    struct http_talk *t = mem_new(struct http_talk);

    t->kind = kind;
    t->next = all->first;
    http_heard_init(&t->heard);
    buf_init(&t->stray, ID_TOLD);
    buf_init(&t->lines, LINES_MAX);
    all->first = t;
    return t;
}

struct http_talk *http_talk_find(const struct http_talks *all, uint64_t exchange)
{
    struct http_talk *t = all->first;

    while (t && t->exchange != exchange)
        t = t->next;
    return t;
}

struct http_talk *http_talk_by_timer(const struct http_talks *all, uint64_t timer)
{
    struct http_talk *t = all->first;

    while (t && t->timer != timer)
        t = t->next;
    return t;
}

size_t http_talk_open(const struct http_talks *all)
{
    size_t count = 0;

    for (const struct http_talk *t = all->first; t; t = t->next)
        count += t->kind == HTTP_TALK_POST && t->exchange && !t->timer;
    return count;
}

bool http_talk_any_note(const struct http_talks *all)
{
    const struct http_talk *t = all->first;

    while (t && !(t->kind == HTTP_TALK_POST && t->note && t->exchange && !t->heard.status))
        t = t->next;
    return t != NULL;
}

struct http_talk *http_talk_held(const struct http_talks *all)
{
    struct http_talk *t = all->first;

    while (t && !t->held)
        t = t->next;
    return t;
}

static void talk_free(struct http_talk *t)
{
    http_heard_release(&t->heard);
    buf_release(&t->stray);
    buf_release(&t->lines);
    free(t->text);
    free(t);
}

void http_talk_sweep(struct http_talks *all)
{
    for (struct http_talk **at = &all->first, *t; (t = *at);) {
        if (!t->over) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        talk_free(t);
    }
}

void http_talk_release_all(struct http_talks *all)
{
    for (struct http_talk *t = all->first; t; t = t->next)
        t->over = true;
    http_talk_sweep(all);
}

void http_talk_keep(struct http_talk *t, struct str text)
{
    if (t->text)
        return;
    t->text = mem_alloc(text.len + 1);
    t->text_len = text.len;
    memcpy(t->text, text.at, text.len);
}

void http_talk_ask(struct http_talks *all, struct http_talk *t, struct say *say,
                   const struct step_ask *ask, int64_t now_us)
{
    struct action a = { .kind = ACTION_ASK, .ask = ask };

    http_heard_again(&t->heard);
    buf_clear(&t->stray);
    t->exchange = a.way.exchange = ++all->exchanges;
    t->begun_us = now_us;
    t->taken = false;
    t->timer = 0;
    say->out->put(say->out, &a);
}

void http_talk_drop(struct http_talk *t, struct say *say, struct str why)
{
    struct action a = { .kind = ACTION_ABANDON,
                        .text = why,
                        .way = { .exchange = t->exchange } };

    if (t->exchange)
        say->out->put(say->out, &a);
    t->exchange = 0;
    t->held = false;
    t->over = true;
}

void http_talk_drop_all(struct http_talks *all, struct say *say, struct str why)
{
    for (struct http_talk *t = all->first; t; t = t->next)
        http_talk_drop(t, say, why);
}

void http_talk_complain(const struct http_talk *t, struct str anew, struct str why,
                        struct buf *to)
{
    if (why.len)
        buf_add(to, why);
    else if (t->stray.len)
        buf_printf(to, "the server answered another request in its place, '%.*s'",
                   STR_ARG(buf_str(&t->stray)));
    else if (t->heard.status == STATUS_NOT_FOUND && anew.len && !t->modern)
        buf_printf(to, "the server has ended the session (status 404): %.*s", STR_ARG(anew));
    else
        http_heard_complain(&t->heard, to);
}

void http_talk_stray(struct http_talk *t, struct str id)
{
    buf_clear(&t->stray);
    buf_add(&t->stray, str_n(id.at, id.len < ID_TOLD ? id.len : ID_TOLD));
}

/* What the server says about it, if that can be done. */
static int64_t said_us(const struct http_talk *t)
{
    int64_t ms = t->heard.retry_ms, us;

    if (ms < 0)
        return SECOND_US;
    if (ms / 1000 >= RETRY_MAX_S)
        return (int64_t)RETRY_MAX_S * SECOND_US;
    us = ms * 1000 + NEVER_EARLY_US;
    return us < RETRY_MIN_US ? RETRY_MIN_US : us;
}

static int64_t doubled(int64_t us, unsigned times)
{
    return us << (times < GROWTH ? times : GROWTH);
}

int64_t http_talk_delay_us(const struct http_talk *t)
{
    const int64_t longest = (int64_t)POLL_MAX_S * SECOND_US;
    int64_t said = said_us(t), us;

    if (t->tries)
        us = doubled(SECOND_US, t->tries);
    else
        us = doubled(said, t->polls ? t->polls - 1 : 0);
    if (!t->tries && us > longest)
        us = longest;
    return us < said ? said : us;
}

bool http_talk_may_resume(const struct http_talk *t)
{
    bool refused = t->heard.status >= 300 && t->heard.status < 500;

    return !t->modern && t->heard.last_event.len && t->tries < RESUMES && !refused &&
           (t->resumes || http_heard_is_stream(&t->heard));
}

void http_talk_count(struct http_talk *t, int64_t now_us)
{
    bool opened = http_heard_is_stream(&t->heard);
    bool lasted = now_us - t->begun_us >= (int64_t)STEADY_S * SECOND_US;

    if (opened && (t->heard.news || lasted)) {
        t->tries = t->polls = 0;
    } else if (opened && t->heard.moved) {
        t->tries = 0;
        t->polls++;
    } else {
        t->tries++;
    }
}
