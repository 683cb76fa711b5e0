/* engine/script-event.h - how the events were that carried the messages of a script, where one
 * stands out: it told when to come again, or had a name of its own. */
#ifndef ENGINE_SCRIPT_EVENT_H
#define ENGINE_SCRIPT_EVENT_H

#include "engine/script.h"

struct script_event {
    struct str name;  /* never empty, and on one line */
    int64_t retry_ms; /* -1: it told nothing of that */
};

/* While it is written: a step was carried by an event, as a record has it (JSON). */
void script_event_note(struct script *s, uint32_t step, struct str event);

/* Never NULL: most have the name that all have, and tell nothing. */
const struct script_event *script_event_of(const struct script *s, uint32_t step);

#endif
