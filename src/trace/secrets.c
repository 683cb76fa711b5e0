#include "trace/secrets.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "mcp/method.h"
#include "trace/forms.h"
#include "trace/limits.h"
#include "trace/secret-name.h"

enum { VALUE_LONGEST = 64 << 10, HITS_MOST = 1 << 16 };
enum { KEEP_LAYER = 1 << 20 }; /* larger buffers are given back */

/* What a needle was put in for, in the upper bits of its id. */
enum purpose { PLAIN, BASE64, BASE64_TWICE, CREDENTIAL, SUSPICION, MARK, MEMBER, ENCODED };
enum { PURPOSE_SHIFT = 28, INDEX_MASK = (1 << PURPOSE_SHIFT) - 1 };

void secrets_init(struct secrets *s)
{
    *s = (struct secrets){ .regexes = regex_set_new() };
    needles_init(&s->needles);
    map_init(&s->members);
}

void secrets_release(struct secrets *s)
{
    needles_release(&s->needles);
    regex_set_free(s->regexes);
    free(s->rules);
    free(s->credentials);
    map_release(&s->members);
    arena_release(&s->arena);
}

static uint32_t add_rule(struct secrets *s, enum secrets_kind kind, struct str name)
{
    s->rules = mem_reserve(s->rules, &s->cap, s->count + 1, sizeof *s->rules);
    s->rules[s->count] = (struct secrets_rule){ kind, arena_str(&s->arena, name) };
    return (uint32_t)s->count++;
}

static void add_needle(struct secrets *s, struct str text, enum needles_case fold,
                       enum purpose purpose, uint32_t index)
{
    needles_add(&s->needles, text, fold, (uint32_t)purpose << PURPOSE_SHIFT | index);
}

struct adding {
    struct secrets *secrets;
    uint32_t rule;
};

static void add_form(void *to, enum form form, struct str text)
{
    static const struct {
        enum needles_case fold;
        enum purpose purpose;
    } rows[] = {
        [FORM_PLAIN] = { NEEDLES_EXACT, PLAIN },
        [FORM_BASE64] = { NEEDLES_EXACT, BASE64 },
        [FORM_BASE64_TWICE] = { NEEDLES_EXACT, BASE64_TWICE },
        [FORM_HEX] = { NEEDLES_ANY_CASE, PLAIN },
    };
    struct adding *a = to;
    bool spaces = form == FORM_PLAIN && memchr(text.at, ' ', text.len);

    add_needle(a->secrets, text, spaces ? NEEDLES_SPACE_OR_PLUS : rows[form].fold,
               rows[form].purpose, a->rule);
}

/* Words without which no message is one: replacing them everywhere would leave nothing that
 * can be replayed, and they are nobody's secret. */
bool secrets_is_of_the_protocol(struct str value)
{
    static const struct str words[] = {
        STR_INIT("jsonrpc"),
        STR_INIT("method"),
        STR_INIT("params"),
        STR_INIT("result"),
        STR_INIT("arguments"),
        STR_INIT("content"),
        STR_INIT("structuredContent"),
        STR_INIT("progressToken"),
        STR_INIT("protocolVersion"),
        STR_INIT("capabilities"),
        STR_INIT("clientInfo"),
        STR_INIT("serverInfo"),
        STR_INIT("inputSchema"),
        STR_INIT("outputSchema"),
        STR_INIT("description"),
        STR_INIT("properties"),
        STR_INIT("required"),
        STR_INIT("isError"),
        STR_INIT("message"),
        STR_INIT("version"),
        STR_INIT("mimeType"),
        STR_INIT("requestId"),
        STR_INIT("nextCursor"),
        STR_INIT("annotations"),
        STR_INIT("instructions"),
        STR_INIT("listChanged"),
        STR_INIT("string"),
        STR_INIT("number"),
        STR_INIT("integer"),
        STR_INIT("object"),
        STR_INIT("boolean"),
        STR_INIT(SECRETS_MARK),
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_has(words[i], value))
            return true;
    for (const struct mcp_method *m = mcp_methods; m->name.at; m++)
        if (str_has(m->name, value))
            return true;
    return false;
}

