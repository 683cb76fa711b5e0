#include "cmd/option.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/nearest.h"
#include "base/str.h"
#include "cmd/option-value.h"

/* A row, the set it stands in, and how it was asked for. */
struct found {
    const struct option *row;
    size_t set;
    bool negated; /* by --no-NAME */
};

static size_t count_rows(const struct option *rows)
{
    size_t n = 0;

    while (rows && rows[n].name)
        n++;
    return n;
}

void option_reader_init(struct option_reader *r, char *const *env, struct arena *arena)
{
    *r = (struct option_reader){ .env = env, .arena = arena };
}

void option_reader_add(struct option_reader *r, struct option_set set)
{
    size_t n = count_rows(set.rows);

    BUG_IF(r->count == OPTION_SETS);
    r->sets[r->count] = set;
    r->given[r->count++] = arena_alloc(r->arena, n * sizeof(bool));
    for (size_t i = 0; i < n; i++)
        option_value_preset(&set.rows[i], (char *)set.args + set.rows[i].at, r->arena);
}

static bool has_name(const struct option *o, struct str name)
{
    if (str_eq(str_z(o->name), name))
        return true;
    for (size_t i = 0; i < OPTION_ALSO && o->also[i]; i++)
        if (str_eq(str_z(o->also[i]), name))
            return true;
    return false;
}

static bool find_long(const struct option_reader *r, struct str name, struct found *out)
{
    struct str positive = str_starts(name, STR("no-")) ? str_skip(name, 3) : STR_NONE;

    for (size_t s = r->count; s-- > 0;)
        for (const struct option *o = r->sets[s].rows; o && o->name; o++) {
            bool negated = o->negatable && has_name(o, positive);
            if (negated || has_name(o, name)) {
                *out = (struct found){ o, s, negated };
                return true;
            }
        }
    return false;
}

static bool find_short(const struct option_reader *r, char key, struct found *out)
{
    for (size_t s = r->count; s-- > 0;)
        for (const struct option *o = r->sets[s].rows; o && o->name; o++)
            if (o->key == key) {
                *out = (struct found){ o, s, false };
                return true;
            }
    return false;
}

bool option_point_to_help(struct err *e, const char *command)
{
    char said[sizeof e->hint];

    memcpy(said, e->hint, sizeof said);
    return err_hint(e, "%s%ssee 'mcpreel %s%s--help'", said, *said ? "\n" : "",
                    command ? command : "", command ? " " : "");
}

static bool unknown(const struct option_reader *r, struct str word, struct err *e)
{
    struct str name = str_starts(word, STR("--")) ? str_skip(word, 2) : STR_NONE;
    struct nearest near = nearest_to(name);

    for (size_t s = r->count; s-- > 0;)
        for (const struct option *o = r->sets[s].rows; o && o->name; o++) {
            if (!o->hidden)
                nearest_try(&near, o->name);
            if (o->negatable)
                nearest_try(&near, arena_printf(r->arena, "no-%s", o->name).at);
            for (size_t i = 0; i < OPTION_ALSO && o->also[i]; i++)
                nearest_try(&near, o->also[i]);
        }
    if (r->command)
        err_set(e, ERR_USAGE, "unknown option '%.*s' for '%s'", STR_ARG(word), r->command);
    else
        err_set(e, ERR_USAGE, "unknown option '%.*s'", STR_ARG(word));
    if (name.len && near.best)
        err_hint(e, "did you mean '--%s'?", near.best);
    else if (!r->command)
        err_hint(e, "the options of a command follow its name");
    return option_point_to_help(e, r->command);
}

static bool *given(const struct option_reader *r, const struct found *f)
{
    return &r->given[f->set][f->row - r->sets[f->set].rows];
}

static void *field(const struct option_reader *r, const struct found *f)
{
    return (char *)r->sets[f->set].args + f->row->at;
}

