#include "trace/filter-parse.h"

#include "base/ascii.h"
#include "base/utf8.h"

enum { DEPTH = 32, VALUES = 256 };

struct parser {
    struct filter *f;
    struct str rest;
    size_t depth;
    bool listing; /* values, which commas part */
    struct filter_fault *fault;
    struct err *e;
};

static size_t position(const struct parser *p)
{
    return p->f->query.len - p->rest.len;
}

/* Puts the place before what is said already. */
static bool at_place(struct parser *p, size_t at, size_t len)
{
    *p->fault = (struct filter_fault){ at, len };
    return err_wrap(p->e, "bad filter at byte %zu", at + 1);
}

static bool refuse(struct parser *p, size_t len, const char *what)
{
    err_set(p->e, ERR_USAGE, "%s", what);
    return at_place(p, position(p), len < p->rest.len ? len : p->rest.len);
}

static char peek(const struct parser *p, size_t ahead)
{
    return ahead < p->rest.len ? p->rest.at[ahead] : '\0';
}

static void skip(struct parser *p, size_t n)
{
    p->rest = str_skip(p->rest, n);
}

static bool take(struct parser *p, char c)
{
    if (peek(p, 0) != c)
        return false;
    skip(p, 1);
    return true;
}

/* What ends a word. */
static bool is_end(const struct parser *p, size_t ahead)
{
    return ahead >= p->rest.len || ascii_is_blank(p->rest.at[ahead]) ||
           strchr(p->listing ? "()|\"," : "()|\"", p->rest.at[ahead]);
}

static void skip_blanks(struct parser *p)
{
    while (p->rest.len && ascii_is_blank(p->rest.at[0]))
        skip(p, 1);
}

static size_t word_length(const struct parser *p)
{
    size_t n = 0;

    while (!is_end(p, n))
        n++;
    return n;
}

/* A keyword stands alone: "ORDER" is a word. */
static bool take_keyword(struct parser *p, struct str word)
{
    if (!str_starts(p->rest, word) || word_length(p) != word.len)
        return false;
    skip(p, word.len);
    return true;
}

/* "…": \" and \\ stand for the characters themselves. */
static bool take_string(struct parser *p, struct filter_token *t)
{
    struct buf text;
    size_t n = 1;

    while (n < p->rest.len && p->rest.at[n] != '"')
        n += p->rest.at[n] == '\\' ? 2 : 1;
    if (n >= p->rest.len)
        return refuse(p, p->rest.len, "a string without an end");
    buf_init(&text, n);
    for (size_t i = 1; i < n; i++) {
        if (p->rest.at[i] == '\\' && strchr("\"\\", p->rest.at[i + 1]))
            i++;
        buf_add_ch(&text, p->rest.at[i]);
    }
    *t = (struct filter_token){ TOKEN_STRING, arena_str(&p->f->arena, buf_str(&text)) };
    buf_release(&text);
    skip(p, n + 1);
    return true;
}

/* /…/ and /…/i: a regular expression only if the first slash that closes it ends the
 * word; "/etc/passwd" is a word like any other. */
static bool take_regex(struct parser *p, struct filter_token *t)
{
    size_t n = 1, end;

    while (n < p->rest.len && p->rest.at[n] != '/')
        n += p->rest.at[n] == '\\' ? 2 : 1;
    if (n >= p->rest.len || n == 1)
        return false;
    end = n + 1 + (peek(p, n + 1) == 'i');
    if (!is_end(p, end))
        return false;
    *t = (struct filter_token){ TOKEN_REGEX, str_n(p->rest.at + 1, n - 1) };
    skip(p, end);
    return true;
}

static bool take_token(struct parser *p, struct filter_token *t)
{
    size_t n;

    if (peek(p, 0) == '"')
        return take_string(p, t);
    if (peek(p, 0) == '/' && take_regex(p, t))
        return true;
    n = word_length(p);
    if (!n)
        return refuse(p, 1, "expected a value");
    *t = (struct filter_token){ TOKEN_WORD, str_n(p->rest.at, n) };
    skip(p, n);
    return true;
}

