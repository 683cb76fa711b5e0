#include "trace/filter.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/meta.h"
#include "trace/filter-content.h"
#include "trace/filter-parse.h"

/* Every byte of a query makes at most two of the program. */
enum { PROGRAM_MAX = 2 * FILTER_QUERY_MAX };

bool filter_new(struct filter **out, struct str query, struct filter_fault *fault,
                struct err *e)
{
    struct filter *f = mem_new(struct filter);

    *f = (struct filter){ .count = 0 };
    f->query = arena_str(&f->arena, query);
    buf_init(&f->program, PROGRAM_MAX);
    if (!filter_parse(f, fault, e)) {
        filter_free(f);
        return false;
    }
    *out = f;
    return true;
}

void filter_free(struct filter *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < f->terms[i].count; k++)
            filter_value_release(&f->terms[i].values[k]);
    buf_release(&f->program);
    arena_release(&f->arena);
    free(f);
}

static const void *field(const struct filter_view *v, const struct filter_key *key)
{
    return (const char *)v + key->at;
}

static bool any_text(const struct filter_term *t, struct str text)
{
    bool fits = false;

    for (size_t i = 0; i < t->count && !fits; i++)
        fits = filter_value_fits_text(&t->values[i], text);
    return fits;
}

static bool see_text(const struct filter_term *t, const struct filter_view *v)
{
    const struct str *text = field(v, t->key);
    bool number = text == &v->id && v->id_is_number, fits = false;

    /* In quotes it is a string, and a number is none: ids are told apart by that. */
    for (size_t i = 0; text->at && i < t->count && !fits; i++)
        fits = !(number && t->values[i].quoted) && filter_value_fits_text(&t->values[i], *text);
    return text->at && fits != t->differs;
}

static bool see_number(const struct filter_term *t, const struct filter_view *v)
{
    const int64_t *n = field(v, t->key);
    bool fits = false, there = false;

    for (size_t i = 0; i < t->count && !fits; i++) {
        bool by_clock = t->values[i].scale != SCALE_OFFSET;
        if (!(v->has & (by_clock ? (unsigned)FILTER_WALL : t->key->has)))
            continue;
        there = true;
        fits = filter_value_fits_number(&t->values[i], by_clock ? v->wall : *n);
    }
    return there && fits != t->differs;
}

/* Data of any kind is the only trait that is looked for in the message itself. */
static bool see_bits(const struct filter_term *t, const struct filter_view *v)
{
    uint64_t bits, wanted = 0;

    for (size_t i = 0; i < t->count; i++)
        wanted |= t->values[i].bits;
    if (t->key->type == FILTER_CONTENT) {
        bits = filter_content(v->message);
    } else {
        bits = *(const uint64_t *)field(v, t->key);
        if (wanted & IS_BINARY && t->key->at == offsetof(struct filter_view, is) &&
            filter_content(v->message) & CONTENT_BINARY)
            bits |= IS_BINARY;
    }
    if (t->differs)
        return bits && !(bits & wanted);
    return bits & wanted;
}

struct places {
    const struct filter_term *term;
    bool there, fits;
};

/* Goes on until a value fits. */
static bool try_place(void *arg, struct json_place place, struct json_val value)
{
    struct places *s = arg;

    (void)place;
    s->there = true;
    s->fits = !s->term->count;
    for (size_t i = 0; i < s->term->count && !s->fits; i++)
        s->fits = filter_value_fits_json(&s->term->values[i], value);
    return !s->fits;
}

static struct places search(const struct filter_term *t, struct json_val root)
{
    struct places s = { .term = t };

    json_path_select(t->path, root, try_place, &s);
    return s;
}

static bool see_path(const struct filter_term *t, const struct filter_view *v)
{
    struct json_val params = json_get(v->message, STR("params"));
    struct json_val result = json_get(v->message, STR("result"));
    struct places s = { .term = t }, more;

    switch (t->key->root) {
    case ROOT_MESSAGE:
        s = search(t, v->message);
        break;
    case ROOT_ARGUMENTS:
        s = search(t, json_get(params, STR("arguments")));
        break;
    case ROOT_RESULT:
        s = search(t, result);
        break;
    case ROOT_META:
        s = search(t, json_get(params, MCP_META_KEY));
        more = search(t, json_get(result, MCP_META_KEY));
        s.there |= more.there;
        s.fits |= more.fits;
        break;
    }
    return s.there && s.fits != t->differs;
}

static bool see_decoded(const struct filter_term *t, struct json_val string, struct arena *a)
{
    bool fits = json_has_escapes(string) && any_text(t, json_text(string, a));

    arena_clear(a);
    return fits;
}

/* Strings that are not spelt as they read. Goes as deep as the message is nested, which
 * the scanner has bounded. */
static bool see_escaped(const struct filter_term *t, struct json_val v, struct arena *a)
{
    struct json_iter it = json_each(v);

    if (see_decoded(t, v, a))
        return true;
    while (json_next(&it))
        if (see_decoded(t, it.key, a) || see_escaped(t, it.value, a))
            return true;
    return false;
}

static bool see_message(const struct filter_term *t, struct json_val message)
{
    struct str raw = json_raw(message);
    struct arena a = { 0 };
    bool fits;

    if (any_text(t, raw))
        return true;
    fits = str_find(raw, '\\') < raw.len && see_escaped(t, message, &a);
    arena_release(&a);
    return fits;
}

static bool see_anywhere(const struct filter_term *t, const struct filter_view *v)
{
    const struct str *const texts[] = { &v->method, &v->tool, &v->prompt, &v->uri,
                                        &v->task,   &v->id,   &v->bytes };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i]->at && any_text(t, *texts[i]))
            return true;
    return json_exists(v->message) && see_message(t, v->message);
}

static bool see_term(const struct filter_term *t, const struct filter_view *v)
{
    if (!t->key)
        return see_anywhere(t, v);
    switch (t->key->type) {
    case FILTER_TEXT:
        return see_text(t, v);
    case FILTER_WORDS:
    case FILTER_CONTENT:
        return see_bits(t, v);
    case FILTER_PATH:
        return see_path(t, v);
    default:
        return see_number(t, v);
    }
}

uint64_t filter_see(const struct filter *f, const struct filter_view *v)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < f->count; i++)
        if (see_term(&f->terms[i], v))
            seen |= UINT64_C(1) << i;
    return seen;
}

/* The stack is the bits of one number, its top the lowest. */
bool filter_decide(const struct filter *f, uint64_t seen)
{
    uint64_t stack = 0;

    if (!f->program.len)
        return true;
    for (size_t i = 0; i < f->program.len; i++) {
        unsigned char step = (unsigned char)f->program.at[i];
        switch (step) {
        case FILTER_AND:
            stack = stack >> 1 & (stack | ~UINT64_C(1));
            break;
        case FILTER_OR:
            stack = stack >> 1 | (stack & 1);
            break;
        case FILTER_NOT:
            stack ^= 1;
            break;
        default:
            stack = stack << 1 | (seen >> step & 1);
        }
    }
    return stack & 1;
}
