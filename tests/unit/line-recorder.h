/* tests/unit/line-recorder.h - records HTTP exchanges that are given as lines (http-line.h).
 *
 * The messages go through the recorder of `record`; each a millisecond after the one before
 * it. A response that is no stream ends its exchange. The server's own paths are /mcp and
 * /sse. */
#ifndef LINE_RECORDER_H
#define LINE_RECORDER_H

#include "http-line.h"
#include "record/http-recorder.h"

enum { LINE_RECORDER_EXCHANGES = 64 };

struct line_recorder {
    struct recorder recorder;
    struct http_recorder http;
    struct http_recorder_exchange *open[LINE_RECORDER_EXCHANGES];
    struct url server;
    struct buf text;
    int64_t ms;
};

void line_recorder_init(struct line_recorder *t, struct sink *to);
void line_recorder_release(struct line_recorder *t); /* open messages end with it */

void line_recorder_add(struct line_recorder *t, struct str line);

#endif
