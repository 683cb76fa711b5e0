/* wire/talk.h - free text, handed over after whole lines.
 *
 * Some programs write their stderr byte by byte: what is handed over are whole
 * lines, as many as there are, newlines included, unless one is longer than anybody
 * would read: an unfinished line is held until it has more than 64 KB. */
#ifndef WIRE_TALK_H
#define WIRE_TALK_H

#include "base/buf.h"

struct talk {
    struct buf held; /* the unfinished line */
};

typedef void talk_fn(void *to, struct str text);

void talk_init(struct talk *t);
void talk_release(struct talk *t);

void talk_feed(struct talk *t, struct str bytes, talk_fn *fn, void *to);

/* Nothing more will come: hands over what is held. */
void talk_end(struct talk *t, talk_fn *fn, void *to);

#endif
