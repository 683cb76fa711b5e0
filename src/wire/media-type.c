#include "wire/media-type.h"

#include "base/ascii.h"

enum { Q_MAX = 1000 };

/* "type/subtype" and its parameters. */
struct media_range {
    struct str type, subtype, parameters;
};

static struct str first_bytes(struct str s, size_t n)
{
    return str_n(s.at, n);
}

static bool parse_range(struct media_range *r, struct str s)
{
    size_t slash = str_find(s, '/');
    size_t n;

    r->type = first_bytes(s, slash);
    s = str_skip(s, slash + 1);
    n = headers_token_length(s);
    r->subtype = first_bytes(s, n);
    r->parameters = headers_skip_blanks(str_skip(s, n));
    return headers_is_token(r->type) && n > 0;
}

enum parameter { PARAMETER_END, PARAMETER_BAD, PARAMETER };

/* Cuts off the next "; name=value"; a semicolon may be alone. */
static enum parameter next_parameter(struct str *rest, struct str *name, struct str *value)
{
    struct str s = headers_skip_blanks(*rest);
    size_t n;

    *name = *value = STR_NONE;
    if (!s.len)
        return PARAMETER_END;
    if (s.at[0] != ';')
        return PARAMETER_BAD;
    s = headers_skip_blanks(str_skip(s, 1));
    n = headers_token_length(s);
    *name = first_bytes(s, n);
    if (n) {
        s = str_skip(s, n);
        if (!s.len || s.at[0] != '=')
            return PARAMETER_BAD;
        s = str_skip(s, 1);
        n = headers_word_length(s);
        if (!n)
            return PARAMETER_BAD;
        *value = first_bytes(s, n);
        s = str_skip(s, n);
    }
    *rest = s;
    return PARAMETER;
}

static enum media_type media_type_by_name(struct str type, struct str subtype)
{
    if (headers_equal_nocase(type, STR("application")) &&
        headers_equal_nocase(subtype, STR("json")))
        return MEDIA_JSON;
    if (headers_equal_nocase(type, STR("text")) &&
        headers_equal_nocase(subtype, STR("event-stream")))
        return MEDIA_SSE;
    return MEDIA_OTHER;
}

enum media_type media_type_parse(struct str content_type)
{
    struct str name, value;
    enum parameter p;
    struct media_range r;

    if (str_eq(content_type, STR("application/json"))) /* the most frequent value */
        return MEDIA_JSON;
    if (!parse_range(&r, content_type))
        return MEDIA_OTHER;
    do
        p = next_parameter(&r.parameters, &name, &value);
    while (p == PARAMETER);
    return p == PARAMETER_BAD ? MEDIA_OTHER : media_type_by_name(r.type, r.subtype);
}

enum media_type media_type_of_headers(const struct headers *f)
{
    const struct header *first = headers_next(f, STR("content-type"), NULL);

    if (!first)
        return MEDIA_NONE;
    return headers_next(f, STR("content-type"), first) ? MEDIA_OTHER
                                                       : media_type_parse(first->value);
}

/* Parses "0", "0.5" or "1.000": up to three decimals. */
static bool parse_q(struct str s, unsigned *q)
{
    unsigned weight = Q_MAX;

    if (s.len == 0 || s.len > 5 || (s.at[0] != '0' && s.at[0] != '1'))
        return false;
    *q = s.at[0] == '1' ? Q_MAX : 0;
    if (s.len > 1 && s.at[1] != '.')
        return false;
    for (size_t i = 2; i < s.len; i++) {
        if (!ascii_is_digit(s.at[i]))
            return false;
        *q += (weight /= 10) * (unsigned)(s.at[i] - '0');
    }
    return *q <= Q_MAX;
}

/* Parses an element of Accept; false if it is malformed, then it is ignored. */
static bool parse_element(struct media_range *r, struct str s, unsigned *q)
{
    struct str name, value;
    enum parameter p;

    *q = Q_MAX;
    if (!parse_range(r, s))
        return false;
    while ((p = next_parameter(&r->parameters, &name, &value)) == PARAMETER) {
        if (headers_equal_nocase(name, STR("q")) && !parse_q(value, q))
            return false;
    }
    return p == PARAMETER_END;
}

/* Returns how specific a range with `*` as its subtype is for a type; 0: it does not match. */
static int specificity(const struct media_range *r, enum media_type m)
{
    if (headers_equal_nocase(r->type, m == MEDIA_JSON ? STR("application") : STR("text")))
        return 2;
    return str_eq(r->type, STR("*"));
}

static void apply_element(struct media_type_accept *a, int best[MEDIA_COUNT],
                          struct str element)
{
    enum media_type named;
    struct media_range r;
    unsigned q;
    bool all;

    if (!parse_element(&r, element, &q))
        return;
    named = media_type_by_name(r.type, r.subtype);
    all = str_eq(r.subtype, STR("*"));
    for (enum media_type m = 0; m < MEDIA_COUNT; m++) {
        int rank = m == named ? 3 : all ? specificity(&r, m) : 0;

        if (rank == 0 || rank < best[m] || (rank == best[m] && q <= a->types[m].q))
            continue;
        best[m] = rank;
        a->types[m] = (struct media_type_quality){ q, rank == 3 && q > 0 };
    }
}

/* The value that all SDKs send is compared as text: further elements could not change its
 * result. */
struct media_type_accept media_type_accept(const struct headers *f)
{
    static const struct media_type_quality wanted = { Q_MAX, true };
    const struct header *at = headers_next(f, STR("accept"), NULL);
    struct media_type_accept a = { .present = at };
    int best[MEDIA_COUNT] = { 0 };

    if (at && str_eq(at->value, STR("application/json, text/event-stream")))
        return (struct media_type_accept){ .present = true, .types = { wanted, wanted } };
    for (; at; at = headers_next(f, STR("accept"), at)) {
        struct str rest = at->value, item;

        while (headers_next_item(&rest, &item))
            apply_element(&a, best, item);
    }
    for (enum media_type m = 0; m < MEDIA_COUNT && !a.present; m++)
        a.types[m].q = Q_MAX;
    return a;
}

static bool is_supported(struct str item)
{
    static const struct str known[] = { STR_INIT("gzip"), STR_INIT("x-gzip"), STR_INIT("zstd"),
                                        STR_INIT("identity") };
    struct str name = str_trim(str_cut(&item, ';'));

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (headers_equal_nocase(name, known[i]))
            return true;
    return false;
}

void media_type_supported_encodings(struct buf *to, struct str value)
{
    size_t start = to->len;
    struct str item;

    while (headers_next_item(&value, &item)) {
        if (!is_supported(item))
            continue;
        if (to->len > start)
            buf_add(to, STR(", "));
        buf_add(to, item);
    }
    if (to->len == start)
        buf_add(to, STR("identity"));
}
