/* format/mcporter.c - the output of `mcporter record`: messages, one per line; only read.
 *
 * Each line is a JSON-RPC message with a member `_meta` that mcporter adds: direction, name of
 * the server, time. The record has the message without it. A line "$transport/start" begins
 * another connection to its server; it and "$transport/close" become no records. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "format/ndjson.h"
#include "mcp/message.h"
#include "trace/limits.h"

#define META STR("_meta")

struct mcporter {
    struct ndjson lines;
    struct buf text;        /* of the current message, without the member of mcporter */
    struct json message;    /* scanned from it */
    struct arena arena;     /* texts of the current line */
    struct map connections; /* name of a server -> number of its latest connection */
    uint64_t connection_count;
};

static void *mcporter_open(void)
{
    struct mcporter *s = mem_new(struct mcporter);

    ndjson_init(&s->lines);
    buf_init(&s->text, LIMIT_LINE);
    json_init(&s->message);
    map_init(&s->connections);
    return s;
}

static void mcporter_close(void *state)
{
    struct mcporter *s = state;

    ndjson_release(&s->lines);
    buf_release(&s->text);
    json_release(&s->message);
    arena_release(&s->arena);
    map_release(&s->connections);
    free(s);
}

static void mcporter_resync(void *state)
{
    struct mcporter *s = state;

    ndjson_resync(&s->lines);
}

/* For a first line that is longer than the head. */
static bool starts_like_line(struct str head)
{
    struct str rest = head;

    return ndjson_starts_with(&head, STR("{\"jsonrpc\":\"2.0\",\"method\":\"$transport/")) ||
           ndjson_starts_with(&rest, STR("{\"_meta\":{\"dir\":\""));
}

static enum probe_rank mcporter_probe(struct str head)
{
    struct json_fault fault;
    struct json_val meta;
    struct json j;
    size_t used;
    bool is;

    head = str_trim(head);
    is = starts_like_line(head);
    json_init(&j);
    if (json_scan_first(&j, head, &used, &fault)) {
        meta = json_get(json_root(&j), META);
        is = json_exists(json_get(json_root(&j), STR("jsonrpc"))) &&
             json_type(json_get(meta, STR("dir"))) == JSON_STRING &&
             json_type(json_get(meta, STR("server"))) == JSON_STRING;
    }
    json_release(&j);
    return is ? PROBE_SURE : PROBE_NONE;
}

/* The number of a server's connection; `is_new`: of another one. */
static uint64_t connection_of(struct mcporter *s, struct str server, bool is_new)
{
    uintptr_t number = (uintptr_t)map_get(&s->connections, server);

    if (number && !is_new)
        return number;
    map_put(&s->connections, server, (void *)(uintptr_t)++s->connection_count);
    return s->connection_count;
}

static bool read_time(struct mcporter *s, const struct window *w, struct json_val meta,
                      struct record *r, struct err *e)
{
    struct json_val ts = json_get(meta, STR("ts"));

    if (json_type(ts) != JSON_STRING || !clock_parse(json_text(ts, &s->arena), &r->wall_us)) {
        format_error(w, json_offset(json_exists(ts) ? ts : meta), e,
                     "'ts' must be a date and time like 2026-05-12T23:00:00.000Z");
        return false;
    }
    r->has |= HAS_WALL;
    return true;
}

/* Scans the message of a line: all members but that of mcporter. */
static struct json_val scan_message(struct mcporter *s, struct json_val line)
{
    struct json_iter it = json_each(line);
    struct json_fault fault;

    buf_clear(&s->text);
    while (json_next(&it)) {
        if (json_is(it.key, META))
            continue;
        buf_add_ch(&s->text, s->text.len ? ',' : '{');
        buf_add(&s->text, json_raw(it.key));
        buf_add_ch(&s->text, ':');
        buf_add(&s->text, json_raw(it.value));
    }
    buf_add(&s->text, s->text.len ? STR("}") : STR("{}"));
    if (s->text.full || !json_scan(&s->message, buf_str(&s->text), &fault))
        BUG("a message without one of its members is no JSON");
    return json_root(&s->message);
}

static void set_message(struct mcporter *s, struct json_val line, enum record_dir dir,
                        struct record *r)
{
    struct json_val v = scan_message(s, line);

    if (mcp_classify(v, &s->arena).kind != MCP_OTHER) {
        r->kind = RECORD_MESSAGE;
        r->message.dir = dir;
        r->message.msg = v;
        return;
    }
    r->kind = RECORD_RAW;
    r->has |= HAS_FROM;
    r->bytes =
        (struct record_bytes){ .dir = dir, .bytes = json_raw(v), .why = STR("not JSON-RPC") };
}

static enum next_result read_line(struct mcporter *s, const struct window *w,
                                  struct json_val line, struct record *r, struct err *e)
{
    struct json_val meta = json_get(line, META), dir = json_get(meta, STR("dir"));
    struct json_val server = json_get(meta, STR("server"));
    bool is_event = json_is(dir, STR("lifecycle")), is_sent = json_is(dir, STR("send"));

    *r = (struct record){ .has = HAS_CONN };
    if (json_type(server) != JSON_STRING ||
        (!is_event && !is_sent && !json_is(dir, STR("recv"))))
        return format_error(w, json_offset(json_exists(meta) ? meta : line), e,
                            "'_meta' must have the name of a 'server', and as 'dir' \"send\", "
                            "\"recv\" or \"lifecycle\"");
    if (!read_time(s, w, meta, r, e))
        return NEXT_ERROR;
    r->conn = connection_of(
        s, json_text(server, &s->arena),
        is_event && json_is(json_get(line, STR("method")), STR("$transport/start")));
    if (is_event)
        return NEXT_SKIP;
    set_message(s, line, is_sent ? TO_SERVER : TO_CLIENT, r);
    return NEXT_RECORD;
}

static enum next_result mcporter_next(void *state, const struct window *w, struct consumed *t,
                                      struct record *r, struct err *e)
{
    struct mcporter *s = state;
    enum next_result next = ndjson_next(&s->lines, w, t, e);
    struct json_val line = json_root(&s->lines.json);

    if (next != NEXT_RECORD)
        return next;
    arena_clear(&s->arena);
    if (json_type(line) != JSON_OBJECT)
        return format_error(w, json_offset(line), e, "a line must be an object");
    t->fatal =
        !json_exists(json_get(line, META)) && format_is_foreign(w, &mcporter_format, line, e);
    if (t->fatal)
        return NEXT_ERROR;
    next = read_line(s, w, line, r, e);
    if (next == NEXT_RECORD) {
        t->message = json_raw(line);
        ndjson_set_message(&s->lines, line, t);
    }
    return next;
}

const struct format mcporter_format = {
    .name = "mcporter",
    .about = "the output of 'mcporter record': messages with direction, server and time",
    .ext = { ".ndjson" },
    .keeps = FEATURE_BYTES | FEATURE_TIME | FEATURE_SERVER_MESSAGES | FEATURE_UNPAIRED |
             FEATURE_DIRECTION | FEATURE_ORDER | FEATURE_CONN | FEATURE_OTHER_JSON,
    .line_based = true,
    .probe = mcporter_probe,
    .open = mcporter_open,
    .next = mcporter_next,
    .close = mcporter_close,
    .resync = mcporter_resync,
};
