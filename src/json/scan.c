#include "json/scan.h"

#include "base/ascii.h"
#include "base/mem.h"
#include "json/scan-simd.h"

/* Code that runs for every byte must be inlined; other code must not take registers from it. */
#define HOT static inline __attribute__((always_inline))
#define COLD static __attribute__((noinline))

enum { FIRST_NODES = 64 };
enum { NO_PARENT = UINT32_MAX }; /* the parent of the outermost container */

struct scan {
    const unsigned char *text;
    size_t len;
    uint32_t max_depth;
    struct json_node *nodes, *limit; /* the room there is */
    struct json_node *next;          /* the first that is free, when all is over */
    struct simd_quotes quotes;       /* set by those who find a string's end */
    struct json_fault *fault;
};

/* Where a scan stands. Lives in registers: only what is inlined gets its address.
 * While a container is open its node holds its parent in `size`, so the nodes
 * themselves are the stack. */
struct scan_cursor {
    size_t i;                  /* offset in the text */
    struct json_node *n;       /* the first that is free */
    struct simd_quotes quotes; /* those that come next */
    uint32_t open;             /* innermost open container, or NOWHERE */
    uint32_t children;         /* of it so far */
    uint32_t depth;            /* containers that are open */
    unsigned char closer;      /* the bracket that ends the innermost */
};

/* The steps below look at an offset and return the one after what they found; 0, which
 * is after nothing, when there is a fault, which they note.
 *
 * `guarded` is a constant to the compiler, which so makes two scanners of one source:
 * in a text that ends in a closing bracket nothing but a string can run over the end,
 * and only strings and what follows a bracket need a look at the length. */

static size_t set_fault(struct scan *s, size_t at, enum json_fault_kind kind, const char *what)
{
    *s->fault = (struct json_fault){ kind, at, what };
    return 0;
}

static size_t set_syntax_fault(struct scan *s, size_t at, const char *what)
{
    if (at == s->len)
        return set_fault(s, at, JSON_FAULT_TRUNCATED, "unexpected end");
    return set_fault(s, at, JSON_FAULT_SYNTAX, what);
}

/* The byte at an offset; behind the end a NUL, which is as wrong as can be. */
HOT unsigned char peek(const struct scan *s, size_t i, bool guarded)
{
    return guarded || i < s->len ? s->text[i] : 0;
}

COLD size_t skip_blanks(const struct scan *s, size_t i)
{
    while (i < s->len && ascii_is_blank((char)s->text[i]))
        i++;
    return i;
}

/* Makes room for a value at `at` and returns where that is. */
COLD struct json_node *grow_nodes(struct scan *s, struct json_node *n, size_t at)
{
    size_t count = (size_t)(n - s->nodes), cap = count;

    _Static_assert(JSON_MAX_VALUES % FIRST_NODES == 0 &&
                       !(JSON_MAX_VALUES & (JSON_MAX_VALUES - 1)),
                   "the doubled capacity does not reach the limit");
    if (count == JSON_MAX_VALUES) {
        set_fault(s, at, JSON_FAULT_SIZE, "too many values");
        return NULL;
    }
    s->nodes = mem_reserve(s->nodes, &cap, count ? count + 1 : FIRST_NODES, sizeof *s->nodes);
    s->limit = s->nodes + cap;
    return s->nodes + count;
}

HOT bool has_room(struct scan *s, struct scan_cursor *h)
{
    return h->n != s->limit || (h->n = grow_nodes(s, h->n, h->i));
}

HOT size_t put_node(struct json_node *n, size_t at, size_t end, uint32_t info)
{
    *n = (struct json_node){ (uint32_t)at, (uint32_t)end, 1, info };
    return end;
}

/* One UTF-8 character of more than one byte. The second byte alone decides about
 * overlong forms, surrogates and the end of Unicode. */
