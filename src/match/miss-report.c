#include "match/miss-report.h"

#include "base/ascii.h"
#include "base/utf8.h"
#include "index/redacted-params.h"
#include "mcp/params-compare.h"
#include "trace/limits.h"
#include "json/write.h"

enum {
    DIFFERENCES_MAX = 100, /* counting stops there */
    DIFFERENCES_SHOWN = 5,
    VALUE_SHOWN = 60,     /* bytes of a differing value in the log */
    NAME_SHOWN = 200,     /* of a method, subject or path */
    PATHS_TO_IGNORE = 2,  /* differences of a call that a hint suggests to ignore */
    VALUE_IN_DATA = 1000, /* of a value in the data; of a longer one only its size is written */
};

/* The search for the call that explains a miss. */
struct miss_search {
    const struct index *index;
    const struct used_set *used_set;
    const struct mcp_message *live;
    enum match_mode mode; /* for the live request, as are the rules */
    struct params_rules rules;
    struct index_message *recorded; /* the call that is compared */
    size_t compared_count, bytes_read;
    bool truncated; /* a limit was reached */

    /* The most similar call, and the most similar one of the same subject that could still be
     * used. */
    struct miss_candidate {
        uint32_t call; /* 0: none */
        size_t differences;
    } nearest, nearest_usable;

    struct index_rejection rejection; /* of `nearest`, if that is the same request */
};

static bool was_rejected(const struct miss_search *q)
{
    return q->rejection.http_status || q->rejection.unanswered;
}

static struct json_val read_params(struct miss_search *q, uint32_t call)
{
    struct json_val root = JSON_VAL_NONE;
    struct err e = ERR_NONE;

    if (!index_read_call(q->index, call, q->recorded, &root, &e))
        return JSON_VAL_NONE;
    return json_get(root, STR("params"));
}

static void compare_call(struct miss_search *q, uint32_t call, struct json_val recorded,
                         params_found_fn *found, void *arg)
{
    params_compare(recorded, q->live->params, &q->rules,
                   redacted_params_unmarked(q->index, call), found, arg);
}

static bool count_difference(void *arg, const struct params_difference *d)
{
    size_t *count = arg;

    (void)d;
    return ++*count < DIFFERENCES_MAX;
}

static bool is_usable(const struct miss_search *q, uint32_t call)
{
    const struct mcp_method *known = index_method(q->index, call)->known;
    bool may_repeat = known && known->class != MCP_CLASS_CALL;

    return !used_set_has(q->used_set, call) ||
           (may_repeat && q->index->calls[call].flags & CALL_SUCCEEDED);
}

static void update_nearest(struct miss_candidate *best, uint32_t call, size_t differences)
{
    if (!best->call || differences < best->differences)
        *best = (struct miss_candidate){ call, differences };
}

/* A call that differs in one place is the nearest: one without differences would have
 * matched. */
static bool is_search_done(const struct miss_search *q, bool same)
{
    return q->nearest.call && q->nearest.differences <= 1 &&
           (!same || (q->nearest_usable.call && q->nearest_usable.differences <= 1));
}

/* Compares the calls of a method that have the same subject, or those that have not. */
static void search_method(struct miss_search *q, uint32_t method, uint32_t subject_key,
                          bool same)
{
    const struct index *s = q->index;

    for (uint32_t call = 1; call < s->call_count && !is_search_done(q, same); call++) {
        const struct recorded_call *o = &s->calls[call];
        size_t n = 0;

        if (o->method != method || !(o->flags & CALL_MATCHABLE) ||
            (o->subject_key == subject_key) != same)
            continue;
        q->truncated = q->compared_count >= MISS_REPORT_CALLS_MAX ||
                       q->bytes_read >= MISS_REPORT_BYTES_MAX;
        if (q->truncated)
            return;
        q->compared_count++;
        q->bytes_read += o->len;
        compare_call(q, call, read_params(q, call), count_difference, &n);
        update_nearest(&q->nearest, call, n);
        if (same && is_usable(q, call))
            update_nearest(&q->nearest_usable, call, n);
    }
}

