#include "engine/miss.h"

#include "base/utf8.h"
#include "engine/compare.h"
#include "engine/script-mask.h"
#include "trace/limits.h"
#include "json/write.h"

enum {
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
    const struct spent *spent;
    const struct mcp_message *live;
    struct script_text *text; /* the recorded request at hand */
    size_t looked_at, read;
    bool cut_short; /* there were more */

    /* The recorded request most like the live one; and the most like of those about the same
     * thing that could still be given. */
    struct candidate {
        uint32_t op; /* 0: none */
        size_t differences;
    } nearest, free;

    struct script_refusal refusal; /* what became of `nearest`, if it is the same */
};

static bool was_refused(const struct inquiry *q)
{
    return q->refusal.status || q->refusal.unanswered;
}

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
                   script_mask_hidden(q->script, op), found, arg);
}

static bool count_difference(void *arg, const struct json_difference *d)
{
    size_t *count = arg;

    (void)d;
    return ++*count < DIFFERENCES;
}

static bool is_free(const struct inquiry *q, uint32_t op)
{
    const struct mcp_method *known = script_method(q->script, op)->known;
    bool may_repeat = known && known->class != MCP_CLASS_CALL;

    return !spent_has(q->spent, op) ||
           (may_repeat && q->script->ops[op].flags & STRAND_SUCCEEDED);
}

static void consider(struct candidate *best, uint32_t op, size_t differences)
{
    if (!best->op || differences < best->differences)
        *best = (struct candidate){ op, differences };
}

/* Nothing can be nearer than what differs in one place: else it would have matched. */
static bool is_settled(const struct inquiry *q, bool same)
{
    return q->nearest.op && q->nearest.differences <= 1 &&
           (!same || (q->free.op && q->free.differences <= 1));
}

/* Looks at the requests of a method: those about the same thing, or the others. */
static void look_at(struct inquiry *q, uint32_t method, uint32_t subject_key, bool same)
{
    const struct script *s = q->script;

    for (uint32_t op = 1; op < s->op_count && !is_settled(q, same); op++) {
        const struct script_op *o = &s->ops[op];
        size_t n = 0;

        if (o->method != method || !(o->flags & STRAND_COUNTS) ||
            (o->subject_key == subject_key) != same)
            continue;
        q->cut_short = q->looked_at >= MISS_LOOKED_AT || q->read >= MISS_READ;
        if (q->cut_short)
            return;
        q->looked_at++;
        q->read += o->len;
        compare(q, op, params_of(q, op), count_difference, &n);
        consider(&q->nearest, op, n);
        if (same && is_free(q, op))
            consider(&q->free, op, n);
    }
}

/* Another tool is further away than any arguments of the same one. */
static void find_nearest(struct inquiry *q)
{
    uint32_t method, key = script_subject_key(q->live->method, q->live->params, false);

    if (!script_find_method(q->script, q->live->method, &method))
        return;
    look_at(q, method, key, true);
    if (!q->nearest.op)
        look_at(q, method, key, false);
}

/* The same, which was recorded and never answered. Where params do not count, any of its
 * subject is. */
static bool find_refused(struct inquiry *q)
{
    const struct script *s = q->script;
    uint32_t method, key = script_subject_key(q->live->method, q->live->params, false);
    bool any = q->matcher->options.mode == MATCH_SEQUENTIAL;
    size_t looked_at = 0;

    if ((!s->refused.count && !s->unanswered) ||
        !script_find_method(s, q->live->method, &method))
        return false;
    for (uint32_t op = 1; op < s->op_count && looked_at < MISS_LOOKED_AT; op++) {
        struct script_refusal how = script_refusal(s, op);
        size_t n = 0;

        if ((!how.status && !how.unanswered) || s->ops[op].method != method ||
            s->ops[op].subject_key != key)
            continue;
        looked_at++;
        if (!any)
            compare(q, op, params_of(q, op), count_difference, &n);
        if (n)
            continue;
        q->nearest.op = op;
        q->refusal = how;
        return true;
    }
    return false;
}

/* Differences as they are found, in words and as data. */
struct telling {
    struct json_out *data; /* NULL: in words only */
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
    if (t->data) {
        json_out_object(t->data);
        json_out_key_str(t->data, STR("path"), buf_str(&path));
        keep_value(t, "recorded", d->left);
        keep_value(t, "got", d->right);
        json_out_end_object(t->data);
    }
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
    compare(q, q->nearest.op, recorded, tell_difference, &t);
    json_out_end_array(data);
}

