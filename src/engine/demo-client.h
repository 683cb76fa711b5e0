/* engine/demo-client.h - a scripted MCP client that walks once through all the demo
 * server has.
 *
 * A stepper, and one that remembers: every request with all the server said until
 * it was answered, in words for people and exactly. What the client itself made up
 * (ids, progress tokens) is not part of that, so two walks can be compared. */
#ifndef ENGINE_DEMO_CLIENT_H
#define ENGINE_DEMO_CLIENT_H

#include "base/arena.h"
#include "engine/say.h"
#include "mcp/message.h"

/* How it names its requests and progress: 1, 2, … or "again-1", "again-2", …, so
 * that two walks have no name in common. */
enum demo_names { DEMO_NUMBERS, DEMO_STRINGS };

enum demo_heard_kind {
    DEMO_RESULT,
    DEMO_TOOL_ERROR, /* a result that says isError */
    DEMO_ERROR,
    DEMO_PROGRESS,
    DEMO_LOG,
    DEMO_QUESTION, /* a request of the server's; it was answered */
    DEMO_ODD,      /* what nobody asked for */
};

/* One thing the server said. */
struct demo_heard {
    struct demo_heard *next;
    enum demo_heard_kind kind;
    struct str words; /* may hold anything the server sent: escape before showing */
    struct str exact; /* the JSON that counts */
};

/* A request, and what was heard until the next. */
struct demo_exchange {
    struct str method, about; /* "tools/call", "count to 3"; `about` may be empty */
    struct demo_heard *heard, **tail;
};

enum { DEMO_STEPS = 9 };

struct demo_client {
    struct say say;
    enum demo_names names;
    struct arena arena; /* for the whole walk */
    struct demo_exchange exchanges[DEMO_STEPS];
    size_t count, heard; /* requests sent, and what was heard in all */
    struct str trouble;  /* why it could not go on; empty: it could */
    bool finished;
};

void demo_client_init(struct demo_client *c, enum demo_names names, struct action_sink *out);
void demo_client_release(struct demo_client *c);

/* Finishes with 0 at the end of the walk, with 1 if there is trouble. */
void demo_client_step(struct demo_client *c, const struct event *ev);

/* Where the second walk first heard something else than the first. Of `left` and
 * `right` one is NULL if only the other was heard. */
struct demo_difference {
    const struct demo_exchange *exchange; /* of the first walk */
    const struct demo_heard *left, *right;
};
bool demo_client_differ(const struct demo_client *first, const struct demo_client *second,
                        struct demo_difference *where);

#endif
