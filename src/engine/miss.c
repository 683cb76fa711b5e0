#include "engine/miss.h"

#include "base/utf8.h"
#include "engine/compare.h"
#include "trace/limits.h"
#include "json/write.h"

enum {
    CANDIDATES = 200,  /* recorded requests that are looked at */
    DIFFERENCES = 100, /* beyond this many two requests are simply unlike */
    DIFFERENCES_TOLD = 5,
    VALUE_SHOWN = 60,  /* bytes of a differing value */
    NAME_SHOWN = 200,  /* of a method, subject or path */
    VALUE_KEPT = 1000, /* of a value in the data; of a longer one only the size is told */
};

/* What is being explained. */
struct inquiry {
    const struct matcher *matcher;
    const struct script *script;
    const struct mcp_message *live;
    struct script_text *text; /* the recorded request at hand */
    size_t looked_at;

    /* The recorded request most like the live one. */
    uint32_t nearest;
    size_t differences;
};

static struct json_val params_of(struct inquiry *q, uint32_t op)
{
    struct json_val root = JSON_VAL_NONE;
    struct err e = ERR_NONE;

    if (!script_read_op(q->script, op, q->text, &root, &e))
        return JSON_VAL_NONE;
    return json_get(root, STR("params"));
}

static void compare(struct inquiry *q, uint32_t op, struct json_val recorded,
                    bool (*found)(void *arg, const struct json_difference *d), void *arg)
{
    compare_params(recorded, q->live->params, &q->matcher->options.rules,
                   script_hidden(q->script, op), found, arg);
}

static bool count_difference(void *arg, const struct json_difference *d)
{
    size_t *count = arg;

    (void)d;
    return ++*count < DIFFERENCES;
}

/* Looks at the requests of a method: those about the same thing, or the others. */
static void look_at(struct inquiry *q, uint32_t method, uint32_t subject_key, bool same)
{
    const struct script *s = q->script;

    for (uint32_t op = 1; op < s->op_count && q->looked_at < CANDIDATES; op++) {
        const struct script_op *o = &s->ops[op];
        size_t n = 0;

        if (o->method != method || !(o->flags & STRAND_COUNTS) ||
            (o->subject_key == subject_key) != same)
            continue;
        q->looked_at++;
        compare(q, op, params_of(q, op), count_difference, &n);
        if (n < q->differences) {
            q->nearest = op;
            q->differences = n;
        }
    }
}

/* Another tool is further away than any arguments of the same one. */
static void find_nearest(struct inquiry *q)
{
    uint32_t method, key = script_subject_key(q->live->method, q->live->params, false);

    q->differences = DIFFERENCES + 1;
    if (!script_find_method(q->script, q->live->method, &method))
        return;
    look_at(q, method, key, true);
    if (!q->nearest)
        look_at(q, method, key, false);
}

/* Differences as they are found, in words and as data. */
struct telling {
    struct json_out *data;
    struct buf *words;
    struct arena *arena;
    size_t told;
};

/* At most `most` bytes, and a sign that there is more. */
static void add_cut(struct buf *to, struct str text, size_t most)
{
    if (text.len <= most) {
        buf_add(to, text);
        return;
    }
    buf_add(to, str_n(text.at, utf8_valid_prefix(str_n(text.at, most))));
    buf_add(to, STR("…"));
}

static void add_value(struct buf *to, struct json_val v)
{
    add_cut(to, json_exists(v) ? json_raw(v) : STR("nothing"), VALUE_SHOWN);
}

static void keep_value(struct telling *t, const char *name, struct json_val v)
{
    struct str raw = json_raw(v);

    if (raw.len > VALUE_KEPT)
        json_out_key_int(t->data, arena_printf(t->arena, "%s_bytes", name), (int64_t)raw.len);
    else if (raw.len)
        json_out_key_raw(t->data, str_z(name), raw);
}

static bool tell_difference(void *arg, const struct json_difference *d)
{
    struct telling *t = arg;
    struct buf place, path;

    buf_init(&place, LIMIT_MESSAGE);
    buf_init(&path, LIMIT_MESSAGE);
    json_place_write(d->place, &place);
    buf_add(&path, STR("$.params"));
    add_cut(&path, str_skip(buf_str(&place), 1), NAME_SHOWN);
    if (t->told)
        buf_add(t->words, STR(", "));
    buf_add(t->words, buf_str(&path));
    buf_add(t->words, STR(": recorded "));
    add_value(t->words, d->left);
    buf_add(t->words, STR(", got "));
    add_value(t->words, d->right);
    json_out_object(t->data);
    json_out_key_str(t->data, STR("path"), buf_str(&path));
    keep_value(t, "recorded", d->left);
    keep_value(t, "got", d->right);
    json_out_end_object(t->data);
    buf_release(&place);
    buf_release(&path);
    return ++t->told < DIFFERENCES_TOLD;
}

