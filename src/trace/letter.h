/* trace/letter.h - a message on the way to its operation: what it is and where it stands. */
#ifndef TRACE_LETTER_H
#define TRACE_LETTER_H

#include "mcp/message.h"
#include "trace/scope.h"

struct letter {
    const struct record *record;
    struct mcp_message m;
    enum record_dir dir;
    struct str subject; /* what it is about, decoded; empty: nothing */
    struct scope_place place;
    struct arena *scratch; /* gone with the record */
};

#endif
