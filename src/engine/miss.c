#include "engine/miss.h"

#include "base/utf8.h"
#include "trace/limits.h"
#include "json/diff.h"
#include "json/write.h"

enum {
    CANDIDATES = 200,  /* recorded requests that are looked at */
    DIFFERENCES = 100, /* beyond this many two requests are simply unlike */
    DIFFERENCES_TOLD = 5,
    VALUE_SHOWN = 60,  /* bytes of a differing value */
    NAME_SHOWN = 200,  /* of a method, subject or path */
    VALUE_KEPT = 1000, /* of a value in the data; of a longer one only the size is told */
};

#define WHAT_TO_DO                                                                             \
    "record a session that has it, or go on after misses with --on-unmatched warn"

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

static bool is_empty_object(struct json_val v)
{
    return !json_exists(v) || (json_type(v) == JSON_OBJECT && !json_count(v));
}

/* No params and empty ones, no arguments and empty ones are the same to the matcher. */
static bool matters(const struct json_difference *d)
{
    const struct json_place *p = &d->place;
    bool may_be_absent =
        !p->count || (p->count == 1 && str_eq(p->steps[0].name, STR("arguments")));

    return !(may_be_absent && is_empty_object(d->left) && is_empty_object(d->right));
}

static bool count_difference(void *arg, const struct json_difference *d)
{
    size_t *count = arg;

    *count += matters(d);
    return *count < DIFFERENCES;
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

    if (!matters(d))
        return true;
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

static void tell_nearest(struct miss *why, struct json_out *data, const struct nearest *near,
                         struct json_val params, struct json *j, struct arena *a)
{
    struct telling t = { .data = data, .words = &why->report, .arena = a };

    json_out_key(data, STR("nearest"));
    json_out_object(data);
    json_out_key_int(data, STR("seq"), (int64_t)near->op->seq);
    keep_name(data, STR("method"), near->op->method);
    keep_name(data, STR("subject"), near->op->subject);
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
    json_out_key_str(&data, STR("hint"), STR(WHAT_TO_DO));
    buf_add(&why->report, STR("; " WHAT_TO_DO));
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
