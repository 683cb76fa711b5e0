/* demo/demo-client.h - an MCP client that runs a fixed script against the demo server.
 *
 * An engine that keeps every request with all messages until its response, as a summary for
 * people and as JSON. Ids and progress tokens are left out, so that two runs can be
 * compared. */
#ifndef DEMO_DEMO_CLIENT_H
#define DEMO_DEMO_CLIENT_H

#include "base/arena.h"
#include "engine/actions.h"
#include "mcp/message.h"

/* The form of its request ids and progress tokens: 1, 2, … or "again-1", "again-2", …: two runs
 * have no id in common. */
enum demo_id_style { DEMO_ID_NUMBERS, DEMO_ID_STRINGS };

enum demo_message_kind {
    DEMO_RESULT,
    DEMO_TOOL_ERROR, /* a result with isError */
    DEMO_ERROR,
    DEMO_PROGRESS,
    DEMO_LOG,
    DEMO_SERVER_REQUEST, /* a server request; it was answered */
    DEMO_UNEXPECTED,     /* anything that the script does not expect */
};

/* A message of the server. */
struct demo_message {
    struct demo_message *next;
    enum demo_message_kind kind;
    struct str summary; /* untrusted: escape before printing */
    struct str json;    /* the part that is compared */
};

/* A request, and the messages received until the next one. */
struct demo_call {
    struct str method, about; /* "tools/call", "count to 3"; `about` may be empty */
    struct demo_message *received, **tail;
};

enum { DEMO_STEPS = 9 };

struct demo_client {
    struct actions actions;
    enum demo_id_style id_style;
    struct arena arena; /* for the whole run */
    struct demo_call calls[DEMO_STEPS];
    size_t sent_count, received_count; /* requests sent, messages received */
    struct str failure;                /* why the run was aborted; empty: it was not */
    bool finished;
};

void demo_client_init(struct demo_client *c, enum demo_id_style id_style,
                      struct action_sink *out);
void demo_client_release(struct demo_client *c);

/* Handles an event. Finishes with 0 at the end of the script, with 1 on failure. */
void demo_client_step(struct demo_client *c, const struct event *ev);

/* The first difference between two runs. `left` or `right` is NULL if only the other run
 * received a message there. */
struct demo_difference {
    const struct demo_call *call; /* of the first run */
    const struct demo_message *left, *right;
};
bool demo_client_find_difference(const struct demo_client *first,
                                 const struct demo_client *second,
                                 struct demo_difference *where);

#endif
