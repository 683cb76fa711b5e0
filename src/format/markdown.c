/* format/markdown.c - a session as Markdown for an issue or a pull request, only written.
 *
 * A summary, a table of the requests, and below it the arguments and the result of each one, in
 * fences that are longer than any in the content. Texts are shortened, and the document ends at
 * a size that an issue on GitHub can hold; both are said. Memory holds the first requests only.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "format/format.h"
#include "mcp/message.h"
#include "trace/pairing.h"
#include "trace/timestamp.h"
#include "json/indent.h"

enum {
    VALUE_MAX = 4000,     /* bytes of one text */
    REQUESTS_MAX = 200,   /* with a row in the table */
    DOCUMENT_MAX = 60000, /* bytes; an issue on GitHub has 65536 characters */
    NAME_MAX_BYTES = 200, /* of one name */
    INDENT_MAX = 1 << 20, /* room for the chunks of json/indent */
    FENCE_MIN = 3,
};

struct markdown_request {
    enum record_dir dir;
    struct str method, subject; /* in the arena */
    struct str params, result;  /* indented JSON, shortened; `at` is NULL: none */
    struct str outcome;
    bool has_time, has_took;
    int64_t sent_us, took_us; /* since 1970 */
};

struct markdown {
    struct arena arena, scratch;
    struct pairing pairs; /* the tag is the index of the request, from 1 */
    struct markdown_request requests[REQUESTS_MAX];
    size_t count; /* of those */
    uint64_t total, messages, errors;
    struct timestamp now;
    bool has_date;
    int64_t date_us;
    struct str name, upstream, server;
};

static void *markdown_begin(const struct format_options *o)
{
    struct markdown *s = mem_new(struct markdown);

    (void)o;
    pairing_init(&s->pairs);
    return s;
}

static bool stop_at_chunk(void *arg, struct err *e)
{
    (void)arg;
    return err_set(e, ERR_LIMIT, "the text is long enough");
}

/* The value as text, shortened to whole characters, with a last line that says so. */
static struct str shown_value(struct markdown *s, struct json_val v)
{
    struct json_indent how = { .drain = stop_at_chunk, .base64_hint = "shortened" };
    struct err ignored = ERR_NONE;
    struct buf text;
    struct str shown;

    if (!json_exists(v))
        return STR_NONE;
    buf_init(&text, INDENT_MAX);
    how.to = &text;
    if (json_indent_add(&how, v, &ignored) && text.len <= VALUE_MAX)
        shown = arena_str(&s->arena, buf_str(&text));
    else
        shown = arena_printf(&s->arena, "%.*s\n(shortened; the JSON has %zu bytes)",
                             STR_ARG(arena_truncated(&s->scratch, buf_str(&text), VALUE_MAX)),
                             json_raw(v).len);
    buf_release(&text);
    return shown;
}

static struct str short_name(struct markdown *s, struct str text)
{
    return arena_truncated(&s->arena, text, NAME_MAX_BYTES);
}

static void add_request(struct markdown *s, const struct record *r, const struct mcp_message *m)
{
    struct markdown_request *q;
    struct json_val params;

    s->total++;
    if (s->count == REQUESTS_MAX)
        return;
    q = &s->requests[s->count++];
    params = json_get(m->params, STR("arguments"));
    *q = (struct markdown_request){ .dir = r->message.dir, .outcome = STR("no response") };
    q->method = short_name(s, m->method);
    q->subject = short_name(s, json_text(mcp_subject(m->method, m->params), &s->scratch));
    q->params = shown_value(s, json_exists(params) ? params : m->params);
    q->has_time = s->now.now_known;
    q->sent_us = s->now.now_us;
    pairing_add_request(&s->pairs, r, m, s->count);
}

static struct str outcome_of(struct markdown *s, const struct mcp_message *m)
{
    int64_t code;

    if (m->kind == MCP_RESULT)
        return json_type(json_get(m->result, STR("isError"))) == JSON_TRUE ? STR("tool error")
                                                                           : STR("ok");
    if (!json_int(json_get(m->error, STR("code")), &code))
        return STR("error");
    return arena_printf(&s->arena, "error %lld", (long long)code);
}

static void note_server(struct markdown *s, const struct markdown_request *q,
                        const struct mcp_message *m)
{
    struct json_val info = json_get(m->result, STR("serverInfo"));
    struct str version = json_text(json_get(info, STR("version")), &s->scratch);

    if (!s->server.at && str_eq(q->method, STR("initialize")) && json_exists(info))
        s->server = short_name(
            s, arena_printf(&s->scratch, "%.*s %.*s",
                            STR_ARG(json_text(json_get(info, STR("name")), &s->scratch)),
                            STR_ARG(version)));
}

static void add_response(struct markdown *s, const struct record *r,
                         const struct mcp_message *m)
{
    const struct pairing_request *found = pairing_match_response(&s->pairs, r, m);
    struct markdown_request *q = found ? &s->requests[found->tag - 1] : NULL;

    if (!q)
        return;
    q->result = shown_value(s, m->kind == MCP_RESULT ? m->result : m->error);
    q->outcome = outcome_of(s, m);
    s->errors += !str_eq(q->outcome, STR("ok"));
    q->has_took = q->has_time && s->now.now_known;
    q->took_us = clock_since(s->now.now_us, q->sent_us);
    note_server(s, q, m);
}

