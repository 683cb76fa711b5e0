/* engine/http-call.h - a request over HTTP, live or recorded, as far as a server that
 * speaks MCP looks at it. */
#ifndef ENGINE_HTTP_CALL_H
#define ENGINE_HTTP_CALL_H

#include "engine/session-ids.h"
#include "engine/step.h"
#include "mcp/message.h"
#include "mcp/version.h"
#include "trace/intake.h"
#include "wire/media.h"
#include "wire/place.h"

/* Everything is borrowed. */
struct http_call {
    struct str method;
    const struct fields *fields;
    struct media_accept accept; /* what the fields say of that */
    enum place host, origin;
    enum session_state state;
    bool posted; /* in HTTP+SSE: where it is sent to says of which session it is */
    enum intake_kind kind;
    bool greets_in_batch;              /* INTAKE_BATCH: there is an initialize in it */
    const struct mcp_message *message; /* INTAKE_MESSAGE */
    struct str raw;                    /* INTAKE_OTHER */
};

/* One that has come, but for its body and its session. */
struct http_call http_call_of(const struct step_request *r);

/* What a body says, scanned into `j`; `*m` is its message if it is one. */
void http_call_read(struct http_call *c, struct json *j, struct str body, struct mcp_message *m,
                    struct arena *a);

/* How many answers whoever sent `body`, all of it, waits for. */
size_t http_call_owed(const struct http_call *c, struct json_val body, struct arena *a);

/* The value of a header line; empty: there is none. */
struct str http_call_header(const struct http_call *c, struct str name);

/* The revision that its header names, and the one that its message names. */
enum mcp_version http_call_version(const struct http_call *c);
enum mcp_version http_call_message_version(const struct http_call *c, struct arena *a);

/* The one that a client speaks: as the header has it, or its greeting asks for; `agreed` was
 * before. */
enum mcp_version http_call_spoken(const struct http_call *c, enum mcp_version agreed,
                                  struct arena *a);

/* Either is of the era without sessions. */
bool http_call_is_modern(const struct http_call *c, struct arena *a);

/* A hash of all that may make a server refuse it: the same for two requests that differ
 * in nothing but ids, tokens and what is personal. 0: it has none (a batch). */
uint64_t http_call_key(const struct http_call *c, struct arena *a);

#endif
