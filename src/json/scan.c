#include "json/scan.h"

#include "base/mem.h"
#include "json/run.h"

enum { FIRST_NODES = 64 };
enum { NOWHERE = UINT32_MAX }; /* the parent of the outermost container */

/* A scan under way. While a container is open its node holds its parent in
 * `next`, so the nodes themselves are the stack. */
struct scan {
    const unsigned char *text, *end;
    struct json_node *nodes;
    size_t count, cap;
    uint32_t open;     /* innermost open container, or NOWHERE */
    uint32_t children; /* of it so far */
    uint32_t depth;
    unsigned char closer; /* the bracket that ends it */
    struct json_fault *fault;
};

/* The steps below take the position to look at and return the one after what
 * they found, or NULL with the fault noted. */

static const unsigned char *bad(struct scan *s, const unsigned char *at,
                                enum json_fault_kind kind, const char *what)
{
    *s->fault = (struct json_fault){ kind, (size_t)(at - s->text), what };
    return NULL;
}

static const unsigned char *wrong(struct scan *s, const unsigned char *at, const char *what)
{
    if (at == s->end)
        return bad(s, at, JSON_FAULT_END, "unexpected end");
    return bad(s, at, JSON_FAULT_SYNTAX, what);
}

static uint32_t offset(const struct scan *s, const unsigned char *p)
{
    return (uint32_t)(p - s->text);
}

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static const unsigned char *skip_blanks(const unsigned char *p, const unsigned char *end)
{
    while (p < end && is_blank(*p))
        p++;
    return p;
}

/* Most texts have no blanks, and most others one at a time. */
static inline const unsigned char *blanks(const unsigned char *p, const unsigned char *end)
{
    if (p < end && *p <= ' ')
        return skip_blanks(p, end);
    return p;
}

static __attribute__((noinline)) bool grow(struct scan *s, const unsigned char *at)
{
    size_t need = s->cap ? s->cap + 1 : FIRST_NODES;

    if (need > JSON_MAX_VALUES) {
        bad(s, at, JSON_FAULT_SIZE, "too many values");
        return false;
    }
    s->nodes = mem_reserve(s->nodes, &s->cap, need, sizeof *s->nodes);
    return true;
}

static inline bool has_room(struct scan *s, const unsigned char *at)
{
    return s->count < s->cap || grow(s, at);
}

static inline void add(struct scan *s, const unsigned char *at, const unsigned char *end,
                       uint32_t info)
{
    s->nodes[s->count] = (struct json_node){
        .at = offset(s, at),
        .end = offset(s, end),
        .next = (uint32_t)s->count + 1,
        .info = info,
    };
    s->count++;
}

/* One UTF-8 character of more than one byte. The second byte alone decides about
 * overlong forms, surrogates and the end of Unicode. */
static const unsigned char *wide(struct scan *s, const unsigned char *p)
{
    unsigned char first = *p;
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    int more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;

    if (first < 0xC2 || first > 0xF4)
        return bad(s, p, JSON_FAULT_UTF8, "not UTF-8");
    for (p++; more; more--, p++) {
        if (p == s->end)
            return wrong(s, p, NULL);
        if (*p < low || *p > high)
            return bad(s, p, JSON_FAULT_UTF8, "not UTF-8");
        low = 0x80;
        high = 0xBF;
    }
    return p;
}

enum { ESCAPE = 1, HEX = 2 };

/* What may follow a backslash, and what may follow "\u". */
static const unsigned char letters[256] = {
    ['"'] = ESCAPE,       ['\\'] = ESCAPE,     ['/'] = ESCAPE, ['b'] = ESCAPE | HEX,
    ['f'] = ESCAPE | HEX, ['n'] = ESCAPE,      ['r'] = ESCAPE, ['t'] = ESCAPE,
    ['0' ... '9'] = HEX,  ['A' ... 'F'] = HEX, ['a'] = HEX,    ['c' ... 'e'] = HEX,
};

static const unsigned char *bad_escape(struct scan *s, const unsigned char *p)
{
    p++;
    if (p == s->end || *p != 'u')
        return wrong(s, p, "no such escape");
    for (p++; p < s->end && letters[*p] & HEX;)
        p++;
    return wrong(s, p, "expected four hex digits after '\\u'");
}

