#include "redact/placeholder-names.h"

#include "redact/placeholder.h"

#define PLACEHOLDER_START STR("[REDACTED:")

static void collect(struct placeholder_names *p, struct str text)
{
    const char *at;

    while (p->names.count < PLACEHOLDER_NAMES_MAX &&
           (at = memmem(text.at, text.len, PLACEHOLDER_START.at, PLACEHOLDER_START.len))) {
        struct str name;

        text = str_skip(text, (size_t)(at - text.at) + PLACEHOLDER_START.len);
        name = str_n(text.at, str_find(text, ']'));
        if (name.len < text.len && placeholder_is_variable(name))
            map_put(&p->names, name, p);
    }
}

static bool put(struct sink *self, const struct record *r, struct err *e)
{
    struct placeholder_names *p = (struct placeholder_names *)self;

    if (r->kind == RECORD_MESSAGE)
        collect(p, json_raw(r->message.msg));
    return p->next->put(p->next, r, e);
}

void placeholder_names_init(struct placeholder_names *p, struct sink *next)
{
    *p = (struct placeholder_names){ .sink = { put }, .next = next };
    map_init(&p->names);
}

void placeholder_names_release(struct placeholder_names *p)
{
    map_release(&p->names);
}

bool placeholder_names_has(const struct placeholder_names *p, struct str name)
{
    return map_get(&p->names, name) != NULL;
}
