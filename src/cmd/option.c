#include "cmd/option.h"

#include <stdio.h>

#include "base/ascii.h"
#include "base/str.h"
#include "base/suggest.h"
#include "cmd/option-value.h"
#include "runtime/app.h"

/* A row that was found, the index of its set, and how it was spelled. */
struct option_match {
    const struct option *row;
    size_t set;
    bool negated; /* as --no-NAME */
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
        option_value_preset(&set.rows[i], (char *)set.args + set.rows[i].offset, r->arena);
}

static bool has_name(const struct option *o, struct str name)
{
    if (str_eq(str_z(o->name), name))
        return true;
    for (size_t i = 0; i < OPTION_ALIASES && o->aliases[i]; i++)
        if (str_eq(str_z(o->aliases[i]), name))
            return true;
    return false;
}

static bool find_long(const struct option_reader *r, struct str name, struct option_match *out)
{
    struct str positive = str_starts(name, STR("no-")) ? str_skip(name, 3) : STR_NONE;

    for (size_t s = r->count; s-- > 0;)
        for (const struct option *o = r->sets[s].rows; o && o->name; o++) {
            bool negated = o->negatable && has_name(o, positive);
            if (negated || has_name(o, name)) {
                *out = (struct option_match){ o, s, negated };
                return true;
            }
        }
    return false;
}

static bool find_short(const struct option_reader *r, char key, struct option_match *out)
{
    for (size_t s = r->count; s-- > 0;)
        for (const struct option *o = r->sets[s].rows; o && o->name; o++)
            if (o->key == key) {
                *out = (struct option_match){ o, s, false };
                return true;
            }
    return false;
}

bool option_hint_help(struct err *e, const char *command)
{
    char said[sizeof e->hint];

    memcpy(said, e->hint, sizeof said);
    return err_hint(e, "%s%ssee 'mcpreel %s%s--help'", said, *said ? "\n" : "",
                    command ? command : "", command ? " " : "");
}

static bool reject_unknown(const struct option_reader *r, struct str word, struct err *e)
{
    struct str name = str_starts(word, STR("--")) ? str_skip(word, 2) : STR_NONE;
    struct suggest near = suggest_for(name);

    for (size_t s = r->count; s-- > 0;)
        for (const struct option *o = r->sets[s].rows; o && o->name; o++) {
            if (!o->hidden)
                suggest_try(&near, o->name);
            if (o->negatable)
                suggest_try(&near, arena_printf(r->arena, "no-%s", o->name).at);
            for (size_t i = 0; i < OPTION_ALIASES && o->aliases[i]; i++)
                suggest_try(&near, o->aliases[i]);
        }
    if (r->command)
        err_set(e, ERR_USAGE, "unknown option '%.*s' for '%s'", STR_ARG(word), r->command);
    else
        err_set(e, ERR_USAGE, "unknown option '%.*s'", STR_ARG(word));
    if (name.len && near.best)
        err_hint(e, "did you mean '--%s'?", near.best);
    else if (!r->command)
        err_hint(e, "the options of a command follow its name");
    return option_hint_help(e, r->command);
}

static bool *given_flag(const struct option_reader *r, const struct option_match *f)
{
    return &r->given[f->set][f->row - r->sets[f->set].rows];
}

static void *field_of(const struct option_reader *r, const struct option_match *f)
{
    return (char *)r->sets[f->set].args + f->row->offset;
}

static bool set_value(struct option_reader *r, const struct option_match *f, struct str shown,
                      const char *text, struct err *e)
{
    if (!*given_flag(r, f))
        option_value_clear(f->row, field_of(r, f));
    *given_flag(r, f) = true;
    if (option_value_set(f->row, field_of(r, f), text, r->arena, e))
        return true;
    err_wrap(e, "option '%.*s'", STR_ARG(shown));
    return option_hint_help(e, r->command);
}

/* Sets an option that takes no value. */
static void set_no_value(struct option_reader *r, const struct option_match *f)
{
    if (f->row->type == OPTION_COUNT)
        ++*(int *)field_of(r, f);
    else
        *(bool *)field_of(r, f) = !f->negated;
    *given_flag(r, f) = true;
}

static bool reject_no_value(const struct option_reader *r, const struct option *o,
                            struct str shown, struct err *e)
{
    err_set(e, ERR_USAGE, "option '%.*s' needs a value: %s", STR_ARG(shown), o->arg);
    return option_hint_help(e, r->command);
}

/* Position in the command line. */
struct arg_cursor {
    int at, argc;
    char **argv;
};

/* Returns the word after the option, or NULL. "--" is no value: in "-o -- server" it was
 * forgotten. */
static const char *next_word(struct arg_cursor *l)
{
    if (l->at + 1 >= l->argc || strcmp(l->argv[l->at + 1], "--") == 0)
        return NULL;
    return l->argv[++l->at];
}

static bool read_long(struct option_reader *r, struct arg_cursor *l, struct err *e)
{
    struct str word = str_z(l->argv[l->at]);
    struct str shown = str_n(word.at, str_find(word, '='));
    bool attached = shown.len < word.len;
    const char *text = attached ? word.at + shown.len + 1 : NULL;
    struct option_match f;

    if (!find_long(r, str_skip(shown, 2), &f))
        return reject_unknown(r, shown, e);
    if (f.row->implied)
        return set_value(r, &f, shown, attached ? text : f.row->implied, e);
    if (!option_takes_value(f.row)) {
        if (attached) {
            err_set(e, ERR_USAGE, "option '%.*s' takes no value", STR_ARG(shown));
            return option_hint_help(e, r->command);
        }
        set_no_value(r, &f);
        return true;
    }
    if (!text)
        text = next_word(l);
    return text ? set_value(r, &f, shown, text, e) : reject_no_value(r, f.row, shown, e);
}