static size_t scan_wide_char(struct scan *s, size_t i)
{
    unsigned char first = s->text[i];
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    int more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;

    if (first < 0xC2 || first > 0xF4)
        return set_fault(s, i, JSON_FAULT_UTF8, "not UTF-8");
    for (i++; more; more--, i++) {
        if (i == s->len)
            return set_syntax_fault(s, i, NULL);
        if (s->text[i] < low || s->text[i] > high)
            return set_fault(s, i, JSON_FAULT_UTF8, "not UTF-8");
        low = 0x80;
        high = 0xBF;
    }
    return i;
}

/* `i` is at the backslash. */
static size_t scan_escape(struct scan *s, size_t i)
{
    switch (peek(s, ++i, false)) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return i + 1;
    case 'u':
        i++;
        for (int n = 0; n < 4; n++, i++)
            if (ascii_hex((char)peek(s, i, false)) < 0)
                return set_syntax_fault(s, i, "expected four hex digits after '\\u'");
        return i;
    default:
        return set_syntax_fault(s, i, "no such escape");
    }
}

/* Any string; `i` is at its quote. */
COLD size_t scan_any_string(struct scan *s, size_t i, struct json_node *n)
{
    size_t at = i++;
    uint32_t info = JSON_STRING;

    while (i) {
        i = simd_skip_valid(s->text, s->len, i, &info);
        if (i == s->len)
            return set_syntax_fault(s, i, NULL);
        if (s->text[i] == '"')
            return put_node(n, at, i + 1, info);
        if (s->text[i] == '\\') {
            info |= JSON_INFO_ESCAPES;
            i = scan_escape(s, i);
        } else if (s->text[i] >= 0x80) {
            i = scan_wide_char(s, i);
        } else {
            i = set_syntax_fault(s, i, "control character in a string");
        }
    }
    return 0;
}

/* A string whose end is not among the known quotes; learns those that follow. */
COLD size_t scan_far_string(struct scan *s, size_t i, struct json_node *n)
{
    struct simd_quotes q = simd_find_quotes(s->text, s->len, i + 1);
    size_t end;

    if (q.mask) {
        end = q.from + (unsigned)__builtin_ctzll(q.mask) + 1;
        q.mask &= q.mask - 1;
        s->quotes = q;
        return put_node(n, i, end, JSON_STRING);
    }
    end = scan_any_string(s, i, n);
    if (end)
        s->quotes = simd_find_quotes(s->text, s->len, end);
    return end;
}

/* Most strings are short and plain: the next known quote but one is their end. That it
 * does not have to be looked for from `i` on is what makes the scanner fast, because
 * the processor need not know where a value ends to begin with the next. */
HOT size_t scan_string(struct scan *s, struct scan_cursor *h)
{
    uint64_t others = h->quotes.mask & (h->quotes.mask - 1);
    size_t end;

    if (others) {
        end = h->quotes.from + (unsigned)__builtin_ctzll(others) + 1;
        h->quotes.mask = others & (others - 1);
        return put_node(h->n++, h->i, end, JSON_STRING);
    }
    end = scan_far_string(s, h->i, h->n++);
    h->quotes = s->quotes;
    return end;
}

static size_t scan_digits(struct scan *s, size_t i)
{
    if (!ascii_is_digit((char)peek(s, i, false)))
        return set_syntax_fault(s, i, "expected a digit");
    while (ascii_is_digit((char)peek(s, i, false)))
        i++;
    return i;
}

COLD size_t scan_any_number(struct scan *s, size_t i, struct json_node *n)
{
    size_t at = i, first;

    i += s->text[i] == '-';
    first = i;
    i = scan_digits(s, i);
    if (i && s->text[first] == '0' && i > first + 1)
        return set_syntax_fault(s, first + 1, "a number must not start with 0");
    if (i && peek(s, i, false) == '.')
        i = scan_digits(s, i + 1);
    if (i && (peek(s, i, false) | 0x20) == 'e') {
        i++;
        i += peek(s, i, false) == '+' || peek(s, i, false) == '-';
        i = scan_digits(s, i);
    }
    return i ? put_node(n, at, i, JSON_NUMBER) : 0;
}

