#include "cmd/check-secrets.h"

#include "base/amount.h"
#include "base/term.h"
#include "cmd/inspect-file.h"
#include "cmd/leaks.h"

enum { REPORT_MAX = 256 << 20 };

static bool drop(struct sink *self, const struct record *r, struct err *e)
{
    (void)self;
    (void)r;
    (void)e;
    return true;
}

struct report {
    const struct app *app;
    const struct redaction_args *args;
    struct buf text;
    struct json_out json;
    int worst;
};

/* One file, to its end. */
struct looked {
    struct inspect_file file;
    struct leaks leaks;
    struct err trouble; /* with the file */
    bool usable;
    uint64_t unread[REDACT_JSON_REASONS];
};

/* Base64 that was not searched. */
static void tell_unread(struct buf *to, const struct looked *f)
{
    static const char *const kinds[][2] = {
        [REDACT_JSON_BINARY] = { "binary value", "binary values" },
        [REDACT_JSON_COMPRESSED] = { "compressed value", "compressed values" },
        [REDACT_JSON_LARGE] = { "value over 16 MiB", "values over 16 MiB" },
    };
    const char *sign = "  not searched: ";

    for (size_t i = 0; i < REDACT_JSON_REASONS; i++) {
        if (!f->unread[i])
            continue;
        buf_add(to, str_z(sign));
        amount_of(to, f->unread[i], kinds[i][0], kinds[i][1]);
        sign = ", ";
    }
    if (*sign == ',')
        buf_add(to, STR(" in base64\n"));
}

static void tell_list(struct buf *to, const char *what, const struct option_list *names)
{
    for (size_t i = 0; i < names->count; i++) {
        buf_add(to, i ? STR(", ") : STR("; "));
        if (!i)
            buf_printf(to, "%s ", what);
        term_escape(to, str_z(names->at[i]), TERM_ONE_LINE);
    }
}

/* The last line: which secrets would have been found. */
static void tell_searched(struct report *r)
{
    const struct redaction_args *args = r->args;
    struct buf *to = &r->text;

    buf_add(to, STR("searched for: "));
    buf_add(to, args->defaults ? STR("well-known credential formats, values named as secrets")
                               : STR("no defaults"));
    tell_list(to, "variables", &args->env);
    tell_list(to, "members", &args->members);
    if (args->patterns.count) {
        buf_add(to, STR("; "));
        amount_of(to, args->patterns.count, "pattern", "patterns");
    }
    buf_add_ch(to, '\n');
}

static void add_list(struct json_out *o, struct str name, const struct option_list *names)
{
    json_out_key(o, name);
    json_out_array(o);
    for (size_t i = 0; i < names->count; i++)
        json_out_str(o, str_z(names->at[i]));
    json_out_end_array(o);
}

static void add_searched(struct report *r)
{
    struct json_out *o = &r->json;

    json_out_key(o, STR("searched_for"));
    json_out_object(o);
    json_out_key_bool(o, STR("defaults"), r->args->defaults);
    add_list(o, STR("variables"), &r->args->env);
    add_list(o, STR("members"), &r->args->members);
    json_out_key_int(o, STR("patterns"), (int64_t)r->args->patterns.count);
    json_out_end_object(o);
}

static void add_unread(struct json_out *o, const struct looked *f)
{
    json_out_key(o, STR("not_searched"));
    json_out_object(o);
    json_out_key_int(o, STR("binary"), (int64_t)f->unread[REDACT_JSON_BINARY]);
    json_out_key_int(o, STR("compressed"), (int64_t)f->unread[REDACT_JSON_COMPRESSED]);
    json_out_key_int(o, STR("too_large"), (int64_t)f->unread[REDACT_JSON_LARGE]);
    json_out_end_object(o);
}