/* Parses "-vq", "-ofile", "-o=file" and "-o file". */
static bool read_short(struct option_reader *r, struct arg_cursor *l, struct err *e)
{
    for (const char *c = l->argv[l->at] + 1; *c; c++) {
        char name[] = { '-', *c, '\0' };
        const char *text = c + 1 + (c[1] == '=');
        struct option_match f;

        if (!find_short(r, *c, &f))
            return reject_unknown(r, STR(name), e);
        if (!option_takes_value(f.row)) {
            set_no_value(r, &f);
            continue;
        }
        if (!c[1])
            text = next_word(l);
        return text ? set_value(r, &f, STR(name), text, e)
                    : reject_no_value(r, f.row, STR(name), e);
    }
    return true;
}

static void keep_first_err(struct err *first, const struct err *now)
{
    if (first->kind == ERR_OK)
        *first = *now;
}

static bool has_double_dash(const struct arg_cursor *l)
{
    for (int i = l->at; i < l->argc; i++)
        if (strcmp(l->argv[i], "--") == 0)
            return true;
    return false;
}

/* Rejects an operand before "--" where the server's command is expected: "session.jsonl --
 * npx x" lacks an option, "npm start -- --stdio" a "--" in front. */
static void reject_ambiguous(const struct option_reader *r, const char *word, struct err *e)
{
    err_set(e, ERR_USAGE, "unexpected '%s' before '--'", word);
    err_hint(e, "if it begins the server's command, put '--' in front of it");
    option_hint_help(e, r->command);
}

int option_read_line(struct option_reader *r, int argc, char **argv, enum option_extent extent,
                     struct operands *operands, struct err *e)
{
    struct arg_cursor l = { 0, argc, argv };

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
        if (end || (operand && extent == OPTION_SERVER && !has_double_dash(&l))) {
            operands->server = argv + l.at + end;
            operands->server_count = (size_t)(argc - l.at - end);
            return argc;
        }
        if (operand && extent == OPTION_SERVER) {
            reject_ambiguous(r, word, &now);
            keep_first_err(e, &now);
        } else if (operand) {
            operands->at[operands->count++] = argv[l.at];
        } else if (!(word[1] == '-' ? read_long(r, &l, &now) : read_short(r, &l, &now))) {
            keep_first_err(e, &now);
        }
    }
    return argc;
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

bool option_env_has(char *const *env, const char *option, const char *value)
{
    static const char *const prefixes[] = { "MCPREEL_", "THOUGHTJACK_" };

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        char name[OPTION_ENV_NAME];
        const char *set = app_env_get(env, option_env_name(name, prefixes[i], option));

        if (set && strcmp(set, value) == 0)
            return true;
    }
    return false;
}

/* Returns the value of the first variable that sets the option; its name is in `name` then. */
static const char *find_env_value(const struct option *o, char *const *env,
                                  char name[OPTION_ENV_NAME])
{
    const char *text = app_env_get(env, option_env_name(name, "MCPREEL_", o->name));

    if (!text && o->env) {
        text = app_env_get(env, o->env);
        if (text)
            snprintf(name, OPTION_ENV_NAME, "%s", o->env);
    }
    if (text || !o->thoughtjack_env)
        return text;
    text = app_env_get(env, option_env_name(name, "THOUGHTJACK_", o->name));
    for (size_t i = 0; !text && i < OPTION_ALIASES && o->aliases[i]; i++)
        text = app_env_get(env, option_env_name(name, "THOUGHTJACK_", o->aliases[i]));
    return text;
}

static void read_env_option(struct option_reader *r, const struct option_match *f,
                            struct err *e)
{
    char name[OPTION_ENV_NAME];
    const char *text = find_env_value(f->row, r->env, name);

    if (!text)
        return;
    option_value_clear(f->row, field_of(r, f));
    if (!option_value_set(f->row, field_of(r, f), text, r->arena, e)) {
        err_wrap(e, "variable '%s'", name);
        option_hint_help(e, r->command);
    }
}

void option_read_env(struct option_reader *r, struct err *e)
{
    for (size_t s = 0; s < r->count; s++)
        for (const struct option *o = r->sets[s].rows; o && o->name; o++) {
            struct err now = ERR_NONE;
            struct option_match f;

            /* If two rows have the same name, only the one added last is filled. */
            if (find_long(r, str_z(o->name), &f) && f.row == o && !o->no_env &&
                !*given_flag(r, &f))
                read_env_option(r, &f, &now);
            if (now.kind != ERR_OK)
                keep_first_err(e, &now);
        }
}

bool option_is_given(const struct operands *in, const char *name)
{
    struct option_match f;

    return in->reader && find_long(in->reader, str_z(name), &f) && *given_flag(in->reader, &f);
}

bool option_reject_unused(const struct operands *in, const struct option_unused *rows,
                          struct err *e)
{
    for (; rows->name; rows++)
        if (rows->is_unused && option_is_given(in, rows->name))
            return err_set(e, ERR_USAGE, "'--%s' needs %s", rows->name, rows->needs);
    return true;
}

bool option_is_shown(const struct option *o, const struct option *over)
{
    for (; over && over->name; over++)
        if (strcmp(o->name, over->name) == 0)
            return false;
    return !o->hidden;
}
