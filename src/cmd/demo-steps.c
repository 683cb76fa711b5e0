#include "cmd/demo-steps.h"

#include "base/clock.h"
#include "base/shell-split.h"
#include "base/term.h"
#include "base/text-wrap.h"
#include "json/write.h"

enum {
    METHOD_COLUMN = 2,
    ABOUT_COLUMN = 18,
    TEXT_COLUMN = 34,
    TEXT_SHOWN = 2 * (TEXT_WRAP_WIDTH - TEXT_COLUMN), /* two lines */
    TEXT_MAX = 1 << 20,
    VALUE_SHOWN = 60, /* columns of a value that differs */
};

static void add_styled(const struct demo_steps *s, enum term_style style, struct str text)
{
    term_style(s->to, s->color, style);
    buf_add(s->to, text);
    term_style(s->to, s->color, TERM_PLAIN);
}

static void add_blanks(const struct demo_steps *s, size_t from, size_t column)
{
    buf_printf(s->to, "%*s", from < column ? (int)(column - from) : 1, "");
}

/* Adds a word of a command line, quoted if a shell would interpret it. */
static void add_shell_word(struct buf *to, const char *word)
{
    struct buf quoted;

    buf_init(&quoted, TEXT_MAX);
    shell_quote(&quoted, str_z(word));
    term_escape(to, buf_str(&quoted), TERM_ONE_LINE);
    buf_release(&quoted);
}

/* Adds a line to copy into a shell; `words` ends with NULL. */
static void add_command(const struct demo_steps *s, const char *const *words)
{
    buf_add(s->to, STR("  "));
    term_style(s->to, s->color, TERM_CYAN);
    for (; *words; words++) {
        add_shell_word(s->to, *words);
        buf_add(s->to, words[1] ? STR(" ") : STR_NONE);
    }
    term_style(s->to, s->color, TERM_PLAIN);
    buf_add_ch(s->to, '\n');
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* By kind of received message. */
static const struct {
    const char *name, *prefix;
    enum term_style style;
} kinds[] = {
    [DEMO_RESULT] = { "result", "", TERM_GREEN },
    [DEMO_TOOL_ERROR] = { "tool-error", "tool error: ", TERM_YELLOW },
    [DEMO_ERROR] = { "rpc-error", "error ", TERM_YELLOW },
    [DEMO_PROGRESS] = { "progress", "progress ", TERM_DIM },
    [DEMO_LOG] = { "log", "log, ", TERM_DIM },
    [DEMO_SERVER_REQUEST] = { "server-request", "sampling request: ", TERM_DIM },
    [DEMO_UNEXPECTED] = { "unexpected", "unexpected: ", TERM_RED },
};

static void add_received(const struct demo_steps *s, const struct demo_message *h)
{
    static const struct text_wrap_shape shape = { TEXT_WRAP_WIDTH, TEXT_COLUMN, TEXT_COLUMN };
    struct buf words;

    buf_init(&words, TEXT_MAX);
    buf_add(&words, str_z(kinds[h->kind].prefix));
    term_escape_cut(&words, h->summary, TEXT_SHOWN - words.len);
    term_style(s->to, s->color, kinds[h->kind].style);
    text_wrap_fill(s->to, buf_str(&words), shape);
    s->to->len--; /* the newline follows the end of the style */
    term_style(s->to, s->color, TERM_PLAIN);
    buf_add_ch(s->to, '\n');
    buf_release(&words);
}

/* Joins consecutive progress notifications into one line. */
static const struct demo_message *merge_progress(const struct demo_message *h, struct arena *a,
                                                 struct demo_message *all)
{
    *all = *h;
    while (h->next && h->kind == DEMO_PROGRESS && h->next->kind == DEMO_PROGRESS) {
        h = h->next;
        all->summary =
            arena_printf(a, "%.*s, %.*s", STR_ARG(all->summary), STR_ARG(h->summary));
    }
    return h;
}

static void add_exchange(const struct demo_steps *s, const struct demo_call *x)
{
    struct arena a = { 0 };
    struct demo_message line;

    add_blanks(s, 0, METHOD_COLUMN);
    buf_add(s->to, x->method);
    add_blanks(s, METHOD_COLUMN + x->method.len, ABOUT_COLUMN);
    buf_add(s->to, x->about);
    add_blanks(s, ABOUT_COLUMN + x->about.len, TEXT_COLUMN);
    for (const struct demo_message *h = x->received; h; h = h->next) {
        if (h != x->received)
            add_blanks(s, 0, TEXT_COLUMN);
        h = merge_progress(h, &a, &line);
        add_received(s, &line);
    }
    arena_release(&a);
}

static void add_heading(const struct demo_steps *s, const char *number, const char *text)
{
    term_style(s->to, s->color, TERM_BOLD);
    buf_printf(s->to, "%s %s", number, text);
    term_style(s->to, s->color, TERM_PLAIN);
    buf_add_ch(s->to, '\n');
}

void demo_steps_add_recorded(const struct demo_steps *s, const struct demo_client *first)
{
    buf_add(s->to, STR("mcpreel records the traffic between MCP clients and servers, and "
                       "replays it.\n\n"));
    add_heading(s, "1", "Record: mcpreel runs between a client and a server");
    add_command(s, WORDS(s->self, "record", "-o", s->file, "--", s->self, "demo", "server"));
    for (size_t i = 0; i < first->sent_count; i++)
        add_exchange(s, &first->calls[i]);
    buf_add_ch(s->to, '\n');
}

static void add_replay(const struct demo_steps *s)
{
    add_heading(s, "2", "Replay: mcpreel responds from the recording, without the server");
    add_command(s, WORDS(s->self, "replay", s->file));
}

static size_t count_received(const struct demo_client *c, enum demo_message_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < c->sent_count; i++)
        for (const struct demo_message *h = c->calls[i].received; h; h = h->next)
            n += h->kind == kind;
    return n;
}