static size_t count_breaks(struct str value)
{
    size_t breaks = 0;

    for (size_t i = 0; i < value.len; i++)
        breaks += value.at[i] == '\n';
    return breaks;
}

bool secrets_add_value(struct secrets *s, struct str name, struct str value, struct err *e)
{
    struct adding a = { .secrets = s };

    value = str_trim(value);
    if (value.len < FORMS_SHORTEST)
        return err_set(e, ERR_USAGE,
                       "the value of '%.*s' is too short to be looked for: less than %d bytes",
                       STR_ARG(name), FORMS_SHORTEST);
    if (value.len > VALUE_LONGEST)
        return err_set(e, ERR_USAGE, "the value of '%.*s' is too long to be looked for",
                       STR_ARG(name));
    if (secrets_is_of_the_protocol(value))
        return err_set(e, ERR_USAGE, "the value of '%.*s' is a word of the protocol's",
                       STR_ARG(name));
    a.rule = add_rule(s, SECRETS_VALUE, name);
    s->values++;
    s->breaks = count_breaks(value) > s->breaks ? count_breaks(value) : s->breaks;
    forms_each(value, add_form, &a);
    return true;
}

bool secrets_add_pattern(struct secrets *s, struct str pattern, struct err *e)
{
    if (!regex_set_add(s->regexes, pattern, e))
        return false;
    s->patterns++;
    return true;
}

/* password, Password, PASSWORD: a name is seldom spelled otherwise, and each further spelling
 * makes every search slower. */
static void add_name(struct secrets *s, struct str word, uint32_t row)
{
    char text[SECRET_NAME_LONGEST];

    for (size_t capitals = 0; capitals <= word.len; capitals += capitals ? word.len - 1 : 1) {
        for (size_t i = 0; i < word.len; i++)
            text[i] = i < capitals ? ascii_upper(word.at[i]) : word.at[i];
        add_needle(s, str_n(text, word.len), NEEDLES_EXACT, CREDENTIAL, row);
    }
}

void secrets_add_credentials(struct secrets *s)
{
    const struct credential *rows = credential_rows;

    while (rows[s->credential_rows].name)
        s->credential_rows++;
    s->credentials = mem_alloc(s->credential_rows * sizeof *s->credentials);
    for (uint32_t i = 0; i < s->credential_rows; i++) {
        bool again = i && strcmp(rows[i].name, rows[i - 1].name) == 0;
        s->credentials[i] = again ? s->credentials[i - 1]
                                  : add_rule(s, SECRETS_CREDENTIAL, str_z(rows[i].name));
        if (rows[i].kind == CREDENTIAL_NAMED) {
            s->argument = s->credentials[i];
            add_name(s, rows[i].literal, i);
            continue;
        }
        add_needle(s, rows[i].literal, rows[i].any_case ? NEEDLES_ANY_CASE : NEEDLES_EXACT,
                   CREDENTIAL, i);
    }
}

/* Needles are the last two bytes of a name and its quote: the last letter may stand behind a
 * separator, which does not count. */
static void add_name_ends(struct secrets *s, struct str name)
{
    static const char quotes[] = "\"'";
    const char last = name.at[name.len - 1];

    for (const char *quote = quotes; *quote; quote++) {
        const char before[] = { '_', '-', '.', name.len > 1 ? name.at[name.len - 2] : *quote };

        for (size_t i = 0; i < sizeof before; i++) {
            const char end[] = { before[i], last, *quote };
            add_needle(s, str_n(end, sizeof end), NEEDLES_ANY_CASE, MEMBER, 0);
        }
    }
}

