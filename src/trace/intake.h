/* trace/intake.h - what a peer says in one go, as records: a line, or the body of a request.
 *
 * One message is one record; a batch is one record per element; what is no JSON-RPC
 * message is a RECORD_RAW. Fills in direction, message, what it is, and its place in a
 * batch, and nothing else: the time and the order are the caller's to know. */
#ifndef TRACE_INTAKE_H
#define TRACE_INTAKE_H

#include "base/buf.h"
#include "trace/record.h"
#include "json/json.h"

/* Why a line is no message. */
#define INTAKE_NOT_JSON "not JSON"
#define INTAKE_NOT_JSON_RPC "not JSON-RPC"

struct intake {
    struct json json;
    struct arena arena;
    struct buf flat;
    uint64_t batches;
    struct str seen; /* what was looked at last */
    bool scanned;    /* it is what `json` is about, still */
};

void intake_init(struct intake *in);
void intake_release(struct intake *in);

/* `line` without its newline; a blank one makes no record. False if the sink said
 * so for any of them; all of them were offered to it. */
bool intake_line(struct intake *in, enum record_dir dir, struct str line, struct sink *to,
                 struct err *e) MUST_CHECK;

/* The same of a text that may have line breaks. If it is JSON they stand between values,
 * and become blanks. */
bool intake_text(struct intake *in, enum record_dir dir, struct str text, struct sink *to,
                 struct err *e) MUST_CHECK;

/* What intake_text() would make of it. */
enum intake_kind { INTAKE_EMPTY, INTAKE_MESSAGE, INTAKE_BATCH, INTAKE_OTHER };
enum intake_kind intake_look(struct intake *in, struct str text);

/* Makes that of it: the text must still be there, and nothing else have been taken in since. */
bool intake_seen(struct intake *in, enum record_dir dir, struct sink *to,
                 struct err *e) MUST_CHECK;

#endif