static void note_header(struct markdown *s, const struct record *r)
{
    if (s->upstream.at || s->name.at)
        return;
    s->name = r->header.name.at ? short_name(s, r->header.name) : STR_NONE;
    s->upstream = r->header.upstream.at ? short_name(s, r->header.upstream) : STR_NONE;
    s->has_date = r->has & HAS_WALL && r->wall_us != 0;
    s->date_us = r->wall_us;
}

static void markdown_put(void *state, struct buf *to, const struct record *r)
{
    struct markdown *s = state;
    struct mcp_message m;

    (void)to;
    arena_clear(&s->scratch);
    timestamp_update(&s->now, r);
    pairing_track(&s->pairs, r);
    if (r->kind == RECORD_HEADER)
        note_header(s, r);
    if (r->kind != RECORD_MESSAGE)
        return;
    s->messages++;
    m = mcp_classify(r->message.msg, &s->scratch);
    if (m.kind == MCP_REQUEST)
        add_request(s, r, &m);
    else if (mcp_is_response(&m))
        add_response(s, r, &m);
}

/* A name as code, also in a cell of a table: without backticks, bars and control characters. */
static void add_code(struct buf *to, struct str text)
{
    if (!text.len)
        return;
    buf_add_ch(to, '`');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];

        if ((unsigned char)c < ' ' || c == 0x7f)
            c = ' ';
        else if (c == '`' || c == '|')
            c = '\'';
        buf_add_ch(to, c);
    }
    buf_add_ch(to, '`');
}

static void add_row(struct buf *to, const char *name, struct str value)
{
    if (!value.len)
        return;
    buf_printf(to, "| %s | ", name);
    add_code(to, value);
    buf_add(to, STR(" |\n"));
}

static void add_summary(const struct markdown *s, struct buf *to)
{
    char date[CLOCK_TEXT_SIZE];

    buf_add(to, STR("## MCP session\n\n| | |\n|---|---|\n"));
    add_row(to, "name", s->name);
    add_row(to, "server", s->server);
    add_row(to, "command or URL", s->upstream);
    if (s->has_date)
        add_row(to, "recorded", clock_format(date, s->date_us));
    buf_printf(to, "| messages | %llu |\n| requests | %llu, %llu with an error |\n\n",
               (unsigned long long)s->messages, (unsigned long long)s->total,
               (unsigned long long)s->errors);
}

static void add_title(struct buf *to, const struct markdown_request *q)
{
    add_code(to, q->method);
    if (q->subject.len)
        buf_add_ch(to, ' ');
    add_code(to, q->subject);
    if (q->dir == TO_CLIENT)
        buf_add(to, STR(" (from the server)"));
}

static void add_table(const struct markdown *s, struct buf *to)
{
    char took[CLOCK_TEXT_SIZE];

    buf_add(to, STR("| # | request | outcome | time |\n|---|---|---|---|\n"));
    for (size_t i = 0; i < s->count; i++) {
        const struct markdown_request *q = &s->requests[i];

        buf_printf(to, "| %zu | ", i + 1);
        add_title(to, q);
        buf_printf(to, " | %.*s | ", STR_ARG(q->outcome));
        if (q->has_took)
            buf_add(to, clock_format_duration(took, q->took_us));
        buf_add(to, STR(" |\n"));
    }
    if (s->total > s->count)
        buf_printf(to, "\nThe first %zu of %llu requests are shown.\n", s->count,
                   (unsigned long long)s->total);
}

static size_t longest_run(struct str text, char c)
{
    size_t longest = 0, run = 0;

    for (size_t i = 0; i < text.len; i++) {
        run = text.at[i] == c ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void add_fence(struct buf *to, size_t len)
{
    for (size_t i = 0; i < len; i++)
        buf_add_ch(to, '`');
}

static void add_block(struct buf *to, const char *title, struct str text)
{
    size_t fence = longest_run(text, '`') + 1;

    if (!text.at)
        return;
    fence = fence > FENCE_MIN ? fence : FENCE_MIN;
    buf_printf(to, "\n%s:\n\n", title);
    add_fence(to, fence);
    buf_add(to, STR("json\n"));
    buf_add(to, text);
    buf_add_ch(to, '\n');
    add_fence(to, fence);
    buf_add_ch(to, '\n');
}

/* Adds the details of requests, as long as the document is not too large. */
static void add_details(const struct markdown *s, struct buf *to, size_t start)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct markdown_request *q = &s->requests[i];

        if (to->len - start + q->params.len + q->result.len > DOCUMENT_MAX) {
            buf_printf(to,
                       "\nThe details of the other %zu requests are dropped: the document "
                       "would be larger than an issue can be.\n",
                       s->count - i);
            return;
        }
        buf_printf(to, "\n### %zu. ", i + 1);
        add_title(to, q);
        buf_add_ch(to, '\n');
        add_block(to, "Arguments", q->params);
        add_block(to, str_starts(q->outcome, STR("error")) ? "Error" : "Result", q->result);
    }
}

static void markdown_end(void *state, struct buf *to)
{
    struct markdown *s = state;
    size_t start = to->len;

    add_summary(s, to);
    add_table(s, to);
    add_details(s, to, start);
    pairing_release(&s->pairs);
    arena_release(&s->arena);
    arena_release(&s->scratch);
    free(s);
}

const struct format markdown_format = {
    .name = "markdown",
    .about = "the requests of a session, for an issue or a pull request",
    .ext = { ".md" },
    .begin = markdown_begin,
    .put = markdown_put,
    .end = markdown_end,
};