/* `p` is at the backslash. */
static inline const unsigned char *escape(struct scan *s, const unsigned char *p)
{
    if (s->end - p >= 2 && letters[p[1]] & ESCAPE)
        return p + 2;
    if (s->end - p >= 6 && p[1] == 'u' &&
        letters[p[2]] & letters[p[3]] & letters[p[4]] & letters[p[5]] & HEX)
        return p + 6;
    return bad_escape(s, p);
}

/* The rest of a string from its first byte that is not plain. */
static __attribute__((noinline)) const unsigned char *
string_rest(struct scan *s, const unsigned char *p, uint32_t *info)
{
    while (p) {
        p = run_sound(p, s->end, info);
        if (p == s->end)
            return wrong(s, p, NULL);
        if (*p == '"')
            return p + 1;
        if (*p == '\\') {
            *info |= JSON_INFO_ESCAPES;
            p = escape(s, p);
        } else if (*p >= 0x80) {
            p = wide(s, p);
        } else {
            p = wrong(s, p, "control character in a string");
        }
    }
    return NULL;
}

static inline const unsigned char *string(struct scan *s, const unsigned char *p)
{
    const unsigned char *at = p;
    uint32_t info = JSON_STRING;

    p = run_plain(p + 1, s->text, s->end);
    if (p < s->end && *p == '"')
        p++;
    else if (!(p = string_rest(s, p, &info)))
        return NULL;
    add(s, at, p, info);
    return p;
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static const unsigned char *digits(struct scan *s, const unsigned char *p)
{
    if (p == s->end || !is_digit(*p))
        return wrong(s, p, "expected a digit");
    while (p < s->end && is_digit(*p))
        p++;
    return p;
}

static const unsigned char *fraction(struct scan *s, const unsigned char *p)
{
    if (*p == '.')
        p = digits(s, p + 1);
    if (p && p < s->end && (*p | 0x20) == 'e') {
        p++;
        if (p < s->end && (*p == '+' || *p == '-'))
            p++;
        p = digits(s, p);
    }
    return p;
}

static inline const unsigned char *number(struct scan *s, const unsigned char *p)
{
    const unsigned char *at = p, *first;

    p += *p == '-';
    first = p;
    p = digits(s, p);
    if (p && *first == '0' && p > first + 1)
        return wrong(s, first + 1, "a number must not start with 0");
    if (p && p < s->end && (*p == '.' || (*p | 0x20) == 'e'))
        p = fraction(s, p);
    if (p)
        add(s, at, p, JSON_NUMBER);
    return p;
}

static inline const unsigned char *word(struct scan *s, const unsigned char *p,
                                        struct str spelled, enum json_type type)
{
    size_t i = 0;

    if ((size_t)(s->end - p) >= spelled.len && !memcmp(p, spelled.at, spelled.len)) {
        add(s, p, p + spelled.len, type);
        return p + spelled.len;
    }
    while (p + i < s->end && p[i] == (unsigned char)spelled.at[i])
        i++;
    return wrong(s, p + i, "expected a value");
}

static const unsigned char *scalar(struct scan *s, const unsigned char *p)
{
    switch (*p) {
    case 't':
        return word(s, p, STR("true"), JSON_TRUE);
    case 'f':
        return word(s, p, STR("false"), JSON_FALSE);
    case 'n':
        return word(s, p, STR("null"), JSON_NULL);
    case '-':
    case '0' ... '9':
        return number(s, p);
    case 0xEF:
        return wrong(s, p, "expected a value, not a byte order mark");
    default:
        return wrong(s, p, "expected a value");
    }
}

static const unsigned char *open(struct scan *s, const unsigned char *p)
{
    if (s->depth == JSON_MAX_DEPTH)
        return bad(s, p, JSON_FAULT_DEPTH, "nested too deeply");
    if (s->depth++)
        s->nodes[s->open].info |= s->children << JSON_INFO_COUNT_SHIFT;
    add(s, p, p, *p == '{' ? JSON_OBJECT : JSON_ARRAY);
    s->nodes[s->count - 1].next = s->open;
    s->open = (uint32_t)s->count - 1;
    s->children = 0;
    s->closer = *p == '{' ? '}' : ']';
    return blanks(p + 1, s->end);
}

static const unsigned char *close(struct scan *s, const unsigned char *p)
{
    struct json_node *n = &s->nodes[s->open];

    s->open = n->next;
    n->end = offset(s, p + 1);
    n->next = (uint32_t)s->count;
    n->info |= s->children << JSON_INFO_COUNT_SHIFT;
    if (--s->depth) {
        n = &s->nodes[s->open];
        s->children = n->info >> JSON_INFO_COUNT_SHIFT;
        n->info &= JSON_INFO_TYPE;
        s->closer = n->info == JSON_OBJECT ? '}' : ']';
    }
    return p + 1;
}

/* What stands between a value and the next: the ends of containers, a comma. */
static inline const unsigned char *after(struct scan *s, const unsigned char *p)
{
    while (s->depth) {
        p = blanks(p, s->end);
        if (p < s->end && *p == ',')
            return blanks(p + 1, s->end);
        if (p == s->end || *p != s->closer)
            return wrong(s, p,
                         s->closer == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
        p = close(s, p);
    }
    return p;
}

static inline const unsigned char *name(struct scan *s, const unsigned char *p)
{
    if (p == s->end || *p != '"')
        return wrong(s, p, "expected a name in quotes");
    if (!has_room(s, p))
        return NULL;
    p = string(s, p);
    if (!p)
        return NULL;
    p = blanks(p, s->end);
    if (p == s->end || *p != ':')
        return wrong(s, p, "expected ':'");
    return blanks(p + 1, s->end);
}

/* One value and all inside it. Each round takes a name if there must be one, and
 * a value, or the bracket that begins it. */
static const unsigned char *tree(struct scan *s, const unsigned char *p)
{
    for (;;) {
        if (s->depth) {
            s->children++;
            if (s->closer == '}')
                p = name(s, p);
        }
        if (!p)
            return NULL;
        if (p == s->end)
            return wrong(s, p, NULL);
        if (!has_room(s, p))
            return NULL;
        if (*p == '"') {
            p = string(s, p);
        } else if (*p == '{' || *p == '[') {
            p = open(s, p);
            if (p && (p == s->end || *p != s->closer))
                continue;
        } else {
            p = scalar(s, p);
        }
        if (p)
            p = after(s, p);
        if (!p || !s->depth)
            return p;
    }
}

/* Keeps what the scan found, if it came to the end. */
static bool finish(struct scan *s, struct json *j, const unsigned char *p)
{
    j->text = str_n((const char *)s->text, (size_t)(s->end - s->text));
    j->nodes = s->nodes;
    j->cap = s->cap;
    j->count = p ? s->count : 0;
    return p != NULL;
}

static const unsigned char *first(struct scan *s, struct json *j, struct str text,
                                  struct json_fault *fault)
{
    /* STR_NONE is an empty text, but nowhere to count from. */
    const unsigned char *at = (const unsigned char *)(text.at ? text.at : "");

    *s = (struct scan){
        .text = at,
        .end = at + text.len,
        .nodes = j->nodes,
        .cap = j->cap,
        .open = NOWHERE,
        .fault = fault,
    };
    if (text.len > JSON_MAX_TEXT)
        return bad(s, s->text + JSON_MAX_TEXT, JSON_FAULT_SIZE, "text too long");
    return tree(s, blanks(s->text, s->end));
}

bool json_scan_first(struct json *j, struct str text, size_t *used, struct json_fault *fault)
{
    struct scan s;
    const unsigned char *p = first(&s, j, text, fault);

    if (p)
        *used = (size_t)(p - s.text);
    return finish(&s, j, p);
}

bool json_scan(struct json *j, struct str text, struct json_fault *fault)
{
    struct scan s;
    const unsigned char *p = first(&s, j, text, fault);

    if (p)
        p = blanks(p, s.end);
    if (p && p < s.end)
        p = wrong(&s, p, "expected nothing after the value");
    return finish(&s, j, p);
}
