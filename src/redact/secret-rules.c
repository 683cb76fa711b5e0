#include "redact/secret-rules.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "mcp/method.h"
#include "redact/encodings.h"
#include "redact/secret-name.h"
#include "trace/limits.h"

enum { VALUE_MAX = 64 << 10, HITS_MAX = 1 << 16 };
enum { KEEP_LAYER = 1 << 20 }; /* larger buffers are freed */

/* The purpose of a literal, in the upper bits of its id. */
enum literal_purpose {
    PLAIN,
    BASE64,
    BASE64_TWICE,
    CREDENTIAL,
    PATTERN_HINT,
    PLACEHOLDER,
    MEMBER,
    BASE64_MEMBER
};
enum { PURPOSE_SHIFT = 28, INDEX_MASK = (1 << PURPOSE_SHIFT) - 1 };

void secret_rules_init(struct secret_rules *s)
{
    *s = (struct secret_rules){ .regexes = regex_set_new() };
    multi_search_init(&s->literals);
    map_init(&s->members);
}

void secret_rules_release(struct secret_rules *s)
{
    multi_search_release(&s->literals);
    regex_set_free(s->regexes);
    free(s->rules);
    free(s->credentials);
    map_release(&s->members);
    arena_release(&s->arena);
}

static uint32_t add_rule(struct secret_rules *s, enum secret_rule_kind kind, struct str name)
{
    s->rules = mem_reserve(s->rules, &s->cap, s->count + 1, sizeof *s->rules);
    s->rules[s->count] = (struct secret_rule){ kind, arena_str(&s->arena, name) };
    return (uint32_t)s->count++;
}

static void add_literal(struct secret_rules *s, struct str text, enum multi_search_fold fold,
                        enum literal_purpose purpose, uint32_t index)
{
    multi_search_add(&s->literals, text, fold, (uint32_t)purpose << PURPOSE_SHIFT | index);
}

struct rule_adder {
    struct secret_rules *secrets;
    uint32_t rule;
};

static void add_encoding(void *to, enum encoding encoding, struct str text)
{
    static const struct {
        enum multi_search_fold fold;
        enum literal_purpose purpose;
    } rows[] = {
        [ENCODING_PLAIN] = { MULTI_SEARCH_EXACT, PLAIN },
        [ENCODING_BASE64] = { MULTI_SEARCH_EXACT, BASE64 },
        [ENCODING_BASE64_TWICE] = { MULTI_SEARCH_EXACT, BASE64_TWICE },
        [ENCODING_HEX] = { MULTI_SEARCH_ANY_CASE, PLAIN },
    };
    struct rule_adder *a = to;
    bool spaces = encoding == ENCODING_PLAIN && memchr(text.at, ' ', text.len);

    add_literal(a->secrets, text, spaces ? MULTI_SEARCH_SPACE_OR_PLUS : rows[encoding].fold,
                rows[encoding].purpose, a->rule);
}

/* Redacting these words would break every message, and they cannot be secret. */
bool secret_rules_is_protocol_word(struct str value)
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
        STR_INIT(SECRET_RULES_PLACEHOLDER),
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_contains(words[i], value))
            return true;
    for (const struct mcp_method *m = mcp_methods; m->name.at; m++)
        if (str_contains(m->name, value))
            return true;
    return false;
}

static size_t count_line_breaks(struct str value)
{
    size_t breaks = 0;

    for (size_t i = 0; i < value.len; i++)
        breaks += value.at[i] == '\n';
    return breaks;
}

bool secret_rules_add_value(struct secret_rules *s, struct str name, struct str value,
                            struct err *e)
{
    struct rule_adder a = { .secrets = s };