/* Calls of another subject only count if there is none of the same. */
static void find_nearest(struct miss_search *q)
{
    uint32_t method, key = index_subject_key(q->live->method, q->live->params, false);

    if (!index_find_method(q->index, q->live->method, &method))
        return;
    search_method(q, method, key, true);
    if (!q->nearest.call)
        search_method(q, method, key, false);
}

/* Finds the same request, recorded without a response. In sequential mode params need not be
 * equal. */
static bool find_rejected(struct miss_search *q)
{
    const struct index *s = q->index;
    uint32_t method, key = index_subject_key(q->live->method, q->live->params, false);
    bool any = q->mode == MATCH_SEQUENTIAL;
    size_t looked_at = 0;

    if ((!s->rejections.count && !s->unanswered) ||
        !index_find_method(s, q->live->method, &method))
        return false;
    for (uint32_t call = 1; call < s->call_count && looked_at < MISS_REPORT_CALLS_MAX; call++) {
        struct index_rejection how = index_rejection(s, call);
        size_t n = 0;

        if ((!how.http_status && !how.unanswered) || s->calls[call].method != method ||
            s->calls[call].subject_key != key)
            continue;
        looked_at++;
        if (!any)
            compare_call(q, call, read_params(q, call), count_difference, &n);
        if (n)
            continue;
        q->nearest.call = call;
        q->rejection = how;
        return true;
    }
    return false;
}

/* Writes differences as text and as data. */
struct difference_writer {
    struct json_out *data; /* NULL: text only */
    struct buf *text;
    struct arena *arena;
    size_t count;
};

/* Appends at most `most` bytes, with an ellipsis if there are more. */
static void add_truncated(struct buf *to, struct str text, size_t most)
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
    add_truncated(to, json_exists(v) ? json_raw(v) : STR("nothing"), VALUE_SHOWN);
}

static void write_value(struct difference_writer *t, const char *name, struct json_val v)
{
    struct str raw = json_raw(v);

    if (raw.len > VALUE_IN_DATA)
        json_out_key_int(t->data, arena_printf(t->arena, "%s_bytes", name), (int64_t)raw.len);
    else if (raw.len)
        json_out_key_raw(t->data, str_z(name), raw);
}

/* Appends the path of a value inside params, from the root of the message. */
static void add_path(struct buf *to, struct json_location location)
{
    struct buf place;

    buf_init(&place, LIMIT_MESSAGE);
    json_location_write(location, &place);
    buf_add(to, STR("$.params"));
    add_truncated(to, str_skip(buf_str(&place), 1), NAME_SHOWN);
    buf_release(&place);
}

static bool write_difference(void *arg, const struct params_difference *d)
{
    struct difference_writer *t = arg;
    struct buf path;

    buf_init(&path, LIMIT_MESSAGE);
    add_path(&path, d->location);
    if (t->count)
        buf_add(t->text, STR(", "));
    buf_add(t->text, buf_str(&path));
    buf_add(t->text, STR(": recorded "));
    add_value(t->text, d->recorded);
    buf_add(t->text, STR(", got "));
    add_value(t->text, d->live);
    if (t->data) {
        json_out_object(t->data);
        json_out_key_str(t->data, STR("path"), buf_str(&path));
        write_value(t, "recorded", d->recorded);
        write_value(t, "live", d->live);
        json_out_end_object(t->data);
    }
    buf_release(&path);
    return ++t->count < DIFFERENCES_SHOWN;
}

static void add_request(struct buf *to, struct str method, struct str subject)
{
    add_truncated(to, method, NAME_SHOWN);
    if (!subject.len)
        return;
    buf_add(to, STR(" '"));
    add_truncated(to, subject, NAME_SHOWN);
    buf_add_ch(to, '\'');
}

static void write_name(struct json_out *data, struct str key, struct str name)
{
    struct buf cut;

    if (!name.len)
        return;
    buf_init(&cut, LIMIT_MESSAGE);
    add_truncated(&cut, name, NAME_SHOWN);
    json_out_key_str(data, key, buf_str(&cut));
    buf_release(&cut);
}

static void write_differences(struct miss_report *why, struct miss_search *q,
                              struct json_out *data, struct json_val recorded)
{
    struct difference_writer t = { .data = data, .text = &why->log_line, .arena = &why->arena };

