#include "cmd/redact-options.h"

#include <stdio.h>

#include "base/units.h"
#include "redact/secret-args.h"
#include "runtime/app.h"

static bool add_variable(struct secret_rules *s, const struct app *app, const char *name,
                         struct err *e)
{
    const char *value = app_env(app, name);

    if (!placeholder_is_variable(str_z(name))) {
        err_set(e, ERR_USAGE, "the value of '--redact-env' is not the name of a variable");
        return err_hint(e, "give the name, not the value: --redact-env GITHUB_TOKEN");
    }
    if (!value) {
        err_set(e, ERR_USAGE, "'--redact-env %s': this variable is not set or empty", name);
        return err_hint(e, "nothing is written without the value to redact");
    }
    return secret_rules_add_value(s, str_z(name), str_z(value), e) ||
           err_wrap(e, "'--redact-env %s'", name);
}

/* Constructs of other regex engines that RE2 lacks, and what to use instead. */
static const struct construct {
    const char *text, *name, *instead;
} constructs[] = {
    { "(?=", "look-ahead '(?='",
      "write the following text into the pattern; it is redacted, too" },
    { "(?!", "look-ahead '(?!'", "list the characters that may follow: [^…]" },
    { "(?<=", "look-behind '(?<='",
      "write the preceding text into the pattern; it is redacted, too" },
    { "(?<!", "look-behind '(?<!'",
      "start with \\b or with the characters that may precede it" },
    { "(?>", "an atomic group '(?>'", "use '(?:': RE2 does not backtrack" },
    { "(?P=", "a back-reference '(?P='", "write the group a second time" },
    { "\\k<", "a back-reference '\\k<'", "write the group a second time" },
    { "(?#", "a comment '(?#'", "leave it out" },
};

static bool has_back_reference(const char *pattern)
{
    for (; *pattern; pattern++)
        if (*pattern == '\\' && *++pattern >= '1' && *pattern <= '9')
            return true;
        else if (!*pattern)
            break;
    return false;
}

/* Does not show the pattern: it may contain a secret. */
static bool reject_pattern(const char *name, const char *pattern, const char *why,
                           struct err *e)
{
    for (size_t i = 0; i < sizeof constructs / sizeof constructs[0]; i++)
        if (strstr(pattern, constructs[i].text)) {
            err_set(e, ERR_USAGE, "%s has %s, which RE2 does not support", name,
                    constructs[i].name);
            return err_hint(e, "%s", constructs[i].instead);
        }
    if (has_back_reference(pattern)) {
        err_set(e, ERR_USAGE, "%s has a back-reference, which RE2 does not support", name);
        return err_hint(e, "write the group a second time");
    }
    err_set(e, ERR_USAGE, "%s cannot be used: %s", name, why);
    return err_hint(e, "patterns use the syntax of RE2: no look-around, no back-references");
}

static bool add_pattern(struct secret_rules *s, const char *pattern, const char *name,
                        struct err *e)
{
    struct err why = ERR_NONE;

    return secret_rules_add_pattern(s, str_z(pattern), &why) ||
           reject_pattern(name, pattern, why.msg, e);
}

static bool add_patterns(struct secret_rules *s, const struct str_list *patterns, struct err *e)
{
    for (size_t i = 0; i < patterns->count; i++) {
        char name[64];

        snprintf(name, sizeof name, "pattern %zu of '--redact-patterns'", i + 1);
        if (!add_pattern(s, patterns->at[i], name, e))
            return false;
    }
    return true;
}

bool redact_options_check_pattern(const char *pattern, struct err *e)
{
    struct secret_rules rules;
    bool ok;

    secret_rules_init(&rules);
    ok = add_pattern(&rules, pattern, "this pattern", e);
    secret_rules_release(&rules);
    return ok;
}

static bool add_members(struct secret_rules *s, const struct str_list *members, struct err *e)
{
    for (size_t i = 0; i < members->count; i++)
        if (!secret_rules_add_member(s, str_z(members->at[i]), e)) {
            err_set(e, ERR_USAGE,
                    "the value of '--redact-members' is not the name of a member");
            return err_hint(e, "give a name, not a value: --redact-members customer_id");
        }
    return true;
}

/* Adds the passwords in URLs. */
static void add_passwords(struct secret_rules *secrets, struct str word)
{
    const struct credential *row = credential_rows;
    const char *at;

    while (row->kind != CREDENTIAL_USERINFO)
        row++;
    for (size_t from = 0;
         (at = memmem(word.at + from, word.len - from, row->literal.at, row->literal.len));) {
        struct credential_span p;

        if (credential_match(row, word, (size_t)(at - word.at), &p))
            secret_rules_add_argument(secrets, str_n(word.at + p.at, p.end - p.at));
        from = (size_t)(at - word.at) + row->literal.len;
    }
}