    value = str_trim(value);
    if (value.len < ENCODINGS_MIN)
        return err_set(e, ERR_USAGE,
                       "the value of '%.*s' is too short to be redacted: less than %d bytes",
                       STR_ARG(name), ENCODINGS_MIN);
    if (value.len > VALUE_MAX)
        return err_set(e, ERR_USAGE, "the value of '%.*s' is too long to be redacted",
                       STR_ARG(name));
    if (secret_rules_is_protocol_word(value))
        return err_set(e, ERR_USAGE, "the value of '%.*s' is a word of the protocol",
                       STR_ARG(name));
    a.rule = add_rule(s, SECRET_RULE_VALUE, name);
    s->values++;
    s->max_line_breaks = count_line_breaks(value) > s->max_line_breaks
                             ? count_line_breaks(value)
                             : s->max_line_breaks;
    encodings_each(value, add_encoding, &a);
    return true;
}

bool secret_rules_add_pattern(struct secret_rules *s, struct str pattern, struct err *e)
{
    if (!regex_set_add(s->regexes, pattern, e))
        return false;
    s->patterns++;
    return true;
}

/* Adds password, Password and PASSWORD. Other spellings are rare, and each makes every search
 * slower. */
static void add_name(struct secret_rules *s, struct str word, uint32_t row)
{
    char text[SECRET_NAME_MAX];

    for (size_t capitals = 0; capitals <= word.len; capitals += capitals ? word.len - 1 : 1) {
        for (size_t i = 0; i < word.len; i++)
            text[i] = i < capitals ? ascii_upper(word.at[i]) : word.at[i];
        add_literal(s, str_n(text, word.len), MULTI_SEARCH_EXACT, CREDENTIAL, row);
    }
}

void secret_rules_add_credentials(struct secret_rules *s)
{
    const struct credential *rows = credential_rows;

    while (rows[s->credential_rows].name)
        s->credential_rows++;
    s->credentials = mem_alloc(s->credential_rows * sizeof *s->credentials);
    for (uint32_t i = 0; i < s->credential_rows; i++) {
        bool again = i && strcmp(rows[i].name, rows[i - 1].name) == 0;
        s->credentials[i] = again ? s->credentials[i - 1]
                                  : add_rule(s, SECRET_RULE_CREDENTIAL, str_z(rows[i].name));
        if (rows[i].kind == CREDENTIAL_NAMED) {
            s->named_rule = s->credentials[i];
            add_name(s, rows[i].literal, i);
            continue;
        }
        add_literal(s, rows[i].literal,
                    rows[i].any_case ? MULTI_SEARCH_ANY_CASE : MULTI_SEARCH_EXACT, CREDENTIAL,
                    i);
    }
}

/* Adds the last two bytes of a name and a quote as literals. A separator, which is ignored in
 * names, may precede the last letter. */
static void add_name_ends(struct secret_rules *s, struct str name)
{
    static const char quotes[] = "\"'";
    const char last = name.at[name.len - 1];

    for (const char *quote = quotes; *quote; quote++) {
        const char before[] = { '_', '-', '.', name.len > 1 ? name.at[name.len - 2] : *quote };

        for (size_t i = 0; i < sizeof before; i++) {
            const char end[] = { before[i], last, *quote };
            add_literal(s, str_n(end, sizeof end), MULTI_SEARCH_ANY_CASE, MEMBER, 0);
        }
    }
}

bool secret_rules_add_member(struct secret_rules *s, struct str name, struct err *e)
{
    struct secret_name n = secret_name_normalize(name);
    struct str normal = str_n(n.text, n.len);

    if (!n.len)
        return err_set(e, ERR_USAGE, "this is not the name of a member");
    if (map_get(&s->members, normal))
        return true;
    if (!s->members.count)
        s->member_rule = add_rule(s, SECRET_RULE_CREDENTIAL, STR("named-member"));
    map_put(&s->members, normal, s);
    add_name_ends(s, normal);
    return true;
}

/* A plain word after --token, such as "production", must not be redacted everywhere. */
bool secret_rules_looks_random(struct str value)
{
    enum { SHORTEST = 12 };
    bool digit = false, letter = false;

    for (size_t i = 0; i < value.len; i++) {
        digit |= ascii_is_digit(value.at[i]);
        letter |= ascii_is_letter(value.at[i]);
    }
    return value.len >= SHORTEST && digit && letter;
}