bool secrets_add_member(struct secrets *s, struct str name, struct err *e)
{
    struct secret_name n = secret_name_of(name);
    struct str normal = str_n(n.text, n.len);

    if (!n.len)
        return err_set(e, ERR_USAGE, "this is not the name of a member");
    if (map_get(&s->members, normal))
        return true;
    if (!s->members.count)
        s->member = add_rule(s, SECRETS_CREDENTIAL, STR("named-member"));
    map_put(&s->members, normal, s);
    add_name_ends(s, normal);
    return true;
}

/* A word such as "production" after --token is no reason to lose it everywhere. */
bool secrets_is_made_up(struct str value)
{
    enum { SHORTEST = 12 };
    bool digit = false, letter = false;

    for (size_t i = 0; i < value.len; i++) {
        digit |= ascii_is_digit(value.at[i]);
        letter |= ascii_is_letter(value.at[i]);
    }
    return value.len >= SHORTEST && digit && letter;
}

void secrets_add_argument(struct secrets *s, struct str value)
{
    struct adding a = { .secrets = s, .rule = s->argument };

    if (s->credentials && value.len <= VALUE_LONGEST && secrets_is_made_up(value))
        forms_each(value, add_form, &a);
}

/* The rules of patterns come last, so that a pattern's number is all one has to add. */
bool secrets_seal(struct secrets *s, struct err *e)
{
    size_t literals;

    if (!regex_set_seal(s->regexes, e))
        return false;
    if (s->values)
        s->depth = add_rule(s, SECRETS_DEPTH, STR("escapes within escapes"));
    for (size_t i = 0; i < s->patterns; i++)
        add_rule(s, SECRETS_PATTERN, arena_printf(&s->arena, "pattern %zu", i + 1));
    literals = regex_set_literals(s->regexes, &s->always);
    for (size_t i = 0; i < literals; i++)
        add_needle(s, regex_set_literal(s->regexes, i), NEEDLES_ANY_CASE, SUSPICION, 0);
    if (s->count) {
        add_needle(s, STR(SECRETS_MARK), NEEDLES_EXACT, MARK, 0);
        add_needle(s, STR("\"blob\""), NEEDLES_EXACT, ENCODED, 0);
        add_needle(s, STR("\"data\""), NEEDLES_EXACT, ENCODED, 0);
    }
    return true;
}

void secrets_search_init(struct secrets_search *f, const struct secrets *s)
{
    *f = (struct secrets_search){ .secrets = s };
    f->tried = mem_alloc((s->credential_rows + 1) * sizeof *f->tried);
    for (size_t i = 0; i < SECRETS_LAYERS; i++)
        buf_init(&f->layers[i], LIMIT_LINE);
}

void secrets_search_release(struct secrets_search *f)
{
    for (size_t i = 0; i < SECRETS_LAYERS; i++)
        buf_release(&f->layers[i]);
    free(f->hits);
    free(f->tried);
}

static bool add_hit(struct secrets_search *f, size_t at, size_t end, uint32_t rule)
{
    bool whole = rule < f->secrets->count && f->secrets->rules[rule].kind == SECRETS_DEPTH;

    if (f->count == HITS_MOST) {
        f->overflow = true;
        return false;
    }
    f->hits = mem_reserve(f->hits, &f->cap, f->count + 1, sizeof *f->hits);
    f->hits[f->count++] = (struct secrets_hit){ { at, end }, rule, whole, false };
    return true;
}

static bool add_named_hit(struct secrets_search *f, size_t at, size_t end, uint32_t rule,
                          bool member)
{
    if (!add_hit(f, at, end, rule))
        return false;
    f->hits[f->count - 1].member = member;
    return true;
}

static int compare_hits(const void *a, const void *b)
{
    const struct secrets_hit *x = a, *y = b;

    if (x->span.at != y->span.at)
        return x->span.at < y->span.at ? -1 : 1;
    return x->rule < y->rule ? -1 : x->rule > y->rule;
}