void demo_steps_add_replayed(const struct demo_steps *s, const struct demo_client *second,
                             int64_t took_us)
{
    char text[CLOCK_TEXT_SIZE];
    struct str took = clock_format_duration(text, took_us);

    add_replay(s);
    add_styled(s, TERM_GREEN, STR("  The client received the same:"));
    buf_printf(s->to,
               " %zu responses, %zu progress notifications,\n  %zu log message and %zu server "
               "request, in %.*s\n\n",
               second->sent_count, count_received(second, DEMO_PROGRESS),
               count_received(second, DEMO_LOG), count_received(second, DEMO_SERVER_REQUEST),
               STR_ARG(took));
}

static void add_difference_side(const struct demo_steps *s, const char *who,
                                const struct demo_message *h)
{
    buf_printf(s->to, "  %s  ", who);
    if (h) {
        buf_add(s->to, str_z(kinds[h->kind].prefix));
        term_escape_cut(s->to, h->json, 10 * TEXT_WRAP_WIDTH);
    } else {
        buf_add(s->to, STR("nothing more"));
    }
    buf_add_ch(s->to, '\n');
}

void demo_steps_add_difference(const struct demo_steps *s, const struct demo_difference *where)
{
    add_replay(s);
    add_styled(s, TERM_RED, STR("  The replay differs from the recording"));
    buf_printf(s->to, ". The first difference is after %.*s%s%.*s:\n",
               STR_ARG(where->call->method), where->call->about.len ? " " : "",
               STR_ARG(where->call->about));
    add_difference_side(s, "recorded", where->left);
    add_difference_side(s, "replayed", where->right);
}

static int64_t count_verdicts(struct json_val report, struct str verdict)
{
    int64_t n = 0;

    (void)json_int(json_get(json_get(report, STR("summary")), verdict), &n);
    return n;
}

static void add_verdict_count(const struct demo_steps *s, int64_t n, const char *verdict,
                              enum term_style style)
{
    term_style(s->to, s->color, style);
    buf_printf(s->to, "%lld %s", (long long)n, verdict);
    term_style(s->to, s->color, TERM_PLAIN);
}

static void add_value(const struct demo_steps *s, char sign, const char *side,
                      struct json_val value)
{
    if (!json_exists(value))
        return;
    term_style(s->to, s->color, sign == '-' ? TERM_RED : TERM_GREEN);
    buf_printf(s->to, "      %c ", sign);
    term_escape_cut(s->to, json_raw(value), VALUE_SHOWN);
    term_style(s->to, s->color, TERM_PLAIN);
    buf_printf(s->to, "  %s\n", side);
}

/* Adds the method, the subject and the first difference of a failed call. */
static void add_failed_call(const struct demo_steps *s, struct json_val call)
{
    struct json_val finding = json_item(json_get(call, STR("findings")), 0);
    struct arena a = { 0 };

    buf_add(s->to, STR(": "));
    term_escape_cut(s->to, json_text(json_get(call, STR("method")), &a), VALUE_SHOWN);
    buf_add_ch(s->to, ' ');
    term_escape_cut(s->to, json_text(json_get(call, STR("subject")), &a), VALUE_SHOWN);
    buf_add(s->to, STR("\n    "));
    term_escape_cut(s->to, json_text(json_get(finding, STR("path")), &a), VALUE_SHOWN);
    buf_add_ch(s->to, '\n');
    add_value(s, '-', "recorded", json_get(finding, STR("recorded")));
    add_value(s, '+', "live", json_get(finding, STR("live")));
    arena_release(&a);
}

static struct json_val find_failed(struct json_val report)
{
    struct json_iter call = json_each(json_get(report, STR("calls")));

    while (json_next(&call))
        if (json_is(json_get(call.value, STR("verdict")), STR("failed")))
            return call.value;
    return JSON_VAL_NONE;
}

