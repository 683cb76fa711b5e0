/* trace/intake.h - a line from a stdio peer, as records.
 *
 * One message is one record; a batch is one record per element; what is no JSON-RPC
 * message is a RECORD_RAW. Fills in direction, message, what it is, and its place in a
 * batch, and nothing else: the time and the order are the caller's to know. */
#ifndef TRACE_INTAKE_H
#define TRACE_INTAKE_H

#include "trace/record.h"
#include "json/json.h"

struct intake {
    struct json json;
    struct arena arena;
    uint64_t batches;
};

void intake_init(struct intake *in);
void intake_release(struct intake *in);

/* `line` without its newline; a blank one makes no record. False if the sink said
 * so for any of them; all of them were offered to it. */
bool intake_line(struct intake *in, enum record_dir dir, struct str line, struct sink *to,
                 struct err *e) MUST_CHECK;

#endif
