/* engine/suspense.h - questions of the server's of which it is not clear yet for whom they
 * were asked.
 *
 * While several requests are being worked on, nothing marks the one that a question belongs
 * to. What comes later tells: a server goes on with a request when its question is answered,
 * so the first of those requests to be answered after that is the one. A question that comes
 * after such an answer, before any of them is, goes on with the same request.
 *
 * Until then a question and its answer are steps of no strand. What nothing ever tells goes
 * with the oldest of those requests: a client that makes none of them is not asked. Bounded: of
 * more than SUSPENSE_MAX rows of questions the oldest is given up, and goes behind the message
 * that the server had sent before it. */
#ifndef ENGINE_SUSPENSE_H
#define ENGINE_SUSPENSE_H

#include "engine/script.h"
#include "trace/scope.h"

enum { SUSPENSE_MAX = 64 };

struct suspense {
    struct suspense_row *first; /* the oldest */
    size_t count;
    uint64_t last_name; /* of a row */
    uint64_t turn;      /* counts answers of the client */
};

/* Whether requests of a method are worked on in a way that can make a server ask. */
bool suspense_may_ask(const struct script_method *method);

/* A question, as a step of no strand. `oldest` is the first request it may have been asked
 * for, `anchor` the strand of what was sent before it. The name by which its answer finds
 * it. */
uint64_t suspense_ask(struct suspense *u, struct script *s, struct scope_reach place,
                      uint32_t step, uint32_t oldest, uint32_t anchor);

/* The answer to one, as a step of no strand; nothing if its row was given up. */
void suspense_reply(struct suspense *u, uint64_t name, uint32_t step);

/* The request of a strand is about to be answered: what was asked for it becomes its. */
void suspense_answer(struct suspense *u, struct script *s, struct scope_reach place,
                     uint32_t op);

/* Nothing more comes: what is left goes with the oldest request each may have been asked for.
 */
void suspense_finish(struct suspense *u, struct script *s);

#endif
