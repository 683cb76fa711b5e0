#include "scenario/env-expand.h"

#include "base/buf.h"

struct env_reference {
    struct str name;
    bool has_default;
    struct str preset;
};

/* A text that is read from left to right. Both ends are kept until they are passed: behind an
 * unclosed reference they are the end of the text, for each "${" that follows. */
struct env_scan {
    struct str text;
    size_t at;
    size_t name_end;   /* of a name: the next '}' or ':' */
    size_t preset_end; /* of a default: the next '}' that no backslash escapes */
};

static size_t find_name_end(struct env_scan *s, size_t from)
{
    size_t at = s->name_end;

    if (at >= from)
        return at;
    for (at = from; at < s->text.len; at++)
        if (s->text.at[at] == '}' || s->text.at[at] == ':')
            break;
    return s->name_end = at;
}

/* A default begins behind "-", so never between a backslash and what it escapes: its end is the
 * same for all defaults that begin in front of it. */
static size_t find_preset_end(struct env_scan *s, size_t from)
{
    size_t at = s->preset_end;

    if (at >= from)
        return at;
    for (at = from; at < s->text.len && s->text.at[at] != '}'; at++)
        at += s->text.at[at] == '\\';
    return s->preset_end = at < s->text.len ? at : s->text.len;
}

/* Parses a reference at `at`. Returns its length; 0: there is none. */
static size_t parse_reference(struct env_scan *s, struct env_reference *r)
{
    struct str text = s->text;
    size_t name = s->at + 2, end, from;

    if (!str_starts(str_skip(text, s->at), STR("${")))
        return 0;
    end = find_name_end(s, name);
    if (end == name || end == text.len)
        return 0;
    *r = (struct env_reference){ .name = str_trim(str_n(text.at + name, end - name)) };
    if (text.at[end] == ':') {
        from = end + 2;
        if (from > text.len || text.at[from - 1] != '-')
            return 0;
        end = find_preset_end(s, from);
        if (end == text.len)
            return 0;
        r->has_default = true;
        r->preset = str_n(text.at + from, end - from);
    }
    return end + 1 - s->at;
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
    struct env_scan s = { .text = text };
    struct env_reference r;
    struct str value;
    size_t used;

    for (; s.at < text.len && !to->full; s.at += used ? used : 1) {
        used = parse_reference(&s, &r);
        if (!used) {
            buf_add_ch(to, text.at[s.at]);
        } else if (find_variable(env, r.name, &value)) {
            buf_add(to, value);
        } else if (r.has_default) {
            buf_add(to, r.preset);
        } else {
            *unset = r.name;
            return false;
        }
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