void secret_rules_add_argument(struct secret_rules *s, struct str value)
{
    struct rule_adder a = { .secrets = s, .rule = s->named_rule };

    if (s->credentials && value.len <= VALUE_MAX && secret_rules_looks_random(value))
        encodings_each(value, add_encoding, &a);
}

/* Adds the rules of patterns last, so that they can be computed from the number of a pattern.
 */
bool secret_rules_seal(struct secret_rules *s, struct err *e)
{
    size_t literals;

    if (!regex_set_compile(s->regexes, e))
        return false;
    if (s->values)
        s->depth_rule = add_rule(s, SECRET_RULE_DEPTH, STR("escapes within escapes"));
    for (size_t i = 0; i < s->patterns; i++)
        add_rule(s, SECRET_RULE_PATTERN, arena_printf(&s->arena, "pattern %zu", i + 1));
    literals = regex_set_literals(s->regexes, &s->match_always);
    for (size_t i = 0; i < literals; i++)
        add_literal(s, regex_set_literal(s->regexes, i), MULTI_SEARCH_ANY_CASE, PATTERN_HINT,
                    0);
    if (s->count) {
        add_literal(s, STR(SECRET_RULES_PLACEHOLDER), MULTI_SEARCH_EXACT, PLACEHOLDER, 0);
        add_literal(s, STR("\"blob\""), MULTI_SEARCH_EXACT, BASE64_MEMBER, 0);
        add_literal(s, STR("\"data\""), MULTI_SEARCH_EXACT, BASE64_MEMBER, 0);
    }
    return true;
}

void secret_search_init(struct secret_search *f, const struct secret_rules *s)
{
    *f = (struct secret_search){ .secrets = s };
    f->skip_until = mem_alloc((s->credential_rows + 1) * sizeof *f->skip_until);
    for (size_t i = 0; i < SECRET_RULES_LAYERS; i++)
        buf_init(&f->layers[i], LIMIT_LINE);
}

void secret_search_release(struct secret_search *f)
{
    for (size_t i = 0; i < SECRET_RULES_LAYERS; i++)
        buf_release(&f->layers[i]);
    free(f->hits);
    free(f->skip_until);
}

static bool add_hit(struct secret_search *f, size_t at, size_t end, uint32_t rule)
{
    bool whole = rule < f->secrets->count && f->secrets->rules[rule].kind == SECRET_RULE_DEPTH;

    if (f->count == HITS_MAX) {
        f->overflow = true;
        return false;
    }
    f->hits = mem_reserve(f->hits, &f->cap, f->count + 1, sizeof *f->hits);
    f->hits[f->count++] = (struct secret_hit){ { at, end }, rule, whole, false };
    return true;
}

static bool add_named_hit(struct secret_search *f, size_t at, size_t end, uint32_t rule,
                          bool member)
{
    if (!add_hit(f, at, end, rule))
        return false;
    f->hits[f->count - 1].is_member = member;
    return true;
}

static int compare_hits(const void *a, const void *b)
{
    const struct secret_hit *x = a, *y = b;

    if (x->span.at != y->span.at)
        return x->span.at < y->span.at ? -1 : 1;
    return x->rule < y->rule ? -1 : x->rule > y->rule;
}

/* Hits are mostly found in order. */
static bool is_sorted(const struct secret_hit *hits, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (compare_hits(&hits[i - 1], &hits[i]) > 0)
            return false;
    return true;
}

bool secret_search_is_value(const struct secret_search *f, uint32_t rule)
{
    enum secret_rule_kind kind;

    if (rule >= f->secrets->count)
        return true;
    kind = f->secrets->rules[rule].kind;
    return kind == SECRET_RULE_VALUE || kind == SECRET_RULE_DEPTH;
}

/* Returns the rule of two overlapping hits: a value, which must be removed everywhere, else the
 * rule that was added first. */
