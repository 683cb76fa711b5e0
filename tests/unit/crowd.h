/* tests/unit/crowd.h - clients on HTTP that do anything at any time, and an engine that must
 * answer each of their requests once.
 *
 * What they do is thrown by dice: the same at every run, another for every round. */
#ifndef CROWD_H
#define CROWD_H

#include <stdio.h>

#include "http-line.h"
#include "test.h"

/* How far an exchange is. */
enum crowd_state { CROWD_UNUSED, CROWD_ASKED, CROWD_STREAMED, CROWD_OVER };

enum { CROWD_EXCHANGES = 160, CROWD_TIMERS = 256, CROWD_ROUNDS = 300, CROWD_IDS = 8 };

struct crowd {
    struct action_sink out; /* what the engine is given as its sink */
    void (*step)(void *engine, const struct event *ev);
    void *engine;
    void (*other)(void *engine, const struct action *a); /* what is for no client; or NULL */
    enum crowd_state at[CROWD_EXCHANGES];
    uint64_t timers[CROWD_TIMERS]; /* that were set and did not ring */
    size_t timer_count;
    char ids[CROWD_IDS][32]; /* of events that they were told lately; empty: none */
    size_t id_count;         /* ever */
    uint64_t dice;
    int64_t now_us;
    bool finished;
};

/* From 0, below `sides`. */
static inline uint64_t crowd_throw(struct crowd *c, uint64_t sides)
{
    c->dice ^= c->dice << 13;
    c->dice ^= c->dice >> 7;
    c->dice ^= c->dice << 17;
    return c->dice % sides;
}

/* Whoever comes back names the id of an event. */
static inline void crowd_note_id(struct crowd *c, struct str event)
{
    while (event.len) {
        struct str line = str_cut(&event, '\n');

        if (str_starts(line, STR("id: ")))
            snprintf(c->ids[c->id_count++ % CROWD_IDS], sizeof c->ids[0], "%.*s",
                     STR_ARG(str_skip(line, strlen("id: "))));
    }
}

static inline void crowd_watch(struct action_sink *self, const struct action *a)
{
    struct crowd *c = (struct crowd *)self;
    enum crowd_state *at = &c->at[a->way.exchange];

    switch (a->kind) {
    case ACTION_ANSWER:
    case ACTION_OPEN:
        assert_int_equal(*at, CROWD_ASKED);
        *at = a->kind == ACTION_OPEN ? CROWD_STREAMED : CROWD_OVER;
        break;
    case ACTION_WRITE:
    case ACTION_END:
        assert_int_equal(*at, CROWD_STREAMED);
        *at = a->kind == ACTION_END ? CROWD_OVER : CROWD_STREAMED;
        crowd_note_id(c, a->text);
        break;
    case ACTION_SET_TIMER:
        assert_true(c->timer_count < CROWD_TIMERS);
        c->timers[c->timer_count++] = a->timer;
        break;
    case ACTION_FINISH:
        c->finished = true;
        break;
    case ACTION_REPORT:
        break;
    default:
        if (c->other)
            c->other(c->engine, a);
    }
}

static inline void crowd_begin(struct crowd *c, uint64_t round,
                               void (*step)(void *engine, const struct event *ev), void *engine)
{
    *c = (struct crowd){ .out = { crowd_watch },
                         .step = step,
                         .engine = engine,
                         .dice = round * 0x9e3779b97f4a7c15u };
}

/* It has finished, and so has every exchange. */
static inline void crowd_end(const struct crowd *c)
{
    assert_true(c->finished);
    for (size_t i = 0; i < CROWD_EXCHANGES; i++)
        assert_true(c->at[i] == CROWD_UNUSED || c->at[i] == CROWD_OVER);
}

static inline void crowd_tell(struct crowd *c, struct event ev)
{
    c->now_us += 1000;
    ev.now_us = c->now_us;
    c->step(c->engine, &ev);
}

/* `line` with an id that was told in the place of its '$', if it ends in that. */
static inline struct str crowd_come_back(struct crowd *c, struct str line, struct arena *a)
{
    if (!line.len || line.at[line.len - 1] != '$')
        return line;
    return arena_printf(a, "%.*s%s", (int)line.len - 1, line.at,
                        c->ids[crowd_throw(c, CROWD_IDS)]);
}

/* One of so many lines, without a number; %d in it is one of so many sessions. */
static inline void crowd_ask(struct crowd *c, uint64_t exchange, const char *const *lines,
                             size_t count, uint64_t sessions)
{
    struct arena a = { 0 };
    struct str line = str_z(lines[crowd_throw(c, count)]), head = str_cut(&line, '%');
    struct step_request r;
    struct http_line l;

    if (line.len)
        line = arena_printf(&a, "%llu %.*s%d%.*s", (unsigned long long)exchange, STR_ARG(head),
                            (int)crowd_throw(c, sessions) + 1, STR_ARG(str_skip(line, 1)));
    else
        line = arena_printf(&a, "%llu %.*s", (unsigned long long)exchange, STR_ARG(head));
    http_line_read(&l, crowd_come_back(c, line, &a));
    r = http_line_request(&l);
    c->at[exchange] = CROWD_ASKED;
    crowd_tell(c, (struct event){ .kind = EVENT_REQUEST, .exchange = exchange, .request = &r });
    http_line_release(&l);
    arena_release(&a);
}

/* Its client does not wait any longer, if it does at all. */
static inline void crowd_leave(struct crowd *c, uint64_t exchange)
{
    if (c->at[exchange] != CROWD_ASKED && c->at[exchange] != CROWD_STREAMED)
        return;
    c->at[exchange] = CROWD_OVER;
    crowd_tell(c, (struct event){ .kind = EVENT_GONE, .exchange = exchange });
}

/* One that is waited for, any of them; else none. */
static inline uint64_t crowd_any(struct crowd *c)
{
    uint64_t from = crowd_throw(c, CROWD_EXCHANGES), at = from;

    do
        at = (at + 1) % CROWD_EXCHANGES;
    while (at != from && c->at[at] != CROWD_ASKED && c->at[at] != CROWD_STREAMED);
    return at;
}

/* The oldest timer rings, or the latest; if there is one. */
static inline void crowd_ring(struct crowd *c, bool latest)
{
    uint64_t timer;

    if (!c->timer_count)
        return;
    c->timer_count--;
    timer = c->timers[latest ? c->timer_count : 0];
    if (!latest)
        memmove(c->timers, c->timers + 1, c->timer_count * sizeof *c->timers);
    crowd_tell(c, (struct event){ .kind = EVENT_TIMER, .timer = timer });
}

#endif
