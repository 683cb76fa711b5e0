#include "filter/filter-parse.h"

#include "base/ascii.h"
#include "base/utf8.h"

enum { DEPTH = 32, VALUES = 256 };

struct filter_parser {
    struct filter *filter;
    struct str rest;
    size_t depth;
    bool in_values; /* set while values are parsed: a comma ends a word */
    struct filter_fault *fault;
    struct err *e;
};

static size_t position(const struct filter_parser *p)
{
    return p->filter->query.len - p->rest.len;
}

/* Sets the position of an error and puts it in front of its message. */
static bool set_error_position(struct filter_parser *p, size_t at, size_t len)
{
    *p->fault = (struct filter_fault){ at, len };
    return err_wrap(p->e, "bad filter at byte %zu", at + 1);
}

static bool reject(struct filter_parser *p, size_t len, const char *what)
{
    err_set(p->e, ERR_USAGE, "%s", what);
    return set_error_position(p, position(p), len < p->rest.len ? len : p->rest.len);
}

static char peek(const struct filter_parser *p, size_t ahead)
{
    return ahead < p->rest.len ? p->rest.at[ahead] : '\0';
}

static void skip(struct filter_parser *p, size_t n)
{
    p->rest = str_skip(p->rest, n);
}

static bool skip_char(struct filter_parser *p, char c)
{
    if (peek(p, 0) != c)
        return false;
    skip(p, 1);
    return true;
}

/* Returns whether a word ends `ahead` bytes from here. */
static bool is_word_end(const struct filter_parser *p, size_t ahead)
{
    return ahead >= p->rest.len || ascii_is_blank(p->rest.at[ahead]) ||
           strchr(p->in_values ? "()|\"," : "()|\"", p->rest.at[ahead]);
}

static void skip_blanks(struct filter_parser *p)
{
    while (p->rest.len && ascii_is_blank(p->rest.at[0]))
        skip(p, 1);
}

static size_t word_length(const struct filter_parser *p)
{
    size_t n = 0;

    while (!is_word_end(p, n))
        n++;
    return n;
}

/* Skips a keyword, which must be a whole word: "ORDER" is not OR. */
static bool skip_keyword(struct filter_parser *p, struct str word)
{
    if (!str_starts(p->rest, word) || word_length(p) != word.len)
        return false;
    skip(p, word.len);
    return true;
}

/* Parses "…", in which \" and \\ are escapes. */
static bool parse_string(struct filter_parser *p, struct filter_token *t)
{
    struct buf text;
    size_t n = 1;

    while (n < p->rest.len && p->rest.at[n] != '"')
        n += p->rest.at[n] == '\\' ? 2 : 1;
    if (n >= p->rest.len)
        return reject(p, p->rest.len, "unterminated string");
    buf_init(&text, n);
    for (size_t i = 1; i < n; i++) {
        if (p->rest.at[i] == '\\' && strchr("\"\\", p->rest.at[i + 1]))
            i++;
        buf_add_ch(&text, p->rest.at[i]);
    }
    *t = (struct filter_token){ FILTER_TOKEN_STRING,
                                arena_str(&p->filter->arena, buf_str(&text)) };
    buf_release(&text);
    skip(p, n + 1);
    return true;
}

/* Parses /…/ or /…/i. Returns false if the word does not end at the second slash: "/etc/passwd"
 * is a plain word. */
static bool parse_regex(struct filter_parser *p, struct filter_token *t)
{
    size_t n = 1, end;

    while (n < p->rest.len && p->rest.at[n] != '/')
        n += p->rest.at[n] == '\\' ? 2 : 1;
    if (n >= p->rest.len || n == 1)
        return false;
    end = n + 1 + (peek(p, n + 1) == 'i');
    if (!is_word_end(p, end))
        return false;
    *t = (struct filter_token){ FILTER_TOKEN_REGEX, str_n(p->rest.at + 1, n - 1) };
    skip(p, end);
    return true;
}

static bool parse_token(struct filter_parser *p, struct filter_token *t)
{
    size_t n;

    if (peek(p, 0) == '"')
        return parse_string(p, t);
    if (peek(p, 0) == '/' && parse_regex(p, t))
        return true;
    n = word_length(p);
    if (!n)
        return reject(p, 1, "expected a value");
    *t = (struct filter_token){ FILTER_TOKEN_WORD, str_n(p->rest.at, n) };
    skip(p, n);
    return true;
}