/* They mostly come in order. */
static bool is_sorted(const struct secrets_hit *hits, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (compare_hits(&hits[i - 1], &hits[i]) > 0)
            return false;
    return true;
}

bool secrets_is_value(const struct secrets_search *f, uint32_t rule)
{
    enum secrets_kind kind;

    if (rule >= f->secrets->count)
        return true;
    kind = f->secrets->rules[rule].kind;
    return kind == SECRETS_VALUE || kind == SECRETS_DEPTH;
}

/* Which of the rules of two hits that overlap: values come before looks, for they must go
 * from everywhere; then the one that was added first. */
static uint32_t first_rule(const struct secrets_search *f, uint32_t a, uint32_t b)
{
    bool a_goes = secrets_is_value(f, a), b_goes = secrets_is_value(f, b);

    if (a_goes != b_goes)
        return a_goes ? a : b;
    return a < b ? a : b;
}

/* From the hit numbered `first` on: in order, and those that overlap are one. */
static void settle(struct secrets_search *f, size_t first)
{
    size_t count = f->count - first, kept = 0;
    struct secrets_hit *hits;

    if (count < 2)
        return;
    hits = f->hits + first;
    if (!is_sorted(hits, count))
        qsort(hits, count, sizeof *hits, compare_hits);
    for (size_t i = 1; i < count; i++) {
        struct secrets_hit *last = &hits[kept];
        if (hits[i].span.at >= last->span.end) {
            hits[++kept] = hits[i];
            continue;
        }
        if (hits[i].span.end > last->span.end)
            last->span.end = hits[i].span.end;
        last->rule = first_rule(f, last->rule, hits[i].rule);
        last->whole |= hits[i].whole;
        last->member = (last->member || hits[i].member) && !secrets_is_value(f, last->rule);
    }
    f->count = first + kept + 1;
}

void secrets_settle(struct secrets_search *f)
{
    settle(f, 0);
}

void secrets_add(struct secrets_search *f, struct unravel_span span, uint32_t rule)
{
    add_hit(f, span.at, span.end, rule);
}

bool secrets_has_value(const struct secrets_search *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (secrets_is_value(f, f->hits[i].rule))
            return true;
    return f->overflow;
}

static bool is_base64(char c)
{
    return ascii_is_alnum(c) || (c && strchr("+/-_=", c));
}

/* With the neighbours that hold the first and the last bits of the value: so many. */
static bool add_base64(struct secrets_search *f, struct unravel_span s, size_t before,
                       size_t behind, uint32_t rule)
{
    for (; before && s.at && is_base64(f->text.at[s.at - 1]); before--)
        s.at--;
    for (; behind && s.end < f->text.len && is_base64(f->text.at[s.end]); behind--)
        s.end++;
    return add_hit(f, s.at, s.end, rule);
}

/* All names share one place: a name inside the value of another is none. */
static bool try_name(struct secrets_search *f, size_t at, const struct credential *c,
                     uint32_t rule)
{
    struct credential_place p;
    bool found;

    if (at < f->named)
        return true;
    found = credential_match(c, f->text, at, &p);
    f->named = p.end;
    return !found || add_named_hit(f, p.at, p.end, rule, p.member);
}

static bool try_credential(struct secrets_search *f, size_t at, uint32_t row)
{
    const struct credential *c = &credential_rows[row];
    uint32_t rule = f->secrets->credentials[row];
    struct credential_place p;
    bool found;

    if (c->kind == CREDENTIAL_NAMED)
        return try_name(f, at, c, rule);
    if (!f->trying) {
        memset(f->tried, 0, f->secrets->credential_rows * sizeof *f->tried);
        f->trying = true;
    }
    if (at < f->tried[row])
        return true;
    found = credential_match(c, f->text, at, &p);
    f->tried[row] = p.end;
    f->open |= found && p.open;
    return !found || add_hit(f, p.at, p.end, rule);
}