static uint32_t prevailing_rule(const struct secret_search *f, uint32_t a, uint32_t b)
{
    bool a_goes = secret_search_is_value(f, a), b_goes = secret_search_is_value(f, b);

    if (a_goes != b_goes)
        return a_goes ? a : b;
    return a < b ? a : b;
}

/* Sorts the hits from number `first` on and merges overlapping ones. */
static void merge_hits(struct secret_search *f, size_t first)
{
    size_t count = f->count - first, kept = 0;
    struct secret_hit *hits;

    if (count < 2)
        return;
    hits = f->hits + first;
    if (!is_sorted(hits, count))
        qsort(hits, count, sizeof *hits, compare_hits);
    for (size_t i = 1; i < count; i++) {
        struct secret_hit *last = &hits[kept];
        if (hits[i].span.at >= last->span.end) {
            hits[++kept] = hits[i];
            continue;
        }
        if (hits[i].span.end > last->span.end)
            last->span.end = hits[i].span.end;
        last->rule = prevailing_rule(f, last->rule, hits[i].rule);
        last->drop_whole |= hits[i].drop_whole;
        last->is_member =
            (last->is_member || hits[i].is_member) && !secret_search_is_value(f, last->rule);
    }
    f->count = first + kept + 1;
}

void secret_search_merge(struct secret_search *f)
{
    merge_hits(f, 0);
}

void secret_search_add(struct secret_search *f, struct unescape_span span, uint32_t rule)
{
    add_hit(f, span.at, span.end, rule);
}

bool secret_search_has_value(const struct secret_search *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (secret_search_is_value(f, f->hits[i].rule))
            return true;
    return f->overflow;
}

static bool is_base64(char c)
{
    return ascii_is_alnum(c) || (c && strchr("+/-_=", c));
}

/* Adds a hit in base64, extended by the neighbours that carry bits of the value. */
static bool add_base64(struct secret_search *f, struct unescape_span s, size_t before,
                       size_t behind, uint32_t rule)
{
    for (; before && s.at && is_base64(f->text.at[s.at - 1]); before--)
        s.at--;
    for (; behind && s.end < f->text.len && is_base64(f->text.at[s.end]); behind--)
        s.end++;
    return add_hit(f, s.at, s.end, rule);
}

/* All names share one skip position: a name inside the value of another is ignored. */
static bool try_name(struct secret_search *f, size_t at, const struct credential *c,
                     uint32_t rule)
{
    struct credential_span p;
    bool found;

    if (at < f->names_skip_until)
        return true;
    found = credential_match(c, f->text, at, &p);
    f->names_skip_until = p.end;
    return !found || add_named_hit(f, p.at, p.end, rule, p.is_member);
}

static bool try_credential(struct secret_search *f, size_t at, uint32_t row)
{
    const struct credential *c = &credential_rows[row];
    uint32_t rule = f->secrets->credentials[row];
    struct credential_span p;
    bool found;

    if (c->kind == CREDENTIAL_NAMED)
        return try_name(f, at, c, rule);
    if (!f->skip_valid) {
        memset(f->skip_until, 0, f->secrets->credential_rows * sizeof *f->skip_until);
        f->skip_valid = true;
    }
    if (at < f->skip_until[row])
        return true;
    found = credential_match(c, f->text, at, &p);
    f->skip_until[row] = p.end;
    f->pem_unterminated |= found && p.unterminated;
    return !found || add_hit(f, p.at, p.end, rule);
}

static bool try_member(struct secret_search *f, size_t end)
{
    struct secret_name_value v;
    struct secret_name n;

    if (!secret_name_find_value(f->text, end, true, &v))
        return true;
    n = secret_name_normalize(v.name);
    return !map_get(&f->secrets->members, str_n(n.text, n.len)) ||
           add_named_hit(f, v.at, v.end, f->secrets->member_rule, true);
}

