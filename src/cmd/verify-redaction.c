#include "cmd/verify-redaction.h"

#include <stdio.h>

#include "loop/process-self.h"
#include "trace/limits.h"
#include "json/write.h"

void verify_redaction_init(struct verify_redaction *r,
                           const struct verify_redaction_config *config, struct sink *next)
{
    *r = (struct verify_redaction){ .config = config };
    placeholder_names_init(&r->names, next);
}

void verify_redaction_release(struct verify_redaction *r)
{
    placeholder_names_release(&r->names);
    if (r->started) {
        redact_verdict_release(&r->verdicts);
        redaction_release(&r->redaction);
    }
    arena_release(&r->arena);
}

static const char *value_of(const struct verify_redaction *r, struct str name)
{
    struct arena a = { 0 };
    const char *value = app_env(r->config->app, arena_z(&a, name));

    arena_release(&a);
    return value;
}

/* Adds the credentials of the server and the values that placeholders name. */
static void add_values(const struct verify_redaction *r, struct headers *to)
{
    const struct verify_redaction_config *c = r->config;
    const struct headers *known = c->remote ? &c->remote->secrets : &c->env->secrets;

    for (size_t i = 0; i < known->count; i++)
        headers_add(to, known->at[i].name, known->at[i].value);
    for (struct map_entry *e = NULL; (e = map_next(&r->names.names, e));) {
        const char *value = value_of(r, e->key);

        if (value)
            headers_add(to, e->key, str_z(value));
    }
}

/* Writes the command as a JSON array and as a line. */
static void write_command(char *const *argv, struct buf *json, struct buf *line)
{
    struct json_out o = json_out_to(json);

    json_out_array(&o);
    for (size_t i = 0; argv[i]; i++) {
        json_out_str(&o, str_z(argv[i]));
        buf_printf(line, "%s%s", i ? " " : "", argv[i]);
    }
    json_out_end_array(&o);
}

/* Returns the command line or URL of the server without secrets. */
static struct str redact_target(struct verify_redaction *r)
{
    const struct verify_redaction_config *c = r->config;
    struct buf json, line, clean;
    struct str target;

    buf_init(&json, LIMIT_LINE);
    buf_init(&line, LIMIT_LINE);
    buf_init(&clean, LIMIT_LINE);
    if (c->argv)
        write_command(c->argv, &json, &line);
    else if (c->remote)
        buf_add(&line, str_z(c->remote->display_url));
    redactor_redact_server(&r->redaction.redactor, buf_str(&json), buf_str(&line), &clean);
    target = arena_str(&r->arena, buf_str(&clean));
    buf_release(&json);
    buf_release(&line);
    buf_release(&clean);
    return target;
}

/* mcp-recorder shows the whole URL; reports have it as for other recordings. */
static void redact_targets(struct verify_redaction *r)
{
    struct redactor *redactor = &r->redaction.redactor;
    bool keep_url = redactor->keep_url;

    redactor->keep_url = true;
    r->shown_target = redact_target(r);
    redactor->keep_url = keep_url;
    redactor->redact_whole_path = false;
    r->target = redact_target(r);
    if (!r->config->like_mcp_recorder)
        r->shown_target = r->target;
}

bool verify_redaction_start(struct verify_redaction *r, const struct format *format,
                            struct err *e)
{
    const struct verify_redaction_config *c = r->config;
    struct headers values = { 0 };
    struct redaction_known known = {
        .words = server_env_words(c->env, c->argv, c->remote ? c->remote->display_url : NULL,
                                  &r->arena),
        .values = &values,
        .explicit_rules = c->like_mcp_recorder,
        .defaults = c->wants_defaults,
    };

    add_values(r, &values);
    r->started = redact_options_init(&r->redaction, c->app, c->args, &known, e);
    headers_release(&values);
    if (!r->started)
        return false;
    redact_options_set_format(&r->redaction, format);
    redact_targets(r);
    redact_verdict_init(&r->verdicts, &r->redaction.redactor);
    r->app = *c->app;
    r->app.log = &r->redaction.log;
    process_self_disable_dumps();
    return true;
}

struct str verify_redaction_text(struct verify_redaction *r, struct str text)
{
    struct str clean;
    struct buf to;

    buf_init(&to, LIMIT_LINE);
    redactor_redact_text(&r->redaction.redactor, text, &to);
    clean = arena_str(&r->arena, buf_str(&to));
    buf_release(&to);
    return clean;
}

struct str verify_redaction_target(const struct verify_redaction *r)
{
    return r->target;
}

/* Returns whether the redactor removes the value from any text. */
static bool is_redacted(struct verify_redaction *r, struct str value)
{
    struct buf to;
    bool found;

    buf_init(&to, LIMIT_LINE);
    redactor_redact_text(&r->redaction.redactor, value, &to);
    found = !memmem(to.at, to.len, value.at, value.len);
    buf_release(&to);
    return found;
}

bool verify_redaction_find_secret(void *verify_redaction, struct str name, struct str *value,
                                  struct str *why)
{
    struct verify_redaction *r = verify_redaction;
    const char *text = placeholder_names_has(&r->names, name) ? value_of(r, name) : NULL;

    if (!text)
        return false;
    if (!is_redacted(r, str_z(text))) {
        *why = arena_printf(&r->arena,
                            "the value of %.*s is not sent: it is too short to be kept out of "
                            "the output",
                            STR_ARG(name));
        return false;
    }
    *value = str_z(text);
    return true;
}

/* Replaces the URL of the server as reports do. Without default rules the redactor does not
 * find a secret in its query. */
static void redact_url(struct verify_redaction *r, char *text, size_t size)
{
    const char *url = r->config->remote ? r->config->remote->display_url : NULL;
    const char *at = url ? strstr(text, url) : NULL;
    struct buf b;

    if (!at)
        return;
    buf_init(&b, LIMIT_LINE);
    buf_printf(&b, "%.*s%.*s%s", (int)(at - text), text, STR_ARG(r->target), at + strlen(url));
    snprintf(text, size, "%s", buf_z(&b));
    buf_release(&b);
}

void verify_redaction_redact_err(struct verify_redaction *r, struct err *e)
{
    if (!r->started)
        return;
    if (r->config->like_mcp_recorder)
        redact_url(r, e->msg, sizeof e->msg);
    redaction_redact_err(&r->redaction, e);
}
