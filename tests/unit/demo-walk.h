/* tests/unit/demo-walk.h - the demo client on the bench, alone or at the demo server. */
#ifndef DEMO_WALK_H
#define DEMO_WALK_H

#include <stdlib.h>

#include "engine/demo-client.h"
#include "engine/demo-server.h"
#include "stepper.h"

struct walker {
    struct stepper with;
    struct demo_client client;
};

static inline void walker_step(void *engine, const struct event *ev)
{
    demo_client_step(engine, ev);
}

static inline void walker_init(struct walker *b, enum demo_names names)
{
    stepper_init(&b->with, TO_CLIENT, walker_step, &b->client);
    demo_client_init(&b->client, names, &b->with.out);
    stepper_feed(&b->with, EVENT_OPENED, NULL);
}

static inline void walker_release(struct walker *b)
{
    demo_client_release(&b->client);
    stepper_release(&b->with);
}

/* A client at the demo server: what each sends the other hears, one message at a
 * time. */
struct walk {
    struct walker client;
    struct stepper with;
    struct demo_server server;
    struct buf heard; /* all the server has sent, a line each */
};

static inline void walk_step_server(void *engine, const struct event *ev)
{
    demo_server_step(engine, ev);
}

/* The first thing one has done comes to the other, or its time has come; false: it
 * has done nothing. */
static inline bool walk_carry(struct stepper *from, struct stepper *to, struct buf *copy)
{
    struct arena a = { 0 };
    struct str rest = buf_str(&from->did), line = str_cut(&rest, '\n');

    if (!from->did.len)
        return false;
    line = arena_str(&a, line);
    buf_drop_front(&from->did, line.len + 1);
    if (str_starts(line, STR("<< "))) {
        line = str_skip(line, 3);
        if (copy) {
            buf_add(copy, line);
            buf_add_ch(copy, '\n');
        }
        stepper_hear_line(to, line);
    } else if (str_starts(line, STR("timer "))) {
        stepper_ring(from, strtoull(line.at + 6, NULL, 10));
    }
    arena_release(&a);
    return true;
}

static inline void walk_through(struct walk *p, enum demo_names names)
{
    walker_init(&p->client, names);
    stepper_init(&p->with, TO_SERVER, walk_step_server, &p->server);
    demo_server_init(&p->server, &p->with.out);
    buf_init(&p->heard, 1 << 20);
    while (walk_carry(&p->client.with, &p->with, NULL) ||
           walk_carry(&p->with, &p->client.with, &p->heard))
        continue;
    assert_true(p->client.client.finished);
    assert_str(p->client.client.trouble, STR(""));
}

static inline void walk_release(struct walk *p)
{
    walker_release(&p->client);
    demo_server_release(&p->server);
    stepper_release(&p->with);
    buf_release(&p->heard);
}

#endif
