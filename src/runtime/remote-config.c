#include "runtime/remote-config.h"

#include <strings.h>

#include "mcphttp/header-policy.h"
#include "redact/unescape.h"
#include "runtime/ca-file.h"
#include "transport/curl-load.h"
#include "wire/url.h"

enum { LOGGED_URL_MAX = 256 };

/* Adds a header value to the secrets, unless the header is recorded. The token of "Bearer
 * TOKEN" is a secret by itself, too. */
static void add_secret(struct remote_config *r, struct str name, struct str header,
                       struct str value)
{
    size_t blank = str_find(value, ' ');

    if (header_policy_keeps_value(header))
        return;
    headers_add(&r->secrets, name, value);
    if (blank < value.len)
        headers_add(&r->secrets, name, str_trim(str_skip(value, blank + 1)));
}

static bool add_header(struct remote_config *r, struct str name, struct str value,
                       const char *option, struct err *e)
{
    if (!headers_is_token(name) || !headers_is_value(value))
        return err_set(e, ERR_USAGE, "'%s' needs a valid header name and value", option);
    headers_add(&r->headers, name, value);
    return true;
}

static bool add_header_option(struct remote_config *r, const char *line, struct err *e)
{
    struct str value = str_z(line), name;
    bool whole = str_find(value, ':') < value.len;

    name = whole ? str_cut(&value, ':') : STR_NONE;
    value = str_trim(value);
    if (!add_header(r, name, value, "--header", e))
        return err_hint(e, "write it as --header 'Name: value'");
    add_secret(r, name, name, value);
    return true;
}

static bool add_from_env(struct remote_config *r, const struct app *app, const char *pair,
                         struct err *e)
{
    struct str variable = str_z(pair), name = str_cut(&variable, '=');
    const char *value = variable.len ? app_env(app, variable.at) : NULL;

    if (!variable.len) {
        err_set(e, ERR_USAGE, "'--header-env' needs a header and a variable");
        return err_hint(e, "write it as --header-env Authorization=MY_VARIABLE");
    }
    if (!value) {
        err_set(e, ERR_USAGE, "'--header-env': the variable for '%.*s' is not set or empty",
                STR_ARG(name));
        return err_hint(e, "give the name of the variable, not the value: --header-env "
                           "Authorization=MY_VARIABLE");
    }
    if (!add_header(r, name, str_trim(str_z(value)), "--header-env", e))
        return false;
    add_secret(r, variable, name, str_trim(str_z(value)));
    return true;
}

static bool read_headers(struct remote_config *r, const struct app *app,
                         const struct remote_config_args *args, struct err *e)
{
    for (size_t i = 0; i < args->headers.count; i++)
        if (!add_header_option(r, args->headers.at[i], e))
            return false;
    for (size_t i = 0; i < args->header_env.count; i++)
        if (!add_from_env(r, app, args->header_env.at[i], e))
            return false;
    return true;
}

/* Adds the password; a user without one is often a token. */
static void add_password(struct remote_config *r, struct str userinfo)
{
    struct str password = userinfo;
    struct buf plain;

    if (!userinfo.len)
        return;
    str_cut(&password, ':');
    if (!password.len)
        password = userinfo;
    buf_init(&plain, password.len + UNESCAPE_SLACK);
    if (unescape_text(password, UNESCAPE_PERCENT, &plain))
        password = arena_str(&r->arena, buf_str(&plain));
    headers_add(&r->secrets, STR("URL"), password);
    buf_release(&plain);
}

static const char *without_user(struct remote_config *r, const char *url, struct str userinfo)
{
    const char *user = strstr(url, "//") + 2;

    if (!userinfo.at)
        return url;
    return arena_printf(&r->arena, "%.*s%s", (int)(user - url), url, user + userinfo.len + 1)
        .at;
}

/* Returns the part of an invalid URL that may be shown: nothing if it may hold a password, and
 * nothing after the path. */