/* Adds secrets of the server's command line: servers repeat them in their output. */
static void add_arguments(struct secret_rules *secrets, char *const *server)
{
    struct str before = STR_NONE;

    for (; server && *server; server++) {
        struct str word = str_z(*server);
        struct unescape_span s;
        bool found =
            secret_args_find_after(before, word, &s) || secret_args_find_in_word(word, 0, &s);

        for (; found; found = secret_args_find_in_word(word, s.end, &s))
            secret_rules_add_argument(secrets, str_n(word.at + s.at, s.end - s.at));
        add_passwords(secrets, word);
        before = word;
    }
}

/* Adds the values that are long enough to be searched for; ignores the others. */
static void add_values(struct secret_rules *s, const struct headers *values)
{
    for (size_t i = 0; values && i < values->count; i++) {
        struct err refused = ERR_NONE;
        bool added =
            secret_rules_add_value(s, values->at[i].name, values->at[i].value, &refused);

        (void)added;
    }
}

static bool add_rules(struct secret_rules *s, const struct app *app,
                      const struct redaction_args *args, const struct redaction_known *known,
                      struct err *e)
{
    for (size_t i = 0; i < args->env.count; i++)
        if (!add_variable(s, app, args->env.at[i], e))
            return false;
    if (args->defaults && (!known->explicit_rules || known->defaults)) {
        secret_rules_add_credentials(s);
        add_arguments(s, known->words);
    }
    add_values(s, known->values);
    return add_members(s, &args->members, e) && add_patterns(s, &args->patterns, e) &&
           secret_rules_seal(s, e);
}

bool redact_options_wants_defaults(const struct app *app, const struct redaction_args *args,
                                   const struct operands *in)
{
    return args->defaults &&
           (option_is_given(in, "redact-defaults") || app_env(app, "MCPREEL_REDACT_DEFAULTS"));
}

bool redact_options_init(struct redaction *r, const struct app *app,
                         const struct redaction_args *args, const struct redaction_known *known,
                         struct err *e)
{
    static const struct redaction_known nothing = { .words = NULL };

    if (!known)
        known = &nothing;
    secret_rules_init(&r->secrets);
    if (!add_rules(&r->secrets, app, args, known, e)) {
        secret_rules_release(&r->secrets);
        return false;
    }
    redaction_init(r, app->log);
    r->redactor.keep_url = !args->server_url;
    r->redactor.keep_requests = r->redactor.redact_whole_path = known->explicit_rules;
    if (known->explicit_rules && !known->defaults)
        redactor_ignore_seen(&r->redactor);
    return true;
}

void redact_options_set_format(struct redaction *r, const struct format *format)
{
    redactor_hide_rule_names(&r->redactor, format == &cassette_format);
}

void redact_options_warn_kept_requests(const struct redaction *r, const char *where,
                                       const char *why)
{
    uint64_t n = r->redactor.requests_kept;
    struct buf text;

    if (!n)
        return;
    buf_init(&text, 128);
    units_write_count(&text, n, "message of the client contains",
                      "messages of the client contain");
    log_printf(&r->log, LOG_WARN, "%s%s secrets: %s", where, buf_z(&text), why);
    buf_release(&text);
}

/* Adds the values of these variables; those that cannot be searched for are rejected
 * elsewhere. */
static void add_env_values(struct secret_rules *s, char *const *env, struct str names,
                           struct arena *a)
{
    while (names.len) {
        struct str name = str_trim(str_cut(&names, ','));
        const char *value = app_env_get(env, arena_z(a, name));
        struct err refused = ERR_NONE;
        bool known = value && secret_rules_add_value(s, name, str_z(value), &refused);

        (void)known;
    }
}

static void add_named_variables(struct secret_rules *s, char *const *argv, char *const *env,
                                struct arena *a)
{
    static const struct str option = STR_INIT("--redact-env");
    const char *set = app_env_get(env, "MCPREEL_REDACT_ENV");

    add_env_values(s, env, str_z(set), a);
    for (; *argv && strcmp(*argv, "--") != 0; argv++) {
        struct str word = str_z(*argv);
        if (str_eq(word, option) && argv[1])
            add_env_values(s, env, str_z(argv[1]), a);
        else if (str_starts(word, option) && word.at[option.len] == '=')
            add_env_values(s, env, str_skip(word, option.len + 1), a);
    }
}

void redact_options_redact_early_err(char *const *argv, char *const *env, struct err *e)
{
    struct arena a = { 0 };
    struct err ignored = ERR_NONE;
    struct redaction r;
    struct log silent = { .write = NULL };

    secret_rules_init(&r.secrets);
    add_named_variables(&r.secrets, argv, env, &a);
    secret_rules_add_credentials(&r.secrets);
    if (!secret_rules_seal(&r.secrets, &ignored))
        BUG("rules without patterns are too large");
    redaction_init(&r, &silent);
    redaction_redact_err(&r, e);
    redaction_release(&r);
    arena_release(&a);
}
