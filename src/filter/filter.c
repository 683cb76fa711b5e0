#include "filter/filter.h"

#include <stdlib.h>

#include "base/mem.h"
#include "filter/filter-parse.h"
#include "mcp/meta.h"

/* Every byte of a query adds at most two bytes to the program. */
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

static uint64_t resource_content(struct json_val resource)
{
    uint64_t found = 0;

    if (json_exists(json_get(resource, STR("blob"))))
        found |= FILTER_CONTENT_BINARY;
    if (json_exists(json_get(resource, STR("annotations"))))
        found |= FILTER_CONTENT_ANNOTATIONS;
    return found;
}

static uint64_t block_content(struct json_val block)
{
    struct json_val type = json_get(block, STR("type"));
    uint64_t found = 0;

    if (json_is(type, STR("image")))
        found = FILTER_CONTENT_IMAGE | FILTER_CONTENT_BINARY;
    else if (json_is(type, STR("audio")))
        found = FILTER_CONTENT_AUDIO | FILTER_CONTENT_BINARY;
    else if (json_is(type, STR("resource_link")))
        found = FILTER_CONTENT_LINK;
    else if (json_is(type, STR("resource")))
        found = FILTER_CONTENT_RESOURCE | resource_content(json_get(block, STR("resource")));
    if (json_exists(json_get(block, STR("annotations"))))
        found |= FILTER_CONTENT_ANNOTATIONS;
    return found;
}

/* Accepts one block or an array of blocks. */
static uint64_t blocks_content(struct json_val blocks)
{
    struct json_iter it = json_each(blocks);
    uint64_t found = 0;

    if (json_type(blocks) == JSON_OBJECT)
        return block_content(blocks);
    while (json_next(&it))
        found |= block_content(it.value);
    return found;
}

static uint64_t messages_content(struct json_val messages)
{
    struct json_iter it = json_each(messages);
    uint64_t found = 0;

    while (json_next(&it))
        found |= blocks_content(json_get(it.value, STR("content")));
    return found;
}

/* Checks the contents of resources/read, or definitions, which may have annotations. */
static uint64_t list_content(struct json_val list, uint64_t each)
{
    struct json_iter it = json_each(list);
    uint64_t found = 0;

    while (json_next(&it))
        found |= each | resource_content(it.value);
    return found;
}

static uint64_t result_content(struct json_val result)
{
    uint64_t found = blocks_content(json_get(result, STR("content")));

    if (json_exists(json_get(result, STR("structuredContent"))))
        found |= FILTER_CONTENT_STRUCTURED;
    found |= messages_content(json_get(result, STR("messages")));
    found |= list_content(json_get(result, STR("contents")), FILTER_CONTENT_RESOURCE);
    found |= list_content(json_get(result, STR("tools")), 0);
    found |= list_content(json_get(result, STR("resources")), 0);
    return found | list_content(json_get(result, STR("resourceTemplates")), 0);
}

uint64_t filter_content(struct json_val message)
{
    struct json_val params = json_get(message, STR("params"));
    struct json_val result = json_get(message, STR("result"));
    uint64_t found =
        result_content(result) | messages_content(json_get(params, STR("messages")));

    if (json_exists(mcp_meta(params, STR("traceparent"))) ||
        json_exists(mcp_meta(result, STR("traceparent"))))
        found |= FILTER_CONTENT_TRACEPARENT;
    return found;
}

static const void *view_field(const struct filter_view *v, const struct filter_key *key)
{
    return (const char *)v + key->offset;
}

static bool matches_any(const struct filter_term *t, struct str text)
{
    bool fits = false;

    for (size_t i = 0; i < t->count && !fits; i++)
        fits = filter_value_matches_text(&t->values[i], text);
    return fits;
}

static bool match_text(const struct filter_term *t, const struct filter_view *v)
{
    const struct str *text = view_field(v, t->key);
    bool number = text == &v->id && v->id_is_number, fits = false;

    /* A quoted value matches only string ids, not numbers. */
    for (size_t i = 0; text->at && i < t->count && !fits; i++)
        fits =
            !(number && t->values[i].quoted) && filter_value_matches_text(&t->values[i], *text);
    return text->at && fits != t->negated;
}

static bool match_number(const struct filter_term *t, const struct filter_view *v)
{
    const int64_t *n = view_field(v, t->key);
    bool fits = false, there = false;

    for (size_t i = 0; i < t->count && !fits; i++) {
        bool by_clock = t->values[i].scale != FILTER_SCALE_OFFSET;
        if (!(v->has & (by_clock ? (unsigned)FILTER_HAS_WALL : t->key->has_bit)))
            continue;
        there = true;
        fits = filter_value_matches_number(&t->values[i], by_clock ? v->wall : *n);
    }
    return there && fits != t->negated;
}