static bool try_member(struct secrets_search *f, size_t end)
{
    struct secret_name_value v;
    struct secret_name n;

    if (!secret_name_value(f->text, end, true, &v))
        return true;
    n = secret_name_of(v.name);
    return !map_get(&f->secrets->members, str_n(n.text, n.len)) ||
           add_named_hit(f, v.at, v.end, f->secrets->member, true);
}

static void note_mark(struct secrets_search *f, size_t at)
{
    enum { MOST = 1000000 };
    uint32_t n = 0;

    for (; at < f->text.len && ascii_is_digit(f->text.at[at]) && n < MOST; at++)
        n = 10 * n + (uint32_t)(f->text.at[at] - '0');
    if (n > f->marked && n < MOST)
        f->marked = n;
}

static bool on_needle(void *to, size_t at, size_t end, uint32_t id)
{
    struct secrets_search *f = to;
    uint32_t index = id & INDEX_MASK;

    switch ((enum purpose)(id >> PURPOSE_SHIFT)) {
    case PLAIN:
        return add_hit(f, at, end, index);
    case BASE64:
        return add_base64(f, (struct unravel_span){ at, end }, 1, 2, index);
    case BASE64_TWICE:
        return add_base64(f, (struct unravel_span){ at, end }, 3, 4, index);
    case CREDENTIAL:
        return try_credential(f, at, index);
    case SUSPICION:
        f->suspect = true;
        return true;
    case MARK:
        note_mark(f, end);
        return true;
    case MEMBER:
        return try_member(f, end - 1);
    case ENCODED:
        f->encoded = true;
        return true;
    }
    BUG("a needle for nothing");
}

static bool on_learnt(void *to, size_t at, size_t end, enum form form, uint32_t value)
{
    struct secrets_search *f = to;
    uint32_t rule = (uint32_t)f->secrets->count + value;
    struct unravel_span span = { at, end };

    switch (form) {
    case FORM_BASE64:
        return add_base64(f, span, 1, 2, rule);
    case FORM_BASE64_TWICE:
        return add_base64(f, span, 3, 4, rule);
    case FORM_PLAIN:
    case FORM_HEX:
        return add_hit(f, at, end, rule);
    }
    BUG("a form of nothing");
}

static bool on_match(void *to, size_t pattern, size_t at, size_t end)
{
    struct secrets_search *f = to;
    const struct secrets *s = f->secrets;

    return add_hit(f, at, end, (uint32_t)(s->count - s->patterns + pattern));
}

static void look(struct secrets_search *f, struct str text, bool patterns)
{
    f->text = text;
    if (patterns) {
        f->overflow |= !regex_set_search(f->secrets->regexes, text, on_match, f);
        return;
    }
    f->trying = false;
    f->named = 0;
    f->overflow |= !needles_scan(&f->secrets->needles, text, on_needle, f) ||
                   (f->learnt && !learnt_scan(f->learnt, text, on_learnt, f));
}

/* How a text is looked through. */
struct way {
    bool escaped;   /* the outermost layer is JSON's spelling of the text, not the text */
    bool patterns;  /* look for those, and for nothing else */
    unsigned kinds; /* of escapes that are undone to get from a layer to the next */
};

static unsigned kinds_of(const struct way *w, size_t layer)
{
    return layer == 0 && w->escaped ? UNRAVEL_BACKSLASH : w->kinds;
}

static struct str layer_text(const struct secrets_search *f, struct str text, size_t layer)
{
    return layer ? buf_str(&f->layers[layer - 1]) : text;
}

/* Below an escape, a quote that ends a JSON string of the text can look escaped. */
static void end_with_string(struct str text, struct unravel_span *s)
{
    size_t i = s->at;

    while (i < s->end && text.at[i] != '"')
        i += text.at[i] == '\\' ? 2 : 1;
    s->end = i < s->end ? i : s->end;
}