static void tell_refusal(struct miss *why, const struct script_refusal *how,
                         struct json_out *data)
{
    if (how->unanswered) {
        buf_add(&why->report, STR(", which was recorded without a response"));
        return;
    }
    json_out_key_int(data, STR("status"), how->status);
    buf_printf(&why->report,
               how->ours ? ", which mcpreel answered with %u in place of the server"
                         : ", which the server refused with %u",
               how->status);
}

static void tell_nearest(struct miss *why, struct inquiry *q, struct json_out *data,
                         const char *words)
{
    uint32_t op = q->nearest.op;
    unsigned long seq = q->script->ops[op].seq;
    struct str method = script_method(q->script, op)->name;
    struct json_val params = params_of(q, op);
    struct str subject = json_text(mcp_subject(method, params), &why->arena);

    json_out_key(data, STR("nearest"));
    json_out_object(data);
    json_out_key_int(data, STR("seq"), (int64_t)seq);
    keep_name(data, STR("method"), method);
    keep_name(data, STR("subject"), subject);
    if (q->cut_short) {
        json_out_key_int(data, STR("looked_at"), (int64_t)q->looked_at);
        buf_printf(&why->report, "; %s of the first %zu is #%lu ", words, q->looked_at, seq);
    } else {
        buf_printf(&why->report, "; %s is #%lu ", words, seq);
    }
    add_request(&why->report, method, subject);
    if (q->nearest.differences) /* those that merely follow each other are not compared */
        tell_differences(why, q, data, params);
    if (was_refused(q))
        tell_refusal(why, &q->refusal, data);
    json_out_end_object(data);
}

#define RECORD_OR_PASS                                                                         \
    "record it with mcpreel record, or have the server answer: --on-unmatched passthrough -- " \
    "SERVER"
#define RECORD_HERE                                                                            \
    "record it with a client of this revision, or have the server answer: --on-unmatched "     \
    "passthrough -- SERVER"
#define LOOSEN(how) "match less closely with --match " how ", or record it with mcpreel record"
#define GIVE_AGAIN(how)                                                                        \
    "give answers again with --on-exhausted " how ", or record a longer session"

static struct str when_exhausted(const struct match *found)
{
    if (found->by_last)
        return found->by_cycle ? STR(GIVE_AGAIN("last or cycle")) : STR(GIVE_AGAIN("last"));
    return found->by_cycle ? STR(GIVE_AGAIN("cycle")) : STR(RECORD_OR_PASS);
}

static bool is_alike(struct inquiry *q, struct json_val recorded)
{
    struct leaf_rules rules = matcher_rules(MATCH_FUZZY, q->matcher->options.rules.number_text);
    struct leaves left, right;
    bool alike;

    leaves_init(&left);
    leaves_init(&right);
    leaves_take(&left, recorded, &rules, script_mask_hidden(q->script, q->free.op));
    leaves_take(&right, q->live->params, &rules, (struct leaf_mask){ NULL, 0 });
    alike = fuzzy_are_alike(script_method(q->script, q->free.op)->known, &left, &right);
    leaves_release(&left);
    leaves_release(&right);
    return alike;
}

static bool is_same_but_for_meta(struct inquiry *q, struct json_val recorded)
{
    struct leaf_rules rules =
        matcher_rules(MATCH_BY_REQUEST, q->matcher->options.rules.number_text);

    return compare_same(recorded, q->live->params, &rules,
                        script_mask_hidden(q->script, q->free.op));
}

/* Which other mode would have found something. As mcp-recorder has it, sequential does not
 * look at what is asked: it is no help. */
static struct str when_never(struct inquiry *q)
{
    enum match_mode mode = q->matcher->options.mode;
    bool sequential = !q->matcher->options.rules.number_text, fuzzy;
    struct json_val recorded;

