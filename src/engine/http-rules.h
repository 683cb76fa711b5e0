/* engine/http-rules.h - what a server that speaks MCP over HTTP refuses, by the rules of the
 * revisions, and with which status.
 *
 * Lenient where real clients are sloppy and nothing depends on it. What a recorded server
 * did otherwise is for others to know. */
#ifndef ENGINE_HTTP_RULES_H
#define ENGINE_HTTP_RULES_H

#include "engine/http-params.h"

/* How the server is. */
struct http_rules {
    bool legacy, modern;              /* the eras that it speaks */
    bool sessions;                    /* it names sessions, and wants to hear the names */
    bool unchecked;                   /* any session id and none is fine, as is any DELETE */
    bool stream;                      /* who GETs it gets a stream, */
    bool unnamed;                     /* also if it does not ask for events by name */
    struct str versions;              /* that it speaks: a JSON array */
    const struct http_params *params; /* borrowed; NULL: nothing is known of its tools */
};

/* `status` 0: nothing is wrong. */
struct http_verdict {
    unsigned status;
    int64_t code; /* of a JSON-RPC error */
    struct str text;
    struct str data;  /* JSON; may be empty */
    struct str allow; /* methods, with 405 */
    struct str retry; /* seconds, with 503 */
};

/* What it says lives in `a`, or for ever. */
struct http_verdict http_rules_judge(const struct http_rules *rules, const struct http_call *c,
                                     struct arena *a);

/* What is said in a session that is not there. */
struct http_verdict http_rules_no_session(void);

/* The status of an answer that is one JSON-RPC message: which only the era without sessions
 * makes depend on it. */
unsigned http_rules_status_of(bool modern, struct str message);

#endif