static void add_request(struct buf *to, struct str method, struct str subject)
{
    add_cut(to, method, NAME_SHOWN);
    if (!subject.len)
        return;
    buf_add(to, STR(" '"));
    add_cut(to, subject, NAME_SHOWN);
    buf_add_ch(to, '\'');
}

static void keep_name(struct json_out *data, struct str key, struct str name)
{
    struct buf cut;

    if (!name.len)
        return;
    buf_init(&cut, LIMIT_MESSAGE);
    add_cut(&cut, name, NAME_SHOWN);
    json_out_key_str(data, key, buf_str(&cut));
    buf_release(&cut);
}

static void tell_differences(struct miss *why, struct inquiry *q, struct json_out *data,
                             struct json_val recorded)
{
    struct telling t = { .data = data, .words = &why->report, .arena = &why->arena };

    json_out_key(data, STR("differences"));
    json_out_array(data);
    buf_add(&why->report, STR(", which differs at "));
    compare(q, q->nearest, recorded, tell_difference, &t);
    json_out_end_array(data);
}

static void tell_nearest(struct miss *why, struct inquiry *q, struct json_out *data,
                         const char *words)
{
    const struct script_op *op = &q->script->ops[q->nearest];
    struct str method = script_method(q->script, q->nearest)->name;
    struct json_val params = params_of(q, q->nearest);
    struct str subject = json_text(mcp_subject(method, params), &why->arena);

    json_out_key(data, STR("nearest"));
    json_out_object(data);
    json_out_key_int(data, STR("seq"), op->seq);
    keep_name(data, STR("method"), method);
    keep_name(data, STR("subject"), subject);
    buf_printf(&why->report, "; %s is #%lu ", words, (unsigned long)op->seq);
    add_request(&why->report, method, subject);
    if (q->differences) /* two requests that merely follow each other are not compared */
        tell_differences(why, q, data, params);
    json_out_end_object(data);
}

/* What the user can do, by what went wrong. */
static struct str advice(const struct inquiry *q, enum match_outcome outcome)
{
    bool by_params = q->matcher->options.mode == MATCH_BY_REQUEST ||
                     q->matcher->options.mode == MATCH_STRICT;

    if (outcome == MATCH_EXHAUSTED)
        return STR("give answers again with --on-exhausted last or cycle, or record a longer "
                   "session");
    if (outcome == MATCH_TOO_EARLY)
        return STR("let requests come in any order: leave out --order total");
    if (by_params && q->nearest)
        return STR("match less closely with --match fuzzy or sequential, or record it with "
                   "mcpreel record");
    return STR("record it with mcpreel record, or have the server answer: --on-unmatched "
               "passthrough -- SERVER");
}

const char *miss_reason(enum match_outcome outcome)
{
    switch (outcome) {
    case MATCH_EXHAUSTED:
        return "exhausted";
    case MATCH_TOO_EARLY:
        return "too early";
    default:
        return "never recorded";
    }
}

static const char *in_words(enum match_outcome outcome)
{
    switch (outcome) {
    case MATCH_EXHAUSTED:
        return "all recorded answers were given for ";
    case MATCH_TOO_EARLY:
        return "another request was recorded next, before ";
    default:
        return "no recorded answer for ";
    }
}

static void begin(struct miss *why, const struct mcp_message *live)
{
    *why = (struct miss){ .nearest = 0 };
    buf_init(&why->message, LIMIT_MESSAGE);
    buf_init(&why->data, LIMIT_MESSAGE);
    buf_init(&why->report, LIMIT_MESSAGE);
    why->subject = json_text(mcp_subject(live->method, live->params), &why->arena);
}

void miss_explain(struct miss *why, const struct matcher *matcher,
                  const struct mcp_message *live, const struct match *found)
{
    struct inquiry q = { .matcher = matcher, .script = matcher->script, .live = live };
    struct script_text text;
    struct json_out data;
    struct str help;

    begin(why, live);
    script_text_init(&text);
    q.text = &text;
    buf_add(&why->message, str_z(in_words(found->outcome)));
    add_request(&why->message, live->method, why->subject);
    buf_add(&why->report, buf_str(&why->message));
    data = json_out_to(&why->data);
    json_out_object(&data);
    json_out_key_str(&data, STR("reason"), str_z(miss_reason(found->outcome)));
    if (found->outcome == MATCH_TOO_EARLY)
        q.nearest = found->op;
    else if (found->outcome == MATCH_NEVER)
        find_nearest(&q);
    why->nearest = q.nearest;
    if (q.nearest)
        tell_nearest(why, &q, &data, found->outcome == MATCH_NEVER ? "nearest" : "next");
    help = advice(&q, found->outcome);
    json_out_key_str(&data, STR("hint"), help);
    buf_printf(&why->report, "; %.*s", STR_ARG(help));
    json_out_end_object(&data);
    script_text_release(&text);
}

void miss_release(struct miss *why)
{
    buf_release(&why->message);
    buf_release(&why->data);
    buf_release(&why->report);
    arena_release(&why->arena);
}
