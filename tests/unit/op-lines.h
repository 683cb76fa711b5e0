/* tests/unit/op-lines.h - writes operations as lines of text, and checks their invariants.
 *
 *     1 c2s tools/call search id=7 ok total=900 server=700 wait=200 | 1:request 4:answer
 *     2<1:asked? s2c elicitation/create id=0 ok total=200 wait=200 | 2:request 3:answer
 *     3 notification s2c notifications/tools/list_changed | 5:notice
 *
 * Number, parent and link ("?" if inferred), kind unless it is a request, direction,
 * method, subject, id, outcome and further facts, messages. Times are in microseconds; "own" is
 * written if it differs from the total.
 *
 * A test case is traffic in the syntax of terse.h, a line "operations", and the expected lines,
 * in order of their numbers. "#" starts a comment. */
#ifndef OP_LINES_H
#define OP_LINES_H

#include "base/buf.h"
#include "ops/operation.h"

struct op_lines {
    struct operation_sink sink;
    struct op_line *ops; /* by number - 1 */
    size_t count, cap;
    uint64_t ended;
    size_t fails_at; /* if set: the event, from 1 on, that it can take no more at */
    size_t events;
};

void op_lines_init(struct op_lines *t);
void op_lines_release(struct op_lines *t);

/* All that have ended, in order of their numbers. */
void op_lines_write(const struct op_lines *t, struct buf *to);

/* One of them. */
struct str op_lines_get(const struct op_lines *t, uint64_t number);

/* Fails unless all operations have ended. */
void op_lines_assert_ended(const struct op_lines *t);

/* The operations of traffic, as terse_feed_plain() reads it. */
void op_lines_of_traffic(struct str traffic, struct buf *to);

/* A test case; see text-cases.h. */
bool op_lines_run_case(struct str text, struct buf *why);

#endif