static void add_verify_report(const struct demo_steps *s, struct json_val report)
{
    int64_t passed =
                count_verdicts(report, STR("passed")) + count_verdicts(report, STR("volatile")),
            failed = count_verdicts(report, STR("failed"));

    buf_add(s->to, STR("  "));
    add_verdict_count(s, passed, "passed", TERM_GREEN);
    if (failed) {
        buf_add(s->to, STR(", "));
        add_verdict_count(s, failed, "failed", TERM_RED);
        add_failed_call(s, find_failed(report));
    } else {
        buf_add_ch(s->to, '\n');
    }
}

void demo_steps_add_verified(const struct demo_steps *s, struct json_val same,
                             struct json_val changed)
{
    add_heading(s, "3",
                "Verify: mcpreel sends the recorded requests to a server, and compares");
    add_command(s, WORDS(s->self, "verify", s->file, "--", s->self, "demo", "server"));
    add_verify_report(s, same);
    add_command(
        s, WORDS(s->self, "verify", s->file, "--", s->self, "demo", "server", "--changed"));
    add_verify_report(s, changed);
    buf_add_ch(s->to, '\n');
}

static void add_json_str(const struct demo_steps *s, const char *text, const char *more)
{
    struct buf whole, json;

    buf_init(&whole, TEXT_MAX);
    buf_init(&json, TEXT_MAX);
    buf_printf(&whole, "%s%s", text, more);
    json_write_str(&json, buf_str(&whole));
    term_escape(s->to, buf_str(&json), TERM_ONE_LINE);
    buf_release(&whole);
    buf_release(&json);
}

/* Adds a client configuration. It needs absolute paths: clients may have another PATH and
 * directory. */
static void add_config(const struct demo_steps *s)
{
    term_style(s->to, s->color, TERM_CYAN);
    buf_add(s->to, STR("  { \"mcpServers\": { \"mine\": { \"command\": "));
    add_json_str(s, s->program, "");
    buf_add(s->to, STR(",\n"
                       "      \"args\": [\"record\", \"--force\", \"-o\", "));
    add_json_str(s, s->home, "/mine.jsonl");
    buf_add(s->to, STR(", \"--\",\n"
                       "               \"YOUR-SERVER\", \"ITS-ARGUMENTS\"] } } }"));
    term_style(s->to, s->color, TERM_PLAIN);
    buf_add_ch(s->to, '\n');
}

void demo_steps_add_next(const struct demo_steps *s)
{
    add_heading(s, "4",
                "Next: inspect the recording, send a request, use it with any MCP client");
    add_command(s, WORDS(s->self, "inspect", s->file));
    add_styled(s, TERM_CYAN,
               STR("  echo '{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}' |"));
    buf_add_ch(s->to, '\n');
    add_command(s, WORDS(s->self, "replay", s->file));
    buf_add(s->to,
            STR("  To record your own server, start it through mcpreel in your client:\n"));
    add_config(s);
}

static void add_json_received(struct json_out *o, const struct demo_message *h)
{
    if (!h) {
        json_out_null(o);
        return;
    }
    json_out_object(o);
    json_out_key_str(o, STR("kind"), str_z(kinds[h->kind].name));
    json_out_key_str(o, STR("text"), h->summary);
    json_out_end_object(o);
}

static void add_json_exchange(struct json_out *o, const struct demo_call *x)
{
    json_out_object(o);
    json_out_key_str(o, STR("method"), x->method);
    if (x->about.len)
        json_out_key_str(o, STR("description"), x->about);
    json_out_key(o, STR("received"));
    json_out_array(o);
    for (const struct demo_message *h = x->received; h; h = h->next)
        add_json_received(o, h);
    json_out_end_array(o);
    json_out_end_object(o);
}

void demo_steps_add_json(const struct demo_steps *s, const struct demo_client *first,
                         const struct demo_difference *where, const struct str *verify)
{
    struct json_out o = json_out_to(s->to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("command"), STR("demo"));
    json_out_key_str(&o, STR("recording"), str_z(s->file));
    json_out_key(&o, STR("requests"));
    json_out_array(&o);
    for (size_t i = 0; i < first->sent_count; i++)
        add_json_exchange(&o, &first->calls[i]);
    json_out_end_array(&o);
    json_out_key_bool(&o, STR("same"), !where);
    if (where) {
        json_out_key_str(&o, STR("differs_after"), where->call->method);
        json_out_key(&o, STR("recorded"));
        add_json_received(&o, where->left);
        json_out_key(&o, STR("replayed"));
        add_json_received(&o, where->right);
    }
    if (verify) {
        json_out_key(&o, STR("verify"));
        json_out_array(&o);
        json_out_raw(&o, verify[0]);
        json_out_raw(&o, verify[1]);
        json_out_end_array(&o);
    }
    json_out_end_object(&o);
    buf_add_ch(s->to, '\n');
}
