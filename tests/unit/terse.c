#include "terse.h"

#include <stdlib.h>

#include "format/recording-line.h"
#include "test.h"

struct str terse_json(struct arena *a, const char *text)
{
    char *json = arena_z(a, str_z(text));

    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c == '`' ? '\\' : *c;
    return str_z(json);
}

struct json_val terse_scan(struct terse_scanned *s, const char *text)
{
    struct json_fault fault;
    struct str json;

    *s = (struct terse_scanned){ .arena = { NULL, 0 } };
    json_init(&s->json);
    json = terse_json(&s->arena, text);
    if (!json_scan(&s->json, json, &fault))
        fail_msg("not JSON at %zu, %s: %.*s", fault.at, fault.what, STR_ARG(json));
    return json_root(&s->json);
}

void terse_scanned_release(struct terse_scanned *s)
{
    json_release(&s->json);
    arena_release(&s->arena);
}

/* "NAME123 " off the front of `line`. */
static bool take_number(struct str *line, struct str name, unsigned long long *number)
{
    struct str word;
    char digits[32];

    if (!str_starts(*line, name))
        return false;
    word = str_skip(str_cut(line, ' '), name.len);
    assert_true(word.len < sizeof digits);
    memcpy(digits, word.at, word.len);
    digits[word.len] = '\0';
    *number = strtoull(digits, NULL, 10);
    return true;
}

static void pour_message(struct sink *to, struct str line, uint64_t seq)
{
    struct record r = { .kind = RECORD_MESSAGE, .has = HAS_SEQ };
    unsigned long long us = 0, conn = 0, exchange = 0;
    struct err e = ERR_NONE;
    struct json_fault fault;
    struct json j;

    if (take_number(&line, STR("@"), &us))
        r.has |= HAS_US;
    if (take_number(&line, STR("conn="), &conn))
        r.has |= HAS_CONN;
    if (take_number(&line, STR("x="), &exchange))
        r.has |= HAS_EXCHANGE;
    r.us = (int64_t)us;
    r.conn = conn;
    r.exchange = exchange;
    r.message.seq = seq;
    r.message.dir = str_starts(line, STR("c2s ")) ? TO_SERVER : TO_CLIENT;
    if (r.message.dir == TO_CLIENT && !str_starts(line, STR("s2c ")))
        fail_msg("neither c2s nor s2c: %.*s", STR_ARG(line));
    json_init(&j);
    if (!json_scan(&j, str_skip(line, 4), &fault))
        fail_msg("not JSON at %zu, %s: %.*s", fault.at, fault.what, STR_ARG(line));
    r.message.msg = json_root(&j);
    assert_true(to->put(to, &r, &e));
    json_release(&j);
}

static void pour_native(struct sink *to, struct str line)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct json_fault fault;
    struct record r;
    struct json j;
    size_t at;

    json_init(&j);
    if (!json_scan(&j, line, &fault))
        fail_msg("not JSON at %zu, %s: %.*s", fault.at, fault.what, STR_ARG(line));
    if (!recording_line_read(json_root(&j), &r, &a, &at, &e))
        fail_msg("%.*s: %s", STR_ARG(line), e.msg);
    assert_true(to->put(to, &r, &e));
    json_release(&j);
    arena_release(&a);
}

void terse_pour_plain(struct sink *to, struct str text)
{
    uint64_t seq = 0;

    while (text.len) {
        struct str line = str_cut(&text, '\n');

        if (str_starts(line, STR("| ")))
            pour_native(to, str_skip(line, 2));
        else if (str_trim(line).len)
            pour_message(to, line, ++seq);
    }
}

void terse_pour(struct sink *to, const char *text)
{
    struct arena a = { 0 };

    terse_pour_plain(to, terse_json(&a, text));
    arena_release(&a);
}

static const char *way(enum record_dir dir)
{
    return dir == TO_SERVER ? "c2s" : "s2c";
}

