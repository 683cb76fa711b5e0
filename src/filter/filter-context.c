#include "filter/filter-context.h"

#include <stdio.h>

enum { NAME_MAX_BYTES = 4096 };

void filter_context_init(struct filter_context *c, const char *path)
{
    *c = (struct filter_context){ .has_drift = false };
    buf_init(&c->server, NAME_MAX_BYTES);
    buf_init(&c->trace, NAME_MAX_BYTES);
    buf_add(&c->trace, str_z(path));
    tool_drift_init(&c->drift);
}

void filter_context_release(struct filter_context *c)
{
    buf_release(&c->server);
    buf_release(&c->trace);
    tool_drift_release(&c->drift);
    arena_release(&c->scratch);
}

/* Keeps the latest names of recording and server; the buffer cuts long ones. */
static void note_names(struct filter_context *c, const struct record *r)
{
    struct json_val name;

    if (r->kind == RECORD_HEADER && r->header.name.len) {
        buf_clear(&c->trace);
        buf_add(&c->trace, r->header.name);
    }
    if (r->kind != RECORD_MESSAGE || r->message.dir != TO_CLIENT)
        return;
    name = json_get(json_get(json_get(r->message.msg, STR("result")), STR("serverInfo")),
                    STR("name"));
    if (json_type(name) == JSON_STRING) {
        arena_clear(&c->scratch);
        buf_clear(&c->server);
        buf_add(&c->server, json_text(name, &c->scratch));
    }
}

void filter_context_note(struct filter_context *c, const struct record *r)
{
    note_names(c, r);
    c->has_drift = tool_drift_check(&c->drift, r);
}

void filter_context_apply(struct filter_context *c, struct filter_view *v, unsigned has,
                          uint64_t session, const struct op_builder *builder)
{
    int64_t start_us;

    v->server = buf_str(&c->server);
    v->trace = buf_str(&c->trace);
    if (has & HAS_SESSION) {
        int n = snprintf(c->session, sizeof c->session, "%llu", (unsigned long long)session);
        v->session = str_n(c->session, (size_t)n);
    }
    if (v->has & FILTER_HAS_T && op_builder_start_wall_us(builder, &start_us)) {
        v->has |= FILTER_HAS_WALL;
        v->wall = start_us + v->t;
    }
}