static bool set_value(struct option_reader *r, const struct found *f, struct str shown,
                      const char *text, struct err *e)
{
    if (!*given(r, f))
        option_value_clear(f->row, field(r, f));
    *given(r, f) = true;
    if (option_value_set(f->row, field(r, f), text, r->arena, e))
        return true;
    err_wrap(e, "option '%.*s'", STR_ARG(shown));
    return option_point_to_help(e, r->command);
}

/* Sets an option that takes no value. */
static void switch_on(struct option_reader *r, const struct found *f)
{
    if (f->row->type == OPTION_COUNT)
        ++*(int *)field(r, f);
    else
        *(bool *)field(r, f) = !f->negated;
    *given(r, f) = true;
}

static bool lacks_value(const struct option_reader *r, const struct option *o, struct str shown,
                        struct err *e)
{
    err_set(e, ERR_USAGE, "option '%.*s' needs a value: %s", STR_ARG(shown), o->arg);
    return option_point_to_help(e, r->command);
}

/* The rest of the line while it is read. */
struct line {
    int at, argc;
    char **argv;
};

/* The word after the option, unless there is none. "--" is none: in
 * "-o -- server" a value was forgotten. */
static const char *next_word(struct line *l)
{
    if (l->at + 1 >= l->argc || strcmp(l->argv[l->at + 1], "--") == 0)
        return NULL;
    return l->argv[++l->at];
}

static bool read_long(struct option_reader *r, struct line *l, struct err *e)
{
    struct str word = str_z(l->argv[l->at]);
    struct str shown = str_n(word.at, str_find(word, '='));
    bool attached = shown.len < word.len;
    const char *text = attached ? word.at + shown.len + 1 : NULL;
    struct found f;

    if (!find_long(r, str_skip(shown, 2), &f))
        return unknown(r, shown, e);
    if (!option_takes_value(f.row)) {
        if (attached) {
            err_set(e, ERR_USAGE, "option '%.*s' takes no value", STR_ARG(shown));
            return option_point_to_help(e, r->command);
        }
        switch_on(r, &f);
        return true;
    }
    if (!text)
        text = next_word(l);
    return text ? set_value(r, &f, shown, text, e) : lacks_value(r, f.row, shown, e);
}

/* "-vq", "-ofile", "-o=file", "-o file". */
static bool read_short(struct option_reader *r, struct line *l, struct err *e)
{
    for (const char *c = l->argv[l->at] + 1; *c; c++) {
        char name[] = { '-', *c, '\0' };
        const char *text = c + 1 + (c[1] == '=');
        struct found f;

        if (!find_short(r, *c, &f))
            return unknown(r, STR(name), e);
        if (!option_takes_value(f.row)) {
            switch_on(r, &f);
            continue;
        }
        if (!c[1])
            text = next_word(l);
        return text ? set_value(r, &f, STR(name), text, e)
                    : lacks_value(r, f.row, STR(name), e);
    }
    return true;
}

static void keep_first(struct err *first, const struct err *now)
{
    if (first->kind == ERR_OK)
        *first = *now;
}

static bool has_end(const struct line *l)
{
    for (int i = l->at; i < l->argc; i++)
        if (strcmp(l->argv[i], "--") == 0)
            return true;
    return false;
}

/* A server's command without "--" in front, but with one further on: "session.jsonl -- npx x"
 * lacks an option, "npm start -- --stdio" a "--". */
static void ambiguous(const struct option_reader *r, const char *word, struct err *e)
{
    err_set(e, ERR_USAGE, "unexpected '%s' before '--'", word);
    err_hint(e, "if it begins the server's command, put '--' in front of it");
    option_point_to_help(e, r->command);
}

int option_read_line(struct option_reader *r, int argc, char **argv, enum option_extent extent,
                     struct operands *operands, struct err *e)
{
    struct line l = { 0, argc, argv };