static const struct {
    struct str text;
    enum filter_op op;
} ops[] = {
    { STR_INIT("!="), FILTER_IS_NOT },     { STR_INIT(">="), FILTER_GREATER_EQUAL },
    { STR_INIT("<="), FILTER_LESS_EQUAL }, { STR_INIT(">"), FILTER_GREATER },
    { STR_INIT("<"), FILTER_LESS },        { STR_INIT("~"), FILTER_LIKE },
    { STR_INIT(":"), FILTER_IS },          { STR_INIT("="), FILTER_IS },
};

/* The operator `ahead` bytes from here: how long it is, or 0. */
static size_t find_op(const struct parser *p, size_t ahead, enum filter_op *op)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (str_starts(str_skip(p->rest, ahead), ops[i].text)) {
            *op = ops[i].op;
            return ops[i].text.len;
        }
    return 0;
}

static struct filter_term *new_term(struct parser *p, const struct filter_key *key)
{
    struct filter_term *t = &p->f->terms[p->f->count];

    if (p->f->count == FILTER_TERMS) {
        refuse(p, word_length(p), "too many terms");
        return NULL;
    }
    *t = (struct filter_term){ .key = key };
    buf_add_ch(&p->f->program, (char)p->f->count++);
    return t;
}

static bool add_value(struct parser *p, struct filter_term *t, enum filter_op op)
{
    size_t at = position(p);
    struct filter_token token;
    struct filter_value *v;

    if (t->count == VALUES)
        return refuse(p, word_length(p), "too many values");
    if (!take_token(p, &token))
        return false;
    v = &t->values[t->count];
    if (!filter_value_init(v, t->key, op, token, &p->f->arena, p->e))
        return at_place(p, at, position(p) - at);
    t->count++;
    return true;
}

/* How many values there can be at most, so that their place is known beforehand. */
static size_t count_commas(const struct parser *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->rest.len; i++)
        n += p->rest.at[i] == ',';
    return n < VALUES ? n : VALUES - 1;
}

static bool add_values(struct parser *p, struct filter_term *t, enum filter_op op)
{
    bool ok;

    t->differs = op == FILTER_IS_NOT;
    t->values = arena_alloc(&p->f->arena, (count_commas(p) + 1) * sizeof *t->values);
    p->listing = true;
    do {
        enum filter_op own = op, found;
        size_t n = op == FILTER_IS ? find_op(p, 0, &found) : 0;

        if (n && found >= FILTER_GREATER && found <= FILTER_LESS_EQUAL) {
            own = found;
            skip(p, n);
        }
        ok = add_value(p, t, own);
    } while (ok && take(p, ','));
    p->listing = false;
    return ok;
}

static bool is_inner(char c)
{
    return c == '-' || c == '_' || ascii_is_digit(c);
}

static size_t name_length(const struct parser *p)
{
    size_t n = 0;

    if (peek(p, 0) == '$')
        return 1;
    while (n < p->rest.len &&
           (ascii_is_letter(p->rest.at[n]) || (n && is_inner(p->rest.at[n]))))
        n++;
    return n;
}

/* How long a path is that starts here: up to a blank or an operator that does not stand
 * in brackets. */
static size_t path_length(const struct parser *p)
{
    enum filter_op op;
    bool inside = false;
    char quote = 0;
    size_t n = 0;

    for (; n < p->rest.len; n++) {
        char c = p->rest.at[n];
        if (quote) {
            if (c == '\\')
                n++;
            else if (c == quote)
                quote = 0;
        } else if (inside) {
            if (c == '\'' || c == '"')
                quote = c;
            else if (c == ']')
                inside = false;
        } else if (c == '[') {
            inside = true;
        } else if (is_end(p, n) || find_op(p, n, &op)) {
            break;
        }
    }
    return n < p->rest.len ? n : p->rest.len;
}

static bool path_term(struct parser *p, const struct filter_key *key, size_t name)
{
    struct filter_term *t = new_term(p, key);
    size_t at = position(p), n;
    enum filter_op op;
    struct str text;

    if (!t)
        return false;
    skip(p, name);
    n = path_length(p);
    t->path = arena_new(&p->f->arena, struct json_path);
    text = arena_printf(&p->f->arena, "$%.*s", (int)n, p->rest.at);
    if (!json_path_compile(t->path, text, &p->f->arena, p->e))
        return at_place(p, at, name + n);
    skip(p, n);
    n = find_op(p, 0, &op);
    skip(p, n);
    return !n || add_values(p, t, op);
}