static void note_placeholder(struct secret_search *f, size_t at)
{
    enum { MOST = 1000000 };
    uint32_t n = 0;

    for (; at < f->text.len && ascii_is_digit(f->text.at[at]) && n < MOST; at++)
        n = 10 * n + (uint32_t)(f->text.at[at] - '0');
    if (n > f->max_placeholder && n < MOST)
        f->max_placeholder = n;
}

static bool on_literal(void *to, size_t at, size_t end, uint32_t id)
{
    struct secret_search *f = to;
    uint32_t index = id & INDEX_MASK;

    switch ((enum literal_purpose)(id >> PURPOSE_SHIFT)) {
    case PLAIN:
        return add_hit(f, at, end, index);
    case BASE64:
        return add_base64(f, (struct unescape_span){ at, end }, 1, 2, index);
    case BASE64_TWICE:
        return add_base64(f, (struct unescape_span){ at, end }, 3, 4, index);
    case CREDENTIAL:
        return try_credential(f, at, index);
    case PATTERN_HINT:
        f->may_match_pattern = true;
        return true;
    case PLACEHOLDER:
        note_placeholder(f, end);
        return true;
    case MEMBER:
        return try_member(f, end - 1);
    case BASE64_MEMBER:
        f->has_base64_member = true;
        return true;
    }
    BUG("a literal without a purpose");
}

static bool on_seen(void *to, size_t at, size_t end, enum encoding encoding, uint32_t value)
{
    struct secret_search *f = to;
    uint32_t rule = (uint32_t)f->secrets->count + value;
    struct unescape_span span = { at, end };

    switch (encoding) {
    case ENCODING_BASE64:
        return add_base64(f, span, 1, 2, rule);
    case ENCODING_BASE64_TWICE:
        return add_base64(f, span, 3, 4, rule);
    case ENCODING_PLAIN:
    case ENCODING_HEX:
        return add_hit(f, at, end, rule);
    }
    BUG("an unknown encoding");
}

static bool on_match(void *to, size_t pattern, size_t at, size_t end)
{
    struct secret_search *f = to;
    const struct secret_rules *s = f->secrets;

    return add_hit(f, at, end, (uint32_t)(s->count - s->patterns + pattern));
}

static void search_layer(struct secret_search *f, struct str text, bool patterns)
{
    f->text = text;
    if (patterns) {
        f->overflow |= !regex_set_search(f->secrets->regexes, text, on_match, f);
        return;
    }
    f->skip_valid = false;
    f->names_skip_until = 0;
    f->overflow |= !multi_search_scan(&f->secrets->literals, text, on_literal, f) ||
                   (f->seen && !seen_secrets_scan(f->seen, text, on_seen, f));
}

/* How the layers of a text are searched. */
struct layer_mode {
    bool escaped;   /* the outermost layer is JSON-escaped and is not itself searched */
    bool patterns;  /* search only for patterns */
    unsigned kinds; /* of escapes that are removed between two layers */
};

static unsigned escape_kinds(const struct layer_mode *w, size_t layer)
{
    return layer == 0 && w->escaped ? UNESCAPE_BACKSLASH : w->kinds;
}

static struct str layer_text(const struct secret_search *f, struct str text, size_t layer)
{
    return layer ? buf_str(&f->layers[layer - 1]) : text;
}

/* Clips a hit to its JSON string: in a lower layer the closing quote may look escaped. */
static void clip_to_string(struct str text, struct unescape_span *s)
{
    size_t i = s->at;

    while (i < s->end && text.at[i] != '"')
        i += text.at[i] == '\\' ? 2 : 1;
    s->end = i < s->end ? i : s->end;
}

/* Maps the hits of a layer to positions in the text. */
static void map_to_text(struct secret_search *f, struct str text, const struct layer_mode *w,
                        size_t layer, size_t first)
{
    bool below = layer > 0;

    merge_hits(f, first);
    while (layer--)
        unescape_map_back(layer_text(f, text, layer), escape_kinds(w, layer),
                          &f->hits[first].span, sizeof *f->hits, f->count - first);
    for (size_t i = first; below && i < f->count; i++)
        if (f->hits[i].is_member)
            clip_to_string(text, &f->hits[i].span);
}

