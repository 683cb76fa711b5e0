/* trace/unknown-members.h - keeps the members of a line that its format does not know.
 *
 * A record holds them as one JSON object by format name: {"trace":{"corr_id":"a"}}. The writer
 * of that format puts them back where they were; for other formats they are foreign, and lost
 * unless the format has a place for them. Does not know which members a format knows. */
#ifndef TRACE_UNKNOWN_MEMBERS_H
#define TRACE_UNKNOWN_MEMBERS_H

#include "json/json.h"
#include "json/write.h"

/* Collects the members of `line` for which `knows` returns false, and adds those of other
 * formats (`foreign`: an object or NULL). Allocated in `a`; NULL if there are none. */
struct str unknown_members_collect(struct json_val line, struct str format,
                                   bool (*knows)(const void *self, struct str name),
                                   const void *self, struct str foreign, struct arena *a);

/* Writes those of this format as members of the open object. */
void unknown_members_write_own(struct json_out *o, struct str extra, struct str format);

/* Writes those of all other formats as one member of the open object, if there are any. */
void unknown_members_write_foreign(struct json_out *o, struct str name, struct str extra,
                                   struct str format);

/* Whether there are any of another format. */
bool unknown_members_has_foreign(struct str extra, struct str format);

#endif
