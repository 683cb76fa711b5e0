/* tests/unit/demo-run.h - runs the demo client, alone or with the demo server. */
#ifndef DEMO_RUN_H
#define DEMO_RUN_H

#include <stdlib.h>

#include "demo/demo-client.h"
#include "demo/demo-server.h"
#include "engine-run.h"

struct demo_client_run {
    struct engine_run engine;
    struct demo_client client;
};

static inline void demo_client_run_step(void *engine, const struct event *ev)
{
    demo_client_step(engine, ev);
}

static inline void demo_client_run_init(struct demo_client_run *b, enum demo_id_style names)
{
    engine_run_init(&b->engine, TO_CLIENT, demo_client_run_step, &b->client);
    demo_client_init(&b->client, names, &b->engine.out);
    engine_run_event(&b->engine, EVENT_OPENED, NULL);
}

static inline void demo_client_run_release(struct demo_client_run *b)
{
    demo_client_release(&b->client);
    engine_run_release(&b->engine);
}

/* A client connected to the demo server: each message is passed to the other side before the
 * next one. */
struct demo_run {
    struct demo_client_run client;
    struct engine_run with;
    struct demo_server server;
    struct buf received; /* all the server has sent, a line each */
};

static inline void demo_run_step_server(void *engine, const struct event *ev)
{
    demo_server_step(engine, ev);
}

/* The first thing one has done comes to the other, or its time has come; false: it
 * has done nothing. */
static inline bool demo_run_deliver(struct engine_run *from, struct engine_run *to,
                                    struct buf *copy)
{
    struct arena a = { 0 };
    struct str rest = buf_str(&from->actions), line = str_cut(&rest, '\n');

    if (!from->actions.len)
        return false;
    line = arena_str(&a, line);
    buf_drop_front(&from->actions, line.len + 1);
    if (str_starts(line, STR("<< "))) {
        line = str_skip(line, 3);
        if (copy) {
            buf_add(copy, line);
            buf_add_ch(copy, '\n');
        }
        engine_run_line(to, line);
    } else if (str_starts(line, STR("timer "))) {
        engine_run_timer(from, strtoull(line.at + 6, NULL, 10));
    }
    arena_release(&a);
    return true;
}

static inline void demo_run_all(struct demo_run *p, enum demo_id_style names)
{
    demo_client_run_init(&p->client, names);
    engine_run_init(&p->with, TO_SERVER, demo_run_step_server, &p->server);
    demo_server_init(&p->server, &p->with.out);
    buf_init(&p->received, 1 << 20);
    while (demo_run_deliver(&p->client.engine, &p->with, NULL) ||
           demo_run_deliver(&p->with, &p->client.engine, &p->received))
        continue;
    assert_true(p->client.client.finished);
    assert_str(p->client.client.failure, STR(""));
}

static inline void demo_run_release(struct demo_run *p)
{
    demo_client_run_release(&p->client);
    demo_server_release(&p->server);
    engine_run_release(&p->with);
    buf_release(&p->received);
}

#endif
