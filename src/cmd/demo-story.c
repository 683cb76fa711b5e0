#include "cmd/demo-story.h"

#include "base/clock.h"
#include "base/term.h"
#include "cmd/prose.h"
#include "json/write.h"

enum {
    METHOD_COLUMN = 2,
    ABOUT_COLUMN = 18,
    WORDS_COLUMN = 34,
    WORDS_SHOWN = 2 * (PROSE_WIDTH - WORDS_COLUMN), /* two lines */
    TEXT_MAX = 1 << 20,
};

static void add_styled(const struct demo_story *s, enum term_style style, struct str text)
{
    term_style(s->to, s->color, style);
    buf_add(s->to, text);
    term_style(s->to, s->color, TERM_PLAIN);
}

static void add_blanks(const struct demo_story *s, size_t from, size_t column)
{
    buf_printf(s->to, "%*s", from < column ? (int)(column - from) : 1, "");
}

/* A word of a command line, quoted if a shell would do anything with it. */
static void add_word(struct buf *to, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_@%+=:,./-";
    struct buf quoted;

    if (*word && !word[strspn(word, plain)]) {
        buf_add(to, str_z(word));
        return;
    }
    buf_init(&quoted, TEXT_MAX);
    buf_add_ch(&quoted, '\'');
    for (; *word; word++)
        if (*word == '\'')
            buf_add(&quoted, STR("'\\''"));
        else
            buf_add_ch(&quoted, *word);
    buf_add_ch(&quoted, '\'');
    term_escape(to, buf_str(&quoted), TERM_ONE_LINE);
    buf_release(&quoted);
}

/* A line to copy into a shell; `words` ends with NULL. */
static void add_command(const struct demo_story *s, const char *const *words)
{
    buf_add(s->to, STR("  "));
    term_style(s->to, s->color, TERM_CYAN);
    for (; *words; words++) {
        add_word(s->to, *words);
        buf_add(s->to, words[1] ? STR(" ") : STR_NONE);
    }
    term_style(s->to, s->color, TERM_PLAIN);
    buf_add_ch(s->to, '\n');
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* By kind of what is heard. */
static const struct {
    const char *name, *prefix;
    enum term_style style;
} kinds[] = {
    [DEMO_RESULT] = { "result", "", TERM_GREEN },
    [DEMO_TOOL_ERROR] = { "tool-error", "tool error: ", TERM_YELLOW },
    [DEMO_ERROR] = { "error", "error ", TERM_YELLOW },
    [DEMO_PROGRESS] = { "progress", "progress ", TERM_DIM },
    [DEMO_LOG] = { "log", "log, ", TERM_DIM },
    [DEMO_QUESTION] = { "question", "it asks our model: ", TERM_DIM },
    [DEMO_ODD] = { "odd", "odd: ", TERM_RED },
};

static void add_heard(const struct demo_story *s, const struct demo_heard *h)
{
    static const struct prose_shape shape = { PROSE_WIDTH, WORDS_COLUMN, WORDS_COLUMN };
    struct buf words;

    buf_init(&words, TEXT_MAX);
    buf_add(&words, str_z(kinds[h->kind].prefix));
    term_escape_cut(&words, h->words, WORDS_SHOWN - words.len);
    term_style(s->to, s->color, kinds[h->kind].style);
    prose_fill(s->to, buf_str(&words), shape);
    s->to->len--; /* the newline goes behind the end of the style */
    term_style(s->to, s->color, TERM_PLAIN);
    buf_add_ch(s->to, '\n');
    buf_release(&words);
}

/* Progress comes often: all of it is one line. */
static const struct demo_heard *gather_progress(const struct demo_heard *h, struct arena *a,
                                                struct demo_heard *all)
{
    *all = *h;
    while (h->next && h->kind == DEMO_PROGRESS && h->next->kind == DEMO_PROGRESS) {
        h = h->next;
        all->words = arena_printf(a, "%.*s, %.*s", STR_ARG(all->words), STR_ARG(h->words));
    }
    return h;
}

static void add_exchange(const struct demo_story *s, const struct demo_exchange *x)
{
    struct arena a = { 0 };
    struct demo_heard line;

    add_blanks(s, 0, METHOD_COLUMN);
    buf_add(s->to, x->method);
    add_blanks(s, METHOD_COLUMN + x->method.len, ABOUT_COLUMN);
    buf_add(s->to, x->about);
    add_blanks(s, ABOUT_COLUMN + x->about.len, WORDS_COLUMN);
    for (const struct demo_heard *h = x->heard; h; h = h->next) {
        if (h != x->heard)
            add_blanks(s, 0, WORDS_COLUMN);
        h = gather_progress(h, &a, &line);
        add_heard(s, &line);
    }
    arena_release(&a);
}

static void add_heading(const struct demo_story *s, const char *number, const char *text)
{
    term_style(s->to, s->color, TERM_BOLD);
    buf_printf(s->to, "%s %s", number, text);
    term_style(s->to, s->color, TERM_PLAIN);
    buf_add_ch(s->to, '\n');
}

void demo_story_recorded(const struct demo_story *s, const struct demo_client *first)
{
    buf_add(s->to,
            STR("mcpreel records what MCP clients and servers say, and plays it again.\n\n"));
    add_heading(s, "1", "Record: a client talks to a server, with mcpreel in between");
    add_command(s, WORDS(s->self, "record", "-o", s->file, "--", s->self, "demo", "server"));
    buf_add_ch(s->to, '\n');
    for (size_t i = 0; i < first->count; i++)
        add_exchange(s, &first->exchanges[i]);
    buf_add_ch(s->to, '\n');
}

static void add_replay(const struct demo_story *s)
{
    add_heading(s, "2", "Replay: the server is gone, the recording answers in its place");
    add_command(s, WORDS(s->self, "replay", s->file));
    buf_add_ch(s->to, '\n');
}

static size_t count_heard(const struct demo_client *c, enum demo_heard_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < c->count; i++)
        for (const struct demo_heard *h = c->exchanges[i].heard; h; h = h->next)
            n += h->kind == kind;
    return n;
}