/* Most numbers are short and have no exponent. */
HOT size_t scan_number(struct scan *s, struct scan_cursor *h)
{
    size_t len = simd_number_len(s->text, s->len, h->i);

    return len ? put_node(h->n++, h->i, h->i + len, JSON_NUMBER)
               : scan_any_number(s, h->i, h->n++);
}

HOT size_t scan_word(struct scan *s, size_t i, struct json_node *n, struct str spelled,
                     enum json_type type)
{
    size_t same = 0;

    if (s->len - i >= spelled.len && !memcmp(s->text + i, spelled.at, spelled.len))
        return put_node(n, i, i + spelled.len, type);
    while (peek(s, i + same, false) == (unsigned char)spelled.at[same])
        same++;
    return set_syntax_fault(s, i + same, "expected a value");
}

COLD size_t scan_literal(struct scan *s, size_t i, struct json_node *n, unsigned char c)
{
    switch (c) {
    case 't':
        return scan_word(s, i, n, STR("true"), JSON_TRUE);
    case 'f':
        return scan_word(s, i, n, STR("false"), JSON_FALSE);
    case 'n':
        return scan_word(s, i, n, STR("null"), JSON_NULL);
    case 0xEF:
        return set_syntax_fault(s, i, "expected a value, not a byte order mark");
    default:
        return set_syntax_fault(s, i, "expected a value");
    }
}

HOT uint32_t container_info(const struct scan_cursor *h)
{
    return (h->closer == '}' ? JSON_OBJECT : JSON_ARRAY) | h->children << JSON_INFO_COUNT_SHIFT;
}

HOT size_t open_container(struct scan *s, struct scan_cursor *h)
{
    if (h->depth == s->max_depth)
        return set_fault(s, h->i, JSON_FAULT_DEPTH, "nested too deeply");
    if (h->depth++)
        s->nodes[h->open].info = container_info(h);
    *h->n = (struct json_node){ .at = (uint32_t)h->i, .size = h->open };
    h->open = (uint32_t)(h->n++ - s->nodes);
    h->children = 0;
    h->closer = s->text[h->i] == '{' ? '}' : ']';
    return h->i + 1;
}

HOT size_t close_container(struct scan *s, struct scan_cursor *h)
{
    struct json_node *n = &s->nodes[h->open];

    h->open = n->size;
    n->end = (uint32_t)h->i + 1;
    n->size = (uint32_t)(h->n - n);
    n->info = container_info(h);
    if (--h->depth) {
        uint32_t info = s->nodes[h->open].info;
        h->children = info >> JSON_INFO_COUNT_SHIFT;
        h->closer = (info & JSON_INFO_TYPE) == JSON_OBJECT ? '}' : ']';
    }
    return h->i + 1;
}

