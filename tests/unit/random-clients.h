/* tests/unit/random-clients.h - HTTP clients that act at random, and an engine that must
 * answer each request once.
 *
 * Their actions are pseudo-random: the same at every run, others in every round. */
#ifndef RANDOM_CLIENTS_H
#define RANDOM_CLIENTS_H

#include <stdio.h>

#include "http-line.h"
#include "test.h"

/* How far an exchange is. */
enum client_state { CLIENT_UNUSED, CLIENT_REQUESTED, CLIENT_STREAMING, CLIENT_DONE };

enum { RANDOM_EXCHANGES = 160, RANDOM_TIMERS = 256, RANDOM_ROUNDS = 300, RANDOM_IDS = 8 };

struct random_clients {
    struct action_sink out; /* the sink for the engine */
    void (*step)(void *engine, const struct event *ev);
    void *engine;
    void (*other)(void *engine, const struct action *a); /* for all other actions; or NULL */
    enum client_state states[RANDOM_EXCHANGES];
    uint64_t timers[RANDOM_TIMERS]; /* that were set and did not ring */
    size_t timer_count;
    char ids[RANDOM_IDS][32]; /* ids of the latest events that they got; empty: none */
    size_t id_count;          /* ever */
    uint64_t random_state;
    int64_t now_us;
    bool finished;
};

/* From 0, below `sides`. */
static inline uint64_t random_clients_number(struct random_clients *c, uint64_t sides)
{
    c->random_state ^= c->random_state << 13;
    c->random_state ^= c->random_state >> 7;
    c->random_state ^= c->random_state << 17;
    return c->random_state % sides;
}

/* A client that resumes a stream sends the id of an event. */
static inline void random_clients_note_id(struct random_clients *c, struct str event)
{
    while (event.len) {
        struct str line = str_cut(&event, '\n');

        if (str_starts(line, STR("id: ")))
            snprintf(c->ids[c->id_count++ % RANDOM_IDS], sizeof c->ids[0], "%.*s",
                     STR_ARG(str_skip(line, strlen("id: "))));
    }
}

static inline void random_clients_put(struct action_sink *self, const struct action *a)
{
    struct random_clients *c = (struct random_clients *)self;
    enum client_state *at = &c->states[a->route.exchange];

    switch (a->kind) {
    case ACTION_HTTP_RESPONSE:
    case ACTION_STREAM_OPEN:
        assert_int_equal(*at, CLIENT_REQUESTED);
        *at = a->kind == ACTION_STREAM_OPEN ? CLIENT_STREAMING : CLIENT_DONE;
        break;
    case ACTION_STREAM_WRITE:
    case ACTION_STREAM_END:
        assert_int_equal(*at, CLIENT_STREAMING);
        *at = a->kind == ACTION_STREAM_END ? CLIENT_DONE : CLIENT_STREAMING;
        random_clients_note_id(c, a->text);
        break;
    case ACTION_SET_TIMER:
        assert_true(c->timer_count < RANDOM_TIMERS);
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

static inline void random_clients_init(struct random_clients *c, uint64_t round,
                                       void (*step)(void *engine, const struct event *ev),
                                       void *engine)
{
    *c = (struct random_clients){ .out = { random_clients_put },
                                  .step = step,
                                  .engine = engine,
                                  .random_state = round * 0x9e3779b97f4a7c15u };
}

/* It has finished, and so has every exchange. */
static inline void random_clients_check_end(const struct random_clients *c)
{
    assert_true(c->finished);
    for (size_t i = 0; i < RANDOM_EXCHANGES; i++)
        assert_true(c->states[i] == CLIENT_UNUSED || c->states[i] == CLIENT_DONE);
}

static inline void random_clients_event(struct random_clients *c, struct event ev)
{
    c->now_us += 1000;
    ev.now_us = c->now_us;
    c->step(c->engine, &ev);
}

/* `line` with the id of a received event in place of its '$', if it ends in '$'. */
static inline struct str random_clients_resume(struct random_clients *c, struct str line,
                                               struct arena *a)
{
    if (!line.len || line.at[line.len - 1] != '$')
        return line;
    return arena_printf(a, "%.*s%s", (int)line.len - 1, line.at,
                        c->ids[random_clients_number(c, RANDOM_IDS)]);
}

/* One of so many lines, without a number; %d in it is one of so many sessions. */
static inline void random_clients_request(struct random_clients *c, uint64_t exchange,
                                          const char *const *lines, size_t count,
                                          uint64_t sessions)
{
    struct arena a = { 0 };
    struct str line = str_z(lines[random_clients_number(c, count)]), head = str_cut(&line, '%');
    struct event_request r;
    struct http_line l;

    if (line.len)
        line = arena_printf(&a, "%llu %.*s%d%.*s", (unsigned long long)exchange, STR_ARG(head),
                            (int)random_clients_number(c, sessions) + 1,
                            STR_ARG(str_skip(line, 1)));
    else
        line = arena_printf(&a, "%llu %.*s", (unsigned long long)exchange, STR_ARG(head));
    http_line_read(&l, random_clients_resume(c, line, &a));
    r = http_line_request(&l);
    c->states[exchange] = CLIENT_REQUESTED;
    random_clients_event(
        c, (struct event){ .kind = EVENT_HTTP_REQUEST, .exchange = exchange, .request = &r });
    http_line_release(&l);
    arena_release(&a);
}

/* Its client does not wait any longer, if it does at all. */
static inline void random_clients_abort(struct random_clients *c, uint64_t exchange)
{
    if (c->states[exchange] != CLIENT_REQUESTED && c->states[exchange] != CLIENT_STREAMING)
        return;
    c->states[exchange] = CLIENT_DONE;
    random_clients_event(c,
                         (struct event){ .kind = EVENT_CLIENT_CLOSED, .exchange = exchange });
}

/* One that is waited for, any of them; else none. */
static inline uint64_t random_clients_pick(struct random_clients *c)
{
    uint64_t from = random_clients_number(c, RANDOM_EXCHANGES), at = from;

    do
        at = (at + 1) % RANDOM_EXCHANGES;
    while (at != from && c->states[at] != CLIENT_REQUESTED &&
           c->states[at] != CLIENT_STREAMING);
    return at;
}

/* The oldest timer rings, or the latest; if there is one. */
static inline void random_clients_timer(struct random_clients *c, bool latest)
{
    uint64_t timer;

    if (!c->timer_count)
        return;
    c->timer_count--;
    timer = c->timers[latest ? c->timer_count : 0];
    if (!latest)
        memmove(c->timers, c->timers + 1, c->timer_count * sizeof *c->timers);
    random_clients_event(c, (struct event){ .kind = EVENT_TIMER, .timer = timer });
}

#endif
