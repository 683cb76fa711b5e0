#include "scenario/env-expand.h"

#include "base/buf.h"

struct env_reference {
    struct str name;
    bool has_default;
    struct str preset;
};

/* Parses a reference at the front of a text. Returns its length; 0: there is none. */
static size_t parse_reference(struct str text, struct env_reference *r)
{
    size_t at = 2, from;

    if (!str_starts(text, STR("${")))
        return 0;
    while (at < text.len && text.at[at] != '}' && text.at[at] != ':')
        at++;
    *r = (struct env_reference){ .name = str_n(text.at + 2, at - 2) };
    if (at == 2 || at == text.len)
        return 0;
    if (text.at[at] == ':') {
        if (at + 1 == text.len || text.at[at + 1] != '-')
            return 0;
        from = at += 2;
        while (at < text.len && text.at[at] != '}')
            at += text.at[at] == '\\' ? 2 : 1;
        if (at >= text.len)
            return 0;
        r->has_default = true;
        r->preset = str_n(text.at + from, at - from);
    }
    r->name = str_trim(r->name);
    return at + 1;
}

static bool find_variable(char *const *env, struct str name, struct str *value)
{
    for (; *env; env++) {
        struct str rest = str_z(*env);

        if (str_starts(rest, name) && rest.len > name.len && rest.at[name.len] == '=') {
            *value = str_skip(rest, name.len + 1);
            return true;
        }
    }
    return false;
}

/* Appends the text with its references replaced. */
static bool add_expanded(struct buf *to, struct str text, char *const *env, struct str *unset)
{
    struct env_reference r;
    struct str value, rest = text;
    size_t used;

    while (rest.len && !to->full) {
        used = parse_reference(rest, &r);
        if (!used) {
            buf_add_ch(to, rest.at[0]);
        } else if (find_variable(env, r.name, &value) || r.has_default) {
            buf_add(to, find_variable(env, r.name, &value) ? value : r.preset);
        } else {
            *unset = r.name;
            return false;
        }
        rest = str_skip(rest, used ? used : 1);
    }
    return true;
}

enum env_expanded env_expand(struct str text, char *const *env, size_t *room, struct arena *a,
                             struct str *out, struct str *unset)
{
    enum env_expanded how = ENV_EXPANDED;
    struct buf b;

    *out = text;
    if (!str_contains(text, STR("${")))
        return ENV_EXPANDED;
    buf_init(&b, *room);
    if (!add_expanded(&b, text, env, unset)) {
        how = ENV_UNSET;
    } else if (b.full) {
        how = ENV_TOO_LONG;
    } else {
        *out = arena_str(a, buf_str(&b));
        *room -= b.len;
    }
    buf_release(&b);
    return how;
}