static void tell(struct report *r, const struct looked *f)
{
    struct buf *to = &r->text;

    term_escape(to, str_z(f->file.path), TERM_ONE_LINE);
    buf_add(to, STR(": "));
    if (!f->usable)
        buf_add(to, STR("unusable"));
    else if (f->leaks.count)
        amount_of(to, f->leaks.count, "secret", "secrets");
    else
        buf_add(to, STR("no secrets found"));
    buf_add_ch(to, '\n');
    leaks_add(to, &f->leaks);
    tell_unread(to, f);
}

static void add_json(struct report *r, const struct looked *f)
{
    struct json_out *o = &r->json;

    json_out_object(o);
    json_out_key_str(o, STR("path"), str_z(f->file.path));
    if (f->usable) {
        json_out_key_str(o, STR("format"), str_z(f->file.format));
        json_out_key_int(o, STR("count"), (int64_t)f->leaks.count);
        json_out_key(o, STR("secrets"));
        leaks_json(o, &f->leaks);
        add_unread(o, f);
    } else {
        json_out_key_str(o, STR("error"), str_z(f->trouble.msg));
    }
    json_out_end_object(o);
}

static void read_file(const struct report *r, struct redaction *redaction, struct looked *f)
{
    struct sink nowhere = { drop };
    struct app app = *r->app;
    struct stats stats;

    app.log = &redaction->log;
    stats_init(&stats);
    f->usable = inspect_file_read(&app, &f->file, &stats, redaction_door(redaction, &nowhere),
                                  &f->trouble);
    stats_release(&stats);
    memcpy(f->unread, redaction->redactor.json.unread, sizeof f->unread);
    redaction_err(redaction, &f->trouble);
}

/* False if it is not the file's fault that nothing can be said of it. */
static bool look_at(struct report *r, const char *path, struct err *e)
{
    struct looked f = { .file = { .path = path } };
    struct redaction redaction;
    int code = EXIT_OK;
    bool ok;

    if (!redaction_init(&redaction, r->app, r->args, NULL, e))
        return false;
    leaks_init(&f.leaks);
    redaction.redactor.watch = &f.leaks.watch;
    read_file(r, &redaction, &f);
    ok = f.usable || f.trouble.kind == ERR_INPUT || f.trouble.kind == ERR_LIMIT;
    if (!ok)
        *e = f.trouble;
    else if (r->app->json)
        add_json(r, &f);
    else
        tell(r, &f);
    if (ok && !f.usable && !r->app->json)
        log_err(&redaction.log, &f.trouble);
    code = !f.usable ? app_exit_code(&f.trouble) : f.leaks.count ? EXIT_FINDINGS : EXIT_OK;
    r->worst = code > r->worst ? code : r->worst;
    leaks_release(&f.leaks);
    redaction_release(&redaction);
    return ok;
}

static bool look_at_all(struct report *r, const struct operands *in, struct err *e)
{
    if (r->app->json) {
        json_out_object(&r->json);
        json_out_key_int(&r->json, STR("v"), 1);
        json_out_key_str(&r->json, STR("command"), STR("check"));
        json_out_key(&r->json, STR("files"));
        json_out_array(&r->json);
    }
    for (size_t i = 0; i < in->count; i++)
        if (!look_at(r, in->at[i], e))
            return false;
    if (r->app->json) {
        json_out_end_array(&r->json);
        add_searched(r);
        json_out_end_object(&r->json);
        buf_add_ch(&r->text, '\n');
    } else {
        tell_searched(r);
    }
    return buf_ok(&r->text, e) && app_write(r->app, buf_str(&r->text), e);
}

int check_secrets(const struct app *app, const struct redaction_args *args,
                  const struct operands *in, struct err *e)
{
    struct report r = { .app = app, .args = args };
    bool ok;

    if (!args->defaults && !args->env.count && !args->patterns.count && !args->members.count) {
        err_set(e, ERR_USAGE, "nothing is secret: there is nothing to look for");
        return EXIT_USAGE;
    }
    buf_init(&r.text, REPORT_MAX);
    r.json = json_out_to(&r.text);
    ok = look_at_all(&r, in, e);
    buf_release(&r.text);
    return ok ? r.worst : app_exit_code(e);
}