/* Places in a layer, as places in the text. */
static void to_origin(struct secrets_search *f, struct str text, const struct way *w,
                      size_t layer, size_t first)
{
    bool below = layer > 0;

    settle(f, first);
    while (layer--)
        unravel_origin(layer_text(f, text, layer), kinds_of(w, layer), &f->hits[first].span,
                       sizeof *f->hits, f->count - first);
    for (size_t i = first; below && i < f->count; i++)
        if (f->hits[i].member)
            end_with_string(text, &f->hits[i].span);
}

/* The first place that is escaped still more often: all others are asked for one by one. */
static void note_depth(struct secrets_search *f, struct str text, unsigned kinds)
{
    struct unravel_span first;

    if (unravel_next(text, kinds, 0, &first))
        add_hit(f, first.at, first.end, f->secrets->depth);
}

static void drop_large(struct secrets_search *f)
{
    for (size_t i = 0; i < SECRETS_LAYERS; i++)
        if (f->layers[i].cap > KEEP_LAYER) {
            buf_release(&f->layers[i]);
            buf_init(&f->layers[i], LIMIT_LINE);
        }
}

static bool is_deeper(struct secrets_search *f, struct str text, unsigned kinds)
{
    struct unravel_span ignored;

    for (size_t layer = 0; layer < SECRETS_LAYERS; layer++) {
        buf_clear(&f->layers[layer]);
        if (!unravel(text, kinds, &f->layers[layer]))
            return false;
        text = buf_str(&f->layers[layer]);
    }
    return unravel_next(text, kinds, 0, &ignored);
}

bool secrets_too_deep(struct secrets_search *f, struct str text)
{
    bool deep = f->secrets->values &&
                (is_deeper(f, text, UNRAVEL_ALL) || is_deeper(f, text, UNRAVEL_BACKSLASH));

    drop_large(f);
    return deep;
}

/* Every layer of a text, from the outermost in; whether there was more than one. */
static bool look_through(struct secrets_search *f, struct str text, const struct way *w)
{
    bool used = false;

    for (size_t layer = 0; !f->overflow; layer++) {
        size_t first = f->count;
        struct str now = layer_text(f, text, layer);
        struct buf *next;

        if (layer || !w->escaped)
            look(f, now, w->patterns);
        if (layer == SECRETS_LAYERS && f->secrets->values && !w->patterns)
            note_depth(f, now, w->kinds);
        if (f->count > first)
            to_origin(f, text, w, layer, first);
        if (layer == SECRETS_LAYERS)
            break;
        next = &f->layers[layer];
        buf_clear(next);
        if (!unravel(now, kinds_of(w, layer), next))
            break;
        used = true;
        f->overflow |= next->full;
    }
    if (used)
        drop_large(f);
    return used;
}

static bool has(struct str text, char c)
{
    return text.len && memchr(text.at, c, text.len);
}

/* What stands in JSON with what only looks like another kind of escape beside it, such as
 * "100%ab\"c", is not what comes of undoing all kinds at once. */
static void look_at_all(struct secrets_search *f, struct str text, struct way w)
{
    if (look_through(f, text, &w) && has(text, '\\') && (has(text, '%') || has(text, '&'))) {
        w.kinds = UNRAVEL_BACKSLASH;
        look_through(f, text, &w);
    }
}

bool secrets_find(struct secrets_search *f, struct str text)
{
    f->count = 0;
    f->overflow = f->open = f->encoded = false;
    f->suspect = f->secrets->always;
    if (f->secrets->needles.count || (f->learnt && f->learnt->known))
        look_at_all(f, text, (struct way){ .kinds = UNRAVEL_ALL });
    settle(f, 0);
    return f->count || f->overflow || f->suspect || f->encoded;
}

void secrets_match(struct secrets_search *f, struct str text, bool escaped, size_t offset)
{
    size_t first = f->count;

    look_at_all(f, text, (struct way){ escaped, true, UNRAVEL_ALL });
    for (size_t i = first; i < f->count; i++) {
        f->hits[i].span.at += offset;
        f->hits[i].span.end += offset;
    }
}
