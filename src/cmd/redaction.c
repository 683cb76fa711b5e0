#include "cmd/redaction.h"

#include <stdio.h>

#include "base/ascii.h"
#include "trace/secret-flag.h"

enum { LINE_MAX_BYTES = 64 << 10 };

static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];

        if (!ascii_is_letter(c) && c != '_' && (i == 0 || !ascii_is_digit(c)))
            return false;
    }
    return name.len > 0;
}

static bool add_variable(struct secrets *s, const struct app *app, const char *name,
                         struct err *e)
{
    const char *value = app_env(app, name);

    if (!is_name(str_z(name))) {
        err_set(e, ERR_USAGE, "what '--redact-env' was given is not the name of a variable");
        return err_hint(e, "give the name, not the value: --redact-env GITHUB_TOKEN");
    }
    if (!value) {
        err_set(e, ERR_USAGE, "'--redact-env %s': this variable is not set or empty", name);
        return err_hint(e, "nothing is recorded as long as it is not known what to take out");
    }
    return secrets_add_value(s, str_z(name), str_z(value), e) ||
           err_wrap(e, "'--redact-env %s'", name);
}

/* What people know from other engines and RE2 has not, and what to do instead. */
static const struct construct {
    const char *text, *name, *instead;
} constructs[] = {
    { "(?=", "look-ahead '(?='", "write out what follows; it is taken out, too" },
    { "(?!", "look-ahead '(?!'", "say which characters may follow: [^…]" },
    { "(?<=", "look-behind '(?<='", "write out what stands before; it is taken out, too" },
    { "(?<!", "look-behind '(?<!'", "start with \\b or with the characters that may be there" },
    { "(?>", "an atomic group '(?>'", "use '(?:': nothing is tried twice anyway" },
    { "(?P=", "a back-reference '(?P='", "write the group a second time" },
    { "\\k<", "a back-reference '\\k<'", "write the group a second time" },
    { "(?#", "a comment '(?#'", "leave it out" },
};

static bool is_back_reference(const char *pattern)
{
    for (; *pattern; pattern++)
        if (*pattern == '\\' && *++pattern >= '1' && *pattern <= '9')
            return true;
        else if (!*pattern)
            break;
    return false;
}

/* A pattern may hold a secret: it is told by its number. */
static bool refuse_pattern(size_t number, const char *pattern, const char *why, struct err *e)
{
    for (size_t i = 0; i < sizeof constructs / sizeof constructs[0]; i++)
        if (strstr(pattern, constructs[i].text)) {
            err_set(e, ERR_USAGE,
                    "pattern %zu of '--redact-patterns' has %s, which RE2 has not", number,
                    constructs[i].name);
            return err_hint(e, "%s", constructs[i].instead);
        }
    if (is_back_reference(pattern)) {
        err_set(e, ERR_USAGE,
                "pattern %zu of '--redact-patterns' has a back-reference, which RE2 has not",
                number);
        return err_hint(e, "write the group a second time");
    }
    err_set(e, ERR_USAGE, "pattern %zu of '--redact-patterns' cannot be used: %s", number, why);
    return err_hint(e, "patterns are RE2's: no look-around and no back-references");
}

static bool add_patterns(struct secrets *s, const struct option_list *patterns, struct err *e)
{
    for (size_t i = 0; i < patterns->count; i++) {
        struct err why = ERR_NONE;
        if (!secrets_add_pattern(s, str_z(patterns->at[i]), &why))
            return refuse_pattern(i + 1, patterns->at[i], why.msg, e);
    }
    return true;
}

static bool add_members(struct secrets *s, const struct option_list *members, struct err *e)
{
    for (size_t i = 0; i < members->count; i++)
        if (!secrets_add_member(s, str_z(members->at[i]), e)) {
            err_set(e, ERR_USAGE,
                    "what '--redact-members' was given is not the name of a member");
            return err_hint(e, "give a name, not a value: --redact-members customer_id");
        }
    return true;
}

/* The passwords of addresses. */
static void add_passwords(struct secrets *secrets, struct str word)
{
    const struct credential *row = credential_rows;
    const char *at;

    while (row->kind != CREDENTIAL_USERINFO)
        row++;
    for (size_t from = 0;
         (at = memmem(word.at + from, word.len - from, row->literal.at, row->literal.len));) {
        struct credential_place p;

        if (credential_match(row, word, (size_t)(at - word.at), &p))
            secrets_add_argument(secrets, str_n(word.at + p.at, p.end - p.at));
        from = (size_t)(at - word.at) + row->literal.len;
    }
}

/* Secrets given on the command line come back in what a server says. */
static void add_arguments(struct secrets *secrets, char *const *server)
{
    struct str before = STR_NONE;

    for (; server && *server; server++) {
        struct str word = str_z(*server);
        struct unravel_span s;
        bool found = secret_flag_next(before, word, &s) || secret_flag_part(word, 0, &s);

        for (; found; found = secret_flag_part(word, s.end, &s))
            secrets_add_argument(secrets, str_n(word.at + s.at, s.end - s.at));
        add_passwords(secrets, word);
        before = word;
    }
}

/* A short word that a server repeats is no way in; what is long enough is looked for. */
static void add_values(struct secrets *s, const struct fields *values)
{
    for (size_t i = 0; values && i < values->count; i++) {
        struct err refused = ERR_NONE;
        bool added = secrets_add_value(s, values->at[i].name, values->at[i].value, &refused);

        (void)added;
    }
}

