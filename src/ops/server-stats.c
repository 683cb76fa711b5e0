#include "ops/server-stats.h"

#include <stdlib.h>

enum { UPSTREAM_MAX = 64 << 10 }; /* longer ones are not kept */

static bool server_stats_put(struct sink *self, const struct record *r, struct err *e);
static bool put_op_event(struct operation_sink *self, const struct operation_event *ev,
                         struct err *e);

void server_stats_init(struct server_stats *s)
{
    *s = (struct server_stats){ .sink = { server_stats_put }, .op_events = { put_op_event } };
    capped_table_init(&s->servers, sizeof(struct server_stats_server), SERVER_STATS_SERVERS);
    op_stats_init(&s->calls, SERVER_STATS_ROWS);
    op_stats_init(&s->current, OP_STATS_ROWS);
    op_builder_init(&s->builder, &s->op_events);
    op_servers_init(&s->scopes);
    buf_init(&s->recording.upstream, UPSTREAM_MAX);
}

void server_stats_release(struct server_stats *s)
{
    capped_table_release(&s->servers);
    op_stats_release(&s->calls);
    op_stats_release(&s->current);
    op_builder_release(&s->builder);
    op_servers_release(&s->scopes);
    buf_release(&s->recording.upstream);
    arena_release(&s->scratch);
}

static struct str copy_text(struct server_stats *s, struct str text)
{
    if (s->cleaner && text.len)
        text = s->cleaner->clean(s->cleaner, text);
    return arena_truncated(&s->servers.arena, text, SERVER_STATS_TEXT);
}

static struct server_stats_server *find_server(struct server_stats *s, struct str name,
                                               struct str version, struct str upstream)
{
    const struct str parts[] = { name, version, upstream };
    struct server_stats_server *server;
    bool is_new;

    server = capped_table_row(&s->servers, parts, 3, &is_new);
    if (is_new) {
        server->name = copy_text(s, name);
        server->version = copy_text(s, version);
        server->upstream = copy_text(s, upstream);
    }
    if (!server->group) /* a new one, or the shared row */
        server->group = is_new ? s->servers.count : SERVER_STATS_SERVERS + 1;
    return server;
}

static void count_recording(struct server_stats *s, struct server_stats_server *server)
{
    if (server->latest == s->recordings)
        return;
    server->latest = s->recordings;
    server->recordings++;
}

/* Returns the server that an object with its name and version names; NULL if it names none. */
static struct server_stats_server *name_server(struct server_stats *s, struct json_val info)
{
    struct server_stats_recording *rec = &s->recording;
    struct str name = json_text(json_get(info, STR("name")), &s->scratch);
    struct str version = json_text(json_get(info, STR("version")), &s->scratch);
    struct server_stats_server *server;

    if (!name.len)
        return NULL;
    server = find_server(s, name, version, STR_NONE);
    if (!rec->server)
        rec->server = server;
    rec->several |= rec->server != server;
    count_recording(s, server);
    return server;
}

static void add_definitions(struct server_stats *s, const struct operation *op,
                            struct json_val tools)
{
    struct json_iter it = json_each(tools);

    s->current.group = op_servers_find(&s->scopes, op);
    while (json_next(&it)) {
        struct json_val name = json_get(it.value, STR("name"));

        if (json_type(name) == JSON_STRING)
            op_stats_add_definition(&s->current, json_text(name, &s->scratch),
                                    json_raw(it.value).len);
    }
}

static void handle_response(struct server_stats *s, const struct operation_event *ev)
{
    const struct server_stats_server *server = name_server(s, op_servers_info(ev));
    const struct record *r = ev->record;

    if (server)
        op_servers_set(&s->scopes, r, server->group);
    if (r->message.dir != TO_CLIENT || r->has & HAS_REDELIVERS)
        return;
    if (str_eq(ev->op->method, STR("tools/list")))
        add_definitions(s, ev->op,
                        json_get(json_get(r->message.msg, STR("result")), STR("tools")));
}

static bool put_op_event(struct operation_sink *self, const struct operation_event *ev,
                         struct err *e)
{
    struct server_stats *s =
        (struct server_stats *)((char *)self - offsetof(struct server_stats, op_events));

    (void)e;
    if (!ev->message) {
        s->current.group = op_servers_find(&s->scopes, ev->op);
        op_stats_add(&s->current, ev->op);
    } else if (ev->message->role == ROLE_RESPONSE && ev->op->kind == OPERATION_REQUEST) {
        handle_response(s, ev);
    }
    return true;
}

static void build_ops(struct server_stats *s, const struct record *r)
{
    struct err e = ERR_NONE;

    if (!s->builder.sink.put(&s->builder.sink, r, &e))
        BUG("the sink rejected a record");
}

/* The server of calls that ended before any was named, or whose session named none. */
static struct server_stats_server *default_server(struct server_stats *s)
{
    struct server_stats_server *server = s->recording.server;

    if (!server || s->recording.several)
        server = find_server(s, STR_NONE, STR_NONE, buf_str(&s->recording.upstream));
    return server;
}

