/* cmd/leaks.h - where secrets were found, for people and for programs; never what they are. */
#ifndef CMD_LEAKS_H
#define CMD_LEAKS_H

#include "trace/redactor.h"
#include "json/write.h"

enum { LEAKS_KEPT = 1000 }; /* so many places are told; of the rest the number */

struct leak {
    enum record_kind kind;
    uint64_t record; /* from 1 */
    uint64_t seq;    /* of a message; 0: it has none */
    const char *member;
    struct str pointer;
    struct str what; /* "GITHUB_TOKEN", "jwt", "pattern 1" */
};

struct leaks {
    struct redactor_watch watch; /* hand this to a redactor */
    struct leak *rows;
    size_t kept, cap;
    uint64_t count;
    struct arena arena;
};

void leaks_init(struct leaks *l);
void leaks_release(struct leaks *l);

/* One indented line for each, and one for those that were not kept. */
void leaks_add(struct buf *to, const struct leaks *l);

/* An array of objects. */
void leaks_json(struct json_out *o, const struct leaks *l);

#endif