static void put_header(struct buf *to, const struct record *r)
{
    const struct record_header *h = &r->header;

    buf_printf(to, "header version=%.*s name=%.*s upstream=%.*s", STR_ARG(h->version),
               STR_ARG(h->name), STR_ARG(h->upstream));
}

static void put_message(struct buf *to, const struct record *r)
{
    const struct record_message *m = &r->message;

    if (r->has & HAS_SEQ)
        buf_printf(to, "#%llu ", (unsigned long long)m->seq);
    buf_printf(to, "%s ", way(m->dir));
    buf_add(to, json_raw(m->msg));
    if (r->has & HAS_LATENCY)
        buf_printf(to, " latency=%llu", (unsigned long long)m->latency_ms);
    if (m->batch.len)
        buf_printf(to, " batch=%.*s", STR_ARG(m->batch));
}

static void put_proc(struct buf *to, const struct record *r)
{
    buf_printf(to, "proc %.*s", STR_ARG(r->proc.event));
    if (r->has & HAS_EXIT_CODE)
        buf_printf(to, " code=%lld", (long long)r->proc.exit_code);
    if (r->has & HAS_SIGNAL)
        buf_printf(to, " signal=%lld", (long long)r->proc.signal);
}

static void put_footer(struct buf *to, const struct record *r)
{
    const struct record_footer *f = &r->footer;

    buf_printf(to, "footer messages=%llu+%llu=%llu ms=%llu errors=%llu code=%lld",
               (unsigned long long)f->client_messages, (unsigned long long)f->server_messages,
               (unsigned long long)f->messages, (unsigned long long)f->duration_ms,
               (unsigned long long)f->errors, (long long)f->exit_code);
    buf_printf(to, " protocol=%.*s server=%.*s client=%.*s", STR_ARG(f->protocol),
               STR_ARG(f->server_info), STR_ARG(f->client_info));
}

static void put_body(struct buf *to, const struct record *r)
{
    switch (r->kind) {
    case RECORD_HEADER:
        put_header(to, r);
        break;
    case RECORD_MESSAGE:
        put_message(to, r);
        break;
    case RECORD_RAW:
        buf_printf(to, "raw %s ", way(r->bytes.from_to));
        buf_add(to, r->bytes.bytes);
        buf_printf(to, " (%.*s)", STR_ARG(r->bytes.why));
        break;
    case RECORD_STDERR:
        buf_add(to, STR("stderr "));
        buf_add(to, r->bytes.bytes);
        break;
    case RECORD_PROC:
        put_proc(to, r);
        break;
    case RECORD_GAP:
        buf_printf(to, "gap %s messages=%llu bytes=%llu (%.*s)", way(r->gap.from_to),
                   (unsigned long long)r->gap.messages, (unsigned long long)r->gap.bytes,
                   STR_ARG(r->gap.why));
        break;
    case RECORD_FOOTER:
        put_footer(to, r);
        break;
    default:
        buf_printf(to, "kind %d", (int)r->kind);
    }
}

static bool terse_put(struct sink *self, const struct record *r, struct err *e)
{
    struct terse *t = (struct terse *)self;
    size_t from = t->text.len;

    if (t->refuses)
        return err_set(e, ERR_IO, "no room");
    if (r->has & HAS_US)
        buf_printf(&t->text, "@%lld ", (long long)r->us);
    if (r->has & HAS_CONN)
        buf_printf(&t->text, "conn=%llu ", (unsigned long long)r->conn);
    put_body(&t->text, r);
    buf_add_ch(&t->text, '\n');
    for (char *c = t->text.at + from; c < t->text.at + t->text.len; c++)
        *c = *c == '"' ? '\'' : *c == '\\' ? '`' : *c;
    return true;
}

void terse_init(struct terse *t)
{
    *t = (struct terse){ .sink = { terse_put } };
    buf_init(&t->text, (size_t)1 << 26);
}

void terse_release(struct terse *t)
{
    buf_release(&t->text);
}