static const struct {
    struct str text;
    enum filter_op op;
} ops[] = {
    { STR_INIT("!="), FILTER_OP_IS_NOT },     { STR_INIT(">="), FILTER_OP_GREATER_EQUAL },
    { STR_INIT("<="), FILTER_OP_LESS_EQUAL }, { STR_INIT(">"), FILTER_OP_GREATER },
    { STR_INIT("<"), FILTER_OP_LESS },        { STR_INIT("~"), FILTER_OP_REGEX },
    { STR_INIT(":"), FILTER_OP_IS },          { STR_INIT("="), FILTER_OP_IS },
};

/* Finds the operator `ahead` bytes from here. Returns its length; 0: there is none. */
static size_t find_op(const struct filter_parser *p, size_t ahead, enum filter_op *op)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (str_starts(str_skip(p->rest, ahead), ops[i].text)) {
            *op = ops[i].op;
            return ops[i].text.len;
        }
    return 0;
}

static struct filter_term *new_term(struct filter_parser *p, const struct filter_key *key)
{
    struct filter_term *t = &p->filter->terms[p->filter->count];

    if (p->filter->count == FILTER_MAX_TERMS) {
        reject(p, word_length(p), "too many terms");
        return NULL;
    }
    *t = (struct filter_term){ .key = key };
    buf_add_ch(&p->filter->program, (char)p->filter->count++);
    return t;
}

static bool add_value(struct filter_parser *p, struct filter_term *t, enum filter_op op)
{
    size_t at = position(p);
    struct filter_token token;
    struct filter_value *v;

    if (t->count == VALUES)
        return reject(p, word_length(p), "too many values");
    if (!parse_token(p, &token))
        return false;
    v = &t->values[t->count];
    if (!filter_value_init(v, t->key, op, token, &p->filter->arena, p->e))
        return set_error_position(p, at, position(p) - at);
    t->count++;
    return true;
}

/* Returns an upper limit for the number of values, to allocate them at once. */
static size_t count_commas(const struct filter_parser *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->rest.len; i++)
        n += p->rest.at[i] == ',';
    return n < VALUES ? n : VALUES - 1;
}

static bool add_values(struct filter_parser *p, struct filter_term *t, enum filter_op op)
{
    bool ok;

    t->negated = op == FILTER_OP_IS_NOT;
    t->values = arena_alloc(&p->filter->arena, (count_commas(p) + 1) * sizeof *t->values);
    p->in_values = true;
    do {
        enum filter_op own = op, found;
        size_t n = op == FILTER_OP_IS ? find_op(p, 0, &found) : 0;

        if (n && found >= FILTER_OP_GREATER && found <= FILTER_OP_LESS_EQUAL) {
            own = found;
            skip(p, n);
        }
        ok = add_value(p, t, own);
    } while (ok && skip_char(p, ','));
    p->in_values = false;
    return ok;
}

static bool is_name_char(char c)
{
    return c == '-' || c == '_' || ascii_is_digit(c);
}

static size_t name_length(const struct filter_parser *p)
{
    size_t n = 0;

    if (peek(p, 0) == '$')
        return 1;
    while (n < p->rest.len &&
           (ascii_is_letter(p->rest.at[n]) || (n && is_name_char(p->rest.at[n]))))
        n++;
    return n;
}

/* Returns the length of the path that starts here: up to a blank or operator outside of
 * brackets. */
static size_t path_length(const struct filter_parser *p)
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
        } else if (is_word_end(p, n) || find_op(p, n, &op)) {
            break;
        }
    }
    return n < p->rest.len ? n : p->rest.len;
}

static bool parse_path_term(struct filter_parser *p, const struct filter_key *key, size_t name)
{
    struct filter_term *t = new_term(p, key);
    size_t at = position(p), n;
    enum filter_op op;
    struct str text;

    if (!t)
        return false;
    skip(p, name);
    n = path_length(p);
    t->path = arena_new(&p->filter->arena, struct json_path);
    text = arena_printf(&p->filter->arena, "$%.*s", (int)n, p->rest.at);
    if (!json_path_compile(t->path, text, &p->filter->arena, p->e))
        return set_error_position(p, at, name + n);
    skip(p, n);
    n = find_op(p, 0, &op);
    skip(p, n);
    return !n || add_values(p, t, op);
}