    *operands = (struct operands){
        .at = arena_alloc(r->arena, ((size_t)argc + 1) * sizeof(char *)),
        .reader = r,
    };
    for (; l.at < argc; l.at++) {
        const char *word = argv[l.at];
        bool operand = word[0] != '-' || !word[1];
        bool end = strcmp(word, "--") == 0;
        struct err now = ERR_NONE;

        if (extent == OPTION_LEADING && (operand || end))
            return l.at;
        if (end || (operand && extent == OPTION_SERVER && !has_end(&l))) {
            operands->server = argv + l.at + end;
            operands->server_count = (size_t)(argc - l.at - end);
            return argc;
        }
        if (operand && extent == OPTION_SERVER) {
            ambiguous(r, word, &now);
            keep_first(e, &now);
        } else if (operand) {
            operands->at[operands->count++] = argv[l.at];
        } else if (!(word[1] == '-' ? read_long(r, &l, &now) : read_short(r, &l, &now))) {
            keep_first(e, &now);
        }
    }
    return argc;
}

const char *option_env_get(char *const *env, const char *name)
{
    size_t n = strlen(name);

    for (; env && *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return (*env)[n + 1] ? *env + n + 1 : NULL;
    return NULL;
}

const char *option_env_name(char out[OPTION_ENV_NAME], const char *prefix, const char *name)
{
    size_t n = 0;

    BUG_IF(strlen(prefix) + strlen(name) >= OPTION_ENV_NAME);
    for (; *prefix; prefix++)
        out[n++] = *prefix;
    for (; *name; name++)
        out[n++] = *name == '-' ? '_' : ascii_upper(*name);
    out[n] = '\0';
    return out;
}

/* The first variable that sets the option, its name in `name`. */
static const char *from_env(const struct option *o, char *const *env,
                            char name[OPTION_ENV_NAME])
{
    const char *text = option_env_get(env, option_env_name(name, "MCPREEL_", o->name));

    if (!text && o->env) {
        text = option_env_get(env, o->env);
        if (text)
            snprintf(name, OPTION_ENV_NAME, "%s", o->env);
    }
    if (text || !o->seed)
        return text;
    text = option_env_get(env, option_env_name(name, "THOUGHTJACK_", o->name));
    for (size_t i = 0; !text && i < OPTION_ALSO && o->also[i]; i++)
        text = option_env_get(env, option_env_name(name, "THOUGHTJACK_", o->also[i]));
    return text;
}

static void read_variable(struct option_reader *r, const struct found *f, struct err *e)
{
    char name[OPTION_ENV_NAME];
    const char *text = from_env(f->row, r->env, name);

    if (!text)
        return;
    option_value_clear(f->row, field(r, f));
    if (!option_value_set(f->row, field(r, f), text, r->arena, e)) {
        err_wrap(e, "variable '%s'", name);
        option_point_to_help(e, r->command);
    }
}

void option_read_env(struct option_reader *r, struct err *e)
{
    for (size_t s = 0; s < r->count; s++)
        for (const struct option *o = r->sets[s].rows; o && o->name; o++) {
            struct err now = ERR_NONE;
            struct found f;

            /* Of two rows with one name only the one that stands for both is filled. */
            if (find_long(r, str_z(o->name), &f) && f.row == o && !o->line_only &&
                !*given(r, &f))
                read_variable(r, &f, &now);
            if (now.kind != ERR_OK)
                keep_first(e, &now);
        }
}

bool option_given(const struct operands *in, const char *name)
{
    struct found f;

    return in->reader && find_long(in->reader, str_z(name), &f) && *given(in->reader, &f);
}

bool option_refuse_idle(const struct operands *in, const struct option_idle *rows,
                        struct err *e)
{
    for (; rows->name; rows++)
        if (rows->idle && option_given(in, rows->name))
            return err_set(e, ERR_USAGE, "'--%s' only goes with %s", rows->name,
                           rows->goes_with);
    return true;
}

bool option_shown(const struct option *o, const struct option *over)
{
    for (; over && over->name; over++)
        if (strcmp(o->name, over->name) == 0)
            return false;
    return !o->hidden;
}