static void merge_row(struct server_stats *s, const struct op_stats_row *row)
{
    struct server_stats_server *server;

    s->calls.group = row->group;
    if (!row->group) {
        server = default_server(s);
        count_recording(s, server);
        s->calls.group = server->group;
    }
    op_stats_merge_row(&s->calls, row, false);
}

static void merge_rows(struct server_stats *s)
{
    const struct capped_table *rows = &s->current.rows;

    for (size_t i = 0; i < rows->count; i++)
        merge_row(s, rows->rows[i]);
    if (rows->overflow)
        op_stats_merge_row(&s->calls, rows->overflow, true);
}

static void end_recording(struct server_stats *s)
{
    if (!s->recording.seen_record)
        return;
    if (!s->recording.server && !s->current.rows.count)
        count_recording(s, default_server(s));
    merge_rows(s);
    op_stats_release(&s->current);
    op_stats_init(&s->current, OP_STATS_ROWS);
    s->recording.seen_record = false;
    s->recording.server = NULL;
    s->recording.several = false;
    buf_clear(&s->recording.upstream);
}

static void handle_footer(struct server_stats *s, const struct record_footer *f)
{
    struct json_fault fault;
    struct json j;

    if (s->recording.server || !f->server_info.len)
        return;
    json_init(&j);
    if (json_scan(&j, f->server_info, &fault))
        name_server(s, json_root(&j));
    json_release(&j);
}

static void begin_recording(struct server_stats *s)
{
    if (!s->recording.seen_record) {
        s->recordings++;
        op_servers_begin_recording(&s->scopes);
    }
    s->recording.seen_record = true;
    s->current.cleaner = s->cleaner;
}

/* A header ends the recording before it, whose open operations the builder ends first. */
static bool server_stats_put(struct sink *self, const struct record *r, struct err *e)
{
    struct server_stats *s = (struct server_stats *)self;

    (void)e;
    arena_clear(&s->scratch);
    if (r->kind == RECORD_HEADER) {
        build_ops(s, r);
        end_recording(s);
        begin_recording(s);
        buf_add(&s->recording.upstream, r->header.upstream);
        return true;
    }
    begin_recording(s);
    build_ops(s, r);
    if (r->kind == RECORD_FOOTER)
        handle_footer(s, &r->footer);
    return true;
}

void server_stats_end_file(struct server_stats *s)
{
    struct err e = ERR_NONE;

    if (!op_builder_finish(&s->builder, &e))
        BUG("the sink rejected a record");
    s->evicted += op_builder_evicted(&s->builder);
    op_builder_release(&s->builder);
    op_builder_init(&s->builder, &s->op_events);
    end_recording(s);
}

static int compare_rows(const void *a, const void *b)
{
    const struct op_stats_row *const *x = a, *const *y = b;
    int order;

    if ((*x)->group != (*y)->group)
        return (*x)->group < (*y)->group ? -1 : 1;
    if ((*x)->dir != (*y)->dir)
        return (*x)->dir == TO_SERVER ? -1 : 1;
    if ((*x)->calls != (*y)->calls)
        return (*x)->calls > (*y)->calls ? -1 : 1;
    order = str_cmp((*x)->method, (*y)->method);
    return order ? order : str_cmp((*x)->subject, (*y)->subject);
}

static int compare_servers(const void *a, const void *b)
{
    const struct server_stats_server *const *x = a, *const *y = b;
    int order;

    if ((*x)->calls != (*y)->calls)
        return (*x)->calls > (*y)->calls ? -1 : 1;
    order = str_cmp((*x)->name, (*y)->name);
    if (!order)
        order = str_cmp((*x)->version, (*y)->version);
    return order ? order : str_cmp((*x)->upstream, (*y)->upstream);
}

static void add_totals(const struct server_stats *s, struct server_stats_server *server)
{
    struct server_stats_rows rows = server_stats_rows_of(s, server);

    for (size_t i = 0; i < rows.count; i++) {
        const struct op_stats_row *row = rows.at[i];

        if (row->dir != TO_SERVER)
            continue;
        server->calls += row->calls;
        server->errors += op_stats_errors(row);
        server->tools += row->listings > 0;
        server->definition_bytes += row->definition_max;
    }
}

void server_stats_finish(struct server_stats *s)
{
    struct capped_table *servers = &s->servers;

    qsort(s->calls.rows.rows, s->calls.rows.count, sizeof *s->calls.rows.rows, compare_rows);
    for (size_t i = 0; i < servers->count; i++)
        add_totals(s, servers->rows[i]);
    if (servers->overflow)
        add_totals(s, servers->overflow);
    qsort(servers->rows, servers->count, sizeof *servers->rows, compare_servers);
}

struct server_stats_rows server_stats_rows_of(const struct server_stats *s,
                                              const struct server_stats_server *server)
{
    const struct op_stats_row *const *rows =
        (const struct op_stats_row *const *)s->calls.rows.rows;
    size_t from = 0, to;

    while (from < s->calls.rows.count && rows[from]->group != server->group)
        from++;
    to = from;
    while (to < s->calls.rows.count && rows[to]->group == server->group)
        to++;
    return (struct server_stats_rows){ rows + from, to - from };
}
