#include "json/path.h"

#include "base/ascii.h"
#include "json/write.h"

/* Bytes a name may have without quotes: letters, digits, what identifiers of
 * various languages have, and everything beyond ASCII. */
static bool is_name_byte(char c)
{
    return ascii_is_alnum(c) || c == '_' || c == '-' || c == '$' || c == '/' ||
           (unsigned char)c >= 0x80;
}

static size_t name_run(struct str s)
{
    size_t n = 0;

    while (n < s.len && is_name_byte(s.at[n]))
        n++;
    return n;
}

/* Printable ASCII that needs no escape in quotes of either kind. Other names go through the
 * JSON writer, which knows what is safe. */
static bool needs_no_escape(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.at[i] < 0x20 || name.at[i] == 0x7F || strchr("'\"\\", name.at[i]))
            return false;
    return true;
}

static void write_name(struct str name, struct buf *to)
{
    if (name.len && needs_no_escape(name) && name_run(name) == name.len) {
        buf_add_ch(to, '.');
        buf_add(to, name);
        return;
    }
    buf_add_ch(to, '[');
    if (needs_no_escape(name)) {
        buf_add_ch(to, '\'');
        buf_add(to, name);
        buf_add_ch(to, '\'');
    } else {
        json_write_str(to, name);
    }
    buf_add_ch(to, ']');
}

void json_location_write(struct json_location location, struct buf *to)
{
    buf_add_ch(to, '$');
    for (size_t i = 0; i < location.count; i++) {
        if (location.steps[i].is_index)
            buf_printf(to, "[%zu]", location.steps[i].index);
        else
            write_name(location.steps[i].name, to);
    }
}

void json_pointer_add_name(struct buf *to, struct str name)
{
    buf_add_ch(to, '/');
    for (size_t i = 0; i < name.len; i++) {
        if (name.at[i] == '~')
            buf_add(to, STR("~0"));
        else if (name.at[i] == '/')
            buf_add(to, STR("~1"));
        else
            buf_add_ch(to, name.at[i]);
    }
}

void json_pointer_add_index(struct buf *to, size_t index)
{
    buf_add_ch(to, '/');
    buf_add_int(to, (int64_t)index);
}

void json_location_write_inside(struct json_val root, struct json_val value, struct buf *to)
{
    struct arena names = { .blocks = NULL };

    buf_add_ch(to, '$');
    while (json_contains(root, value) && root.node != value.node) {
        struct json_iter it = json_each(root);
        size_t index = 0;
        while (json_next(&it) && !json_contains(it.value, value))
            index++;
        if (json_exists(it.key))
            write_name(json_text(it.key, &names), to);
        else
            buf_printf(to, "[%zu]", index);
        root = it.value;
    }
    arena_release(&names);
}

/* A pattern being read. */
struct path_parser {
    struct str text, rest;
    struct arena *names;
    struct err *e;
};

static bool syntax_error(struct path_parser *r, const char *what)
{
    return err_set(r->e, ERR_USAGE, "bad path '%.*s': %s at byte %zu", STR_ARG(r->text), what,
                   r->text.len - r->rest.len + 1);
}

static bool skip_char(struct path_parser *r, char c)
{
    if (!r->rest.len || r->rest.at[0] != c)
        return false;
    r->rest = str_n(r->rest.at + 1, r->rest.len - 1);
    return true;
}

/* A quoted name as a JSON string: 'it\'s "x"' becomes "it's \"x\"". Returns how
 * many bytes of the pattern it is, 0 if it has no end. */
static size_t quote_as_json(struct str quoted, struct buf *json)
{
    char quote = quoted.at[0];

    buf_add_ch(json, '"');
    for (size_t i = 1; i < quoted.len; i++) {
        char c = quoted.at[i];
        if (c == quote) {
            buf_add_ch(json, '"');
            return i + 1;
        }
        if (c == '\\' && i + 1 < quoted.len) {
            c = quoted.at[++i];
            if (c != '\'')
                buf_add_ch(json, '\\');
        } else if (c == '"') {
            buf_add_ch(json, '\\');
        }
        buf_add_ch(json, c);
    }
    return 0;
}

static bool parse_quoted_name(struct path_parser *r, struct str *name)
{
    struct json_fault fault;
    struct json j;
    struct buf b;
    size_t used;
    bool ok = false;

    json_init(&j);
    buf_init(&b, 2 * r->rest.len + 2);
    used = quote_as_json(r->rest, &b);
    if (!used) {
        syntax_error(r, "unterminated name");
    } else if (!json_scan(&j, buf_str(&b), &fault)) {
        syntax_error(r, fault.what);
    } else {
        *name = arena_str(r->names, json_text(json_root(&j), r->names));
        r->rest = str_n(r->rest.at + used, r->rest.len - used);
        ok = true;
    }
    json_release(&j);
    buf_release(&b);
    return ok;
}

static bool parse_index(struct path_parser *r, size_t *index)
{
    size_t n = 0;

    if (!r->rest.len || !ascii_is_digit(r->rest.at[0]))
        return syntax_error(r, "expected an index, a quoted name or '*'");
    while (r->rest.len && ascii_is_digit(r->rest.at[0])) {
        if (n > JSON_MAX_VALUES)
            return syntax_error(r, "index too large");
        n = n * 10 + (size_t)(r->rest.at[0] - '0');
        skip_char(r, r->rest.at[0]);
    }
    *index = n;
    return true;
}

