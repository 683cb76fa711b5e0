/* engine/http-answer.h - answers over HTTP that are not streamed as they come: composed, and
 * put into an engine's sink.
 *
 * Borrows everything. A sink is handed what lies in the one buffer here. */
#ifndef ENGINE_HTTP_ANSWER_H
#define ENGINE_HTTP_ANSWER_H

#include "engine/http-script.h"
#include "engine/http-streams.h"

struct http_answer {
    struct action_sink *out; /* borrowed */
    struct fields fields;    /* of the one at hand */
    struct buf text;
};

void http_answer_init(struct http_answer *a, struct action_sink *out);
void http_answer_release(struct http_answer *a);

/* Header lines, afresh; then more of them. Those whose value is empty are left out. */
void http_answer_start(struct http_answer *a, struct str type, struct str session_id);
void http_answer_field(struct http_answer *a, struct str name, struct str value);

/* All of an answer, with those header lines. */
void http_answer_send(struct http_answer *a, uint64_t exchange, unsigned status,
                      struct str body);

/* The answers to a batch are one array, which is composed in `batch`: `*message` is one of the
 * `left` that are still to come. True: the last, and it is all of them now. */
bool http_answer_collect(struct buf *batch, size_t left, struct str *message);

/* A stream of events begins; with header lines of its own. */
void http_answer_open(struct http_answer *a, uint64_t exchange, struct str session_id);

/* A JSON-RPC error; an empty `id` is null. The message alone, and as all of an answer. */
struct str http_answer_error(struct http_answer *a, const struct http_verdict *v,
                             struct str id);
void http_answer_refuse(struct http_answer *a, uint64_t exchange, const struct http_verdict *v,
                        struct str id);

/* As the recorded server answered what is kept whole; `id` is the live request's. */
void http_answer_again(struct http_answer *a, struct http_streams *streams,
                       const struct http_script *http, const struct http_odd *odd,
                       uint64_t exchange, struct str id);

#endif