    json_out_key(data, STR("differences"));
    json_out_array(data);
    buf_add(&why->log_line, STR(", which differs at "));
    compare_call(q, q->nearest.call, recorded, write_difference, &t);
    json_out_end_array(data);
}

static void write_rejection(struct miss_report *why, const struct index_rejection *how,
                            struct json_out *data)
{
    if (how->unanswered) {
        buf_add(&why->log_line, STR(", which was recorded without a response"));
        return;
    }
    json_out_key_int(data, STR("http_status"), how->http_status);
    buf_printf(&why->log_line,
               how->by_mcpreel ? ", which mcpreel itself rejected with HTTP %u"
                               : ", which the server rejected with HTTP %u",
               how->http_status);
}

static void write_nearest(struct miss_report *why, struct miss_search *q, struct json_out *data,
                          const char *words)
{
    uint32_t call = q->nearest.call;
    unsigned long seq = q->index->calls[call].seq;
    struct str method = index_method(q->index, call)->name;
    struct json_val params = read_params(q, call);
    struct str subject = json_text(mcp_subject(method, params), &why->arena);

    json_out_key(data, STR("nearest"));
    json_out_object(data);
    json_out_key_int(data, STR("seq"), (int64_t)seq);
    write_name(data, STR("method"), method);
    write_name(data, STR("subject"), subject);
    if (q->truncated) {
        json_out_key_int(data, STR("compared"), (int64_t)q->compared_count);
        buf_printf(&why->log_line, "; %s of the first %zu is #%lu ", words, q->compared_count,
                   seq);
    } else {
        buf_printf(&why->log_line, "; %s is #%lu ", words, seq);
    }
    add_request(&why->log_line, method, subject);
    if (q->nearest.differences) /* 0: not compared, as with OUT_OF_ORDER and EXHAUSTED */
        write_differences(why, q, data, params);
    if (was_rejected(q))
        write_rejection(why, &q->rejection, data);
    json_out_end_object(data);
}

#define HINT_RECORD                                                                            \
    "record it with mcpreel record, or forward it to the server: --on-unmatched passthrough "  \
    "-- SERVER"
#define HINT_RECORD_VERSION                                                                    \
    "record it with a client of this protocol version, or forward it to the server: "          \
    "--on-unmatched passthrough -- SERVER"
#define HINT_EXHAUSTED(how)                                                                    \
    "reuse responses with --on-exhausted " how ", or record a longer session"

static struct str exhausted_hint(const struct match *found)
{
    if (found->last_helps)
        return found->cycle_helps ? STR(HINT_EXHAUSTED("last or cycle"))
                                  : STR(HINT_EXHAUSTED("last"));
    return found->cycle_helps ? STR(HINT_EXHAUSTED("cycle")) : STR(HINT_RECORD);
}

static bool is_similar(struct miss_search *q, struct json_val recorded)
{
    struct params_rules rules = q->rules;
    struct params_leaves left, right;
    bool alike;

    rules.detect_volatile = true;
    rules.include_meta = false;
    params_leaves_init(&left);
    params_leaves_init(&right);
    params_leaves_read(&left, recorded, &rules,
                       redacted_params_unmarked(q->index, q->nearest_usable.call));
    params_leaves_read(&right, q->live->params, &rules, (struct params_mask){ NULL, 0 });
    alike =
        fuzzy_are_similar(index_method(q->index, q->nearest_usable.call)->known, &left, &right);
    params_leaves_release(&left);
    params_leaves_release(&right);
    return alike;
}

static bool equal_except_meta(struct miss_search *q, struct json_val recorded)
{
    struct params_rules rules = q->rules;

    rules.include_meta = false;
    return params_equal(recorded, q->live->params, &rules,
                        redacted_params_unmarked(q->index, q->nearest_usable.call));
}

/* The paths of the differences, as options. */
struct ignore_options {
    struct buf *text;
    size_t count;
    bool helps; /* rules can leave out all of them, and a shell takes them in quotes */
};