COLD size_t set_comma_fault(struct scan *s, size_t i, unsigned char closer)
{
    return set_syntax_fault(s, i,
                            closer == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
}

/* Scans between a value and the next: ends of containers and a comma. */
HOT size_t scan_separator(struct scan *s, struct scan_cursor *h, bool guarded)
{
    unsigned char c = peek(s, h->i, guarded);

    while (c != ',') {
        if (c != h->closer) {
            h->i = skip_blanks(s, h->i);
            c = peek(s, h->i, false);
            if (c == ',')
                break;
            if (c != h->closer)
                return set_comma_fault(s, h->i, h->closer);
        }
        h->i = close_container(s, h);
        if (!h->depth)
            return h->i;
        c = peek(s, h->i, false);
    }
    return h->i + 1;
}

/* The name of a member and its colon. */
HOT size_t scan_name(struct scan *s, struct scan_cursor *h, bool guarded)
{
    if (peek(s, h->i, guarded) != '"') {
        h->i = skip_blanks(s, h->i);
        if (peek(s, h->i, guarded) != '"')
            return set_syntax_fault(s, h->i, "expected a name in quotes");
    }
    if (!has_room(s, h))
        return 0;
    h->i = scan_string(s, h);
    if (!h->i)
        return 0;
    if (peek(s, h->i, guarded) != ':') {
        h->i = skip_blanks(s, h->i);
        if (peek(s, h->i, guarded) != ':')
            return set_syntax_fault(s, h->i, "expected ':'");
    }
    return h->i + 1;
}

HOT unsigned char peek_nonblank(const struct scan *s, struct scan_cursor *h, bool guarded)
{
    unsigned char c = peek(s, h->i, guarded);

    if (c > ' ')
        return c;
    h->i = skip_blanks(s, h->i);
    return peek(s, h->i, guarded);
}

/* A value and all inside it. Each round takes a name if there must be one, and a value
 * or the bracket it begins with. */
HOT size_t scan_tree(struct scan *s, bool guarded)
{
    struct scan_cursor h = { .n = s->nodes, .open = NO_PARENT };

    do {
        unsigned char c;
        if (h.closer == '}' && !(h.i = scan_name(s, &h, guarded)))
            return 0;
        h.children++;
        c = peek_nonblank(s, &h, guarded);
        if (!has_room(s, &h))
            return 0;
        if (c == '"') {
            h.i = scan_string(s, &h);
        } else if (c == '-' || ascii_is_digit((char)c)) {
            h.i = scan_number(s, &h);
        } else if (c == '{' || c == '[') {
            h.i = open_container(s, &h);
            if (!h.i)
                return 0;
            if (peek_nonblank(s, &h, guarded) != h.closer)
                continue;
        } else {
            h.i = scan_literal(s, h.i, h.n++, c);
        }
        if (!h.i)
            return 0;
        if (!h.depth)
            break;
        h.i = scan_separator(s, &h, guarded);
    } while (h.i && h.depth);
    s->next = h.n;
    return h.i;
}

COLD size_t scan_tree_guarded(struct scan *s)
{
    return scan_tree(s, true);
}

COLD size_t scan_tree_checked(struct scan *s)
{
    return scan_tree(s, false);
}

static bool ends_in_bracket(const struct scan *s)
{
    size_t len = s->len;

    while (len && ascii_is_blank((char)s->text[len - 1]))
        len--;
    return len && (s->text[len - 1] == '}' || s->text[len - 1] == ']');
}

static size_t scan_value(struct scan *s, const struct json *j, struct str text,
                         struct json_fault *fault)
{
    *s = (struct scan){
        .text = (const unsigned char *)(text.at ? text.at : ""), /* STR_NONE is an empty text */
        .len = text.len,
        .max_depth = JSON_MAX_DEPTH + j->extra_depth,
        .nodes = j->nodes,
        .limit = j->nodes ? j->nodes + j->cap : NULL,
        .fault = fault,
    };
    if (text.len > JSON_MAX_TEXT)
        return set_fault(s, JSON_MAX_TEXT, JSON_FAULT_SIZE, "text too long");
    return ends_in_bracket(s) ? scan_tree_guarded(s) : scan_tree_checked(s);
}

/* Keeps what the scan found, if it is all right. */
static bool finish_scan(const struct scan *s, struct json *j, bool ok)
{
    j->text = str_n((const char *)s->text, s->len);
    j->nodes = s->nodes;
    j->cap = s->nodes ? (size_t)(s->limit - s->nodes) : 0;
    j->count = ok ? (size_t)(s->next - s->nodes) : 0;
    return ok;
}

bool json_scan_first(struct json *j, struct str text, size_t *used, struct json_fault *fault)
{
    struct scan s;
    size_t end = scan_value(&s, j, text, fault);

    if (end)
        *used = end;
    return finish_scan(&s, j, end);
}

bool json_scan(struct json *j, struct str text, struct json_fault *fault)
{
    struct scan s;
    size_t end = scan_value(&s, j, text, fault);

    if (end)
        end = skip_blanks(&s, end);
    if (end && end < s.len)
        end = set_syntax_fault(&s, end, "expected nothing after the value");
    return finish_scan(&s, j, end);
}