static bool unknown_key(struct parser *p, struct str name)
{
    const char *near = filter_key_nearest(name);

    err_set(p->e, ERR_USAGE, "unknown key '%.*s'", STR_ARG(name));
    if (near)
        err_hint(p->e, "did you mean '%s'?", near);
    else
        err_hint(p->e, "to look for a text with ':', '=', '<', '>' or '~' in it, put it in "
                       "double quotes");
    return at_place(p, position(p), name.len);
}

/* A text that is looked for anywhere. */
static bool text_term(struct parser *p)
{
    struct filter_term *t = new_term(p, NULL);

    if (!t)
        return false;
    t->values = arena_new(&p->f->arena, struct filter_value);
    return add_value(p, t, FILTER_IS);
}

static bool simple_term(struct parser *p)
{
    struct str name = str_n(p->rest.at, name_length(p));
    const struct filter_key *key = filter_key_find(name);
    char next = peek(p, name.len);
    struct filter_term *t;
    enum filter_op op;
    size_t n;

    if (key && key->type == FILTER_PATH && (next == '.' || next == '['))
        return path_term(p, key, name.len);
    n = name.len ? find_op(p, name.len, &op) : 0;
    if (!n)
        return text_term(p);
    if (!key)
        return unknown_key(p, name);
    if (key->type == FILTER_PATH)
        return path_term(p, key, name.len);
    t = new_term(p, key);
    if (!t)
        return false;
    skip(p, name.len + n);
    if (op == FILTER_IS && filter_key_means_greater(name))
        op = FILTER_GREATER;
    return add_values(p, t, op);
}

static bool or_query(struct parser *p);

static bool group(struct parser *p)
{
    size_t at = position(p);

    if (p->depth == DEPTH)
        return refuse(p, 1, "too many groups in groups");
    p->depth++;
    skip(p, 1);
    if (!or_query(p))
        return false;
    p->depth--;
    if (take(p, ')'))
        return true;
    err_set(p->e, ERR_USAGE, "a group without its ')'");
    return at_place(p, at, 1);
}

static bool term(struct parser *p)
{
    bool negated = false;

    skip_blanks(p);
    if (take(p, '-') || take(p, '!')) {
        negated = true;
    } else if (take_keyword(p, STR("NOT"))) {
        negated = true;
        skip_blanks(p);
    }
    if (!p->rest.len || strchr(")|", p->rest.at[0]) || ascii_is_blank(p->rest.at[0]))
        return refuse(p, 1, "expected a text, a key or '('");
    if (!(peek(p, 0) == '(' ? group(p) : simple_term(p)))
        return false;
    if (negated)
        buf_add_ch(&p->f->program, FILTER_NOT);
    return true;
}

static bool at_or(const struct parser *p)
{
    return peek(p, 0) == '|' || (str_starts(p->rest, STR("OR")) && word_length(p) == 2);
}

static bool and_query(struct parser *p)
{
    if (!term(p))
        return false;
    for (;;) {
        skip_blanks(p);
        if (!p->rest.len || peek(p, 0) == ')' || at_or(p))
            return true;
        take_keyword(p, STR("AND"));
        if (!term(p))
            return false;
        buf_add_ch(&p->f->program, FILTER_AND);
    }
}

static bool or_query(struct parser *p)
{
    if (!and_query(p))
        return false;
    while (at_or(p)) {
        skip(p, peek(p, 0) == '|' ? 1 : sizeof "OR" - 1);
        if (!and_query(p))
            return false;
        buf_add_ch(&p->f->program, FILTER_OR);
    }
    return true;
}

bool filter_parse(struct filter *f, struct filter_fault *fault, struct err *e)
{
    struct parser p = { .f = f, .rest = f->query, .fault = fault, .e = e };
    size_t valid = utf8_valid_prefix(f->query);

    if (f->query.len > FILTER_QUERY_MAX) {
        err_set(e, ERR_USAGE, "longer than %d bytes", FILTER_QUERY_MAX);
        return at_place(&p, FILTER_QUERY_MAX, 0);
    }
    if (valid < f->query.len) {
        err_set(e, ERR_USAGE, "not UTF-8");
        return at_place(&p, valid, 1);
    }
    skip_blanks(&p);
    if (!p.rest.len)
        return true;
    if (!or_query(&p))
        return false;
    return !p.rest.len || refuse(&p, 1, "a ')' without its '('");
}
