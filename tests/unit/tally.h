/* tests/unit/tally.h - operations as lines of text, and what must hold for all of them.
 *
 *     1 c2s tools/call search id=7 ok total=900 server=700 wait=200 | 1:request 4:answer
 *     2<1:asked? s2c elicitation/create id=0 ok total=200 wait=200 | 2:request 3:answer
 *     3 notification s2c notifications/tools/list_changed | 5:notice
 *
 * Number, parent and link ("?" if inferred), kind unless it is a request, direction,
 * method, subject, id, outcome and what else is worth a word, messages. Times are in
 * microseconds; "own" is told where it differs from the total.
 *
 * A story is traffic as terse.h has it, a line "operations", and the lines that must come
 * of it, in order of their numbers. "#" starts a comment. */
#ifndef TALLY_H
#define TALLY_H

#include "base/buf.h"
#include "trace/operation.h"

struct tally {
    struct operation_sink sink;
    struct tally_op *ops; /* by number - 1 */
    size_t count, cap;
    uint64_t ended;
    size_t refuses_at; /* if set: the event, from 1 on, that it can take no more at */
    size_t events;
};

void tally_init(struct tally *t);
void tally_release(struct tally *t);

/* All that have ended, in order of their numbers. */
void tally_write(const struct tally *t, struct buf *to);

/* Fails unless all operations have ended. */
void tally_assert_whole(const struct tally *t);

/* What comes of traffic, as terse_pour_plain() has it. */
void tally_traffic(struct str traffic, struct buf *to);

/* A story; see plays.h. */
bool tally_play(struct str text, struct buf *why);

#endif
