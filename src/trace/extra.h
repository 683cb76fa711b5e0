/* trace/extra.h - members of a line that its format does not know, kept with the record.
 *
 * A record has them as the text of one JSON object, by the name of the format that they
 * are members of: {"trace":{"corr_id":"a"}}. Who writes that format puts them back where
 * they were; for the others they are foreign, and lost unless there is a place for them.
 * Says nothing about which members a format knows. */
#ifndef TRACE_EXTRA_H
#define TRACE_EXTRA_H

#include "json/json.h"
#include "json/write.h"

/* The members of `line` that `knows` says false to, together with those that came from
 * other formats already, an object or NULL. NULL if there are none; else it is in `a`. */
struct str extra_gather(struct json_val line, struct str format,
                        bool (*knows)(const void *self, struct str name), const void *self,
                        struct str foreign, struct arena *a);

/* Those of this format, as members of the object that is being written. */
void extra_add_own(struct json_out *o, struct str extra, struct str format);

/* Those of all other formats, as one member of that object; nothing if there are none. */
void extra_add_foreign(struct json_out *o, struct str name, struct str extra,
                       struct str format);

/* Whether there are any of another format. */
bool extra_is_foreign(struct str extra, struct str format);

#endif