/* Parses the content of brackets; the opening one is skipped already. */
static bool parse_bracket(struct path_parser *r, struct json_path_part *part)
{
    if (skip_char(r, '*')) {
        part->kind = JSON_PATH_ANY;
    } else if (r->rest.len && (r->rest.at[0] == '\'' || r->rest.at[0] == '"')) {
        part->kind = JSON_PATH_NAME;
        if (!parse_quoted_name(r, &part->name))
            return false;
    } else {
        part->kind = JSON_PATH_INDEX;
        if (!parse_index(r, &part->index))
            return false;
    }
    return skip_char(r, ']') || syntax_error(r, "expected ']'");
}

static bool parse_plain_name(struct path_parser *r, struct json_path_part *part)
{
    size_t n = name_run(r->rest);

    if (skip_char(r, '*')) {
        part->kind = JSON_PATH_ANY;
        return true;
    }
    if (!n)
        return syntax_error(r, "expected a name or '*'");
    part->kind = JSON_PATH_NAME;
    part->name = arena_str(r->names, str_n(r->rest.at, n));
    r->rest = str_n(r->rest.at + n, r->rest.len - n);
    return true;
}

static bool parse_part(struct path_parser *r, struct json_path_part *part)
{
    *part = (struct json_path_part){ .any_depth = false };
    if (skip_char(r, '['))
        return parse_bracket(r, part);
    if (!skip_char(r, '.'))
        return syntax_error(r, "expected '.' or '['");
    part->any_depth = skip_char(r, '.');
    if (part->any_depth && skip_char(r, '['))
        return parse_bracket(r, part);
    return parse_plain_name(r, part);
}

bool json_path_compile(struct json_path *p, struct str text, struct arena *names, struct err *e)
{
    struct path_parser r = { text, text, names, e };

    p->count = 0;
    if (!skip_char(&r, '$'))
        return syntax_error(&r, "expected '$'");
    while (r.rest.len) {
        if (p->count == JSON_PATH_MAX)
            return syntax_error(&r, "too many parts");
        if (!parse_part(&r, &p->parts[p->count]))
            return false;
        p->count++;
    }
    return true;
}

static bool part_matches(const struct json_path_part *part, const struct json_step *step)
{
    switch (part->kind) {
    case JSON_PATH_NAME:
        return !step->is_index && str_eq(part->name, step->name);
    case JSON_PATH_INDEX:
        return step->is_index && part->index == step->index;
    case JSON_PATH_ANY:
        return true;
    }
    BUG("unknown kind of path segment");
}

/* Bit i of a state means that the location has matched the first i parts. Several bits are
 * possible if parts match at any depth. */
uint64_t json_path_advance(const struct json_path *p, uint64_t state,
                           const struct json_step *step)
{
    uint64_t next = 0;

    for (size_t i = 0; i < p->count; i++) {
        if (!(state >> i & 1))
            continue;
        if (part_matches(&p->parts[i], step))
            next |= UINT64_C(2) << i;
        if (p->parts[i].any_depth)
            next |= UINT64_C(1) << i;
    }
    return next;
}

bool json_path_has_matched(const struct json_path *p, uint64_t state)
{
    return state >> p->count & 1;
}

bool json_path_matches(const struct json_path *p, struct json_location location)
{
    uint64_t state = JSON_PATH_START;

    for (size_t i = 0; i < location.count; i++)
        state = json_path_advance(p, state, &location.steps[i]);
    return json_path_has_matched(p, state);
}

bool json_path_covers(const struct json_path *p, struct json_location location)
{
    uint64_t state = JSON_PATH_START;
    size_t i = 0;

    while (!json_path_has_matched(p, state) && i < location.count)
        state = json_path_advance(p, state, &location.steps[i++]);
    return json_path_has_matched(p, state);
}

struct path_search {
    const struct json_path *path;
    bool (*found)(void *arg, struct json_location location, struct json_val value);
    void *arg;
    struct arena names;
    struct json_step steps[JSON_MAX_DEPTH];
};

/* Goes as deep as the value is nested, which the scanner has bounded. */
static bool search(struct path_search *s, struct json_val v, size_t depth, uint64_t state)
{
    struct json_iter it = json_each(v);
    struct json_step *step = &s->steps[depth];
    size_t index = 0;

    if (json_path_has_matched(s->path, state) &&
        !s->found(s->arg, (struct json_location){ s->steps, depth }, v))
        return false;
    while (json_next(&it)) {
        *step = (struct json_step){ .is_index = !json_exists(it.key), .index = index++ };
        if (!step->is_index)
            step->name = json_text(it.key, &s->names);
        uint64_t next = json_path_advance(s->path, state, step);
        if (next && !search(s, it.value, depth + 1, next))
            return false;
    }
    return true;
}

bool json_path_select(const struct json_path *p, struct json_val root,
                      bool (*found)(void *arg, struct json_location location,
                                    struct json_val value),
                      void *arg)
{
    struct path_search s;
    bool all;

    if (!json_exists(root))
        return true;
    s.path = p;
    s.found = found;
    s.arg = arg;
    s.names = (struct arena){ .blocks = NULL };
    all = search(&s, root, 0, JSON_PATH_START);
    arena_release(&s.names);
    return all;
}