static bool add_ignore_option(void *arg, const struct params_difference *d)
{
    struct ignore_options *o = arg;
    size_t before = o->text->len;

    buf_add(o->text, o->count ? STR(" --ignore-paths '") : STR("--ignore-paths '"));
    before = o->text->len;
    add_path(o->text, d->location);
    o->helps = ++o->count <= PATHS_TO_IGNORE && !params_ignore_is_identity(d->location) &&
               o->text->len - before < NAME_SHOWN &&
               !memchr(o->text->at + before, '\'', o->text->len - before);
    buf_add_ch(o->text, '\'');
    return o->helps;
}

/* Appends the options that ignore all differences to the nearest usable call. Returns false if
 * there are too many. */
static bool add_ignore_options(struct miss_search *q, struct json_val recorded, struct buf *to)
{
    size_t before = to->len;
    struct ignore_options o = { .text = to };

    compare_call(q, q->nearest_usable.call, recorded, add_ignore_option, &o);
    if (!o.helps)
        to->len = before;
    return o.helps;
}

/* Whether a name can be part of --match without quotes. */
static bool is_plain_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!ascii_is_alnum(name.at[i]) && !strchr("_-./", name.at[i]))
            return false;
    return name.len && name.len < NAME_SHOWN;
}

/* Appends "--match fuzzy or sequential", for calls of a tool "--match search=fuzzy or
 * search=sequential". */
static void add_modes(struct miss_search *q, const char *first, const char *second,
                      struct buf *to)
{
    struct str name = STR_NONE;
    struct arena a = { 0 };

    if (str_eq(q->live->method, STR("tools/call")))
        name = json_text(mcp_subject(q->live->method, q->live->params), &a);
    if (!is_plain_name(name))
        name = STR_NONE;
    buf_printf(to, "match less closely with --match %.*s%s%s", STR_ARG(name),
               name.len ? "=" : "", first);
    if (second)
        buf_printf(to, " or %.*s%s%s", STR_ARG(name), name.len ? "=" : "", second);
    arena_release(&a);
}

/* Appends the modes that would have matched; nothing if there is none. mcp-recorder's
 * sequential mode is no help: it does not look at requests. */
static void add_helpful_modes(struct miss_search *q, struct json_val recorded, struct buf *to)
{
    const char *sequential = q->rules.numbers_as_text ? NULL : "sequential";

    if (q->mode == MATCH_STRICT && equal_except_meta(q, recorded))
        add_modes(q, "by-request", NULL, to);
    else if (q->mode != MATCH_FUZZY && is_similar(q, recorded))
        add_modes(q, "fuzzy", sequential, to);
    else if (sequential)
        add_modes(q, sequential, NULL, to);
}

/* Finds rules and modes that would have matched. */
static struct str not_recorded_hint(struct miss_search *q, struct arena *a)
{
    struct json_val recorded;
    struct buf text;
    struct str hint;

    if (!q->nearest_usable.call || q->mode == MATCH_SEQUENTIAL)
        return STR(HINT_RECORD);
    recorded = read_params(q, q->nearest_usable.call);
    buf_init(&text, LIMIT_MESSAGE);
    buf_add(&text, STR("ignore what differs with "));
    if (add_ignore_options(q, recorded, &text))
        buf_add(&text, STR(", "));
    else
        buf_clear(&text);
    add_helpful_modes(q, recorded, &text);
    if (!text.len)
        buf_add(&text, STR(HINT_RECORD));
    else
        buf_add(&text, str_ends(buf_str(&text), STR(", "))
                           ? STR("or record it with mcpreel record")
                           : STR(", or record it with mcpreel record"));
    hint = arena_str(a, buf_str(&text));
    buf_release(&text);
    return hint;
}

/* Returns what the user can do. */
static struct str hint_for(struct miss_search *q, const struct match *found, struct arena *a)
{
    if (found->outcome == MATCH_EXHAUSTED)
        return exhausted_hint(found);
    if (found->outcome == MATCH_OUT_OF_ORDER)
        return found->any_order_helps
                   ? STR("allow any order: omit --order total, keep --match sequential")
                   : STR(HINT_RECORD);
    if (found->outcome == MATCH_OTHER_PROTOCOL)
        return STR(HINT_RECORD_VERSION);
    return not_recorded_hint(q, a);
}