static struct str loggable_url(const char *text)
{
    struct str told = str_n(text, strcspn(text, "?#"));
    const char *scheme = strstr(text, "://");
    const char *host = scheme && scheme < text + told.len ? scheme + 3 : text;
    const char *end = host + strcspn(host, ":/?#");

    if (*end == ':')
        end += 1 + strspn(end + 1, "0123456789");
    if ((*end && !strchr("/?#", *end)) || strchr(text, '@') || strstr(text, "%40") ||
        told.len > LOGGED_URL_MAX)
        return STR_NONE;
    return told;
}

static bool reject_url(const char *option, const char *text, struct err *e)
{
    struct str told = loggable_url(text);

    if (told.len)
        err_wrap(e, "'%.*s' cannot be used", STR_ARG(told));
    return err_wrap(e, "'%s'", option);
}

static bool read_url(struct remote_config *r, const char *option, const char *text,
                     bool is_target, struct err *e)
{
    struct str all = str_z(text), before;
    struct url url;

    if (!url_parse(&url, all, e))
        return reject_url(option, text, e);
    add_password(r, url.authority.userinfo);
    r->host = url.authority.port < 0
                  ? arena_z(&r->arena, url.authority.host)
                  : arena_printf(&r->arena, "%.*s:%d", STR_ARG(url.authority.host),
                                 url.authority.port)
                        .at;
    r->url = text;
    if (!url.path.len) {
        before = str_n(text, strcspn(text, "?#"));
        r->url = arena_printf(&r->arena, "%.*s/mcp%s", STR_ARG(before), text + before.len).at;
    }
    r->display_url = without_user(r, is_target ? text : r->url, url.authority.userinfo);
    if (is_target)
        r->target_path = arena_z(&r->arena, url.path);
    return true;
}

static bool choose_ca_file(struct remote_config *r, const struct app *app, const char *cacert,
                           struct err *e)
{
    if (!cacert && !remote_config_is_https(r))
        return true;
    return ca_file_choose(&r->cacert, app, cacert, curl_load_is_linked, e);
}

bool remote_config_read(struct remote_config *r, const struct app *app,
                        const struct remote_config_args *args, struct err *e)
{
    const char *text = args->url ? args->url : args->target;

    *r = (struct remote_config){ .url = NULL };
    if (args->url && args->target)
        return err_set(e, ERR_USAGE, "'--url' cannot be combined with '--target'");
    if (text)
        return read_url(r, args->url ? "--url" : "--target", text, !args->url, e) &&
               read_headers(r, app, args, e) && choose_ca_file(r, app, args->cacert, e);
    return true;
}

bool remote_config_is_https(const struct remote_config *r)
{
    return r->url && strncasecmp(r->url, "https:", strlen("https:")) == 0;
}

bool remote_config_check_credentials(const struct remote_config *r, bool open, struct err *e)
{
    if (!r->secrets.count || !open)
        return true;
    err_set(
        e, ERR_USAGE,
        "'--header', '--header-env' and a user in the URL are allowed for local clients only");
    return err_hint(e,
                    "leave out --allow-remote and --allow-host, or let every client send its "
                    "own header");
}

void remote_config_release(struct remote_config *r)
{
    headers_release(&r->headers);
    headers_release(&r->secrets);
    arena_release(&r->arena);
}

const char *remote_config_mcp_recorder_url(const char *target, struct arena *a)
{
    struct str path, before, behind;
    struct err invalid = ERR_NONE;
    struct url url;

    if (!url_parse(&url, str_z(target), &invalid))
        return target;
    path = url.path;
    before = str_n(target, (size_t)(path.at - target));
    behind = str_z(path.at + path.len);
    while (path.len && path.at[path.len - 1] == '/')
        path.len--;
    return arena_printf(a, "%.*s%.*s%s%.*s", STR_ARG(before), STR_ARG(path),
                        str_ends(path, STR("/mcp")) ? "" : "/mcp", STR_ARG(behind))
        .at;
}