static bool reject_unknown_key(struct filter_parser *p, struct str name)
{
    const char *near = filter_key_nearest(name);

    err_set(p->e, ERR_USAGE, "unknown key '%.*s'", STR_ARG(name));
    if (near)
        err_hint(p->e, "did you mean '%s'?", near);
    else
        err_hint(p->e, "to search for a text with ':', '=', '<', '>' or '~' in it, put it in "
                       "double quotes");
    return set_error_position(p, position(p), name.len);
}

/* Parses a bare text. */
static bool parse_text_term(struct filter_parser *p)
{
    struct filter_term *t = new_term(p, NULL);

    if (!t)
        return false;
    t->values = arena_new(&p->filter->arena, struct filter_value);
    return add_value(p, t, FILTER_OP_IS);
}

static bool parse_simple_term(struct filter_parser *p)
{
    struct str name = str_n(p->rest.at, name_length(p));
    const struct filter_key *key = filter_key_find(name);
    char next = peek(p, name.len);
    struct filter_term *t;
    enum filter_op op;
    size_t n;

    if (key && key->type == FILTER_TYPE_PATH && (next == '.' || next == '['))
        return parse_path_term(p, key, name.len);
    n = name.len ? find_op(p, name.len, &op) : 0;
    if (!n)
        return parse_text_term(p);
    if (!key)
        return reject_unknown_key(p, name);
    if (key->type == FILTER_TYPE_PATH)
        return parse_path_term(p, key, name.len);
    t = new_term(p, key);
    if (!t)
        return false;
    skip(p, name.len + n);
    if (op == FILTER_OP_IS && filter_key_means_greater(name))
        op = FILTER_OP_GREATER;
    return add_values(p, t, op);
}

static bool parse_or(struct filter_parser *p);

static bool parse_group(struct filter_parser *p)
{
    size_t at = position(p);

    if (p->depth == DEPTH)
        return reject(p, 1, "groups are nested too deeply");
    p->depth++;
    skip(p, 1);
    if (!parse_or(p))
        return false;
    p->depth--;
    if (skip_char(p, ')'))
        return true;
    err_set(p->e, ERR_USAGE, "missing ')'");
    return set_error_position(p, at, 1);
}

static bool parse_term(struct filter_parser *p)
{
    bool negated = false;

    skip_blanks(p);
    if (skip_char(p, '-') || skip_char(p, '!')) {
        negated = true;
    } else if (skip_keyword(p, STR("NOT"))) {
        negated = true;
        skip_blanks(p);
    }
    if (!p->rest.len || strchr(")|", p->rest.at[0]) || ascii_is_blank(p->rest.at[0]))
        return reject(p, 1, "expected a text, a key or '('");
    if (!(peek(p, 0) == '(' ? parse_group(p) : parse_simple_term(p)))
        return false;
    if (negated)
        buf_add_ch(&p->filter->program, FILTER_NOT);
    return true;
}

static bool is_at_or(const struct filter_parser *p)
{
    return peek(p, 0) == '|' || (str_starts(p->rest, STR("OR")) && word_length(p) == 2);
}

static bool parse_and(struct filter_parser *p)
{
    if (!parse_term(p))
        return false;
    for (;;) {
        skip_blanks(p);
        if (!p->rest.len || peek(p, 0) == ')' || is_at_or(p))
            return true;
        skip_keyword(p, STR("AND"));
        if (!parse_term(p))
            return false;
        buf_add_ch(&p->filter->program, FILTER_AND);
    }
}

static bool parse_or(struct filter_parser *p)
{
    if (!parse_and(p))
        return false;
    while (is_at_or(p)) {
        skip(p, peek(p, 0) == '|' ? 1 : sizeof "OR" - 1);
        if (!parse_and(p))
            return false;
        buf_add_ch(&p->filter->program, FILTER_OR);
    }
    return true;
}

bool filter_parse(struct filter *f, struct filter_fault *fault, struct err *e)
{
    struct filter_parser p = { .filter = f, .rest = f->query, .fault = fault, .e = e };
    size_t valid = utf8_valid_prefix(f->query);

    if (f->query.len > FILTER_QUERY_MAX) {
        err_set(e, ERR_USAGE, "longer than %d bytes", FILTER_QUERY_MAX);
        return set_error_position(&p, FILTER_QUERY_MAX, 0);
    }
    if (valid < f->query.len) {
        err_set(e, ERR_USAGE, "not UTF-8");
        return set_error_position(&p, valid, 1);
    }
    skip_blanks(&p);
    if (!p.rest.len)
        return true;
    if (!parse_or(&p))
        return false;
    return !p.rest.len || reject(&p, 1, "unexpected ')'");
}