    if (!q->free.op || mode == MATCH_SEQUENTIAL)
        return STR(RECORD_OR_PASS);
    recorded = params_of(q, q->free.op);
    if (mode == MATCH_STRICT && is_same_but_for_meta(q, recorded))
        return STR(LOOSEN("by-request"));
    fuzzy = mode != MATCH_FUZZY && is_alike(q, recorded);
    if (fuzzy)
        return sequential ? STR(LOOSEN("fuzzy or sequential")) : STR(LOOSEN("fuzzy"));
    return sequential ? STR(LOOSEN("sequential")) : STR(RECORD_OR_PASS);
}

/* What the user can do, by what went wrong. */
static struct str advice(struct inquiry *q, const struct match *found)
{
    if (found->outcome == MATCH_EXHAUSTED)
        return when_exhausted(found);
    if (found->outcome == MATCH_TOO_EARLY)
        return found->by_order ? STR("let requests come in any order: leave out --order total, "
                                     "keep --match sequential")
                               : STR(RECORD_OR_PASS);
    if (found->outcome == MATCH_UNCROSSED)
        return STR(RECORD_HERE);
    return when_never(q);
}

static const char *reason_of(const struct inquiry *q, enum match_outcome outcome)
{
    switch (outcome) {
    case MATCH_EXHAUSTED:
        return "exhausted";
    case MATCH_TOO_EARLY:
        return "too early";
    case MATCH_UNCROSSED:
        return "other era";
    default:
        return was_refused(q) ? "not answered" : "never recorded";
    }
}

/* The ways of the eras to answer later; a wish for input asks the client, too. */
static const char *why_uncrossed(const struct script *s, uint32_t op)
{
    return s->ops[op].flags & STRAND_TASK
               ? "answered with a task, which cannot be replayed to this revision: "
               : "answered only after the client was asked, which cannot be replayed to this "
                 "revision: ";
}

static const char *in_words(const struct script *s, const struct match *found)
{
    switch (found->outcome) {
    case MATCH_EXHAUSTED:
        return "all recorded answers were given for ";
    case MATCH_TOO_EARLY:
        return "another request was recorded next, before ";
    case MATCH_UNCROSSED:
        return why_uncrossed(s, found->op);
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

/* Which recorded request is to be named, and as what. */
static const char *choose_nearest(struct inquiry *q, const struct match *found)
{
    switch (found->outcome) {
    case MATCH_TOO_EARLY:
        q->nearest.op = found->op;
        return "next";
    case MATCH_EXHAUSTED:
        q->nearest.op = found->used;
        return "the last of them";
    case MATCH_UNCROSSED:
        q->nearest.op = found->op;
        return "recorded";
    default:
        if (find_refused(q))
            return "the same";
        find_nearest(q);
        return "nearest";
    }
}

void miss_explain(struct miss *why, const struct matcher *matcher, const struct spent *spent,
                  const struct mcp_message *live, const struct match *found)
{
    struct inquiry q = {
        .matcher = matcher, .script = matcher->script, .spent = spent, .live = live
    };
    struct script_text text;
    struct json_out data;
    const char *words;
    struct str help;

    begin(why, live);
    script_text_init(&text);
    q.text = &text;
    buf_add(&why->message, str_z(in_words(q.script, found)));
    add_request(&why->message, live->method, why->subject);
    buf_add(&why->report, buf_str(&why->message));
    data = json_out_to(&why->data);
    json_out_object(&data);
    words = choose_nearest(&q, found);
    why->nearest = q.nearest.op;
    why->reason = reason_of(&q, found->outcome);
    json_out_key_str(&data, STR("reason"), str_z(why->reason));
    if (q.nearest.op)
        tell_nearest(why, &q, &data, words);
    help = advice(&q, found);
    json_out_key_str(&data, STR("hint"), help);
    buf_printf(&why->report, "; %.*s", STR_ARG(help));
    json_out_end_object(&data);
    script_text_release(&text);
}

void miss_differences(const struct matcher *matcher, uint32_t op,
                      const struct mcp_message *live, struct buf *to)
{
    struct script_text text;
    struct inquiry q = {
        .matcher = matcher, .script = matcher->script, .live = live, .text = &text
    };
    struct telling t = { .words = to };

    script_text_init(&text);
    compare(&q, op, params_of(&q, op), tell_difference, &t);
    script_text_release(&text);
}

void miss_release(struct miss *why)
{
    buf_release(&why->message);
    buf_release(&why->data);
    buf_release(&why->report);
    arena_release(&why->arena);
}