static bool add_rules(struct secrets *s, const struct app *app,
                      const struct redaction_args *args, const struct redaction_known *known,
                      struct err *e)
{
    for (size_t i = 0; i < args->env.count; i++)
        if (!add_variable(s, app, args->env.at[i], e))
            return false;
    if (args->defaults && (!known->explicit_rules || known->defaults)) {
        secrets_add_credentials(s);
        add_arguments(s, known->server);
    }
    add_values(s, known->values);
    return add_members(s, &args->members, e) && add_patterns(s, &args->patterns, e) &&
           secrets_seal(s, e);
}

/* What was too long and was cut may end in the middle of a value: of such a text only what
 * stands before its subject is kept. */
static void add_beginning(struct buf *to, struct str text)
{
    buf_add(to, str_n(text.at, str_find(text, '\'')));
    buf_add(to, STR("[REDACTED]"));
}

static void put_redacted(void *to, struct str line)
{
    struct redaction *r = to;
    struct buf clean, part;

    buf_init(&clean, LINE_MAX_BYTES);
    buf_init(&part, LINE_MAX_BYTES);
    if (str_ends(line, STR("…\n"))) {
        add_beginning(&part, line);
        buf_add_ch(&part, '\n');
        line = buf_str(&part);
    }
    redactor_text(&r->redactor, line, &clean);
    r->plain->put(r->plain->to, buf_str(&clean));
    buf_release(&part);
    buf_release(&clean);
}

bool redaction_init(struct redaction *r, const struct app *app,
                    const struct redaction_args *args, const struct redaction_known *known,
                    struct err *e)
{
    static const struct redaction_known nothing = { .server = NULL };

    if (!known)
        known = &nothing;
    secrets_init(&r->secrets);
    if (!add_rules(&r->secrets, app, args, known, e)) {
        secrets_release(&r->secrets);
        return false;
    }
    redactor_init(&r->redactor, &r->secrets, NULL);
    r->redactor.keep_url = !args->server_url;
    r->redactor.keep_requests = r->redactor.whole_path = known->explicit_rules;
    if (known->explicit_rules && !known->defaults)
        r->redactor.search.learnt = NULL;
    r->plain = app->log;
    r->log = *app->log;
    r->log.put = put_redacted;
    r->log.to = r;
    return true;
}

void redaction_release(struct redaction *r)
{
    redactor_release(&r->redactor);
    secrets_release(&r->secrets);
}

struct sink *redaction_door(struct redaction *r, struct sink *to)
{
    r->redactor.to = to;
    return &r->redactor.sink;
}

struct learnt *redaction_learnt(struct redaction *r)
{
    return &r->redactor.learnt;
}

void redaction_for(struct redaction *r, const struct format *format)
{
    r->redactor.marks.plain = format == &cassette_format;
}

char *redaction_word(struct redaction *r, const char *word, struct arena *a)
{
    struct buf b;
    char *copy;

    buf_init(&b, LINE_MAX_BYTES);
    redactor_text(&r->redactor, str_z(word), &b);
    copy = arena_z(a, buf_str(&b));
    buf_release(&b);
    return copy;
}

bool redaction_tells(struct redaction *r, struct str path)
{
    struct buf b;
    bool same;

    buf_init(&b, LINE_MAX_BYTES);
    redactor_text(&r->redactor, path, &b);
    same = str_eq(buf_str(&b), path);
    buf_release(&b);
    return same && (r->redactor.keep_url || own_path_is_plain(path));
}

static void clean(struct redactor *r, char *text, size_t size)
{
    struct str said = str_z(text);
    struct buf b, part;

    buf_init(&b, LINE_MAX_BYTES);
    buf_init(&part, size + sizeof "[REDACTED]");
    if (said.len == size - 1) {
        add_beginning(&part, said);
        said = buf_str(&part);
    }
    redactor_text(r, said, &b);
    snprintf(text, size, "%s", buf_z(&b));
    buf_release(&part);
    buf_release(&b);
}

static void clean_err(struct redactor *r, struct err *e)
{
    clean(r, e->msg, sizeof e->msg);
    clean(r, e->hint, sizeof e->hint);
}

void redaction_err(struct redaction *r, struct err *e)
{
    clean_err(&r->redactor, e);
}

/* The values of some variables; those that cannot be looked for are refused elsewhere. */
static void add_known(struct secrets *s, char *const *env, struct str names, struct arena *a)
{
    while (names.len) {
        struct str name = str_trim(str_cut(&names, ','));
        const char *value = option_env_get(env, arena_z(a, name));
        struct err refused = ERR_NONE;
        bool known = value && secrets_add_value(s, name, str_z(value), &refused);

        (void)known;
    }
}

static void add_named(struct secrets *s, char *const *argv, char *const *env, struct arena *a)
{
    static const struct str option = STR_INIT("--redact-env");
    const char *set = option_env_get(env, "MCPREEL_REDACT_ENV");

    add_known(s, env, str_z(set), a);
    for (; *argv && strcmp(*argv, "--") != 0; argv++) {
        struct str word = str_z(*argv);
        if (str_eq(word, option) && argv[1])
            add_known(s, env, str_z(argv[1]), a);
        else if (str_starts(word, option) && word.at[option.len] == '=')
            add_known(s, env, str_skip(word, option.len + 1), a);
    }
}

void redaction_shield(char *const *argv, char *const *env, struct err *e)
{
    struct arena a = { 0 };
    struct err ignored = ERR_NONE;
    struct redactor redactor;
    struct secrets s;

    secrets_init(&s);
    add_named(&s, argv, env, &a);
    secrets_add_credentials(&s);
    if (!secrets_seal(&s, &ignored))
        BUG("rules without patterns are too much");
    redactor_init(&redactor, &s, NULL);
    clean_err(&redactor, e);
    redactor_release(&redactor);
    secrets_release(&s);
    arena_release(&a);
}
