/* transport/outlet.h - messages to a peer, each with its newline.
 *
 * One of usual size goes out with a single write: some peers read what comes at once
 * as one message. */
#ifndef TRANSPORT_OUTLET_H
#define TRANSPORT_OUTLET_H

#include "base/buf.h"
#include "loop/stream.h"

struct outlet {
    struct buf line;
};

void outlet_init(struct outlet *o);
void outlet_release(struct outlet *o);

void outlet_send(struct outlet *o, struct stream *into, struct str message);

#endif
