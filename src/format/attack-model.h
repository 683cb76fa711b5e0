/* format/attack-model.h - collects what a server offers and how it answered, for formats that
 * describe a server.
 *
 * Takes the records and the operations of a recording. Definitions come from all pages of all
 * lists (mcp/surface.h); of a name that was listed twice the latest counts. Calls are
 * tools/call, resources/read and prompts/get of the client, in the order of their requests; the
 * result of a call is the one after retries with the required input, or that of its task. Calls
 * without a result count as a use of the name only.
 *
 * Everything stays in memory until the end: up to LIMIT_LINE bytes of results. */
#ifndef FORMAT_ATTACK_MODEL_H
#define FORMAT_ATTACK_MODEL_H

#include "format/format.h"
#include "mcp/surface.h"

struct attack_call {
    enum surface_kind kind; /* a tool, a resource or a prompt */
    struct str key;         /* name or URI */
    struct str arguments;   /* JSON; empty: none */
    struct str response;    /* JSON: the result or the error; empty: none */
    bool is_error;          /* the response is a JSON-RPC error */
    size_t number;          /* of a tool call with a response: from 1, among all of these */
    struct attack_call *next_same, *next; /* of the same item; of all */
};

/* A tool, resource, prompt or resource template. */
struct attack_item {
    struct str key;
    struct json_val def; /* an object */
    bool is_inferred;    /* it was in no list: `def` has the key, and the names of arguments */
    struct attack_call *calls, *last; /* in their order */
    size_t answered;                  /* of these, how many have a response */
};

struct attack_items {
    struct attack_item *at;
    size_t count;
};

struct attack_model {
    struct surface surface;
    struct buf upstream; /* the server's command or URL; empty: unknown */
    bool start_known;
    int64_t start_wall_us;
    bool failed; /* more than the limit; the rest is incomplete */

    /* Set by attack_model_finish(). */
    struct attack_items items[SURFACE_LISTS];
    size_t answered_tool_calls;

    /* Private. */
    struct attack_call *first, *last;
    struct map calls; /* number of an operation -> its call */
    struct arena arena;
    size_t bytes;
};

void attack_model_init(struct attack_model *m);
void attack_model_release(struct attack_model *m);

/* Like the functions of the same names in struct format. */
void attack_model_put(struct attack_model *m, const struct record *r);
void attack_model_put_operation(struct attack_model *m, const struct format_operation *o);

/* Groups the calls by name; call it after the last operation. Items that were listed come
 * first, in the order of the lists. A name that is not in its list is left out if no call of it
 * had a result: then it probably does not exist. */
void attack_model_finish(struct attack_model *m);

/* Returns the first call with a response from `call` on; NULL: there is none. */
const struct attack_call *attack_model_answered(const struct attack_call *call);

#endif
