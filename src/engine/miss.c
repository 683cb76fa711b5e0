#include "engine/miss.h"

#include "base/utf8.h"
#include "trace/limits.h"
#include "json/diff.h"
#include "json/write.h"

enum {
    CANDIDATES = 200,  /* recorded requests that are looked at */
    DIFFERENCES = 100, /* beyond this many two requests are simply unlike */
    DIFFERENCES_TOLD = 5,
    VALUE_SHOWN = 60, /* bytes of a differing value */
};

/* The recorded request most like the live one, and how they differ. */
struct nearest {
    const struct script_op *op;
    size_t differences;
};

static const struct str protocol_members[] = { STR_INIT("_meta") };
static const struct json_rules params_rules = {
    .numbers_by_value = true,
    .skip = protocol_members,
    .skip_count = 1,
};

static struct json_val params_of(struct json *j, const struct script_op *op)
{
    struct json_fault fault;

    if (!json_scan(j, op->raw, &fault))
        BUG("a recorded request is JSON");
    return json_get(json_root(j), STR("params"));
}

static bool count_difference(void *arg, const struct json_difference *d)
{
    size_t *count = arg;

    (void)d;
    return ++*count < DIFFERENCES;
}

static struct nearest find_nearest(const struct script *s, struct str method,
                                   struct str subject, struct json_val params, struct json *j)
{
    struct nearest best = { NULL, DIFFERENCES + 1 };
    size_t looked_at = 0;

    for (size_t i = 0; i < s->count && looked_at < CANDIDATES; i++) {
        const struct script_op *op = s->ops[i];
        size_t n = 0;

        if (!str_eq(op->method, method))
            continue;
        looked_at++;
        json_diff(params_of(j, op), params, &params_rules, count_difference, &n);
        /* Another tool is further away than any arguments of the same one. */
        n += str_eq(op->subject, subject) ? 0 : DIFFERENCES / 2;
        if (n < best.differences)
            best = (struct nearest){ op, n };
    }
    return best;
}

/* Differences as they are found, in words and as data. */
struct telling {
    struct json_out *data;
    struct buf *words;
    struct arena *arena;
    size_t told;
};

static void add_value(struct buf *to, struct json_val v)
{
    struct str raw = json_raw(v);

    if (!json_exists(v)) {
        buf_add(to, STR("nothing"));
    } else if (raw.len <= VALUE_SHOWN) {
        buf_add(to, raw);
    } else {
        buf_add(to, str_n(raw.at, utf8_valid_prefix(str_n(raw.at, VALUE_SHOWN))));
        buf_add(to, STR("…"));
    }
}

static bool tell_difference(void *arg, const struct json_difference *d)
{
    struct telling *t = arg;
    struct buf path;

    buf_init(&path, LIMIT_MESSAGE);
    json_place_write(d->place, &path);
    buf_printf(t->words, "%s$.params%.*s: recorded ", t->told ? ", " : "",
               STR_ARG(str_skip(buf_str(&path), 1)));
    add_value(t->words, d->left);
    buf_add(t->words, STR(", got "));
    add_value(t->words, d->right);
    json_out_object(t->data);
    json_out_key(t->data, STR("path"));
    json_out_str(t->data,
                 arena_printf(t->arena, "$.params%.*s", STR_ARG(str_skip(buf_str(&path), 1))));
    if (json_exists(d->left))
        json_out_key_raw(t->data, STR("recorded"), json_raw(d->left));
    if (json_exists(d->right))
        json_out_key_raw(t->data, STR("got"), json_raw(d->right));
    json_out_end_object(t->data);
    buf_release(&path);
    return ++t->told < DIFFERENCES_TOLD;
}

static void add_request(struct buf *to, struct str method, struct str subject)
{
    buf_add(to, method);
    if (subject.len)
        buf_printf(to, " '%.*s'", STR_ARG(subject));
}

static void tell_nearest(struct miss *why, struct json_out *data, const struct nearest *near,
                         struct json_val params, struct json *j, struct arena *a)
{
    struct telling t = { .data = data, .words = &why->report, .arena = a };

    json_out_key(data, STR("nearest"));
    json_out_object(data);
    json_out_key_int(data, STR("seq"), (int64_t)near->op->seq);
    json_out_key_str(data, STR("method"), near->op->method);
    if (near->op->subject.len)
        json_out_key_str(data, STR("subject"), near->op->subject);
    json_out_key(data, STR("differences"));
    json_out_array(data);
    buf_printf(&why->report, "; nearest is #%llu ", (unsigned long long)near->op->seq);
    add_request(&why->report, near->op->method, near->op->subject);
    if (near->differences)
        buf_add(&why->report, STR(", which differs at "));
    json_diff(params_of(j, near->op), params, &params_rules, tell_difference, &t);
    json_out_end_array(data);
    json_out_end_object(data);
}

void miss_explain(struct miss *why, const struct script *script, struct str method,
                  struct json_val params, bool exhausted)
{
    struct arena a = { 0 };
    struct str subject = json_text(mcp_subject(method, params), &a);
    struct json_out data = json_out_to(&why->data);
    struct nearest near;
    struct json j;

    json_init(&j);
    buf_init(&why->message, LIMIT_MESSAGE);
    buf_init(&why->data, LIMIT_MESSAGE);
    buf_init(&why->report, LIMIT_MESSAGE);
    buf_add(&why->message, exhausted ? STR("all recorded answers were given for ")
                                     : STR("no recorded answer for "));
    add_request(&why->message, method, subject);
    buf_add(&why->report, buf_str(&why->message));
    json_out_object(&data);
    json_out_key_str(&data, STR("reason"),
                     exhausted ? STR("exhausted") : STR("never recorded"));
    near = find_nearest(script, method, subject, params, &j);
    if (near.op && !exhausted)
        tell_nearest(why, &data, &near, params, &j, &a);
    json_out_end_object(&data);
    json_release(&j);
    arena_release(&a);
}

void miss_release(struct miss *why)
{
    buf_release(&why->message);
    buf_release(&why->data);
    buf_release(&why->report);
}