static const char *reason_of(const struct miss_search *q, enum match_outcome outcome)
{
    switch (outcome) {
    case MATCH_EXHAUSTED:
        return "exhausted";
    case MATCH_OUT_OF_ORDER:
        return "out-of-order";
    case MATCH_OTHER_PROTOCOL:
        return "other-protocol-version";
    default:
        return was_rejected(q) ? "recorded-without-response" : "no-match";
    }
}

/* Why a response cannot be converted: it is a task, or needs input of the client. */
static const char *other_protocol_text(const struct index *s, uint32_t call)
{
    return s->calls[call].flags & CALL_CREATED_TASK
               ? "the recorded response is a task, which cannot be converted to this protocol "
                 "version: "
               : "the recorded call has server requests, which cannot be converted to this "
                 "protocol version: ";
}

static const char *outcome_text(const struct index *s, const struct match *found)
{
    switch (found->outcome) {
    case MATCH_EXHAUSTED:
        return "all recorded responses are used for ";
    case MATCH_OUT_OF_ORDER:
        return "out of order: another recorded request comes before ";
    case MATCH_OTHER_PROTOCOL:
        return other_protocol_text(s, found->call);
    default:
        return "no recorded response for ";
    }
}

static void init_report(struct miss_report *why, const struct mcp_message *live)
{
    *why = (struct miss_report){ .nearest = 0 };
    buf_init(&why->message, LIMIT_MESSAGE);
    buf_init(&why->data, LIMIT_MESSAGE);
    buf_init(&why->log_line, LIMIT_MESSAGE);
    why->subject = json_text(mcp_subject(live->method, live->params), &why->arena);
}

/* Chooses the call to name, and returns how to call it. */
static const char *choose_nearest(struct miss_search *q, const struct match *found)
{
    switch (found->outcome) {
    case MATCH_OUT_OF_ORDER:
        q->nearest.call = found->call;
        return "next";
    case MATCH_EXHAUSTED:
        q->nearest.call = found->last_used;
        return "the last one";
    case MATCH_OTHER_PROTOCOL:
        q->nearest.call = found->call;
        return "the recorded call";
    default:
        if (find_rejected(q))
            return "the same request";
        find_nearest(q);
        return "nearest";
    }
}

static struct miss_search search_for(const struct matcher *matcher, const struct used_set *used,
                                     const struct mcp_message *live, struct index_message *text)
{
    return (struct miss_search){ .index = matcher->index,
                                 .used_set = used,
                                 .live = live,
                                 .mode = matcher_mode(&matcher->options, live),
                                 .rules = matcher_compare_rules(&matcher->options, live),
                                 .recorded = text };
}

void miss_report_build(struct miss_report *why, const struct matcher *matcher,
                       const struct used_set *used, const struct mcp_message *live,
                       const struct match *found)
{
    struct index_message text;
    struct miss_search q = search_for(matcher, used, live, &text);
    struct json_out data;
    const char *words;
    struct str help;

    init_report(why, live);
    index_message_init(&text);
    buf_add(&why->message, str_z(outcome_text(q.index, found)));
    add_request(&why->message, live->method, why->subject);
    buf_add(&why->log_line, buf_str(&why->message));
    data = json_out_to(&why->data);
    json_out_object(&data);
    words = choose_nearest(&q, found);
    why->nearest = q.nearest.call;
    why->reason = reason_of(&q, found->outcome);
    json_out_key_str(&data, STR("reason"), str_z(why->reason));
    if (q.nearest.call)
        write_nearest(why, &q, &data, words);
    help = hint_for(&q, found, &why->arena);
    json_out_key_str(&data, STR("hint"), help);
    buf_printf(&why->log_line, "; %.*s", STR_ARG(help));
    json_out_end_object(&data);
    index_message_release(&text);
}

void miss_report_differences(const struct matcher *matcher, uint32_t call,
                             const struct mcp_message *live, struct buf *to)
{
    struct index_message text;
    struct miss_search q = search_for(matcher, NULL, live, &text);
    struct difference_writer t = { .text = to };

    index_message_init(&text);
    compare_call(&q, call, read_params(&q, call), write_difference, &t);
    index_message_release(&text);
}

void miss_report_release(struct miss_report *why)
{
    buf_release(&why->message);
    buf_release(&why->data);
    buf_release(&why->log_line);
    arena_release(&why->arena);
}