void demo_story_replayed(const struct demo_story *s, const struct demo_client *second,
                         int64_t took_us)
{
    char text[CLOCK_TEXT];
    struct str took = clock_duration(text, took_us);

    add_replay(s);
    add_styled(s, TERM_GREEN, STR("  The client heard the same again:"));
    buf_printf(
        s->to,
        " %zu answers, %zu progress reports,\n"
        "  %zu log message and %zu question, all in %.*s. Other than in the recording are\n"
        "  only the ids it gave its requests: \"again-1\", \"again-2\", … for 1, 2, …\n\n",
        second->count, count_heard(second, DEMO_PROGRESS), count_heard(second, DEMO_LOG),
        count_heard(second, DEMO_QUESTION), STR_ARG(took));
}

static void add_side(const struct demo_story *s, const char *who, const struct demo_heard *h)
{
    buf_printf(s->to, "  %s  ", who);
    if (h) {
        buf_add(s->to, str_z(kinds[h->kind].prefix));
        term_escape_cut(s->to, h->exact, 10 * PROSE_WIDTH);
    } else {
        buf_add(s->to, STR("nothing more"));
    }
    buf_add_ch(s->to, '\n');
}

void demo_story_differs(const struct demo_story *s, const struct demo_difference *where)
{
    add_replay(s);
    add_styled(s, TERM_RED, STR("  It is not the same"));
    buf_printf(s->to, ". The first difference is after %.*s%s%.*s:\n",
               STR_ARG(where->exchange->method), where->exchange->about.len ? " " : "",
               STR_ARG(where->exchange->about));
    add_side(s, "recorded", where->left);
    add_side(s, "replayed", where->right);
}

static void add_json_str(const struct demo_story *s, const char *text, const char *more)
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

/* A client's configuration knows neither PATH nor the directory we are in. */
static void add_config(const struct demo_story *s)
{
    term_style(s->to, s->color, TERM_CYAN);
    buf_add(s->to, STR("  { \"mcpServers\": { \"mine\": {\n"
                       "      \"command\": "));
    add_json_str(s, s->program, "");
    buf_add(s->to, STR(",\n"
                       "      \"args\": [\"record\", \"--force\", \"-o\", "));
    add_json_str(s, s->home, "/mine.jsonl");
    buf_add(s->to, STR(", \"--\",\n"
                       "               \"YOUR-SERVER\", \"ITS-ARGUMENTS\"] } } }"));
    term_style(s->to, s->color, TERM_PLAIN);
    buf_add_ch(s->to, '\n');
}

void demo_story_next(const struct demo_story *s)
{
    add_heading(s, "3", "Your turn: look into it, ask it something, let any MCP client use it");
    add_command(s, WORDS(s->self, "inspect", s->file));
    add_command(s, WORDS("jq", "-c", "select(.dir) | [.seq, .dir, .msg.method]", s->file));
    add_styled(s, TERM_CYAN,
               STR("  echo '{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}' |"));
    buf_add_ch(s->to, '\n');
    add_command(s, WORDS(s->self, "replay", s->file));
    buf_add(s->to,
            STR("\n"
                "  To record your own server, start it through mcpreel, in your client's\n"
                "  configuration; to mock it, \"replay\" and the file are all it takes:\n"));
    add_config(s);
}

static void add_json_heard(struct json_out *o, const struct demo_heard *h)
{
    if (!h) {
        json_out_null(o);
        return;
    }
    json_out_object(o);
    json_out_key_str(o, STR("kind"), str_z(kinds[h->kind].name));
    json_out_key_str(o, STR("words"), h->words);
    json_out_end_object(o);
}

static void add_json_exchange(struct json_out *o, const struct demo_exchange *x)
{
    json_out_object(o);
    json_out_key_str(o, STR("method"), x->method);
    if (x->about.len)
        json_out_key_str(o, STR("about"), x->about);
    json_out_key(o, STR("heard"));
    json_out_array(o);
    for (const struct demo_heard *h = x->heard; h; h = h->next)
        add_json_heard(o, h);
    json_out_end_array(o);
    json_out_end_object(o);
}

void demo_story_json(const struct demo_story *s, const struct demo_client *first,
                     const struct demo_difference *where)
{
    struct json_out o = json_out_to(s->to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), 1);
    json_out_key_str(&o, STR("command"), STR("demo"));
    json_out_key_str(&o, STR("recording"), str_z(s->file));
    json_out_key(&o, STR("requests"));
    json_out_array(&o);
    for (size_t i = 0; i < first->count; i++)
        add_json_exchange(&o, &first->exchanges[i]);
    json_out_end_array(&o);
    json_out_key_bool(&o, STR("same"), !where);
    if (where) {
        json_out_key_str(&o, STR("differs_after"), where->exchange->method);
        json_out_key(&o, STR("recorded"));
        add_json_heard(&o, where->left);
        json_out_key(&o, STR("replayed"));
        add_json_heard(&o, where->right);
    }
    json_out_end_object(&o);
    buf_add_ch(s->to, '\n');
}
