/* engine/front-servers.h - all the servers behind an HTTP front: which there are, whom each is
 * for, and what is said to them.
 *
 * One is nobody's yet (the spare), or that of a session, or shared by those without one: one
 * for each era. There are never more than `max` processes. A server that is ending makes room
 * for another one at once, which waits until the process has ended: what it is asked is sent
 * then. As many again may be ending. One that is greeted by us hears what it is asked once it
 * has answered that.
 *
 * Puts wishes into a sink: that a server be started, that it be told something, that something
 * of it is given up. Who waits for an answer of a server is for others to know: with them it
 * has to be settled before the server retires. */
#ifndef ENGINE_FRONT_SERVERS_H
#define ENGINE_FRONT_SERVERS_H

#include "engine/front-server.h"

struct front_servers {
    struct action_sink *out; /* borrowed */
    size_t max;
    struct map all;      /* number to struct front_server; those that end, too */
    struct map sessions; /* number to struct front_server */
    struct map timers;   /* to struct front_server, which is being greeted */
    struct session_ids ids;
    size_t running;                 /* those that do not end; those that wait, too */
    size_t processes;               /* those that were started and have not ended */
    uint64_t started, alarms;       /* ever */
    struct front_server *spare;     /* NULL: there is none */
    struct front_server *shared[2]; /* of those without a session: legacy, modern; or NULL */
};

void front_servers_init(struct front_servers *f, size_t max, struct action_sink *out);
void front_servers_release(struct front_servers *f);

/* By its own number, or by that of its session; NULL: there is none. */
struct front_server *front_servers_find(const struct front_servers *f, uint64_t number);
struct front_server *front_servers_of(const struct front_servers *f, uint64_t session);

/* Whether another can be started. If not, one that retires makes room, unless so many are
 * ending that even that would not do. */
enum front_room { FRONT_ROOM, FRONT_ROOM_IF_ONE_RETIRES, FRONT_NO_ROOM };
enum front_room front_servers_room(const struct front_servers *f);

/* A spare, for whoever comes first. There has to be room. */
void front_servers_start_spare(struct front_servers *f, int64_t now_us);

/* One for that role: the spare, or another; there has to be the one or room for the other. */
struct front_server *front_servers_take(struct front_servers *f, enum front_role role,
                                        int64_t now_us);

/* Its session has got a number. */
void front_servers_enter(struct front_servers *f, struct front_server *s);

/* Any wish that is about a server. */
void front_servers_act(struct front_servers *f, enum action_kind kind,
                       const struct front_server *s, struct str text);

/* The same for a message between mcpreel itself and a server: ACTION_SEND_UPSTREAM,
 * ACTION_UNHEARD. */
void front_servers_own(struct front_servers *f, enum action_kind kind,
                       const struct front_server *s, struct str text);

/* It is asked who it is, and given some time for that. */
void front_servers_greet(struct front_servers *f, struct front_server *s);

/* It has answered. What has waited for that is still to be said (front_servers_go_on()), after
 * what it has to be told at first. */
void front_servers_answered(struct front_servers *f, struct front_server *s);
void front_servers_go_on(struct front_servers *f, struct front_server *s);

/* Whose time is up; NULL: nobody's any more. */
struct front_server *front_servers_timer(struct front_servers *f, uint64_t timer);

/* A line for a server, of a client's or mcpreel's `own`; an empty one is none. */
void front_servers_send(struct front_servers *f, struct front_server *s, struct str text,
                        bool own);

/* Its client may still come for this; what becomes too much for that is given up. */
void front_servers_keep(struct front_servers *f, struct front_server *s, struct str text);

/* Nobody is served by it any longer, and who has not heard it by now never will. */
void front_servers_retire(struct front_servers *f, struct front_server *s);

/* The end of one that has retired. The oldest that waits is started in its place. */
void front_servers_forget(struct front_servers *f, struct front_server *s);

#endif
