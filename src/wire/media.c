#include "wire/media.h"

#include "base/ascii.h"

enum { Q_MAX = 1000 };

/* "type/subtype" and what follows it. */
struct range {
    struct str type, subtype, parameters;
};

static struct str before(struct str s, size_t n)
{
    return str_n(s.at, n);
}

static bool parse_range(struct range *r, struct str s)
{
    size_t slash = str_find(s, '/');
    size_t n;

    r->type = before(s, slash);
    s = str_skip(s, slash + 1);
    n = fields_token_length(s);
    r->subtype = before(s, n);
    r->parameters = fields_skip_blanks(str_skip(s, n));
    return fields_is_token(r->type) && n > 0;
}

enum parameter { PARAMETER_END, PARAMETER_BAD, PARAMETER };

/* Cuts the next "; name=value" off; a semicolon may stand without one. */
static enum parameter next_parameter(struct str *rest, struct str *name, struct str *value)
{
    struct str s = fields_skip_blanks(*rest);
    size_t n;

    *name = *value = STR_NONE;
    if (!s.len)
        return PARAMETER_END;
    if (s.at[0] != ';')
        return PARAMETER_BAD;
    s = fields_skip_blanks(str_skip(s, 1));
    n = fields_token_length(s);
    *name = before(s, n);
    if (n) {
        s = str_skip(s, n);
        if (!s.len || s.at[0] != '=')
            return PARAMETER_BAD;
        s = str_skip(s, 1);
        n = fields_word_length(s);
        if (!n)
            return PARAMETER_BAD;
        *value = before(s, n);
        s = str_skip(s, n);
    }
    *rest = s;
    return PARAMETER;
}

static enum media known(struct str type, struct str subtype)
{
    if (fields_same(type, STR("application")) && fields_same(subtype, STR("json")))
        return MEDIA_JSON;
    if (fields_same(type, STR("text")) && fields_same(subtype, STR("event-stream")))
        return MEDIA_SSE;
    return MEDIA_OTHER;
}

enum media media_of(struct str content_type)
{
    struct str name, value;
    enum parameter p;
    struct range r;

    if (str_eq(content_type, STR("application/json"))) /* as nearly all say it */
        return MEDIA_JSON;
    if (!parse_range(&r, content_type))
        return MEDIA_OTHER;
    do
        p = next_parameter(&r.parameters, &name, &value);
    while (p == PARAMETER);
    return p == PARAMETER_BAD ? MEDIA_OTHER : known(r.type, r.subtype);
}

enum media media_of_fields(const struct fields *f)
{
    const struct field *first = fields_next(f, STR("content-type"), NULL);

    if (!first)
        return MEDIA_NONE;
    return fields_next(f, STR("content-type"), first) ? MEDIA_OTHER : media_of(first->value);
}

/* "0", "0.5", "1.000": up to three digits behind the point. */
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

/* An element of Accept; false: it cannot be read and is passed over. */
static bool parse_element(struct range *r, struct str s, unsigned *q)
{
    struct str name, value;
    enum parameter p;

    *q = Q_MAX;
    if (!parse_range(r, s))
        return false;
    while ((p = next_parameter(&r->parameters, &name, &value)) == PARAMETER) {
        if (fields_same(name, STR("q")) && !parse_q(value, q))
            return false;
    }
    return p == PARAMETER_END;
}

/* How telling a range that has `*` for its subtype is of a type: 0 does not cover it. */
static int specificity(const struct range *r, enum media m)
{
    if (fields_same(r->type, m == MEDIA_JSON ? STR("application") : STR("text")))
        return 2;
    return str_eq(r->type, STR("*"));
}

static void take_element(struct media_accept *a, int told[MEDIA_COUNT], struct str element)
{
    enum media named;
    struct range r;
    unsigned q;
    bool all;

    if (!parse_element(&r, element, &q))
        return;
    named = known(r.type, r.subtype);
    all = str_eq(r.subtype, STR("*"));
    for (enum media m = 0; m < MEDIA_COUNT; m++) {
        int much = m == named ? 3 : all ? specificity(&r, m) : 0;

        if (much == 0 || much < told[m] || (much == told[m] && q <= a->of[m].q))
            continue;
        told[m] = much;
        a->of[m] = (struct media_liking){ q, much == 3 && q > 0 };
    }
}

/* What every SDK says is known by sight; nothing that follows could add to it. */
struct media_accept media_accept(const struct fields *f)
{
    static const struct media_liking wanted = { Q_MAX, true };
    const struct field *at = fields_next(f, STR("accept"), NULL);
    struct media_accept a = { .said = at };
    int told[MEDIA_COUNT] = { 0 };

    if (at && str_eq(at->value, STR("application/json, text/event-stream")))
        return (struct media_accept){ .said = true, .of = { wanted, wanted } };
    for (; at; at = fields_next(f, STR("accept"), at)) {
        struct str rest = at->value, item;

        while (fields_item(&rest, &item))
            take_element(&a, told, item);
    }
    for (enum media m = 0; m < MEDIA_COUNT && !a.said; m++)
        a.of[m].q = Q_MAX;
    return a;
}