/* Adds a hit at the first escape below the last layer. secret_search_is_too_deep() finds
 * others. */
static void add_depth_hit(struct secret_search *f, struct str text, unsigned kinds)
{
    struct unescape_span first;

    if (unescape_find(text, kinds, 0, &first))
        add_hit(f, first.at, first.end, f->secrets->depth_rule);
}

static void free_large_layers(struct secret_search *f)
{
    for (size_t i = 0; i < SECRET_RULES_LAYERS; i++)
        if (f->layers[i].cap > KEEP_LAYER) {
            buf_release(&f->layers[i]);
            buf_init(&f->layers[i], LIMIT_LINE);
        }
}

static bool has_more_layers(struct secret_search *f, struct str text, unsigned kinds)
{
    struct unescape_span ignored;

    for (size_t layer = 0; layer < SECRET_RULES_LAYERS; layer++) {
        buf_clear(&f->layers[layer]);
        if (!unescape_text(text, kinds, &f->layers[layer]))
            return false;
        text = buf_str(&f->layers[layer]);
    }
    return unescape_find(text, kinds, 0, &ignored);
}

bool secret_search_is_too_deep(struct secret_search *f, struct str text)
{
    bool deep = f->secrets->values && (has_more_layers(f, text, UNESCAPE_ALL) ||
                                       has_more_layers(f, text, UNESCAPE_BACKSLASH));

    free_large_layers(f);
    return deep;
}

/* Searches every layer of a text. Returns whether there was more than one. */
static bool search_layers(struct secret_search *f, struct str text, const struct layer_mode *w)
{
    bool used = false;

    for (size_t layer = 0; !f->overflow; layer++) {
        size_t first = f->count;
        struct str now = layer_text(f, text, layer);
        struct buf *next;

        if (layer || !w->escaped)
            search_layer(f, now, w->patterns);
        if (layer == SECRET_RULES_LAYERS && f->secrets->values && !w->patterns)
            add_depth_hit(f, now, w->kinds);
        if (f->count > first)
            map_to_text(f, text, w, layer, first);
        if (layer == SECRET_RULES_LAYERS)
            break;
        next = &f->layers[layer];
        buf_clear(next);
        if (!unescape_text(now, escape_kinds(w, layer), next))
            break;
        used = true;
        f->overflow |= next->full;
    }
    if (used)
        free_large_layers(f);
    return used;
}

static bool has_char(struct str text, char c)
{
    return text.len && memchr(text.at, c, text.len);
}

/* Searches all layers; if kinds of escapes are mixed, again with backslashes only: the "%ab" of
 * "100%ab\"c" may only look like an escape. */
static void search_text(struct secret_search *f, struct str text, struct layer_mode w)
{
    if (search_layers(f, text, &w) && has_char(text, '\\') &&
        (has_char(text, '%') || has_char(text, '&'))) {
        w.kinds = UNESCAPE_BACKSLASH;
        search_layers(f, text, &w);
    }
}

bool secret_search_find(struct secret_search *f, struct str text)
{
    f->count = 0;
    f->overflow = f->pem_unterminated = f->has_base64_member = false;
    f->may_match_pattern = f->secrets->match_always;
    if (f->secrets->literals.count || (f->seen && f->seen->active))
        search_text(f, text, (struct layer_mode){ .kinds = UNESCAPE_ALL });
    merge_hits(f, 0);
    return f->count || f->overflow || f->may_match_pattern || f->has_base64_member;
}

void secret_search_match_patterns(struct secret_search *f, struct str text, bool escaped,
                                  size_t offset)
{
    size_t first = f->count;

    search_text(f, text, (struct layer_mode){ escaped, true, UNESCAPE_ALL });
    for (size_t i = first; i < f->count; i++) {
        f->hits[i].span.at += offset;
        f->hits[i].span.end += offset;
    }
}