/* FILTER_IS_BINARY is the only trait that is found in the message itself. */
static bool match_bits(const struct filter_term *t, const struct filter_view *v)
{
    uint64_t bits, wanted = 0;

    for (size_t i = 0; i < t->count; i++)
        wanted |= t->values[i].bits;
    if (t->key->type == FILTER_TYPE_CONTENT) {
        bits = filter_content(v->message);
    } else {
        bits = *(const uint64_t *)view_field(v, t->key);
        if (wanted & FILTER_IS_BINARY && t->key->offset == offsetof(struct filter_view, is) &&
            filter_content(v->message) & FILTER_CONTENT_BINARY)
            bits |= FILTER_IS_BINARY;
    }
    if (t->negated)
        return bits && !(bits & wanted);
    return bits & wanted;
}

struct path_matches {
    const struct filter_term *term;
    bool found, matched;
};

/* Compares one value of the path; ends the search when it matches. */
static bool try_path_value(void *arg, struct json_location place, struct json_val value)
{
    struct path_matches *s = arg;

    (void)place;
    s->found = true;
    s->matched = !s->term->count;
    for (size_t i = 0; i < s->term->count && !s->matched; i++)
        s->matched = filter_value_matches_json(&s->term->values[i], value);
    return !s->matched;
}

static struct path_matches match_values(const struct filter_term *t, struct json_val root)
{
    struct path_matches s = { .term = t };

    json_path_select(t->path, root, try_path_value, &s);
    return s;
}

static bool match_path(const struct filter_term *t, const struct filter_view *v)
{
    struct json_val params = json_get(v->message, STR("params"));
    struct json_val result = json_get(v->message, STR("result"));
    struct path_matches s = { .term = t }, more;

    switch (t->key->root) {
    case FILTER_ROOT_MESSAGE:
        s = match_values(t, v->message);
        break;
    case FILTER_ROOT_ARGUMENTS:
        s = match_values(t, json_get(params, STR("arguments")));
        break;
    case FILTER_ROOT_RESULT:
        s = match_values(t, result);
        break;
    case FILTER_ROOT_META:
        s = match_values(t, json_get(params, MCP_META_KEY));
        more = match_values(t, json_get(result, MCP_META_KEY));
        s.found |= more.found;
        s.matched |= more.matched;
        break;
    }
    return s.found && s.matched != t->negated;
}

static bool match_decoded(const struct filter_term *t, struct json_val string, struct arena *a)
{
    bool fits = json_has_escapes(string) && matches_any(t, json_text(string, a));

    arena_clear(a);
    return fits;
}

/* Matches strings that have escapes. The recursion is bounded: the JSON scanner limits the
 * nesting of a message. */
static bool match_escaped(const struct filter_term *t, struct json_val v, struct arena *a)
{
    struct json_iter it = json_each(v);

    if (match_decoded(t, v, a))
        return true;
    while (json_next(&it))
        if (match_decoded(t, it.key, a) || match_escaped(t, it.value, a))
            return true;
    return false;
}

static bool match_message(const struct filter_term *t, struct json_val message)
{
    struct str raw = json_raw(message);
    struct arena a = { 0 };
    bool fits;

    if (matches_any(t, raw))
        return true;
    fits = str_find(raw, '\\') < raw.len && match_escaped(t, message, &a);
    arena_release(&a);
    return fits;
}

static bool match_anywhere(const struct filter_term *t, const struct filter_view *v)
{
    const struct str *const texts[] = { &v->method, &v->tool, &v->prompt, &v->uri,
                                        &v->task,   &v->id,   &v->bytes };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i]->at && matches_any(t, *texts[i]))
            return true;
    return json_exists(v->message) && match_message(t, v->message);
}

static bool match_term(const struct filter_term *t, const struct filter_view *v)
{
    if (!t->key)
        return match_anywhere(t, v);
    switch (t->key->type) {
    case FILTER_TYPE_TEXT:
        return match_text(t, v);
    case FILTER_TYPE_WORDS:
    case FILTER_TYPE_CONTENT:
        return match_bits(t, v);
    case FILTER_TYPE_PATH:
        return match_path(t, v);
    default:
        return match_number(t, v);
    }
}

uint64_t filter_match_terms(const struct filter *f, const struct filter_view *v)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < f->count; i++)
        if (match_term(&f->terms[i], v))
            seen |= UINT64_C(1) << i;
    return seen;
}

/* The stack is the bits of one number; its top is the lowest bit. */
bool filter_eval(const struct filter *f, uint64_t seen)
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
