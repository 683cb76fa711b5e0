#include "engine/front-servers.h"

#include <stdlib.h>

enum { GREETING_S = 60, SECOND_US = 1000000 };

/* The first byte of a line that waits in `asked`: whose it is. */
enum { OWN = 'm', CLIENTS = 'c' };

void front_servers_init(struct front_servers *f, size_t max, struct action_sink *out)
{
    *f = (struct front_servers){ .out = out, .max = max };
    map_init(&f->all);
    map_init(&f->sessions);
    map_init(&f->timers);
    session_ids_init(&f->ids);
}

void front_servers_release(struct front_servers *f)
{
    for (struct map_entry *e = NULL; (e = map_next(&f->all, e));)
        front_server_free(e->value);
    map_release(&f->all);
    map_release(&f->sessions);
    map_release(&f->timers);
    session_ids_release(&f->ids);
}

struct front_server *front_servers_find(const struct front_servers *f, uint64_t number)
{
    return map_get(&f->all, map_number(&number));
}

struct front_server *front_servers_of(const struct front_servers *f, uint64_t session)
{
    return map_get(&f->sessions, map_number(&session));
}

enum front_room front_servers_room(const struct front_servers *f)
{
    if (f->all.count >= 2 * f->max)
        return FRONT_NO_ROOM;
    return f->running < f->max ? FRONT_ROOM : FRONT_ROOM_IF_ONE_RETIRES;
}

void front_servers_act(struct front_servers *f, enum action_kind kind,
                       const struct front_server *s, struct str text)
{
    struct action a = { .kind = kind, .server = s->number, .text = text };

    f->out->put(f->out, &a);
}

void front_servers_own(struct front_servers *f, enum action_kind kind,
                       const struct front_server *s, struct str text)
{
    struct action a = { .kind = kind, .server = s->number, .text = text, .own = true };

    f->out->put(f->out, &a);
}

static void start_process(struct front_servers *f, struct front_server *s)
{
    BUG_IF(f->processes >= f->max);
    f->processes++;
    s->waiting = false;
    front_servers_act(f, ACTION_START_UPSTREAM, s, STR_NONE);
}

static struct front_server *start(struct front_servers *f, int64_t now_us)
{
    struct front_server *s = front_server_new(++f->started);

    BUG_IF(front_servers_room(f) != FRONT_ROOM);
    s->used_us = now_us;
    map_put(&f->all, map_number(&s->number), s);
    f->running++;
    s->waiting = f->processes >= f->max;
    if (!s->waiting)
        start_process(f, s);
    return s;
}

void front_servers_start_spare(struct front_servers *f, int64_t now_us)
{
    BUG_IF(f->spare);
    f->spare = start(f, now_us);
}

struct front_server *front_servers_take(struct front_servers *f, enum front_role role,
                                        int64_t now_us)
{
    struct front_server *s = f->spare ? f->spare : start(f, now_us);

    f->spare = NULL;
    s->role = role;
    server_link_init(&s->link, role != OF_SESSION);
    if (role != OF_SESSION)
        f->shared[role == SHARED_MODERN] = s;
    return s;
}

void front_servers_enter(struct front_servers *f, struct front_server *s)
{
    map_put(&f->sessions, map_number(&s->session), s);
}

void front_servers_greet(struct front_servers *f, struct front_server *s)
{
    struct action a = { .kind = ACTION_SET_TIMER, .delay_us = (int64_t)GREETING_S * SECOND_US };

    s->greeting = true;
    if (s->waiting)
        return; /* until it is started */
    front_servers_own(f, ACTION_SEND_UPSTREAM, s, front_server_hello(s));
    s->timer = a.timer = ++f->alarms;
    map_put(&f->timers, map_number(&s->timer), s);
    f->out->put(f->out, &a);
}

void front_servers_answered(struct front_servers *f, struct front_server *s)
{
    map_remove(&f->timers, map_number(&s->timer));
}

static void send(struct front_servers *f, const struct front_server *s, struct str text,
                 bool own)
{
    (own ? front_servers_own : front_servers_act)(f, ACTION_SEND_UPSTREAM, s, text);
}

void front_servers_go_on(struct front_servers *f, struct front_server *s)
{
    struct str rest = buf_str(&s->asked);

    s->greeting = false;
    while (rest.len) {
        struct str line = str_cut(&rest, '\n');

        send(f, s, str_skip(line, 1), line.at[0] == OWN);
    }
    buf_release(&s->asked);
}

struct front_server *front_servers_timer(struct front_servers *f, uint64_t timer)
{
    struct front_server *s = map_remove(&f->timers, map_number(&timer));

    return s && !s->ending ? s : NULL;
}

void front_servers_send(struct front_servers *f, struct front_server *s, struct str text,
                        bool own)
{
    if (!text.len)
        return;
    if (!s->greeting && !s->waiting) {
        send(f, s, text, own);
        return;
    }
    buf_add_ch(&s->asked, own ? OWN : CLIENTS);
    buf_add(&s->asked, text);
    buf_add_ch(&s->asked, '\n');
}

static void give_up(struct front_servers *f, const struct front_server *s,
                    struct unheard_item *item)
{
    front_servers_act(f, ACTION_UNHEARD, s, str_n(item->text, item->len));
    free(item);
}

void front_servers_keep(struct front_servers *f, struct front_server *s, struct str text)
{
    struct unheard_item *item;

    unheard_put(&s->unheard, text);
    while ((item = front_server_excess(s)))
        give_up(f, s, item);
}

void front_servers_retire(struct front_servers *f, struct front_server *s)
{
    struct unheard_item *item;

    BUG_IF(s->ending);
    while ((item = unheard_take(&s->unheard)))
        give_up(f, s, item);
    if (s->session) {
        session_ids_end(&f->ids, str_z(s->id));
        map_remove(&f->sessions, map_number(&s->session));
    }
    for (size_t i = 0; i < 2; i++)
        if (f->shared[i] == s)
            f->shared[i] = NULL;
    if (f->spare == s)
        f->spare = NULL;
    s->ear = NULL;
    s->ending = true;
    f->running--;
}

static void start_waiting(struct front_servers *f)
{
    for (struct map_entry *e = NULL; (e = map_next(&f->all, e));) {
        struct front_server *s = e->value;

        if (!s->waiting)
            continue;
        start_process(f, s);
        if (s->greeting)
            front_servers_greet(f, s);
        else
            front_servers_go_on(f, s);
        return;
    }
}

void front_servers_forget(struct front_servers *f, struct front_server *s)
{
    BUG_IF(!s->ending);
    f->processes -= !s->waiting;
    map_remove(&f->all, map_number(&s->number));
    map_remove(&f->timers, map_number(&s->timer));
    front_server_free(s);
    if (f->processes < f->max)
        start_waiting(f);
}
